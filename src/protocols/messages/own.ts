import type { ExtMap } from '../../canonical/message.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { merge } from '../../kit/json/json.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'messages'

/** The path of its main endpoint. */
export const path = '/v1/messages'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf, ownUnder } = createOwn(protocolName)

/** A wire object: the unknown keys, overridden by the known ones. */
export function wireOf<T extends object>(known: NoInfer<T>, ext: ExtMap | undefined): T {
  const fields = ownOf(ext)
  // Only keys without a value are left out, which are optional ones.
  return fields ? merge<T>(fields, known) : (omitUndefined(known) as T)
}
