import type {
  Citation,
  Message,
  Part,
  Place,
  ReasoningPart,
  Signature,
  TextPart,
} from '../../../canonical/message.ts'
import { proofOf } from '../../../kit/conversation/turns.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { below } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { cutIn, lengthOf } from '../../../kit/text/text.ts'
import type { ChatCompletionsOptions } from '../options.ts'
import type { ChatCompletionsReport } from '../own.ts'
import type { PartWriting } from './writing.ts'

/**
 * The wire has one field for each kind of part. What this loses is recorded in the
 * `reasoning_details` of a response, so that the next request brings it back: the order of the
 * parts, where one text ends and the next begins, their phases and signatures.
 */

export type Phase = NonNullable<Message['phase']>

/**
 * `attach`: the signature belongs to the last text (`prev`), to an additional empty text after it
 * (`text`), or to the k-th text of the layout (`x0`).
 */
export type TextSignature = { signature: Signature; attach: string }

/**
 * `layout`: `r0` reasoning, `x12` text of that many UTF-16 units, `x12+commentary` with its phase,
 * `c…` call.
 */
export type Recorded = { layout?: string[] | undefined; textSignatures: TextSignature[] }

/** Do the options allow a response to carry a layout and signatures? */
export function recordsLayout({ reasoningField, signatures }: ChatCompletionsOptions): boolean {
  return reasoningField !== 'omit' && signatures !== 'none'
}

/**
 * Makes notes for phases that no layout records, because the message has no text or no layout is
 * written. `isKept`: the client or its store gets what is recorded.
 */
export function notePhases(
  messages: Iterable<{ phase?: unknown; at?: Place | undefined; hasWords: boolean }>,
  isKept: boolean,
  { report, options }: PartWriting,
): void {
  const inLayout = isKept && recordsLayout(options)
  for (const { phase, at, hasWords } of messages)
    if (phase && !(inLayout && hasWords)) report.add('message.phase', at, 'phase')
}

/** What a layout needs to know of a part. */
export type LayoutPart =
  | { kind: 'reasoning' }
  | { kind: 'text'; text: string; phase?: Phase | undefined; signature?: Signature | undefined }
  | { kind: 'call'; id: string }

/**
 * The layout and the text signatures of a response. Empty texts without a signature are skipped.
 */
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

/**
 * Undefined: the layout is the default one, which is reasoning, one text, calls; without reasoning
 * there may be several texts.
 */
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
 * The parts of a message in the order of the layout if it fits them, else in the default order,
 * with text signatures restored. `at`: path of the layout.
 */
export function arrange(
  slots: Slots,
  { layout, textSignatures }: Recorded,
  {
    report,
    at,
    layoutAt = below(at, 'reasoning_details'),
  }: { report: ChatCompletionsReport; at: Place; layoutAt?: Place },
): Part[] {
  const ordered = layout && inOrder(slots, layout, { textSignatures, at })
  if (layout && !ordered) report.add('parts.layout-stale', layoutAt)
  const { reasoning, body, others, calls } = slots
  const parts = ordered ? [...ordered, ...others] : [...reasoning, ...body, ...others, ...calls]
  if (textSignatures.length === 0) return parts
  const text = parts.findLast((part): part is TextPart => part.type === 'text' && part.text !== '')
  const added: TextPart[] = []
  for (const { signature, attach } of textSignatures)
    if (text && attach === 'prev') text.signature = signature
    else if (attach === 'prev' || attach === 'text')
      added.push({ type: 'text', text: '', signature, at: below(at, 'content') })
  return added.length > 0 ? withSignedTexts(parts, added) : parts
}

/** A part of a stream. `length`: that of a text, in UTF-16 units. */
export type ReceivedPart = { part: number; kind: 'r' | 'x' | 'c'; length: number }

