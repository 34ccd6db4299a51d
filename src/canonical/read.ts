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

/** The tool calls of the first candidate that the client should run, in order. */
export function toolCallsOf(response: CanonicalResponse): ToolCallPart[] {
  return partsOf(response).filter(part => part.type === 'tool-call')
}

/** The token counts of the reply. Undefined: the source had none. */
export function usageOf(response: CanonicalResponse): Usage | undefined {
  return response.usage
}

function partsOf({ candidates }: CanonicalResponse): Part[] {
  return candidates[0]?.messages.flatMap(({ parts }) => parts) ?? []
}
