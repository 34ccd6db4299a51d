import type { Part, ToolCallPart } from './message.ts'
import type { CanonicalResponse, Usage } from './response.ts'

/**
 * The text of the first candidate, without refusals.
 * @example
 * import { normalizeResponse, textOf } from 'wireglot'
 *
 * const response = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' } as const
 * console.log(textOf(normalizeResponse(response, { protocol: 'messages' }))) // Hi!
 */
export function textOf(response: CanonicalResponse): string {
  return partsOf(response, 'textOf')
    .map(part => (part.type === 'text' ? part.text : ''))
    .join('')
}

/**
 * The visible reasoning of the first candidate; segments are separated by a blank line.
 * @example
 * import { normalizeResponse, reasoningOf } from 'wireglot'
 *
 * const choices = [{ index: 0, message: { role: 'assistant', reasoning_content: 'Greet back.', content: 'Hi!' }, finish_reason: 'stop' }]
 * console.log(reasoningOf(normalizeResponse({ choices }, { protocol: 'chat-completions' }))) // Greet back.
 */
export function reasoningOf(response: CanonicalResponse): string {
  return partsOf(response, 'reasoningOf')
    .flatMap(part => (part.type === 'reasoning' ? part.segments.map(({ text }) => text) : []))
    .join('\n\n')
}

/**
 * A tool call to run. `kind`: `freeform` for a tool that takes any text. `namespace`: of the tool, if
 * it has one. `input`: the arguments, parsed; `{}` when the model gave none, the text
 * itself for a freeform tool, undefined when the text is not valid JSON. `inputText`: the text as
 * the model wrote it.
 */
export type ToolCall = Pick<ToolCallPart, 'id' | 'name' | 'namespace' | 'kind'> & {
  input: unknown
  inputText: string
}

/**
 * The tool calls of the first candidate that the client should run, in order. Never throws for
 * invalid arguments.
 * @example
 * import { normalizeResponse, toolCallsOf } from 'wireglot'
 *
 * const call = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } } as const
 * const response = normalizeResponse({ content: [call], stop_reason: 'tool_use' }, { protocol: 'messages' })
 * for (const { name, input } of toolCallsOf(response)) console.log(name, input) // add { a: 1 }
 */
export function toolCallsOf(response: CanonicalResponse): ToolCall[] {
  return partsOf(response, 'toolCallsOf').flatMap(part =>
    part.type === 'tool-call'
      ? [
          {
            id: part.id,
            name: part.name,
            ...(part.namespace !== undefined && { namespace: part.namespace }),
            kind: part.kind,
            input: part.kind === 'freeform' ? part.input : parsed(part.input),
            inputText: part.input,
          },
        ]
      : [],
  )
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The token counts of the response. Undefined: the source had none.
 * @example
 * import { normalizeResponse, usageOf } from 'wireglot'
 *
 * const response = { choices: [], usage: { prompt_tokens: 8, completion_tokens: 3 } }
 * console.log(usageOf(normalizeResponse(response, { protocol: 'chat-completions' }))?.input) // 8
 */
export function usageOf(response: CanonicalResponse): Usage | undefined {
  return checked(response, 'usageOf').usage
}

/** @throws TypeError for what is no canonical response, in the name of the called function */
function checked(response: CanonicalResponse, name: string): CanonicalResponse {
  const { candidates }: { candidates?: unknown } = response ?? {}
  if (
    Array.isArray(candidates) &&
    candidates.every((one: { messages?: unknown } | null) => Array.isArray(one?.messages))
  )
    return response
  throw new TypeError(`${name}: expected a canonical response, such as normalizeResponse returns`)
}

function partsOf(response: CanonicalResponse, name: string): Part[] {
  return checked(response, name).candidates[0]?.messages.flatMap(({ parts }) => parts) ?? []
}
