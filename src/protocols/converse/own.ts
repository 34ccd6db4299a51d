import type { ExtMap } from '../../canonical/message.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { type JsonObject, merge } from '../../kit/json/json.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'converse'

/** The path of its main endpoint. */
export const path = '/model/{modelId}/converse'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf, ownUnder, wireOf } = createOwn(protocolName)

// A block is an object in an object, `{ image: { format } }`: its node is the inner one.

/**
 * Keeps the unknown keys of a block in its node: those inside, and those next to its kind, under
 * `../`. Changes the node.
 */
export function keepBoth<T extends object>(
  node: T & { ext?: ExtMap },
  inside: JsonObject | undefined,
  around: JsonObject | undefined,
): T {
  if (!inside && !around) return node
  const fields: JsonObject = {}
  for (const key in inside) fields[/^\.{1,2}\//.test(key) ? `./${key}` : key] = inside[key]
  for (const key in around) fields[`../${key}`] = around[key]
  return keep(node, fields)
}

/** A block of this kind, with the unknown keys that `keepBoth` has kept. */
export function blockOf<Block extends object, Kind extends keyof Block & string>(
  kind: Kind,
  known: NoInfer<Block[Kind]> & object,
  ext: ExtMap | undefined,
): Block {
  const kept = ownOf(ext)
  const block: JsonObject = {}
  if (!kept) block[kind] = omitUndefined(known)
  else {
    const inside: JsonObject = {}
    for (const key in kept)
      if (key.startsWith('../')) block[key.slice(3)] = kept[key]
      else inside[key.startsWith('./') ? key.slice(2) : key] = kept[key]
    block[kind] = merge<object>(inside, known)
  }
  // It has the key of its kind, and those that were read.
  return block as Block
}
