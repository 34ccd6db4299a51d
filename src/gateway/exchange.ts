import type { ControlPart } from '../canonical/message.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { atEnd } from './at-end.ts'
import { compactionAsked } from './compaction/asked.ts'
import { withCompaction } from './compaction/compaction.ts'
import { failedStream } from './error.ts'
import { withDocumentText } from './media/documents.ts'
import { withDescriptions } from './media/media.ts'
import { expectedOf } from './output/checked.ts'
import type { GatewayResponse } from './request.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import { runningOf } from './server-tools/running.ts'
import { completeOf } from './source.ts'
import { recall } from './stored/recall.ts'
import { streamed } from './streamed.ts'
import { openFirst } from './upstream/attempts.ts'
import { isInBackground, likelyUse, useOf } from './use.ts'
import { responseForClient, whole, wholeOfSeveral } from './whole.ts'

/** Handles a generation request. @throws GatewayError, TranslationError */
export async function generate(
  service: Service,
  received: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  // Without the setting nothing is awaited: that costs a turn of each request.
  const asked = service.seal && (await compactionAsked(received))
  if (!asked) return generated(service, received, trace)
  const made = await withCompaction(service, received, trace, { asked, answer })
  return 'status' in made ? made : generated(service, made.incoming, trace, made.part)
}

/** `part`: what the response begins with. */
async function generated(
  service: Service,
  received: RequestContext,
  trace: Trace,
  part?: ControlPart,
): Promise<GatewayResponse> {
  const told = service.hooks.documentText
    ? await withDocumentText(service, received, trace)
    : received
  const seen = told.candidates[0]?.entry.media?.describe
    ? await withDescriptions(service, told, trace, answer)
    : told
  const recalled = await recall(service, seen, trace.identity ?? {})
  notePrefix(service, recalled, trace)
  if (recalled.protocol.address.stored) rememberUse(service, recalled, trace)
  const running = service.hooks.serverTools && (await runningOf(service, recalled, trace))
  const expected = expectedOf(recalled)
  const incoming = running?.incoming ?? recalled
  const several = { running, expected, part }
  if (incoming.stream) return streamed(service, incoming, trace, several)
  return running || expected || part
    ? wholeOfSeveral(service, incoming, trace, several)
    : whole(service, incoming, trace)
}

/** The response of a model to a request. @throws GatewayError, TranslationError */
export async function answer(
  service: Service,
  received: RequestContext,
  trace: Trace,
): Promise<CanonicalResponse> {
  const incoming = await recall(service, received, trace.identity ?? {})
  const { protocol } = incoming
  const { opened: first, stop } = openFirst(service, incoming, trace)
  const opened = await first
  const read = await completeOf(opened, stop, trace)
  const { body, error } = await responseForClient(service, incoming, trace, { opened, read })
  if (error) throw failedStream(error)
  return protocol.decodeResponse(body).value
}

/** Compares the prompt with the one before. What the client sent is there before it is translated. */
function notePrefix(
  { prefixes, config: { groups } }: Service,
  { request: { headers }, body, protocol, model }: RequestContext,
  trace: Trace,
): void {
  const { id, name = '', group } = trace.identity ?? {}
  if (group !== undefined && Object.hasOwn(groups, group) && !groups[group]?.cachePrefix) return
  const found = prefixes?.compare({ headers, model, client: id ?? name }, body, protocol)
  if (found) trace.cachePrefix = found
}

/** A later call may show the response again, or what it has used since then. */
function rememberUse(
  { background }: Service,
  { body, protocol }: RequestContext,
  trace: Trace,
): void {
  if (isInBackground(body.outline, protocol)) trace.expected = likelyUse(body, protocol).output
  atEnd(trace, () => {
    const id = trace.received?.id ?? trace.responseId
    const usage = useOf(trace)
    if (id !== undefined && usage) background.counted(id, usage)
  })
}
