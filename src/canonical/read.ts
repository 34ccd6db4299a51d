import type { Part, ToolCallPart } from './message.ts'
import type { CanonicalResponse, Usage } from './response.ts'

/** The text of the first candidate, without refusals. */
export function textOf(response: CanonicalResponse): string {
  return partsOf(response)
    .map(part => (part.type === 'text' ? part.text : ''))
    .join('')
}

/** The visible reasoning of the first candidate; segments are separated by a blank line. */
export function reasoningOf(response: CanonicalResponse): string {
  return partsOf(response)
    .flatMap(part => (part.type === 'reasoning' ? part.segments.map(({ text }) => text) : []))
    .join('\n\n')
}

/**
 * A tool call to run. `input`: the arguments, parsed; `{}` when the model gave none, the text itself for a freeform tool, undefined when
 * the text is not valid JSON. `inputText`: the text as the model wrote it.
 */
export type ToolCall = Omit<ToolCallPart, 'input'> & { input: unknown; inputText: string }

/**
 * The tool calls of the first candidate that the client should run, in order. Never throws for invalid arguments.
 * @example for (const { id, name, input } of toolCallsOf(response)) results[id] = await tools[name](input)
 */
export function toolCallsOf(response: CanonicalResponse): ToolCall[] {
  return partsOf(response).flatMap(part =>
    part.type === 'tool-call' ? [{ ...part, input: part.kind === 'freeform' ? part.input : parsed(part.input), inputText: part.input }] : [],
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

/** The token counts of the reply. Undefined: the source had none. */
export function usageOf(response: CanonicalResponse): Usage | undefined {
  return response.usage
}

function partsOf({ candidates }: CanonicalResponse): Part[] {
  return candidates[0]?.messages.flatMap(({ parts }) => parts) ?? []
}
