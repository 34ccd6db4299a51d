import type { Message } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { createReport } from '../kit/notes/report.ts'
import type { CodecOptions, Demands, Encoded, Protocol } from '../protocol.ts'
import { type PassReport, translateNotes } from './notes.ts'
import { placeInstructions } from './passes/instructions.ts'
import { gatherTools } from './passes/late-tools.ts'
import { readableResults } from './passes/readable-results.ts'
import { withStrictTools } from './passes/strict-tools.ts'
import { nameTools } from './passes/tool-names.ts'
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
  const wanted = { ...to.demands(request, mapping), protocol: to.name, repair: repairToolPairs !== 'keep' }
  const { request: prepared, renamed } = prepare(request, wanted, report)
  const { context, notes, ...encoded } = to.encodeRequest(prepared, mapping)
  const changed = Object.keys(renamed).length > 0 ? { ...context, tools: renamed } : context
  return { ...encoded, notes: [...report.notes, ...notes], ...(changed && { context: changed }) }
}

type Wanted = Demands & { protocol: string; repair: boolean }

function prepare(given: CanonicalRequest, wanted: Wanted, report: PassReport): ReturnType<typeof nameTools> {
  const held = wanted.validatedChoice ? given : withStrictTools(given, report)
  const gathered = gatherTools(held, wanted, report)
  const paired = pairToolCalls(gathered.messages, { ...wanted.toolPairs, repair: wanted.repair }, report)
  const { request, renamed } = nameTools(withMessages(gathered, paired), wanted.toolNames, report)
  const readable = readableResults(request.messages, wanted.protocol, report)
  return { renamed, request: withMessages(request, placeInstructions(readable, wanted.instructions, report)) }
}

function withMessages(request: CanonicalRequest, messages: Message[]): CanonicalRequest {
  return messages === request.messages ? request : { ...request, messages }
}
