import type { Part, Place, ToolCallPart } from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { validCallId } from '../content/calls.ts'
import { carriesReasoning, carryReasoning } from '../content/carried-reasoning.ts'
import { finishCarriers, textField } from '../content/carriers.ts'
import { notePhases } from '../content/layout.ts'
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

/**
 * Puts the signatures of a complete choice into the store of the caller. False: there is no call
 * whose id could be the key.
 */
export function storeSignatures(state: EncoderState, choice: Choice, details: unknown): boolean {
  const calls = [...choice.parts.values()].flatMap(out => (out.kind === 'call' ? [out.head] : []))
  const extra = Object.fromEntries(
    calls.flatMap(head =>
      head.signature ? [[shownId(state, head), encodeCarried(head.signature).extra_content]] : [],
    ),
  )
  const first = state.single ? undefined : calls[0]
  const isKept = keep(state.signatures, first && shownId(state, first), { details, extra })
  if (!isKept) noteUnstored(partsOf([...choice.parts.values()]), placeOf(choice), reportOf(state))
  return isKept
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
  const parts = partsOf([...choice.parts.values()])
  const reasoning = parts.filter(part => part.type === 'reasoning')
  const from = { parts, reasoning: 'all', recipient: 'client', at: placeOf(choice) } as const
  const carriers = finishCarriers(reasoning, from, writingOf(state))
  // The text has been written.
  delete carriers[textField(state.settings)]
  return carriers
}

/** Notes the phases that the client does not get. `isKept`: it gets what is recorded. */
export function noteLostPhases(
  state: EncoderState,
  { parts, phases }: Choice,
  isKept: boolean,
): void {
  const worded = new Set(
    [...parts.values()].map(out => (out.kind === 'text' && out.text !== '' ? out.message : -1)),
  )
  const messages = [...phases].map(([message, of]) => ({ ...of, hasWords: worded.has(message) }))
  notePhases(messages, isKept, writingOf(state))
}
