import type { Transport, TransportCall, TransportResponse } from '../transports/transport.ts'
import { changed, discard, unlessAborted } from './call.ts'
import type { Renewing } from './renewing.ts'

/**
 * Sends every call with a token as `Authorization: Bearer`. After a 401 the token is replaced, and
 * the call sent once more.
 */
export function bearing(tokens: Renewing<string>, transport: Transport): Transport {
  const send = async (call: TransportCall, token: string): Promise<TransportResponse> => {
    const response = await transport.send(
      changed(call, { headers: { ...call.headers, authorization: `Bearer ${token}` } }),
    )
    return { ...response, secrets: [token] }
  }
  return {
    async send(call) {
      const token = await unlessAborted(tokens.get(), call)
      const response = await send(call, token)
      if (response.status !== 401) return response
      const other = await unlessAborted(
        tokens.replace(token).catch(() => undefined),
        call,
      )
      if (other === undefined) return response
      await discard(response)
      const again = await send(call, other)
      return { ...again, secrets: [token, other] }
    },
  }
}
