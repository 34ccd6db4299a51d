import type { Part, ToolCallPart } from './message.ts'
import type { CanonicalResponse, Usage } from './response.ts'

/** What the first candidate says to the user, refusals not counted. */
export function textOf(response: CanonicalResponse): string {
  return partsOf(response)
    .map(part => (part.type === 'text' ? part.text : ''))
    .join('')
}

/** What the first candidate shows of its reasoning; segments are a blank line apart. */
export function reasoningOf(response: CanonicalResponse): string {
  return partsOf(response)
    .flatMap(part => (part.type === 'reasoning' ? part.segments.map(({ text }) => text) : []))
    .join('\n\n')
}

/** The calls that the client is asked to run, in order. */
export function toolCallsOf(response: CanonicalResponse): ToolCallPart[] {
  return partsOf(response).filter(part => part.type === 'tool-call')
}

/** The counts of the reply. Undefined: nobody told any. */
export function usageOf(response: CanonicalResponse): Usage | undefined {
  return response.usage
}

function partsOf({ candidates }: CanonicalResponse): Part[] {
  return candidates[0]?.messages.flatMap(({ parts }) => parts) ?? []
}
