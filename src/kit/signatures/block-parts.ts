import { addDelta } from '../../canonical/collect.ts'
import type { Part, Place } from '../../canonical/message.ts'
import { noPhases, takePhase } from '../conversation/phases.ts'
import { below } from '../notes/path.ts'
import { flatMap } from '../text/flat-map.ts'
import { type Carried, ownerOf } from './carried.ts'
import { LeadingSignatures } from './leading-signatures.ts'

type BlockKinds<Block> = {
  report: { add(code: 'reasoning.signature-orphaned', at: Place | undefined): void }
  carrierOf(block: Block): Carried | undefined
  isCall(block: Block): boolean
  /** The part of a block. Undefined: it belongs to the part before it, the last of `parts`. */
  decode(block: Block, at: Place, index: number, parts: readonly Part[]): Part | undefined
}

/** The parts of a whole content, with the signatures and phases that carrier blocks hold for them. */
export function partsOfBlocks<Block>(
  content: readonly Block[],
  at: Place,
  { report, carrierOf, isCall, decode }: BlockKinds<Block>,
): Part[] {
  const parts: Part[] = []
  let inFront: LeadingSignatures | undefined
  const phases = noPhases()
  const lose = (place: Place | undefined) => report.add('reasoning.signature-orphaned', place)
  content.forEach((block, index) => {
    const here = below(at, index)
    const carried = carrierOf(block)
    if (carried?.attach === 'next') {
      inFront ??= new LeadingSignatures(
        flatMap(content, (one, nth) => (isCall(one) ? [nth] : [])),
        lose,
      )
      inFront.add({ signature: carried.signature, at: here, index })
    } else if (carried?.attach === 'text')
      parts.push({ type: 'text', text: '', signature: carried.signature, at: here })
    else if (carried) {
      const owner = ownerOf(carried.attach, parts)
      if (owner) addDelta(owner, { kind: 'signature', ...carried })
      else lose(here)
    } else {
      const part = decode(block, here, index, parts)
      if (!part || takePhase(phases, part)) return
      parts.push(part)
      inFront?.give(part, index)
    }
  })
  inFront?.end()
  return parts
}
