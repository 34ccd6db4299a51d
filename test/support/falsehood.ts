import type { Note } from '../../src/canonical/note.ts'
import type { Protocol } from '../../src/protocol.ts'
import { changed, changeOf, mark, without } from '../../src/testing/change.ts'
import { wordsOf } from '../../src/testing/typical.ts'
import { type Crossed, cross, type Kind, parentOf, sent, valueAt } from './cross.ts'

/**
 * What is false about one note of a crossing, chosen by number. Undefined: the note is true.
 *
 * - dropped: the value is in the body, and the other body is the same with another value or without
 * it
 * - approximated: the note has the path of a value, or of a missing one, which does not come back
 * unchanged
 * - synthesized: the note has a path in the other body whose value contains no value of the source
 */
export function falsehoodOf(
  kind: Kind,
  wire: unknown,
  pick: number,
  { from, to }: { from: Protocol; to: Protocol },
): string | undefined {
  const there = cross(kind, wire, from, to)
  const note = there?.notes[pick % there.notes.length]
  if (!there || !note) return undefined
  const place = note.path
  const reported = `${note.kind} ${note.code} ${place}`
  if (isOfSearchResult(wire, place) || isResponse(wire, place)) return undefined
  if (note.kind === 'synthesized') {
    if (valueAt(there.wire, place) === undefined)
      return `leads nowhere in the other body: ${reported}`
    const other = changeOf(wire, pick, wordsOf)
    return other && isReported(cross(kind, changed(wire, other), from, to), note, other.after)
      ? `is in the source, at ${other.path}: ${reported}`
      : undefined
  }
  if (valueAt(wire, parentOf(place)) === undefined) return `leads nowhere: ${reported}`
  const value = valueAt(wire, place)
  if (value === undefined)
    return isAboutAbsence(note) ? undefined : `says what is not there: ${reported}`
  if (note.kind === 'approximated')
    return isExact(kind, wire, there, note, { from, to })
      ? `says another of the same: ${reported}`
      : undefined
  const same = (other: unknown) => {
    const crossed = cross(kind, other, from, to)
    const again = crossed?.notes.some(({ code, path }) => code === note.code && path === note.path)
    return !crossed || !again || sent(crossed) === sent(there)
  }
  const change = changeOf(value, pick, wordsOf)
  if (change && !same(changed(wire, { ...change, path: place + change.path })))
    return `is carried: ${reported}${change.path}`
  // In a list other items would move up, and an older spelling would have the value.
  if (!hasKeyOfItsOwn(wire, place)) return undefined
  const bare = cross(kind, without(wire, place), from, to)
  return bare && sent(bare) !== sent(there) ? `means something: ${reported}` : undefined
}

/** The changed value of the source is there unchanged, and is called synthesized all the same. */
function isReported(crossed: Crossed | undefined, { code, path }: Note, after: unknown): boolean {
  return (
    String(after).includes(mark) &&
    valueAt(crossed?.wire, path) === after &&
    crossed?.notes.some(note => note.code === code && note.path === path) === true
  )
}

/**
 * One value, and the way back restores it, without a guess. Where something was left out, others
 * take its place.
 */
function isExact(
  kind: Kind,
  wire: unknown,
  there: Crossed,
  { code, path }: Note,
  { from, to }: { from: Protocol; to: Protocol },
): boolean {
  const value = valueAt(wire, path)
  if (
    typeof value === 'object' ||
    aboutMore.has(code) ||
    there.notes.some(note => note.kind === 'dropped')
  )
    return false
  const back = cross(kind, there.wire, to, from, there.path)
  return (
    back !== undefined &&
    valueAt(back.wire, path) === value &&
    back.notes.every(note => note.kind !== 'approximated')
  )
}

/**
 * Notes on what a field leads to beside its value: the effort is written, and no thinking beside a
 * forced tool (2.6).
 */
const aboutMore = new Set(['reasoning.forced-tool'])

const hasKeyOfItsOwn = (wire: unknown, place: string) =>
  !Array.isArray(valueAt(wire, parentOf(place))) &&
  // A text with citations is no plain text: what is left of it may stand elsewhere.
  !place.endsWith('/citations') &&
  // Words without their media type are no text document: the wire demands it.
  !(place.endsWith('/source/media_type') && valueAt(wire, `${parentOf(place)}/type`) === 'text') &&
  !(place === '/tool_choice' && valueAt(wire, '/function_call') !== undefined)

/**
 * An output in a response shows that its call has a result, so that nothing waits for the client.
 */
function isResponse(wire: unknown, place: string): boolean {
  const type = valueAt(wire, `${place.replace(/^(\/output\/\d+).*$/, '$1')}/type`)
  return place.startsWith('/output/') && typeof type === 'string' && type.endsWith('_output')
}

/** The last part of a search result represents all of it when it has its cache mark. */
function isOfSearchResult(wire: unknown, place: string): boolean {
  const block = valueAt(wire, place.replace(/^((?:.*\/)?\d+)(?:\/[^/\d]*)?$/, '$1'))
  return (
    typeof block === 'object' && block !== null && 'type' in block && block.type === 'search_result'
  )
}

/** Codes that report something missing in the source. */
const isAboutAbsence = ({ code }: Note) =>
  [
    'finish.missing',
    'usage.overlap',
    'finish.approximated',
    'tool.schema-normalized',
    'finish.tool-use',
    'stop.no-call',
    'tool-call.id',
    'tool-choice.without-tools',
  ].includes(code)
