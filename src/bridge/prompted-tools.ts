import type { Message, Part, TextPart, ToolCallPart } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { FunctionTool, Tool, ToolChoice } from '../canonical/tool.ts'
import { instructed } from '../kit/conversation/instructed.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { writeExact } from '../kit/json/digits.ts'
import { isObject, parseJson } from '../kit/json/json.ts'
import type { BridgeReport } from './notes.ts'

/**
 * The request for a model without tools: functions stand in the instructions, and calls and results
 * of the history in the text, in the form in which the model is told to call. The same request if
 * there are none. Freeform tools stay; what a provider would run is left out.
 */
export function withPromptedTools(
  request: CanonicalRequest,
  report: BridgeReport,
): CanonicalRequest {
  const { tools = [], toolChoice, parallelToolCalls, messages, ...rest } = request
  const functions = tools.filter(tool => tool.type === 'function')
  const isCalled = messages.some(({ parts }) => parts.some(isOfCalls))
  if (functions.length === 0 && !isCalled) return request
  const told = messages.map(message => (message.parts.some(isOfCalls) ? inText(message) : message))
  const isOffered = functions.length > 0 && toolChoice?.mode !== 'none'
  if (functions.length > 0) report.add('tool.prompted', undefined, 'tools')
  for (const { parts } of messages)
    for (const part of parts) if (isOfCalls(part)) report.add('tool-call.prompted', part.at)
  // Alone, they would seem to be all that the request is about, which encoders refuse.
  const isRun = ({ type }: Tool) => type === 'server' && functions.length > 0
  for (const tool of tools) if (isRun(tool)) report.add('tool.left-out', tool.at)
  const others = tools.filter(tool => tool.type !== 'function' && !isRun(tool))
  return omitUndefined({
    ...rest,
    messages: isOffered
      ? instructed(told, instructions(functions, toolChoice, parallelToolCalls))
      : told,
    tools: others.length > 0 ? others : undefined,
  }) as CanonicalRequest
}

const isOfCalls = ({ type }: Part) => type === 'tool-call' || type === 'tool-result'

/** Results are no role of such models, so the user says them. */
function inText({ role, parts, ...message }: Message): Message {
  return {
    ...message,
    role: role === 'tool' ? 'user' : role,
    parts: parts.flatMap(part => {
      if (part.type === 'tool-call') return [callText(part)]
      if (part.type !== 'tool-result') return [part]
      const { name, isError, content, at, cache } = part
      const head = `<tool_response${name === undefined ? '' : ` name=${JSON.stringify(name)}`}${isError ? ' error="true"' : ''}>`
      const end: TextPart = {
        type: 'text',
        text: '</tool_response>',
        ...omitUndefined({ at, cache }),
      }
      return [textAt(`${head}\n`, part), ...content, end]
    }),
  }
}

function callText(part: ToolCallPart): TextPart {
  const { name, input } = part
  const value = parseJson(input)
  const written = isObject(value) ? input.trim() : JSON.stringify(input)
  return textAt(
    `\n<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${written}}\n</tool_call>\n`,
    part,
  )
}

const textAt = (text: string, { at }: Part): TextPart => ({
  type: 'text',
  text,
  ...(at !== undefined && { at }),
})

function instructions(
  functions: readonly FunctionTool[],
  choice: ToolChoice | undefined,
  parallel: boolean | undefined,
): string {
  const listed = functions.map(({ name, description, parameters }) =>
    writeExact(omitUndefined({ name, description, parameters: parameters ?? undefined })),
  )
  return [
    'You can call functions. Each line between <tools> and </tools> describes one of them, with the JSON Schema of its arguments:',
    `<tools>\n${listed.join('\n')}\n</tools>`,
    'To call a function, write a JSON object with its name and its arguments between <tool_call> and </tool_call>:',
    '<tool_call>\n{"name": "NAME", "arguments": {}}\n</tool_call>',
    `The result comes in the next message, between <tool_response> and </tool_response>. Write nothing behind a call. ${asked(choice, parallel)}`,
  ].join('\n')
}

function asked(choice: ToolChoice | undefined, parallel: boolean | undefined): string {
  const most = parallel === false ? ' Call one function at a time.' : ''
  switch (choice?.mode) {
    case 'required':
      return `You have to call a function now.${most}`
    case 'tool':
      return `You have to call the function ${JSON.stringify(choice.name)} now.${most}`
    case 'allowed': {
      const names = choice.tools.map(({ name }) => JSON.stringify(name)).join(', ')
      return `${choice.require ? 'You have to call' : 'You may call'} one of these functions: ${names}.${most}`
    }
    default:
      return `Call functions only where they help.${most}`
  }
}
