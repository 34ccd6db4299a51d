import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import type { CodecOptions, Protocol } from '../protocol.ts'
import { isProtocolName } from '../protocols/index.ts'
import { GatewayError, hookFailed } from './error.ts'
import type { BodyCall, BodyChange } from './hooks.ts'
import type { Service, Trace } from './request-context.ts'

type Call = { protocol: Protocol; model: string; body: unknown; options?: CodecOptions }

/** The body that `onRequest` wants instead. Undefined: it stays. @throws GatewayError */
export function changedRequest(
  { hooks }: Service,
  trace: Trace,
  { options, ...call }: Call,
): Promise<{ body: unknown } | undefined> {
  const { protocol, body } = call
  const codec = {
    decode: () => protocol.decodeRequest(body, options).value,
    encode: (value: CanonicalRequest) => protocol.encodeRequest(value, options).wire,
  }
  return changed('onRequest', hooks.onRequest, codec, { trace, ...call })
}

/** The same for a complete response of the client's protocol. @throws GatewayError */
export function changedResponse(
  { hooks }: Service,
  trace: Trace,
  { options, ...call }: Call,
): Promise<{ body: unknown } | undefined> {
  const { protocol, body } = call
  const codec = {
    decode: () => protocol.decodeResponse(body, options).value,
    encode: (value: CanonicalResponse) => protocol.encodeResponse(value, options).wire,
  }
  return changed('onResponse', hooks.onResponse, codec, { trace, ...call })
}

async function changed<Canonical>(
  name: string,
  hook:
    | ((call: BodyCall<Canonical>) => BodyChange<Canonical> | Promise<BodyChange<Canonical>>)
    | undefined,
  { decode, encode }: { decode(): Canonical; encode(value: Canonical): unknown },
  { protocol, model, body, trace }: Call & { trace: Trace },
): Promise<{ body: unknown } | undefined> {
  if (!hook || !isProtocolName(protocol.name)) return undefined
  let canonical: Canonical | undefined
  try {
    const change = await hook({
      protocol: protocol.name,
      model,
      identity: trace.identity ?? {},
      request: trace.request,
      body,
      get canonical() {
        canonical ??= decode()
        return canonical
      },
    })
    if (!change) return undefined
    return 'canonical' in change ? { body: encode(change.canonical) } : change
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : hookFailed(name, thrown)
  }
}
