import { isObject } from '../kit/json.ts'
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'

/** Nobody can ask for a model by them, and a terminal that shows them does what they say. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f]/

/** The ids of the models in a listing as this protocol writes it; none where the body is no such listing. */
export function idsIn({ address }: Protocol, listing: unknown): string[] {
  const data = isObject(listing) && Array.isArray(listing['data']) ? (listing['data'] as unknown[]) : []
  const ids = address.listed ? address.listed(listing) : data.flatMap(model => (isObject(model) && typeof model['id'] === 'string' ? [model['id']] : []))
  return ids.filter(id => !control.test(id))
}

/** The ids in a listing of whatever protocol. */
export function idsInAny(listing: unknown): string[] {
  return (
    Object.values(protocols)
      .map(protocol => idsIn(protocol, listing))
      .find(({ length }) => length > 0) ?? []
  )
}
