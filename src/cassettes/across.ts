import { instead, type Span } from './redact.ts'

/** A text in an event: `from` and `to` are its place in that, `at` its place in the whole. */
type Piece = { event: number; from: number; to: number; at: number }

/** What events write in pieces, by the name of the field and the numbers of what it belongs to. */
type Written = { text: string; pieces: Piece[] }

/** Texts, and the numbers of what they belong to. Names that each event repeats are left out. */
const field =
  /"(?!(?:id|object|model|type|role|item_id|system_fingerprint|obfuscation)")([\w-]{1,40})"\s{0,9}:\s{0,9}(?:"((?:[^"\\]|\\[\s\S])*)"|\d{1,9})/g

/**
 * The events of a stream without the secrets that they have in pieces, as models write them: each
 * piece is replaced. `secretsIn`: where secrets are in a text.
 */
export function withoutSplitSecrets(
  events: readonly string[],
  secretsIn: (text: string) => Span[],
): string[] {
  const shown = [...events]
  // From the end of each event, so that the places before stay.
  const found = [...writtenIn(events).values()].flatMap(one => splitIn(one, secretsIn))
  found.sort((one, other) => other.from - one.from)
  for (const { event, from, to } of found) {
    const text = shown[event] ?? ''
    shown[event] = text.slice(0, from) + instead + text.slice(to)
  }
  return shown
}

function writtenIn(events: readonly string[]): Map<string, Written> {
  const all = new Map<string, Written>()
  for (const [event, text] of events.entries()) {
    let place = ''
    for (const { 0: found, 1: name = '', 2: value, index } of text.matchAll(field)) {
      if (value === undefined) {
        if (/index$/i.test(name)) place += found
        continue
      }
      const key = `${name} ${place}`
      const to = index + found.length - 1
      const known = all.get(key)
      const piece = { event, from: to - value.length, to, at: known?.text.length ?? 0 }
      if (!known) all.set(key, { text: value, pieces: [piece] })
      else {
        known.pieces.push(piece)
        known.text += value
      }
    }
  }
  return all
}

/** The parts of pieces that hold a part of a secret. One in a single piece is found there. */
function splitIn({ text, pieces }: Written, secretsIn: (text: string) => Span[]): Piece[] {
  if (pieces.length < 2) return []
  return joined(secretsIn(text)).flatMap(([from, to]) => {
    const parts = partsOf(pieces, from, to)
    return parts.length > 1 ? parts : []
  })
}

/** Those that overlap are one. */
function joined(spans: readonly Span[]): Span[] {
  const all: [number, number][] = []
  for (const [from, to] of spans.toSorted((one, other) => one[0] - other[0])) {
    const last = all.at(-1)
    if (last && from < last[1]) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

function partsOf(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const parts: Piece[] = []
  for (let i = lastBefore(pieces, from); i < pieces.length; i++) {
    const piece = pieces[i] as Piece
    if (piece.at >= to) break
    const begin = piece.from + Math.max(0, from - piece.at)
    const end = Math.min(piece.to, piece.from + to - piece.at)
    if (begin < end) parts.push({ ...piece, from: begin, to: end })
  }
  return parts
}

/** The number of the last piece that begins at this place or before. */
function lastBefore(pieces: readonly Piece[], at: number): number {
  let [low, high] = [0, pieces.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((pieces[middle] as Piece).at <= at) low = middle
    else high = middle - 1
  }
  return low
}
