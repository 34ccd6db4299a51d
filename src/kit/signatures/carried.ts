import type { PlacedSignature } from '../../canonical/event.ts'
import type { Part } from '../../canonical/message.ts'

/** A signature from a carrier block. `attach`: the part that it belongs to, see `ownerOf`. */
export type Carried = PlacedSignature & { attach: string }

/**
 * Number of the reasoning part that the signature belongs to, from 0. Undefined: it belongs to no
 * reasoning part.
 */
export function ordinalOf(attach: string): number | undefined {
  const nth = /^r(\d+)$/.exec(attach)?.[1]
  return nth === undefined ? undefined : Number(nth)
}

/** `prev`: the part before; `r2`: the third reasoning part; `c:<id>`: a call by its id. */
export function ownerOf(attach: string, parts: readonly Part[]): Part | undefined {
  if (attach === 'prev') return parts.at(-1)
  if (attach.startsWith('c:'))
    return parts.find(part => part.type === 'tool-call' && part.id === attach.slice(2))
  const nth = ordinalOf(attach)
  return nth === undefined ? undefined : parts.filter(part => part.type === 'reasoning')[nth]
}
