import { type GatewayError, reasonOf } from './error.ts'
import { createRelay, type RelayOptions } from './relay.ts'
import type { GatewayRequest } from './request.ts'
import type { Trace } from './request-context.ts'
import { drainMsOf } from './upstream/attempts.ts'

type Exchange = { signal: GatewayRequest['signal']; trace: Trace }

/**
 * The body of a streamed response. Records the exchange when the stream ends or the client
 * disconnects. `onEnd`: called before.
 * @throws GatewayError when the upstream failed before there was anything to send: it becomes the
 * HTTP response, and is recorded there
 */
export async function relayed(
  options: RelayOptions,
  { signal, trace }: Exchange,
): Promise<AsyncIterable<string | Uint8Array>> {
  let started = false
  let early: GatewayError | undefined
  const relay = createRelay({
    drainMs: reason => drainMsOf(trace, reason),
    ...options,
    onEnd(failure, translator) {
      options.onEnd(failure, translator)
      const status = failure?.error.kind === 'cancelled' ? 499 : 200
      if (started || !failure || status === 499) trace.ended(status, failure)
      else early = failure
    },
  })
  signal.addEventListener('abort', () => relay.giveUp(reasonOf(signal)), { once: true })
  const body = await relay.start()
  started = true
  trace.firstByte ??= Date.now()
  if (early) trace.ended(200, early)
  return body
}
