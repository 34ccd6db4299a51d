import { isObject } from '../kit/json/json.ts'
import { printable } from '../kit/text/text.ts'
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'

/** The model ids in a listing of this protocol. Empty: the body is not such a listing. */
export function idsIn({ address }: Protocol, listing: unknown): string[] {
  const data =
    isObject(listing) && Array.isArray(listing['data']) ? (listing['data'] as unknown[]) : []
  const ids = address.listed
    ? address.listed(listing)
    : data.flatMap(model =>
        isObject(model) && typeof model['id'] === 'string' ? [model['id']] : [],
      )
  // An id with control characters cannot be requested, and a terminal that prints it would
  // interpret them.
  return ids.filter(id => printable(id) === id)
}

/** The model ids in a listing of any protocol. */
export function idsInAny(listing: unknown): string[] {
  return (
    Object.values(protocols)
      .map(protocol => idsIn(protocol, listing))
      .find(({ length }) => length > 0) ?? []
  )
}
