import type { Note } from '../../src/canonical/note.ts'
import { bridgeNotes } from '../../src/kit/notes/bridge.ts'
import { gatewayNotes } from '../../src/kit/notes/gateway.ts'
import { type NoteCode, noteCatalog } from '../../src/notes.ts'
import { changed, changesOf, without } from '../../src/testing/change.ts'
import { leaves } from '../../src/testing/json.ts'
import { wordsOf } from '../../src/testing/typical.ts'
import { at, type Example, outcomeOf, pointedAt } from '../support/examples/example.ts'
import { noteGroups } from '../support/examples/index.ts'

/**
 * Every note with who makes it, its kind, what it means and a short example: rows of docs/notes.md.
 */
export function noteRows(): string[][] {
  const translated = noteGroups.flatMap(({ name, notes, examples }) =>
    Object.entries(notes).map(([code, { kind, meaning }]) => [
      name,
      `\`${code}\``,
      kind,
      meaning,
      noteCatalog[code as NoteCode].advice ?? '',
      examples[code] ? shown(code, examples[code]) : '',
    ]),
  )
  const others = Object.entries({ gateway: gatewayNotes, bridge: bridgeNotes }).flatMap(
    ([name, table]) =>
      Object.entries(table).map(([code, { kind, meaning }]) => [
        name,
        `\`${code}\``,
        kind,
        meaning,
        noteCatalog[code as NoteCode].advice ?? '',
        '',
      ]),
  )
  return [...translated, ...others]
}

/** `source → target`, as short as it can be understood. */
function shown(code: string, example: Example): string {
  const { notes, target } = outcomeOf(example)
  const note = notes.find(one => one.code === code)
  return note
    ? `${sourceOf(note, example)} → ${targetOf(note, target, example)}${settingsOf(example)}`
    : ''
}

function sourceOf({ kind, path }: Note, example: Example): string {
  const { body, shows } = example
  if (shows?.source !== undefined) return fragment(body, shows.source)
  if (kind === 'synthesized') return 'nothing'
  return fragment(body, pointedAt(example, body, path) ?? '')
}

function targetOf({ kind, path }: Note, target: unknown, example: Example): string {
  const { shows } = example
  if (shows?.target !== undefined) return fragment(target, shows.target)
  if (kind === 'dropped') return 'nothing'
  if (kind === 'synthesized') return fragment(target, pointedAt(example, target, path) ?? '')
  const place =
    placeOfOutcome(pointedAt(example, example.body, path) ?? '', target, example) ??
    placeOfName(path.slice(path.lastIndexOf('/') + 1), target)
  return place === undefined ? '…' : fragment(target, place)
}

/** The only place of a field with this name in a body. */
function placeOfName(name: string, body: unknown): string | undefined {
  const [only, ...others] = new Set(
    leaves(body).flatMap(({ path }) => path.match(new RegExp(`^.*?/${name}(?=/|$)`)) ?? []),
  )
  return others.length === 0 ? only : undefined
}

/**
 * Where the target differs when the source is another one at this place, or has nothing there.
 * Undefined: nowhere.
 */
function placeOfOutcome(source: string, target: unknown, example: Example): string | undefined {
  const { body } = example
  const others = changesOf(
    at(body, source),
    wordsOf,
    source.slice(source.lastIndexOf('/') + 1),
  ).map(change => changed(body, { ...change, path: source + change.path }))
  const moved = (other: unknown) =>
    differences(
      target,
      attempt(() => outcomeOf({ ...example, body: other }).target),
    )
  const places = others.flatMap(moved)
  const found = places.length > 0 ? places : moved(without(body, source))
  const place = commonPlace(found)
  // All of it may have changed, where the source could not be read any more. Of a list, the first
  // that differs.
  return Array.isArray(at(target, place ?? ''))
    ? found[0]?.split('/', String(place).split('/').length + 1).join('/')
    : place
}

/** Leaves of one that are no leaves of the other. */
function differences(one: unknown, other: unknown): string[] {
  const there = new Map(leaves(other).map(({ path, value }) => [path, value]))
  return other === undefined
    ? []
    : leaves(one).flatMap(({ path, value }) =>
        there.get(path) === value || isEmpty(value) ? [] : [path],
      )
}

const isEmpty = (value: unknown) => typeof value === 'object' && value !== null

function commonPlace([first, ...others]: string[]): string | undefined {
  let place = first
  for (const other of others)
    while (place !== undefined && place !== other && !other.startsWith(`${place}/`))
      place = place.slice(0, place.lastIndexOf('/'))
  return place || undefined
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

function settingsOf({ options = {} }: Example): string {
  const settings = Object.entries(options).flatMap(
    ([key, value]): (readonly [string, unknown])[] => {
      if (typeof value !== 'object') return [[key, value] as const]
      return key === 'context' || value === null
        ? []
        : Object.entries(value).map(([name, one]) => [`${key}.${name}`, one] as const)
    },
  )
  return settings.map(([key, value]) => `, with ${code(`${key}: ${compact(value)}`)}`).join('')
}

/** The value at a place, with its key. */
function fragment(body: unknown, pointer: string): string {
  const value = at(body, pointer)
  const key = pointer.slice(pointer.lastIndexOf('/') + 1)
  if (value === undefined) return `no ${code(key)}`
  return code(clip(/^\d*$/.test(key) ? compact(value) : `${key}: ${compact(value)}`, 40))
}

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

function compact(value: unknown): string {
  if (typeof value === 'string') return `'${clip(value.replaceAll('\n', '\\n'), 24)}'`
  if (typeof value === 'function') return '() => …'
  if (Array.isArray(value)) return `[${value.map(compact).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${compact(item)}`)
    .join(', ')}}`
}

const clip = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
