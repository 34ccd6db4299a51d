import type { ExtMap, ReasoningPart, Signature } from '../../canonical/message.ts'
import { writtenReasoning } from '../fields/written.ts'
import type { Report } from '../notes/report.ts'
import type { SharedNotes } from '../notes/shared.ts'
import { lengthOf, type SegmentLength, textIn } from './segments.ts'

type ReasoningWriting = {
  report: Pick<Report<SharedNotes>, 'add' | 'node' | 'onceEach'>
  to: 'provider' | 'client'
  opens: boolean
  native: boolean
  mixed?: boolean
  model?: string | undefined
}

/** How a protocol writes reasoning, which is one text with one signature in a block. */
export type ReasoningWire<Block, Writing> = {
  text(text: string, signature: string | undefined, ext: ExtMap | undefined): Block
  /** Without text. `data`: the signature as a blob. */
  redacted(data: string, ext: ExtMap | undefined): Block
  /** The signature of a block with text that has none and goes to a client. */
  unsigned: '' | undefined
  /** Does the model that the request is for accept the signature? */
  accepts(signature: Signature, writing: Writing): boolean
  isOtherFamily(made: string | undefined, model: string | undefined): boolean
  blobOf(signature: Signature): string
  /** The signature as a client gets it, with what its block has no field for. */
  seal(
    signature: Signature,
    id: string | undefined,
    segments: readonly SegmentLength[],
    writing: Writing,
  ): string
  sealBlob(signature: Signature, id: string | undefined, writing: Writing): string
}

export const reasoningEncoder =
  <Block, Writing extends ReasoningWriting>(wire: ReasoningWire<Block, Writing>) =>
  (part: ReasoningPart, writing: Writing): Block[] => {
    const { report, to, opens, native, mixed, model } = writing
    const { segments, signature, id, redacted, at, ext } = part
    const text = textIn(part)
    const isHidden = redacted === true && !text
    const noteId = () => report.onceEach('message.envelope', at, { itemId: id })
    report.node(part, writtenReasoning)
    if (signature && (to === 'client' || opens)) {
      // Clients send every signature back, and servers that open envelopes read every one.
      if (isHidden) return [wire.redacted(wire.sealBlob(signature, id, writing), ext)]
      return [wire.text(text, wire.seal(signature, id, segments.map(lengthOf), writing), ext)]
    }
    if (signature ? wire.accepts(signature, writing) : to === 'client') {
      noteId()
      if (!signature && !text) return []
      if (signature && wire.isOtherFamily(signature.model, model))
        report.add('reasoning.other-model', at)
      if (segments.length > 1) report.add('reasoning.joined', at)
      if (signature && isHidden) return [wire.redacted(wire.blobOf(signature), ext)]
      return [wire.text(text, signature?.value ?? wire.unsigned, ext)]
    }
    if (!signature && native && !mixed) return [wire.text(text, undefined, ext)]
    if (!signature && !text && id !== undefined) noteId()
    else report.add(signature ? 'reasoning.foreign-signature' : 'reasoning.unsigned', at)
    return []
  }
