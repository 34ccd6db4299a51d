import type { CanonicalRequest } from '../canonical/request.ts'
import { createReport } from '../kit/notes/report.ts'
import type { CodecOptions, Demands, Encoded, Protocol } from '../protocol.ts'
import { type PassReport, translateNotes } from './notes.ts'
import { placeInstructions } from './passes/instructions.ts'
import { gatherTools } from './passes/late-tools.ts'
import { readableResults } from './passes/readable-results.ts'
import { withStrictTools } from './passes/strict-tools.ts'
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
  const report = createReport(to.name, translateNotes, options.fieldNames)
  const demands = { ...to.demands(request, mapping), protocol: to.name, repair: repairToolPairs !== 'keep' }
  const encoded = to.encodeRequest(prepare(request, demands, report), mapping)
  return report.notes.length === 0 ? encoded : { ...encoded, notes: [...report.notes, ...encoded.notes] }
}

type Wanted = Demands & { protocol: string; repair: boolean }

function prepare(request: CanonicalRequest, wanted: Wanted, report: PassReport): CanonicalRequest {
  const held = wanted.validatedChoice ? request : withStrictTools(request, report)
  const gathered = gatherTools(held, wanted, report)
  const paired = pairToolCalls(gathered.messages, { ...wanted.toolPairs, repair: wanted.repair }, report)
  const readable = readableResults(paired, wanted.protocol, report)
  const messages = placeInstructions(readable, wanted.instructions, report)
  return messages === gathered.messages ? gathered : { ...gathered, messages }
}
