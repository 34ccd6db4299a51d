import { isObject } from '../kit/json.ts'
import type { Protocol } from '../protocol.ts'

/** The same request, asking for a stream or not. It is read and written by its own protocol, so that nothing else changes. */
export function withStreaming(body: unknown, protocol: Protocol, enabled: boolean): unknown {
  const { value } = protocol.decodeRequest(body)
  const { wire } = protocol.encodeRequest({ ...value, stream: { ...value.stream, enabled } })
  return enabled ? wire : withoutStreamOptions(wire, protocol)
}

/** The same request without options of streams: servers refuse them where a whole reply is asked for, and some always do. */
export function withoutStreamOptions(body: unknown, protocol: Protocol): unknown {
  if (!isObject(body)) return body
  const left = { ...body }
  for (const [field] of streamOptions(protocol)) if (field) delete left[field]
  return left
}

/** Where the wire has options of streams, as keys one inside the other. */
export function streamOptions({ fieldNames }: Protocol): string[][] {
  return Object.entries(fieldNames).flatMap(([canonical, wire]) => (canonical.startsWith('stream.') && wire.includes('/') ? [wire.split('/')] : []))
}
