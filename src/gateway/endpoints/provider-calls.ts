import { compacted } from '../compaction/compaction.ts'
import { reject, rejectionOf } from '../error.ts'
import { answer } from '../exchange.ts'
import { keptHeaders } from '../headers.ts'
import { type GatewayResponse, jsonResponse } from '../request.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import { recall } from '../stored/recall.ts'
import { openFirst } from '../upstream/attempts.ts'
import { objectOf, readWhole } from '../upstream/response.ts'
import { estimateTokens } from './estimate.ts'

// Calls about a conversation that only a provider can handle.

/**
 * Counts the tokens of a request: by an upstream, else as an estimate, which a header marks as
 * such.
 * @throws GatewayError
 */
export async function countTokens(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  const { protocol, body } = incoming
  const { counting } = protocol.address
  if (!counting) throw reject(404, 'not_found', 'this protocol counts no tokens')
  const candidates = able(incoming)
  if (candidates.length > 0)
    try {
      return await passOn(service, { ...incoming, candidates }, trace)
    } catch (error) {
      const { status } = rejectionOf(error, 'upstream').error
      // Many compatible upstreams do not have this endpoint.
      if (status !== 404 && status !== 405 && status !== 501) throw error
    }
  const count =
    candidates.length === 0 ? await countedElsewhere(service, incoming, trace) : undefined
  if (count !== undefined) return jsonResponse(counting.write(count))
  return jsonResponse(counting.write(estimateTokens(body.value)), { 'wireglot-estimate': 'true' })
}

/**
 * The count of an upstream of another protocol, for the translated request. Undefined: none can
 * count it.
 */
async function countedElsewhere(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<number | undefined> {
  const candidates = incoming.candidates.filter(
    ({ protocol: { address }, channel }) => address.counting && !channel.embedded,
  )
  if (candidates.length === 0) return undefined
  try {
    const opened = await openFirst(service, { ...incoming, candidates }, trace).opened
    const { protocol } = opened.candidate
    const count = protocol.address.counting?.read(objectOf(await readWhole(opened), protocol))
    return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0
      ? count
      : undefined
  } catch (error) {
    if (incoming.request.signal.aborted) throw error
    return undefined
  }
}

/** Compacts a conversation, into a form that only its provider can read. @throws GatewayError */
export async function compact(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  const candidates = able(incoming)
  if (candidates.length === 0 && service.seal) {
    const asked = { form: 'item', alone: true } as const
    return compacted(service, incoming, trace, { asked, answer })
  }
  if (candidates.length === 0)
    throw reject(
      404,
      'not_found',
      'only a provider of this protocol can compact a conversation, and no channel of this model is one: shorten it by yourself',
    )
  return passOn(
    service,
    await recall(service, { ...incoming, candidates }, trace.identity ?? {}),
    trace,
  )
}

const able = ({ protocol, operation, candidates }: RequestContext) =>
  candidates.filter(
    ({ protocol: spoken, channel, model }) =>
      spoken === protocol &&
      !channel.embedded &&
      spoken.address.target({ operation, model, stream: false }) !== undefined,
  )

/**
 * Forwards the call to an upstream of the same protocol and returns its response unchanged.
 * @throws GatewayError
 */
async function passOn(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<GatewayResponse> {
  const opened = await openFirst(service, incoming, trace).opened
  const bytes = await readWhole(opened)
  const body = objectOf(bytes, incoming.protocol)
  if (incoming.operation === 'compact') {
    const { usage } = incoming.protocol.outcome(body, opened.settings)
    trace.usage ??= usage ?? {}
    // What a provider alone can read is no text, but grows with what a model has written.
    if (!usage) trace.received = { written: bytes.length, finished: true }
  }
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      ...keptHeaders(opened.response.headers, opened.candidate.channel.returnHeaders),
    },
    body: bytes,
  }
}
