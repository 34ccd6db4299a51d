import type { Part, Place, ReasoningPart, TextPart } from '../../../canonical/message.ts'
import { proofOf } from '../../../kit/conversation/turns.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { cutIn } from '../../../kit/text/text.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import type { ChatCompletionsOptions } from '../options.ts'
import type { ChatCompletionsSignatureFields } from '../written.ts'
import { hasPhase, layoutPartsOf } from './carriers.ts'
import { arrange, record, type Slots, TextCutter } from './layout.ts'
import { decodeReasoning, encodeDetails, listIn, needsDetails, reasoningText } from './reasoning.ts'
import { carriedIssuer, encodeLoaded, type Load, pathIn, readCarried } from './signatures.ts'

/**
 * Some clients keep only the plain text of reasoning, but also the signatures of calls. For them
 * the signature of a call carries the reasoning details of the parts between the previous call and
 * this one.
 */
export function carriesReasoning({
  signedReasoning,
  signatures = 'field',
  reasoningField,
}: ChatCompletionsOptions): boolean {
  return signedReasoning === 'calls' && signatures === 'field' && reasoningField !== 'omit'
}

/**
 * The fields to write next to `call`, with the details of the parts since the previous call.
 * Undefined: plain text carries everything.
 */
export function carryReasoning(
  since: readonly Part[],
  call: Part,
): ChatCompletionsSignatureFields | undefined {
  const parts = since.filter(
    (part): part is ReasoningPart => part.type === 'reasoning' && says(part),
  )
  const recorded = record(layoutPartsOf(since, { native: true }))
  if (!needsDetails(parts) && recorded.textSignatures.length === 0 && !hasPhase(since))
    return undefined
  const units = since.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  return encodeLoaded({ details: encodeDetails({ parts, ...recorded }), units }, call.signature)
}

const says = ({ segments, signature, id }: ReasoningPart) =>
  segments.length > 0 || signature !== undefined || id !== undefined

type Carrier = { load: Load; at: Place }

/**
 * What the calls of a client's message carry, by their index. Undefined: nothing, or the client has
 * kept `reasoning_details`.
 */
export function carriersIn(
  calls: readonly JsonObject[] | null | undefined,
  message: JsonObject,
  at: Place,
): Map<number, Carrier> | undefined {
  const kept = listIn(message, 'reasoning_details')
  if (!calls || (Array.isArray(kept) && kept.length > 0)) return undefined
  const carriers = new Map<number, Carrier>()
  calls.forEach((call, i) => {
    if (!isObject(call)) return
    const { load, original } = readCarried(call, carriedIssuer.client)
    if (load) carriers.set(i, { load, at: `${pointerOf(at)}/tool_calls/${i}/${pathIn(original)}` })
  })
  return carriers.size > 0 ? carriers : undefined
}

/**
 * The parts of a message whose calls carry the reasoning, in their order. Plain reasoning is kept
 * as far as no call carries it.
 */
export function restoreOrder(
  { reasoning: plain, body, others, calls }: Slots,
  carriers: Map<number, Carrier>,
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
      const { load, at } = carrier
      const { parts: reasoning, ...recorded } = decodeReasoning(
        { reasoning_details: load.details },
        at,
        'client',
      )
      const [content, rest] = divide(left, load.units)
      left = rest
      const placed = arrange(
        {
          reasoning: reasoning.map(part => ({ ...part, at })),
          body: content,
          others: [],
          calls: [],
        },
        recorded,
        {
          report,
          at,
          layoutAt: at,
        },
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
    ...uncarried(plain, carried),
    ...parts.slice(0, last),
    ...left,
    ...others,
    ...parts.slice(last),
  ]
}

/** The plain reasoning that no call carries. An empty list if the client has changed the text. */
function uncarried(
  plain: readonly ReasoningPart[],
  carried: readonly ReasoningPart[],
): ReasoningPart[] {
  const plainText = reasoningText(plain)
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
