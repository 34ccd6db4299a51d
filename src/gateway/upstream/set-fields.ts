import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'
import type { Ask } from '../ask.ts'
import type { Candidate } from './catalog.ts'

type Fields = NonNullable<Candidate['channel']['set']>

/** Does the configuration set fields of this request? Only of one for a response. */
export const setsFields = ({ operation }: Pick<Ask, 'operation'>, { channel, entry, link }: Candidate): boolean =>
  operation === 'generate' && (channel.set ?? channel.setIfAbsent ?? entry.set ?? entry.setIfAbsent ?? link.set ?? link.setIfAbsent) !== undefined

/** The request with the fields that the configuration sets; those of the model override those of the channel, and those of the model at this channel override both. The same value if nothing changes. */
export function withSetFields(wire: unknown, { channel, entry, link }: Candidate): unknown {
  let body = wire
  const write = (fields: Fields | undefined, isForced: boolean) => {
    for (const [field, value] of Object.entries(fields ?? {})) body = written(body, field.split('.'), value, isForced)
  }
  write(link.setIfAbsent, false)
  write(entry.setIfAbsent, false)
  write(channel.setIfAbsent, false)
  write(channel.set, true)
  write(entry.set, true)
  write(link.set, true)
  return body
}

/** A copy with this value at these keys; an existing value stays unless `isForced`. */
function written(body: unknown, [key = '', ...rest]: readonly string[], value: unknown, isForced: boolean): unknown {
  const object: JsonObject = isObject(body) ? body : {}
  const present = Object.hasOwn(object, key) ? object[key] : undefined
  const isLeaf = rest.length === 0
  if (!isForced && present !== undefined && (isLeaf || !isObject(present))) return body
  const next = isLeaf ? value : written(present, rest, value, isForced)
  if (next === present) return body
  const copy = { ...object }
  setOwn(copy, key, next)
  return copy
}
