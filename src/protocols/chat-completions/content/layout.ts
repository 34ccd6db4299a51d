import type {
  Citation,
  Message,
  Part,
  Place,
  ReasoningPart,
  Signature,
  TextPart,
} from '../../../canonical/message.ts'
import { below } from '../../../kit/notes/path.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { lengthOf } from '../../../kit/text/text.ts'
import type { ChatReport } from '../notes.ts'
import type { ChatCompletionsOptions } from '../options.ts'

/**
 * The wire has one field for each kind of part. What this loses is recorded in the `reasoning_details` of a response, so that the next
 * request brings it back: the order of the parts, where one text ends and the next begins, their phases and signatures.
 */

export type Phase = NonNullable<Message['phase']>

/** `attach`: the signature belongs to the last text (`prev`), to an additional empty text after it (`text`), or to the k-th text of the layout (`x0`). */
export type TextSignature = { signature: Signature; attach: string }

/** `layout`: `r0` reasoning, `x12` text of that many UTF-16 units, `x12+commentary` with its phase, `c…` call. */
export type Recorded = { layout?: string[] | undefined; textSignatures: TextSignature[] }

/** Do the options allow a response to carry a layout and signatures? */
export function recordsLayout({ reasoningField, signatures }: ChatCompletionsOptions): boolean {
  return reasoningField !== 'omit' && signatures !== 'none'
}

/** What a layout needs to know of a part. */
export type LayoutPart =
  | { kind: 'reasoning' }
  | { kind: 'text'; text: string; phase?: Phase | undefined; signature?: Signature | undefined }
  | { kind: 'call'; id: string }

/** The layout and the text signatures of a response. Empty texts without a signature are skipped. */
export function record(parts: readonly LayoutPart[]): Recorded {
  const placed = parts.filter(part => part.kind !== 'text' || part.text !== '' || part.signature)
  const texts = placed.filter(part => part.kind === 'text')
  const signed = flatMap(texts, (part, k) =>
    part.signature ? [{ part, signature: part.signature, k }] : [],
  )
  const whole = tokensOf(placed)
  const [only] = signed
  if (only && signed.length === 1) {
    const worded = tokensOf(placed.filter(part => part !== only.part || only.part.text !== ''))
    const isLast = only.k === texts.length - 1
    if (only.part.text !== '' && isLast)
      return {
        layout: unusual(whole, texts),
        textSignatures: [{ signature: only.signature, attach: 'prev' }],
      }
    if (only.part.text === '' && isLast && !isDisordered(whole) && !unusual(worded, texts))
      return { layout: undefined, textSignatures: [{ signature: only.signature, attach: 'text' }] }
  }
  return {
    layout: only ? whole : unusual(whole, texts),
    textSignatures: signed.map(({ signature, k }) => ({ signature, attach: `x${k}` })),
  }
}

function tokensOf(parts: readonly LayoutPart[]): string[] {
  let reasoning = 0
  return parts.map(part => {
    if (part.kind === 'reasoning') return `r${reasoning++}`
    return part.kind === 'call'
      ? `c${part.id}`
      : `x${part.text.length}${part.phase ? `+${part.phase}` : ''}`
  })
}

const ranks = { reasoning: 0, text: 1, call: 2 }
const ranksOf = (layout: readonly string[]) => layout.map(token => 'rxc'.indexOf(token.charAt(0)))

/** Are its tokens in another order than the default: reasoning, text, calls? */
const isDisordered = (layout: readonly string[]) =>
  ranksOf(layout).some((rank, i, ranks) => rank < (ranks[i - 1] ?? 0))

/** The same for parts. */
export function isOutOfOrder(parts: readonly LayoutPart[]): boolean {
  let last = 0
  for (const part of parts) {
    if (part.kind === 'text' && part.text === '') continue
    if (ranks[part.kind] < last) return true
    last = ranks[part.kind]
  }
  return false
}

/** Would a client need the layout even if no text had a phase or a signature? */
export const needsOrder = (parts: readonly LayoutPart[]) =>
  record(parts.map(part => (part.kind === 'text' ? { kind: part.kind, text: part.text } : part)))
    .layout !== undefined

/** Undefined: the layout is the default one, which is reasoning, one text, calls; without reasoning there may be several texts. */
function unusual(
  layout: string[],
  texts: readonly { phase?: Phase | undefined }[],
): string[] | undefined {
  const ranks = ranksOf(layout)
  const joined = ranks.includes(0) && ranks.filter(rank => rank === 1).length > 1
  return isDisordered(layout) || joined || texts.some(({ phase }) => phase) ? layout : undefined
}

export type Slots = { reasoning: ReasoningPart[]; body: Part[]; others: Part[]; calls: Part[] }

