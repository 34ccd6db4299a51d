import { isObject, without } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { streamOptions } from '../../translate/unsupported.ts'

/** The request with streaming on or off, for protocols whose body says so. Nothing else changes. */
export function withStreaming(body: unknown, protocol: Protocol, enabled: boolean): unknown {
  const field = protocol.fieldNames['stream.enabled']
  if (!isObject(body) || field === undefined) return body
  const wire = { ...body, [field]: enabled }
  return enabled ? wire : withoutStreamOptions(wire, protocol)
}

/**
 * The request without stream options: servers refuse them without streaming, and some always do.
 */
export function withoutStreamOptions(body: unknown, protocol: Protocol): unknown {
  if (!isObject(body)) return body
  const fields = streamOptions(protocol).map(([field = '']) => field)
  return fields.some(field => Object.hasOwn(body, field)) ? without(body, fields) : body
}
