import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { parseJson } from '../kit/json/json.ts'
import { jsonInstruction } from '../kit/response/json-instruction.ts'
import type { BridgeReport } from './notes.ts'
import { instructed } from './prompted-tools.ts'
import { repaired } from './repair.ts'

/** The request for a server without a format of the output: the instructions ask for the JSON. */
export function withPromptedOutput(
  request: CanonicalRequest,
  report: BridgeReport,
): CanonicalRequest {
  const { format, ...output } = request.output ?? {}
  if (format?.type !== 'json' && format?.type !== 'schema') return request
  report.add('output.prompted', undefined, 'output.format')
  const text = jsonInstruction(format.type === 'schema' ? format.schema : undefined)
  return { ...request, output, messages: instructed(request.messages, text) }
}

/**
 * The response with JSON alone in its text, where other text is around it or the JSON is broken.
 * One whose text holds none stays as it is.
 */
export function withJsonAlone(
  response: CanonicalResponse,
  report: BridgeReport,
): CanonicalResponse {
  const candidates = response.candidates.map(candidate => {
    const texts = candidate.messages.flatMap(({ parts }) =>
      parts.filter(part => part.type === 'text' && part.text.trim() !== ''),
    )
    const [only, ...others] = texts
    if (only?.type !== 'text' || others.length > 0) return candidate
    const json = jsonIn(only.text)
    if (json === undefined) return candidate
    report.add('output.repaired', only.at, 'text')
    const messages = candidate.messages.map(message => ({
      ...message,
      parts: message.parts.map(part => (part === only ? { ...only, text: json } : part)),
    }))
    return { ...candidate, messages }
  })
  return candidates.every((one, i) => one === response.candidates[i])
    ? response
    : { ...response, candidates }
}

/** Undefined: the text is JSON already, or none can be found in it. */
function jsonIn(text: string): string | undefined {
  if (parseJson(text) !== undefined) return undefined
  const from = text.search(/[{[]/)
  const to = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  if (from < 0) return undefined
  const inner = to > from ? text.slice(from, to + 1) : text.slice(from)
  if (parseJson(inner) !== undefined) return inner
  const fixed = repaired(inner)
  return typeof parseJson(fixed ?? '') === 'object' ? fixed : undefined
}
