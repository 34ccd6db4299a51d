import type { CanonicalRequest } from '../canonical/request.ts'
import { createReport } from '../kit/notes/report.ts'
import type { CodecOptions, Encoded, Protocol } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { pairToolCalls } from './passes/tool-pairs.ts'
import type { Settings } from './settings.ts'

/**
 * A request as a protocol writes it. One of another protocol first becomes what the target demands, pass by pass; one of its own is
 * written as it is.
 * @throws TranslationError `inexpressible`
 */
export function encodeRequest(request: CanonicalRequest, to: Protocol, options: CodecOptions & Pick<Settings, 'repairToolPairs'> = {}): Encoded<unknown> {
  const { repairToolPairs = 'synthesize', ...mapping } = options
  if (request.source?.protocol === to.name) return to.encodeRequest(request, mapping)
  const { toolPairs } = to.demands(mapping)
  const report = createReport(to.name, translateNotes, options.fieldNames)
  const messages = pairToolCalls(request.messages, { ...toolPairs, repair: repairToolPairs !== 'keep' }, report)
  const encoded = to.encodeRequest(messages === request.messages ? request : { ...request, messages }, mapping)
  return report.notes.length === 0 ? encoded : { ...encoded, notes: [...report.notes, ...encoded.notes] }
}
