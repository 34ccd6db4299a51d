import { addDelta } from '../../../canonical/collect.ts'
import type {
  Place,
  ReasoningPart,
  ReasoningSegment,
  Signature,
} from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import type { EmitEvent } from '../../../protocol.ts'
import {
  decodeDetail,
  decodeItem,
  decodeLiteBlock,
  type Item,
  listIn,
  readSignature,
  reasoningText,
} from '../content/reasoning.ts'
import { carriedIssuer, isOwnIssuer, readCarried } from '../content/signatures.ts'
import { add, type Choice, closePart, opened, openPart, placeOf } from './decoder-state.ts'

/** Reasoning in the deltas of a stream: plain text, and details that carry signatures. */

/**
 * Is the reasoning of this delta read from its details? They are preferred, unless earlier deltas
 * had plain text.
 */
export function isDetailed({ plain }: Choice, delta: JsonObject): boolean {
  const details = listIn(delta, 'reasoning_details')
  return (
    !plain &&
    Array.isArray(details) &&
    details.some(entry => isObject(entry) && (isText(entry['text']) || isText(entry['summary'])))
  )
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

export function appendPlain(choice: Choice, text: string, emit: EmitEvent): void {
  choice.plain = true
  appendReasoning(choice, { text, of: 'raw', emit })
}

export function appendReasoning(
  choice: Choice,
  { text, of, emit }: { text: string; of: 'raw' | 'summary'; emit: EmitEvent },
): void {
  add(choice, opened(choice, 'reasoning', emit), {
    delta: { kind: 'reasoning', segment: 0, of, text },
    emit,
  })
}

/**
 * Details carry signatures. Their text is used only while no plain field has been read (see
 * `isDetailed`): some servers repeat the whole text at the end.
 */
export function readDetails(choice: Choice, details: readonly unknown[], emit: EmitEvent): void {
  for (const entry of details) {
    const layout = isObject(entry) ? decodeDetail(entry).layout : undefined
    if (!layout) continue
    choice.layout = layout
    choice.textTokens = layout.filter(token => token.startsWith('x'))
  }
  // All texts are recorded first, because the part that a signature belongs to can depend on later
  // entries.
  if (choice.plain) for (const entry of details) if (isObject(entry)) recordDetail(choice, entry)
  details.forEach((entry, nth) => {
    if (!isObject(entry)) return
    const { kind, text, signature, id, layout, attach } = decodeDetail(entry)
    if (attach && signature) signText(choice, { signature, attach }, emit)
    if (layout || attach) return
    const index = indexOf(entry)
    if (text && !choice.plain) {
      if (choice.open?.kind === 'reasoning' && choice.detail !== index) closePart(choice, emit)
      choice.detail = index
      appendReasoning(choice, { text, of: kind, emit })
      const latest = choice.reasoning.at(-1)
      if (latest) {
        latest.detail = index
        if (id !== undefined && latest.content.id === undefined)
          Object.assign(latest.content, {
            id,
            at: `${pointerOf(placeOf(choice))}/${detailAt(choice, details, nth)}`,
          })
      }
    }
    if (signature) sign(choice, { signature, id, index, at: detailAt(choice, details, nth), emit })
  })
}

/** The path in the message of the nth of the latest details. */
const detailAt = (choice: Choice, details: readonly unknown[], nth: number) =>
  `reasoning_details/${choice.details.length - details.length + nth}`

const indexOf = ({ index }: JsonObject): number => (typeof index === 'number' ? index : 0)

/** Records the text of a detail when a plain field carries the reasoning. */
function recordDetail(choice: Choice, entry: JsonObject): void {
  const { kind, text, layout, attach } = decodeDetail(entry)
  if (text && !layout && !attach) record(choice, { index: indexOf(entry), kind, text })
}

function record(
  { detailed }: Choice,
  { index, kind, text }: ReasoningSegment & { index: number },
): void {
  detailed.set(index, { kind, text: (detailed.get(index)?.text ?? '') + text })
}

/**
 * What proxies send next to plain reasoning: thinking blocks of the messages protocol, or only the
 * signature.
 */
export function readOtherCarriers(choice: Choice, delta: JsonObject, emit: EmitEvent): void {
  const { reasoning_signature: value } = delta
  const blocks = listIn(delta, 'thinking_blocks')
  const list = Array.isArray(blocks) ? blocks : []
  list.forEach((block, nth) => {
    for (const { segments, signature } of decodeLiteBlock(block, '', 'server')) {
      // Proxies repeat whole blocks, in another field or at the end.
      if (signature && choice.proofs.has(signature.value)) continue
      const index = choice.detail ?? choice.proven
      for (const { text, kind } of segments)
        if (choice.plain) record(choice, { index, kind, text })
        else appendReasoning(choice, { text, of: kind, emit })
      if (!signature) continue
      choice.proven++
      sign(choice, {
        signature,
        id: undefined,
        index,
        at: `thinking_blocks/${choice.blocks.length - list.length + nth}`,
        emit,
      })
      // Reasoning after a signature is another part.
      closePart(choice, emit)
    }
  })
  if (typeof value === 'string' && value)
    sign(choice, {
      signature: readSignature(value, 'thinking').signature,
      id: undefined,
      index: choice.detail,
      at: 'reasoning_signature',
      emit,
    })
}

/**
 * The reasoning items of the responses protocol, which LiteLLM sends last. Their texts are those of
 * the plain field, if it came.
 */
export function readItems(choice: Choice, items: readonly Item[], emit: EmitEvent): void {
  const start = choice.items
  choice.items += items.length
  // Details say the same and more.
  if (choice.details.length > 0) return
  // Otherwise an item without text would sign the open reasoning.
  if (choice.open?.kind === 'reasoning') closePart(choice, emit)
  const parts = items.map((item, nth) =>
    decodeItem(item, `${pointerOf(placeOf(choice))}/reasoning_items/${start + nth}`, 'server'),
  )
  const isSpoken = ({ segments }: ReasoningPart) => choice.plain && segments.length > 0
  // All texts are recorded first, as those of details.
  parts.forEach((part, nth) => {
    if (isSpoken(part))
      record(choice, { index: start + nth, kind: 'summary', text: reasoningText([part]) })
  })
  parts.forEach((part, nth) => {
    const { signature, id } = part
    // An id without a signature is of no use to anyone, and its text has been read.
    if (!isSpoken(part)) emitWhole(choice, part, emit)
    else if (signature)
      sign(choice, {
        signature,
        id,
        index: start + nth,
        at: `reasoning_items/${start + nth}`,
        emit,
      })
  })
}

function emitWhole(choice: Choice, whole: ReasoningPart, emit: EmitEvent): void {
  closePart(choice, emit)
  const part = openPart(choice, whole, emit)
  emit({ type: 'part.end', candidate: choice.candidate, part })
}

/**
 * A signature of the text, as Google's compatible endpoint sends it. Returns the rest of the delta.
 */
export function readTextSignature(choice: Choice, delta: JsonObject, emit: EmitEvent): JsonObject {
  const { signature, left } = readCarried(delta, carriedIssuer.server)
  if (!signature) return left
  const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'].filter(isObject) : []
  const isOfCall =
    choice.callProofs.has(signature.value) ||
    calls.some(call => readCarried(call, carriedIssuer.server).signature?.value === signature.value)
  if (!isOfCall) signText(choice, { signature, attach: 'prev' }, emit)
  return left
}

/**
 * `attach`: the signature belongs to the last text (`prev`), to the k-th text of the layout (`x0`),
 * or else to an additional empty text.
 */
function signText(
  choice: Choice,
  { signature, attach }: { signature: Signature; attach: string },
  emit: EmitEvent,
): void {
  const { texts, textTokens: tokens } = choice
  const nth = attach === 'prev' ? texts.length - 1 : Number(/^x(\d+)$/.exec(attach)?.[1] ?? -1)
  const signed =
    attach !== 'prev' && texts[nth]?.length !== textLength(tokens[nth]) ? undefined : texts[nth]
  if (signed && signed.part === choice.open?.part) {
    add(choice, signed.part, { delta: { kind: 'signature', signature }, emit })
    return
  }
  closePart(choice, emit)
  const part = openPart(choice, { type: 'text', text: '', signature }, emit)
  emit({ type: 'part.end', candidate: choice.candidate, part })
}

const textLength = (token = '') => Number(/^x(\d+)/.exec(token)?.[1])

/**
 * `index`: that of the entry or block that carries the signature, if it has one; `at`: path in the
 * message.
 */
type SignatureDelta = {
  signature: Signature
  id: string | undefined
  index: number | undefined
  at: Place
  emit: EmitEvent
}

function sign(choice: Choice, { signature, id, index, at, emit }: SignatureDelta): void {
  const { part, thought } = choice.open ?? {}
  const proves = part !== undefined && thought && provesOpen(choice, thought, index)
  // The kind of its segments can be corrected only after the part has ended.
  const endsIt = proves && choice.plain && kindOf(choice, { signature, index }) !== undefined
  if (endsIt) closePart(choice, emit)
  else if (proves) {
    if (id !== undefined) thought.id = id
    choice.signer = index
    choice.proofs.add(signature.value)
    add(choice, part, { delta: { kind: 'signature', signature }, emit })
    return
  }
  const late = endsIt ? choice.reasoning.at(-1) : openReasoning(choice, index)
  if (late) {
    const kind = kindOf(choice, { signature, index })
    const kinds = kind && late.content.segments.map(() => kind)
    const delta = { kind: 'signature' as const, signature, ...omitUndefined({ id, kinds }) }
    addDelta(late.content, delta)
    choice.proofs.add(signature.value)
    emit({ type: 'part.delta', candidate: choice.candidate, part: late.part, delta })
    return
  }
  if (index !== undefined && choice.detailed.has(index)) choice.strays.push(at)
  // No reasoning part matches, so the signature becomes a part of its own without text.
  const redacted = signature.form === 'thinking' ? {} : { redacted: true }
  emitWhole(
    choice,
    { type: 'reasoning', segments: [], signature, ...redacted, ...omitUndefined({ id }) },
    emit,
  )
}

/**
 * The kind of the reasoning, if it is not raw. The text of a thinking block is a summary, whatever
 * the type of its entry.
 */
function kindOf(
  { detailed }: Choice,
  { signature, index }: Pick<SignatureDelta, 'signature' | 'index'>,
): 'summary' | undefined {
  const isBlock = signature.form === 'thinking' && !isOwnIssuer(signature.issuer)
  return isBlock || (index !== undefined && detailed.get(index)?.kind === 'summary')
    ? 'summary'
    : undefined
}

/**
 * Does this signature belong to the open reasoning part? A plain field joins texts that are
 * separate in the details.
 */
function provesOpen(choice: Choice, thought: ReasoningPart, index: number | undefined): boolean {
  const { plain, detail, detailed, signer } = choice
  if (!plain) return detail === undefined || detail === index
  const text = index === undefined ? undefined : detailed.get(index)?.text
  if (thought.signature && signer !== index) return false
  // Of a text that another entry holds, a signature without text is no signature.
  if (text === undefined)
    return (
      index === undefined ||
      ![...detailed.values()].some(other => says(choice, thought, other.text))
    )
  // The entry with the signature may hold only the last chunk of the text.
  return detailed.size === 1
    ? isComparable(choice, thought, text) && bare(reasoningText([thought])).endsWith(bare(text))
    : says(choice, thought, text)
}

/**
 * The closed reasoning part that the detail of this index belongs to: servers that use a plain
 * field send signatures last.
 */
function openReasoning(
  choice: Choice,
  index: number | undefined,
): Choice['reasoning'][number] | undefined {
  const { reasoning, detailed, plain } = choice
  while (reasoning[choice.firstUnsigned]?.content.signature) choice.firstUnsigned++
  if (index === undefined) return reasoning[choice.firstUnsigned]
  if (!plain)
    return reasoning.findLast(({ detail, content }) => detail === index && !content.signature)
  const text = detailed.get(index)?.text
  return text === undefined
    ? undefined
    : reasoning.find(({ content }) => !content.signature && says(choice, content, text))
}

const says = (choice: Choice, thought: ReasoningPart, text: string) =>
  isComparable(choice, thought, text) && bare(reasoningText([thought])) === bare(text)

function isComparable(choice: Choice, { segments }: ReasoningPart, text: string): boolean {
  choice.comparable -= text.length + 1
  for (const segment of segments) choice.comparable -= segment.text.length
  return choice.comparable >= 0
}

/** Without white space, because the empty lines between segments belong to none of them. */
const bare = (text: string) => text.replaceAll(/\s/g, '')
