import type { Message } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { createReport } from '../kit/notes/report.ts'
import type { CodecOptions, Demands, Encoded, ToolOptions, UpstreamHalf } from '../protocol.ts'
import { type PassReport, translateNotes } from './notes.ts'
import { fewerTools } from './passes/fewer-tools.ts'
import { placeInstructions } from './passes/instructions.ts'
import { gatherTools } from './passes/late-tools.ts'
import { kindsByType } from './passes/media-kinds.ts'
import { nameOutput } from './passes/output-names.ts'
import { mendTools } from './passes/own-tools.ts'
import { plainParts, readableResults } from './passes/readable-results.ts'
import { ownResoldSignatures } from './passes/resold-signatures.ts'
import { withStrictTools } from './passes/strict-tools.ts'
import { nameTools } from './passes/tool-names.ts'
import { pairToolCalls } from './passes/tool-pairs.ts'
import { fitSchemas } from './passes/tools.ts'
import type { Settings } from './settings.ts'

type Encoding = CodecOptions & ToolOptions & Pick<Settings, 'bridge'> & { mendsTools?: boolean }

/**
 * A request as a protocol writes it. One of another protocol first becomes what the target demands,
 * pass by pass; one of its own is written as it is, with `mendsTools` but for its tools.
 * @throws TranslationError `inexpressible`
 */
export function encodeRequest(
  given: CanonicalRequest,
  to: UpstreamHalf,
  options: Encoding = {},
): Encoded<unknown> {
  const request =
    options.foreignSignatures === 'wrap'
      ? given
      : withMessages(given, ownResoldSignatures(given.messages, to))
  const isOwn = request.source?.protocol === to.name
  if (isOwn && !options.mendsTools) return bridged(request, to, options)
  const report = createReport(to.name, translateNotes, options.fieldNames)
  const wanted: Wanted = {
    demands: to.demands(request, options),
    protocol: to.name,
    repair: options.repair !== 'keep',
    most: options.mostTools,
  }
  const {
    request: prepared,
    renamed,
    names,
  } = isOwn ? mended(request, wanted, report) : prepare(request, wanted, report)
  const encoded = bridged(prepared, to, options)
  if (report.notes.length > 0) encoded.notes = [...report.notes, ...encoded.notes]
  const isNamed = Object.keys(renamed).length > 0
  if (!isNamed && !names) return encoded
  return {
    ...encoded,
    context: {
      ...encoded.context,
      ...(isNamed && { tools: renamed }),
      ...(names && { outputNames: names }),
    },
  }
}

/** `renamed`, `names`: what the response has to undo in calls, and in its text. */
type Prepared = ReturnType<typeof nameTools> & Pick<ReturnType<typeof nameOutput>, 'names'>

function mended(given: CanonicalRequest, { demands, most }: Wanted, report: PassReport): Prepared {
  const { namespaces } = demands.toolNames
  const request = fewerTools(given, { most, namespaces }, report)
  const { request: mendedTools, renamed } = mendTools(request, demands, report)
  return { renamed, ...nameOutput(mendedTools, demands.toolNames, report) }
}

/** Writes the request as its model takes it. */
function bridged(
  request: CanonicalRequest,
  to: UpstreamHalf,
  options: CodecOptions & ToolOptions & Pick<Settings, 'bridge'>,
): Encoded<unknown> {
  const { bridge } = options
  if (!bridge) return to.encodeRequest(request, options)
  const { request: given, notes, memory } = bridge.request(request, options.fieldNames)
  const encoded = to.encodeRequest(given, options)
  return {
    ...encoded,
    notes: [...notes, ...encoded.notes],
    ...(memory !== undefined && { context: { ...encoded.context, bridge: memory } }),
  }
}

/** `most`: how many tools the server takes. */
type Wanted = { demands: Demands; protocol: string; repair: boolean; most: number | undefined }

function prepare(
  request: CanonicalRequest,
  { demands, protocol, repair, most }: Wanted,
  report: PassReport,
): Prepared {
  const plain = plainParts(request.messages, protocol, report)
  const given = withMessages(request, kindsByType(plain))
  const held = demands.validatedChoice ? given : withStrictTools(given, report)
  const gathered = gatherTools(held, demands.lateTools, protocol, report)
  const few = fewerTools(gathered, { most, namespaces: demands.toolNames.namespaces }, report)
  const fitted = fitSchemas(few, demands.schemas ?? {}, report)
  const paired = pairToolCalls(fitted.messages, demands.toolPairs, repair, report)
  const { request: called, renamed } = nameTools(
    withMessages(fitted, paired),
    demands.toolNames,
    report,
  )
  const { request: named, names } = nameOutput(called, demands.toolNames, report)
  const readable = readableResults(named.messages, protocol, report)
  return {
    renamed,
    request: withMessages(named, placeInstructions(readable, demands.instructions, report)),
    ...(names && { names }),
  }
}

function withMessages(request: CanonicalRequest, messages: Message[]): CanonicalRequest {
  return messages === request.messages ? request : { ...request, messages }
}
