import { collectEvent, startCollecting } from '../../canonical/collect.ts'
import type { Signatures } from '../../protocol.ts'
import { type History, historyOf } from '../../translate/history.ts'
import { createStreamReader } from '../../translate/stream-reader.ts'
import { GatewayError, reject } from '../error.ts'
import type { Identity } from '../hooks.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import type { Deployment } from '../upstream/catalog.ts'
import { maxResponseBytes } from '../upstream/response.ts'
import { keepsItself } from './recall.ts'
import type { Kept, ResponseStore } from './response-store.ts'

/**
 * A complete response in the caller's protocol; without `body` only its signatures are stored.
 * `signatures`: those that the protocol has no field for.
 */
export type Whole = { candidate: Deployment; body: unknown; signatures?: Signatures | undefined }

/**
 * Stores a response before its last byte is sent, so that the next request may follow at once.
 * Never rejects: the client gets its response anyway.
 */
export async function keep(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { candidate, body, signatures = {} }: Whole,
): Promise<void> {
  const { responseStore } = service
  if (!responseStore) return
  const owner = trace.identity ?? {}
  try {
    await Promise.all(
      Object.entries(signatures).map(([callId, text]) =>
        responseStore.keepSignature(owner, callId, text),
      ),
    )
    if (incoming.recalled?.keeps && body !== undefined)
      await storeResponse(responseStore, incoming, { candidate, body, owner })
  } catch (error) {
    // The store has logged that it cannot be reached.
    const level = error instanceof GatewayError ? 'info' : 'warn'
    service.log(level, { requestId: trace.requestId, error }, notKept)
  }
}

const notKept = 'a response could not be stored'

async function storeResponse(
  responseStore: ResponseStore,
  { protocol, body: requestBody, recalled, model }: RequestContext,
  { candidate, body, owner }: Whole & { owner: Identity },
): Promise<void> {
  const { stored } = protocol.address
  const { id, candidates } = protocol.decodeResponse(body).value
  if (!stored || id === undefined) return
  // A response that is still being generated in the background: only its channel is known.
  const history = candidates[0]?.finish
    ? historyIn(() => historyOf(requestBody.value, body, protocol, { ...recalled?.known }))
    : {}
  const kept: Kept = keepsItself(candidate, protocol)
    ? { channel: candidate.channel.name, ...(candidate.model !== model && { model }), ...history }
    : { body, input: stored.inputOf(requestBody.value, id), ...history }
  await responseStore.keep(owner, id, kept, kept.body === undefined ? [] : stored.itemsOf(body))
}

/** The history. Undefined: it begins with something that only the provider knows. */
function historyIn(build: () => History): Partial<History> {
  try {
    const { id: _, ...history } = build()
    return history
  } catch {
    return {}
  }
}

/**
 * Reads what is sent, and stores the response with its conversation when it is complete. One that
 * is too large for memory is not stored.
 */
export function keepingOf(service: Service, incoming: RequestContext, trace: Trace) {
  let collected = incoming.recalled?.keeps ? collecting(incoming) : undefined
  let length = 0
  return {
    sent(chunk: string | Uint8Array): void {
      if (!collected) return
      length += chunk.length
      if (length > maxResponseBytes) {
        collected = undefined
        service.log(
          'warn',
          {
            requestId: trace.requestId,
            error: reject(502, 'internal', 'the response is too large'),
          },
          notKept,
        )
      } else collected.sent(chunk)
    },
    whole: (candidate: Deployment, signatures: Signatures | undefined) =>
      keep(service, incoming, trace, { candidate, body: collected?.whole(), signatures }),
  }
}

/** Collects what is sent into the complete response. Undefined: it was cut off or failed. */
function collecting({ protocol }: RequestContext): {
  sent(chunk: string | Uint8Array): void
  whole(): unknown
} {
  const into = startCollecting()
  const reader = createStreamReader(protocol, {}, event => collectEvent(into, event))
  return {
    sent: chunk => reader.push(chunk),
    whole() {
      reader.end()
      const { response, clean } = into
      return clean && !response.error ? protocol.encodeResponse(response).wire : undefined
    },
  }
}