/**
 * Does the layout equal the parts that the stream has emitted? Emitted parts can neither be moved
 * nor get a phase.
 */
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
  const cutter = new TextCutter(head, whole)
  const signatures = new Map(
    textSignatures.toReversed().map(({ attach, signature }) => [attach, signature]),
  )
  const left = new LeftCalls(calls)
  let cut = 0
  let ordinal = 0
  for (const token of layout) {
    const rest = token.slice(1)
    const [isText, length, phase] = textToken.exec(token) ?? []
    if (isText) {
      const end = cut + Number(length)
      const signature = signatures.get(`x${ordinal}`)
      ordered.push({
        ...cutter.next(end),
        ...(phase && { phase: phase as Phase }),
        ...(signature && { signature }),
      })
      cut = end
      ordinal++
    } else if (token.startsWith('r'))
      ordered.push(...reasoning.slice(Number(rest), Number(rest) + 1))
    else if (token.startsWith('c')) {
      const call = left.take(rest)
      if (call) ordered.push(call)
    }
  }
  const fits =
    cut === whole.length &&
    ordered.filter(part => part.type !== 'text').length === reasoning.length + calls.length
  return fits ? ordered : undefined
}

/** The calls that a layout has not named yet. Some models give two calls the same id. */
class LeftCalls {
  readonly #calls: readonly Part[]
  readonly #taken = new Set<Part>()
  /** By id, and those whose id is made up: their places, in order. */
  readonly #places = new Map<string, { places: number[]; next: number }>()
  readonly #made: { places: number[]; next: number } = { places: [], next: 0 }

  constructor(calls: readonly Part[]) {
    this.#calls = calls
    for (const [place, call] of calls.entries()) {
      if (call.type !== 'tool-call') continue
      if (call.idOrigin === 'synthesized') this.#made.places.push(place)
      const same = this.#places.get(call.id)
      if (same) same.places.push(place)
      else this.#places.set(call.id, { places: [place], next: 0 })
    }
  }

  /** Takes the first call with this id, or with one that is made up. */
  take(id: string): Part | undefined {
    const place = Math.min(this.#first(this.#places.get(id)), this.#first(this.#made))
    const call = this.#calls[place]
    if (call) this.#taken.add(call)
    return call
  }

  #first(queue: { places: number[]; next: number } | undefined): number {
    if (!queue) return Infinity
    for (; queue.next < queue.places.length; queue.next++) {
      const place = queue.places[queue.next] ?? Infinity
      const call = this.#calls[place]
      if (call && !this.#taken.has(call)) return place
    }
    return Infinity
  }
}

/** Cuts a joined text into texts, one after the other, each with the citations that begin in it. */
export class TextCutter {
  readonly #head: Omit<TextPart, 'text' | 'citations'>
  readonly #whole: string
  /** With a place, in the order of their places. */
  readonly #placed: { citation: Citation; start: number; end: number; nth: number }[] = []
  /** Without one: they belong to the last text. */
  readonly #others: { citation: Citation; nth: number }[] = []
  readonly #isCited: boolean
  #cut = 0
  #points = 0
  #next = 0

  constructor({ citations, ...head }: Omit<TextPart, 'text'>, whole: string) {
    this.#head = head
    this.#whole = whole
    this.#isCited = citations !== undefined
    const length = citations ? lengthOf(whole) : 0
    for (const [nth, citation] of (citations ?? []).entries()) {
      const { start, end } = citation
      if (start === undefined || end === undefined || start >= length)
        this.#others.push({ citation, nth })
      else this.#placed.push({ citation, start, end, nth })
    }
    this.#placed.sort((a, b) => a.start - b.start)
  }