/**
 * The parts of a message in the order of the layout if it fits them, else in the default order, with text signatures restored. `at`: path
 * of the layout.
 */
export function arrange(
  slots: Slots,
  { layout, textSignatures }: Recorded,
  {
    report,
    at,
    layoutAt = below(at, 'reasoning_details'),
  }: { report: ChatReport; at: Place; layoutAt?: Place },
): Part[] {
  const ordered = layout && inOrder(slots, layout, { textSignatures, at })
  if (layout && !ordered) report.add('parts.layout-stale', layoutAt)
  const { reasoning, body, others, calls } = slots
  const parts = ordered ? [...ordered, ...others] : [...reasoning, ...body, ...others, ...calls]
  for (const { signature, attach } of textSignatures) {
    const text =
      attach === 'prev'
        ? parts.findLast((part): part is TextPart => part.type === 'text' && part.text !== '')
        : undefined
    if (text) text.signature = signature
    else if (attach === 'prev' || attach === 'text') addSignedText(parts, signature, at)
  }
  return parts
}

/** A part of a stream. `length`: that of a text, in UTF-16 units. */
export type ReceivedPart = { part: number; kind: 'r' | 'x' | 'c'; length: number }

/** Does the layout equal the parts that the stream has emitted? Emitted parts can neither be moved nor get a phase. */
export function isInOrder(layout: readonly string[], received: readonly ReceivedPart[]): boolean {
  const tokens = received.map(({ kind, length }) => (kind === 'x' ? `x${length}` : kind))
  return (
    layout.length === tokens.length &&
    layout.every((token, i) => (token.startsWith('x') ? token : token.charAt(0)) === tokens[i])
  )
}

const textToken = /^x(\d+)(?:\+(commentary|final_answer))?$/

/** Undefined: the layout does not fit the parts. */
function inOrder(
  { reasoning, body, calls }: Slots,
  layout: readonly string[],
  { textSignatures, at }: { textSignatures: readonly TextSignature[]; at: Place },
): Part[] | undefined {
  const [text] = body
  if (body.length > 1 || (text && text.type !== 'text')) return undefined
  const { text: whole, ...head }: TextPart = text ?? {
    type: 'text',
    text: '',
    at: below(at, 'content'),
  }
  const ordered: Part[] = []
  let cut = 0
  let ordinal = 0
  for (const token of layout) {
    const rest = token.slice(1)
    const [isText, length, phase] = textToken.exec(token) ?? []
    if (isText) {
      const end = cut + Number(length)
      const signature = textSignatures.find(({ attach }) => attach === `x${ordinal}`)?.signature
      ordered.push({
        ...cutOut(head, whole, cut, end),
        ...(phase && { phase: phase as Phase }),
        ...(signature && { signature }),
      })
      cut = end
      ordinal++
    } else if (token.startsWith('r'))
      ordered.push(...reasoning.slice(Number(rest), Number(rest) + 1))
    else if (token.startsWith('c')) {
      // Some models give two calls the same id.
      const call = calls.find(
        one =>
          one.type === 'tool-call' &&
          !ordered.includes(one) &&
          (one.id === rest || one.idOrigin === 'synthesized'),
      )
      if (call) ordered.push(call)
    }
  }
  const fits =
    cut === whole.length &&
    ordered.filter(part => part.type !== 'text').length === reasoning.length + calls.length
  return fits ? ordered : undefined
}

/** Cuts one text out of a joined text, with the citations that begin in it. */
export function cutOut(
  { citations, ...head }: Omit<TextPart, 'text'>,
  whole: string,
  start: number,
  end: number,
): TextPart {
  const text = whole.slice(start, end)
  if (!citations) return { ...head, text }
  const before = lengthOf(whole.slice(0, start))
  const after = before + lengthOf(text)
  const last = end === whole.length && text !== ''
  const inside = flatMap(citations, (citation): Citation[] => {
    const { start: from, end: to } = citation
    if (from === undefined || to === undefined || from >= lengthOf(whole))
      return last ? [citation] : []
    return from >= before && from < after
      ? [{ ...citation, start: from - before, end: to - before }]
      : []
  })
  return { ...head, text, ...(inside.length > 0 && { citations: inside }) }
}

/** Adds an empty text after the others, which only holds the signature. */
function addSignedText(parts: Part[], signature: Signature, at: Place): void {
  const calls = parts.findIndex(({ type }) => type === 'tool-call')
  const place =
    parts.findLastIndex(({ type }) => type === 'text') + 1 || (calls < 0 ? parts.length : calls)
  parts.splice(place, 0, { type: 'text', text: '', signature, at: below(at, 'content') })
}
