import type { ReasoningSegment, Signature } from '../../canonical/message.ts'
import { omitUndefined } from '../fields/omit.ts'
import { isObject } from '../json/json.ts'
import { refuseTooDeep } from '../json/wrong-input.ts'
import { inStandardAlphabet, inUrlSafeAlphabet, toBase64 } from '../media/base64.ts'

/** Must never change: clients store envelopes in their histories. */
const prefix = 'xs1.'
/**
 * The same as base64, which some fields require. The JSON of an envelope begins with `{"`, in
 * base64 `ey`.
 */
const prefixInBase64 = btoa(`${prefix}ey`)

/**
 * A signature with its issuer, for the opaque signature field of another protocol; written as
 * `xs1.` + base64url of JSON. `id`: of the reasoning item. `lengths`: of the segments, in UTF-16
 * units, when they were joined. `kinds`: of the segments, for wires that do not have them.
 * `attach`: the signature belongs not to this part but to the `next` or `prev` one, or to an empty
 * `text`.
 */
export type Envelope = {
  signature: Signature
  id?: string
  lengths?: number[]
  kinds?: ReasoningSegment['kind'][]
  attach?: 'next' | 'prev' | 'text' | (string & {})
}

export function wrapSignature({ signature, id, lengths, kinds, attach }: Envelope): string {
  const { issuer, model, form, value } = signature
  return (
    prefix +
    toBase64Url(
      JSON.stringify(
        omitUndefined({
          i: issuer,
          m: model,
          f: form,
          id,
          s: lengths,
          k: kinds?.map(kind => kind.charAt(0)).join(''),
          a: attach,
          v: value,
        }),
      ),
    )
  )
}

/** The same for fields whose value has to be base64. */
export function wrapSignatureInBase64(envelope: Envelope): string {
  return btoa(wrapSignature(envelope))
}

/** Undefined: no envelope, or a damaged one. */
export function unwrapSignature(given: string): Envelope | undefined {
  if (!isEnvelope(given)) return undefined
  try {
    const text = given.startsWith(prefix) ? given : atob(inStandardAlphabet(given))
    const wire: unknown = JSON.parse(fromBase64Url(text.slice(prefix.length)))
    if (!isObject(wire)) return undefined
    const { i: issuer, m: model, f: form, id, s: lengths, k: kinds, a: attach, v: value } = wire
    if (typeof issuer !== 'string' || typeof value !== 'string') return undefined
    const signature = omitUndefined({
      value,
      issuer,
      model: asString(model),
      form: asString(form) as Signature['form'],
    })
    return omitUndefined({
      signature,
      id: asString(id),
      lengths: Array.isArray(lengths) ? lengths.filter(n => typeof n === 'number') : undefined,
      kinds:
        typeof kinds === 'string'
          ? [...kinds].map(letter => (letter === 'r' ? ('raw' as const) : ('summary' as const)))
          : undefined,
      attach: asString(attach),
    })
  } catch {
    return undefined
  }
}

/**
 * Does any string in the value look like an envelope? Slow: visits every string.
 * @throws TranslationError `malformed` for one that is too deep
 */
export function holdsEnvelope(value: unknown, protocol: string, depth = 0): boolean {
  if (typeof value === 'string')
    return isEnvelope(value) || (value.includes(mark) && splitId(value).signature !== undefined)
  refuseTooDeep(depth, protocol)
  if (Array.isArray(value)) return value.some(item => holdsEnvelope(item, protocol, depth + 1))
  if (!isObject(value)) return false
  for (const key in value) if (holdsEnvelope(value[key], protocol, depth + 1)) return true
  return false
}

/**
 * May a JSON text contain an envelope, possibly with escaped letters? Cheap: it only searches for
 * words. `holdsAny`: does the text contain any of these? `begins`: the result of `beginsEnvelope`
 * for all strings; absent: not computed.
 */
export function mayHoldEnvelope(
  holdsAny: (words: readonly string[]) => boolean,
  begins = holdsAny(prefixes),
): boolean {
  return begins || holdsAny([mark]) || (holdsAny([anEscape]) && holdsAny(escapedMarks))
}

const beginnings = [prefix, prefixInBase64].map(text => new TextEncoder().encode(text))
const [plainly = 0, inBase64 = 0] = beginnings.map(([first]) => first)

/**
 * Does an envelope begin here, in the bytes of a string? The first byte nearly always says no; a
 * search of 170 KB for a word takes 9 µs.
 */
export function beginsEnvelope(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at]
  if (first !== plainly && first !== inBase64) return false
  return beginnings.some(beginning => beginning.every((byte, i) => bytes[at + i] === byte))
}

/** Does the text look like an envelope, valid or damaged? */
export function isEnvelope(text: string): boolean {
  return text.startsWith(prefix) || text.startsWith(prefixInBase64)
}

/** Separates an id from the signature appended to it, for clients that keep nothing but ids. */
const mark = '__sig_'

/**
 * What an envelope begins with. Without the first letter of the base64 prefix: searching for words
 * that begin with the frequent `e` takes eight times as long.
 */
const prefixes: readonly string[] = [prefix, prefixInBase64.slice(1)]

const anEscape = '\\u00'

/**
 * The escapes of letters in prefixes and mark. Other escapes are common (`\\u003c` for `<`) and
 * cannot hide one.
 */
const escapedMarks: readonly string[] = [...new Set(prefix + mark + prefixInBase64)].flatMap(
  letter => {
    const code = letter.charCodeAt(0).toString(16)
    return [...new Set([anEscape + code, anEscape + code.toUpperCase()])]
  },
)

/**
 * Splits an id from the signature appended to it. An id without a valid signature is returned
 * unchanged.
 */
export function splitId(id: string): { id: string; signature?: Signature } {
  const cut = id.lastIndexOf(mark)
  const signature =
    cut > 0 ? unwrapSignature(prefix + id.slice(cut + mark.length))?.signature : undefined
  return signature ? { id: id.slice(0, cut), signature } : { id }
}

/** Appends a signature to an id; `splitId` takes it off. */
export function joinId(id: string, signature: Signature): string {
  return id + mark + wrapSignature({ signature }).slice(prefix.length)
}

const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)

function toBase64Url(text: string): string {
  return inUrlSafeAlphabet(toBase64(text)).replaceAll('=', '')
}

function fromBase64Url(text: string): string {
  const binary = atob(inStandardAlphabet(text))
  return new TextDecoder('utf-8', { fatal: true }).decode(
    Uint8Array.from(binary, char => char.charCodeAt(0)),
  )
}