  /** The text up to this place, in UTF-16 units. */
  next(end: number): TextPart {
    const text = this.#whole.slice(this.#cut, end)
    this.#cut = end
    if (!this.#isCited) return { ...this.#head, text }
    const before = this.#points
    this.#points += lengthOf(text)
    const found: { citation: Citation; nth: number }[] = []
    for (let one = this.#placed[this.#next]; one && one.start < this.#points; ) {
      const { citation, start, end: to, nth } = one
      if (start >= before)
        found.push({ citation: { ...citation, start: start - before, end: to - before }, nth })
      one = this.#placed[++this.#next]
    }
    if (end === this.#whole.length && text !== '') append(found, this.#others)
    const inside = found.sort((a, b) => a.nth - b.nth).map(({ citation }) => citation)
    return { ...this.#head, text, ...(inside.length > 0 && { citations: inside }) }
  }
}

/** Adds empty texts after the others, which only hold signatures. */
function withSignedTexts(parts: readonly Part[], added: readonly TextPart[]): Part[] {
  const calls = parts.findIndex(({ type }) => type === 'tool-call')
  const place =
    parts.findLastIndex(({ type }) => type === 'text') + 1 || (calls < 0 ? parts.length : calls)
  return [...parts.slice(0, place), ...added, ...parts.slice(place)]
}

/**
 * What a call carries, see `carriesReasoning`: the details of the parts since the previous call,
 * and the length of their text in UTF-16 units.
 */
export type Carrier = {
  reasoning: Recorded & { parts: readonly ReasoningPart[] }
  units: number
  at: Place
}

/**
 * The parts of a message whose calls carry the reasoning, in their order. Plain reasoning is kept
 * as far as no call carries it.
 */
export function restoreOrder(
  { reasoning: plain, body, others, calls }: Slots,
  { carriers, plainText }: { carriers: Map<number, Carrier>; plainText: string },
  report: ChatCompletionsReport,
): Part[] {
  const parts: Part[] = []
  const proofs = new Set<string | undefined>()
  const isKnown = (proof: string | undefined) => proof !== undefined && proofs.has(proof)
  let left = body
  let last = 0
  calls.forEach((call, i) => {
    const carrier = carriers.get(i)
    if (carrier) {
      const { reasoning, units, at } = carrier
      const [content, rest] = divide(left, units)
      left = rest
      const placed = arrange(
        {
          reasoning: reasoning.parts.map(part => ({ ...part, at })),
          body: content,
          others: [],
          calls: [],
        },
        reasoning,
        { report, at, layoutAt: at },
      )
      const added = placed.filter(part => !isKnown(proofOf(part)))
      for (const part of added) proofs.add(proofOf(part))
      append(parts, added)
      last = parts.length + 1
    }
    parts.push(call)
  })
  const carried = parts.filter(part => part.type === 'reasoning')
  // The rest of the text and the other parts come after the last call that carries reasoning.
  return [
    ...uncarried(plain, plainText, carried),
    ...parts.slice(0, last),
    ...left,
    ...others,
    ...parts.slice(last),
  ]
}

/** The plain reasoning that no call carries. An empty list if the client has changed the text. */
function uncarried(
  plain: readonly ReasoningPart[],
  plainText: string,
  carried: readonly ReasoningPart[],
): ReasoningPart[] {
  let rest = ''
  let end = 0
  for (const { text } of flatMap(carried, ({ segments }) => segments)) {
    // Some clients trim it.
    const words = text.trim()
    const start = plainText.indexOf(words, end)
    if (start < 0) return []
    rest += plainText.slice(end, start)
    end = start + words.length
  }
  rest = (rest + plainText.slice(end)).trim()
  return rest === ''
    ? []
    : [
        {
          type: 'reasoning',
          segments: [{ kind: 'raw', text: rest }],
          ...omitUndefined({ at: plain[0]?.at }),
        },
      ]
}

/** Cuts a text after `units` UTF-16 units. Content that is not a single text is not cut. */
function divide(body: Part[], units: number): [before: Part[], rest: Part[]] {
  const [text, ...more] = body
  if (text?.type !== 'text' || more.length > 0 || units >= text.text.length) return [body, []]
  if (units === 0) return [[], body]
  const end = cutIn(text.text, units)
  const { text: whole, ...head }: TextPart = text
  const cutter = new TextCutter(head, whole)
  return [[cutter.next(end)], [cutter.next(whole.length)]]
}
