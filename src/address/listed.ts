import { isObject } from '../kit/json.ts'
import { printable } from '../kit/text.ts'
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'

/** The ids of the models in a listing as this protocol writes it; none where the body is no such listing. */
export function idsIn({ address }: Protocol, listing: unknown): string[] {
  const data = isObject(listing) && Array.isArray(listing['data']) ? (listing['data'] as unknown[]) : []
  const ids = address.listed ? address.listed(listing) : data.flatMap(model => (isObject(model) && typeof model['id'] === 'string' ? [model['id']] : []))
  // Nobody can ask for a model by an id that holds control characters, and a terminal that shows it does what they say.
  return ids.filter(id => printable(id) === id)
}

/** The ids in a listing of whatever protocol. */
export function idsInAny(listing: unknown): string[] {
  return (
    Object.values(protocols)
      .map(protocol => idsIn(protocol, listing))
      .find(({ length }) => length > 0) ?? []
  )
}
