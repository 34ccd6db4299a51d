import { endOfLiteral, quote } from '../kit/json/scan.ts'
import { encoded, textOf } from '../sse/bytes.ts'
import type { Form } from './shortcut.ts'

/** A form (see `shortcut.ts`) for streams that are not decoded: frames are compared as bytes. */
export type ByteForm = {
  form: Form
  fragments: Fragment[]
  /** Where each gap of the frame that matched last begins and ends. */
  places: number[]
  /** The index in `places` at which the text begins. */
  text: number
}

/**
 * Words of eight bytes, compared as numbers. UTF-8 without zero bytes is never NaN, and equal
 * numbers are equal bytes.
 */
type Fragment = { bytes: Uint8Array; words: Float64Array }

export function byteFormOf(form: Form): ByteForm {
  return {
    form,
    fragments: form.fragments.map(fragmentOf),
    places: form.slots.flatMap(() => [0, 0]),
    text: 2 * form.slots.indexOf('text'),
  }
}

function fragmentOf(text: string): Fragment {
  const bytes = encoded(text)
  const view = viewOf(bytes)
  return {
    bytes,
    words: Float64Array.from({ length: bytes.length >> 3 }, (_, i) => view.getFloat64(8 * i, true)),
  }
}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength)

/**
 * Compares the frame at this place with the form. Returns where the next one begins; undefined: it
 * has another form, or no text.
 */
export function matchBytes(
  { form: { slots }, fragments, places }: ByteForm,
  bytes: Uint8Array,
  view: DataView,
  at: number,
): number | undefined {
  let place = at
  for (let i = 0; i < slots.length; i++) {
    const fragment = fragments[i] as Fragment
    if (!isAt(view, place, fragment)) return undefined
    place += fragment.bytes.length
    let end = -1
    if (bytes[place] === quote) end = endOfLiteral(bytes, place)
    else if (slots[i] === 'padding') end = endOfInteger(bytes, place)
    // The empty text is no delta.
    if (end < 0 || (slots[i] === 'text' && end - place <= 2)) return undefined
    places[2 * i] = place
    places[2 * i + 1] = end
    place = end
  }
  const last = fragments[slots.length] as Fragment
  return isAt(view, place, last) ? place + last.bytes.length : undefined
}

/** The text of the frame that matched last. */
export function textIn({ places, text }: ByteForm, bytes: Uint8Array): string {
  return JSON.parse(textOf(bytes.subarray(places[text], places[text + 1]))) as string
}

/** Its length in bytes, without quotes. */
export const lengthIn = ({ places, text }: ByteForm): number =>
  (places[text + 1] ?? 0) - (places[text] ?? 0) - 2

function isAt(view: DataView, at: number, { bytes, words }: Fragment): boolean {
  if (view.byteLength - at < bytes.length) return false
  for (let i = 0; i < words.length; i++)
    if (view.getFloat64(at + 8 * i, true) !== words[i]) return false
  for (let i = 8 * words.length; i < bytes.length; i++)
    if (view.getUint8(at + i) !== bytes[i]) return false
  return true
}

/** Frames with other numbers are parsed. */
function endOfInteger(bytes: Uint8Array, at: number): number {
  let end = at
  while (isDigit(bytes[end])) end++
  return end > at && (bytes[at] !== 0x30 || end === at + 1) ? end : -1
}

const isDigit = (byte = 0) => byte >= 0x30 && byte <= 0x39
