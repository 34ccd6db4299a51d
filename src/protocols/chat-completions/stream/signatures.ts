import type { Part, Place, ToolCallPart } from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { validCallId } from '../content/calls.ts'
import { carriesReasoning, carryReasoning } from '../content/carried-reasoning.ts'
import { encodeTextSignature, hasPhase, layoutPartsOf } from '../content/carriers.ts'
import { needsOrder, record, recordsLayout } from '../content/layout.ts'
import { encodeDetails, encodeSignatures, needsDetails } from '../content/reasoning.ts'
import { encodeCarried } from '../content/signatures.ts'
import { keep, noteUnstored } from '../content/stored-signatures.ts'
import type { ChatCompletionsCarriers, ChatCompletionsSignatureFields } from '../schema.ts'
import {
  type CallOut,
  type Choice,
  type EncoderState,
  type PartOut,
  reportOf,
  writingOf,
} from './encoder-state.ts'

/**
 * The fields to write next to a call that carries the reasoning before it. Undefined: it carries
 * none.
 */
export function carriedTo(
  { settings, native }: EncoderState,
  { since, head }: CallOut,
): ChatCompletionsSignatureFields | undefined {
  return native || !carriesReasoning(settings) ? undefined : carryReasoning(partsOf(since), head)
}

/** What has been written of reasoning, texts and calls. */
function partsOf(outs: readonly PartOut[]): Part[] {
  return outs.flatMap((out): Part[] => {
    if (out.kind === 'reasoning') return [out.part]
    if (out.kind === 'call') return [out.head]
    if (out.kind !== 'text') return []
    const { text, phase, signature, at } = out
    return [omitUndefined({ type: 'text' as const, text, phase, signature, at })]
  })
}

/** Puts the signatures of a complete choice into the store of the caller. */
export function storeSignatures(state: EncoderState, choice: Choice, details: unknown): void {
  const calls = [...choice.parts.values()].flatMap(out => (out.kind === 'call' ? [out.head] : []))
  const extra = Object.fromEntries(
    calls.flatMap(head =>
      head.signature ? [[shownId(state, head), encodeCarried(head.signature).extra_content]] : [],
    ),
  )
  const first = state.single ? undefined : calls[0]
  if (keep(state.signatures, first && shownId(state, first), { details, extra })) return
  noteUnstored(partsOf([...choice.parts.values()]), placeOf(choice), reportOf(state))
}

/** The path of the first of the messages that were merged into this choice. */
const placeOf = ({ roles }: Choice): Place => Object.values(roles)[0]?.at ?? ''

const shownId = ({ native }: EncoderState, { id }: ToolCallPart): string =>
  native ? id : mapCallId(id, validCallId)

/**
 * For the end of the stream, what plain text cannot carry: signatures, segments, the order of the
 * parts.
 */
export function encodeReasoning(
  state: EncoderState,
  choice: Choice,
): Pick<ChatCompletionsCarriers, 'reasoning_details' | 'thinking_blocks' | 'reasoning_items'> {
  const { reasoningField, signatures } = state.settings
  const writing = writingOf(state)
  const { report } = writing
  const all = partsOf([...choice.parts.values()])
  const reasoning = all.filter(part => part.type === 'reasoning')
  const parts = reasoning.filter(
    ({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined,
  )
  encodeTextSignature({ parts: all, recipient: 'client' }, writing)
  if (signatures === 'none') {
    for (const { signature, at } of parts)
      if (signature) report.add('reasoning.signature-dropped', at, 'signature')
    if (reasoningField !== 'details') return {}
  }
  const layoutParts = layoutPartsOf(all, state)
  const recorded = record(layoutParts)
  const proves =
    recordsLayout(state.settings) && (recorded.textSignatures.length > 0 || hasPhase(all))
  const wanted = reasoningField === 'details' ? parts.length > 0 : needsDetails(parts)
  if (!wanted && !proves) {
    if (!state.native && needsOrder(layoutParts)) report.add('parts.order-lost', placeOf(choice))
    return {}
  }
  if (signatures !== 'none') {
    if (!state.native && reasoning.length === 0 && recorded.textSignatures.length > 0)
      report.once('reasoning.dialect-field', placeOf(choice))
    return encodeSignatures({ ...recorded, parts }, state.native)
  }
  return {
    reasoning_details: encodeDetails({
      parts: parts.map(({ signature: _, ...rest }) => rest),
      layout: recorded.layout,
      textSignatures: [],
    }),
  }
}

/**
 * Makes notes for phases that no layout records, because the message has no text or no layout is
 * written.
 */
export function notePhases(state: EncoderState, { parts, phases }: Choice): void {
  const outs = [...parts.values()]
  const placed =
    state.settings.signatures !== 'store' ||
    (!state.single && outs.some(({ kind }) => kind === 'call'))
  const inLayout = recordsLayout(state.settings) && placed
  const worded = new Set(
    outs.flatMap(out => (out.kind === 'text' && out.text !== '' ? [out.message] : [])),
  )
  for (const [message, { at }] of phases)
    if (!inLayout || !worded.has(message)) reportOf(state).add('message.phase', at, 'phase')
}
