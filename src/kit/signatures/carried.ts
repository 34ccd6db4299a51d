import type { PlacedSignature } from '../../canonical/event.ts'
import type { Part, Place, Signature } from '../../canonical/message.ts'
import { omitUndefined } from '../fields/omit.ts'
import { unwrapSignature } from './envelope.ts'

/** A signature from a carrier block. `attach`: the part that it belongs to, see `ownerOf`. */
export type Carried = PlacedSignature & { attach: string }

/** The signature in the data of a carrier block. Undefined: the block is no carrier. */
export function carriedIn(data: unknown): Carried | undefined {
  if (typeof data !== 'string') return undefined
  const { signature, attach, id, kinds } = unwrapSignature(data) ?? {}
  return signature && attach !== undefined
    ? { signature, attach, ...omitUndefined({ id, kinds }) }
    : undefined
}

type Carrying = {
  report: {
    add(code: 'reasoning.foreign-signature', at: Place | undefined, field: 'signature'): void
  }
  opens: boolean
}

/**
 * Makes the carrier block for a signature that its part has no place for. Only toward who opens it;
 * toward others it is noted.
 */
export function carrier<Block>(
  { signature, at }: Part,
  { report, opens }: Carrying,
  encode: (placed: PlacedSignature, attach?: string) => Block,
): ((attach?: 'next' | 'prev' | 'text') => Block) | undefined {
  if (!signature) return undefined
  if (opens) return attach => encode({ signature }, attach)
  report.add('reasoning.foreign-signature', at, 'signature')
  return undefined
}

/** Adds the model to a signature of this issuer; a later request needs it. */
export function signedBy(
  model: string | undefined,
  issuer: string,
  signature: Signature,
): Signature {
  return model === undefined || signature.issuer !== issuer || signature.model !== undefined
    ? signature
    : { model, ...signature }
}

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
