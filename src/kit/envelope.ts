import type { ReasoningSegment, Signature } from '../canonical/message.ts'
import { inStandardAlphabet, inUrlSafeAlphabet, toBase64 } from './base64.ts'
import { defined } from './defined.ts'
import { isObject } from './json.ts'

/** Stable for ever: clients keep these in their histories. */
const prefix = 'xs1.'
/** The same in base64, which some fields demand; the JSON of an envelope begins with `{"`, which is `ey` there. */
const prefixInBase64 = btoa(`${prefix}ey`)

/**
 * A signature together with who made it, in a form that fits any opaque field of any wire: `xs1.` + base64url of JSON.
 * `id`: the reasoning item's own id. `lengths`: where joined segments are to be cut again, in UTF-16 units; `kinds`: what
 * each of them is, where a wire tells no kinds.
 * `attach`: the signature belongs to the `next` or `prev` part, for which this stands in, or to a `text` without a word.
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
    toBase64Url(JSON.stringify(defined({ i: issuer, m: model, f: form, id, s: lengths, k: kinds?.map(kind => kind.charAt(0)).join(''), a: attach, v: value })))
  )
}

/** The same for a field whose text has to be base64. */
export function wrapSignatureInBase64(envelope: Envelope): string {
  return btoa(wrapSignature(envelope))
}

/** Undefined: not one of ours, or damaged. */
export function unwrapSignature(given: string): Envelope | undefined {
  if (!isEnvelope(given)) return undefined
  try {
    const text = given.startsWith(prefix) ? given : atob(inStandardAlphabet(given))
    const wire: unknown = JSON.parse(fromBase64Url(text.slice(prefix.length)))
    if (!isObject(wire)) return undefined
    const { i: issuer, m: model, f: form, id, s: lengths, k: kinds, a: attach, v: value } = wire
    if (typeof issuer !== 'string' || typeof value !== 'string') return undefined
    const signature = defined({ value, issuer, model: asString(model), form: asString(form) as Signature['form'] })
    return defined({
      signature,
      id: asString(id),
      lengths: Array.isArray(lengths) ? lengths.filter(n => typeof n === 'number') : undefined,
      kinds: typeof kinds === 'string' ? [...kinds].map(letter => (letter === 'r' ? ('raw' as const) : ('summary' as const))) : undefined,
      attach: asString(attach),
    })
  } catch {
    return undefined
  }
}

/** Does any text inside the value claim to be an envelope? Slow: it looks at every string. */
export function holdsEnvelope(value: unknown): boolean {
  if (typeof value === 'string') return isEnvelope(value) || (value.includes(mark) && splitId(value).signature !== undefined)
  if (Array.isArray(value)) return value.some(holdsEnvelope)
  if (!isObject(value)) return false
  for (const key in value) if (holdsEnvelope(value[key])) return true
  return false
}

/**
 * May a JSON text hold an envelope? Cheap: only words are looked for, by the function given, which tells whether the text holds
 * any of them; letters may stand there escaped.
 */
export function mayHoldEnvelope(holdsAny: (words: readonly string[]) => boolean): boolean {
  return holdsAny(marks) || (holdsAny([anEscape]) && holdsAny(escapedMarks))
}

/** Does the text claim to be an envelope, damaged or not? */
export function isEnvelope(text: string): boolean {
  return text.startsWith(prefix) || text.startsWith(prefixInBase64)
}

/** Between an id and the signature that it carries, for clients that keep nothing else. */
const mark = '__sig_'

/** JSON without any of these, and without any of their letters escaped, holds none. A search for what begins with `e`, of which any text is full, takes eight times as long. */
const marks: readonly string[] = [prefix, mark, prefixInBase64.slice(1)]

const anEscape = '\\u00'

/** Many servers and clients write `<` and `&` as `\\u003c` and `\\u0026`: that hides no mark. */
const escapedMarks: readonly string[] = [...new Set(prefix + mark + prefixInBase64)].flatMap(letter => {
  const code = letter.charCodeAt(0).toString(16)
  return [...new Set([anEscape + code, anEscape + code.toUpperCase()])]
})

/** An id and the signature that it carries. One that only looks as if it carried one stays as it is. */
export function splitId(id: string): { id: string; signature?: Signature } {
  const cut = id.lastIndexOf(mark)
  const signature = cut > 0 ? unwrapSignature(prefix + id.slice(cut + mark.length))?.signature : undefined
  return signature ? { id: id.slice(0, cut), signature } : { id }
}

/** An id that carries a signature; `splitId` takes it apart. */
export function joinId(id: string, signature: Signature): string {
  return id + mark + wrapSignature({ signature }).slice(prefix.length)
}

const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)

function toBase64Url(text: string): string {
  return inUrlSafeAlphabet(toBase64(text)).replaceAll('=', '')
}

function fromBase64Url(text: string): string {
  const binary = atob(inStandardAlphabet(text))
  return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, char => char.charCodeAt(0)))
}
