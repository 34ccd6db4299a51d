import type { Note } from '../../canonical/note.ts'
import { isObject } from '../../kit/json/json.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { pointer } from '../../kit/notes/path.ts'
import { withValueAt } from '../body/with-value-at.ts'
import type { RequestContext } from '../request-context.ts'
import type { Deployment } from './catalog.ts'

type Fields = NonNullable<Deployment['channel']['set']>

/** Does the configuration set fields of this request? Only of one for a response. */
export const setsFields = (
  { operation }: Pick<RequestContext, 'operation'>,
  { channel, entry, link }: Deployment,
): boolean =>
  operation === 'generate' &&
  (channel.set ??
    channel.setIfAbsent ??
    entry.set ??
    entry.setIfAbsent ??
    link.set ??
    link.setIfAbsent) !== undefined

/**
 * The request with the fields that the configuration sets; those of the model override those of the
 * channel, and those of the model at this channel override both. The same body if nothing changes.
 * Notes: a value of the request that is replaced.
 */
export function withSetFields(
  wire: unknown,
  { channel, entry, link }: Deployment,
): { body: unknown; notes: Note[] } {
  const forced = { ...channel.set, ...entry.set, ...link.set }
  const replaced = Object.keys(forced).filter(field =>
    isReplaced(valueAt(wire, field), forced[field]),
  )
  let body = wire
  const write = (fields: Fields | undefined, isForced: boolean) => {
    for (const [field, value] of Object.entries(fields ?? {}))
      body = withValueAt(body, field.split('.'), value, isForced)
  }
  write(link.setIfAbsent, false)
  write(entry.setIfAbsent, false)
  write(channel.setIfAbsent, false)
  write(channel.set, true)
  write(entry.set, true)
  write(link.set, true)
  return {
    body,
    notes: replaced.map(field => gatewayNote('gateway.field-set', pointer(field.split('.')))),
  }
}

const isReplaced = (before: unknown, after: unknown) =>
  before !== undefined && JSON.stringify(before) !== JSON.stringify(after)

function valueAt(body: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>(
      (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      body,
    )
}
