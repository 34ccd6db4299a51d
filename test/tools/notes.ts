import type { Note } from '../../src/canonical/note.ts'
import { at, type Example, outcomeOf, pointedAt } from '../support/examples/example.ts'
import { noteGroups } from '../support/examples/index.ts'

/** Every note with what it means and a short example: rows of the README's table. */
export function noteRows(): string[][] {
  return noteGroups.flatMap(({ name, notes, examples }) =>
    Object.entries(notes).map(([code, { kind, reason }]) => [name, `\`${code}\``, kind, reason, examples[code] ? shown(code, examples[code]) : '']),
  )
}

/** `source → target`, as short as it can be understood. */
function shown(code: string, example: Example): string {
  const { notes, target } = outcomeOf(example)
  const note = notes.find(one => one.code === code)
  return note ? `${sourceOf(note, example)} → ${targetOf(note, target, example)}${settingsOf(example)}` : ''
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
  const [only, ...others] = placesOf(path.slice(path.lastIndexOf('/') + 1), target, '')
  return only !== undefined && others.length === 0 ? fragment(target, only) : '…'
}

/** Where a field of this name stands in a body: a field that keeps its name shows there what became of it. */
function placesOf(name: string, body: unknown, place: string): string[] {
  if (typeof body !== 'object' || body === null || /^\d*$/.test(name)) return []
  return Object.entries(body).flatMap(([key, value]) => [...(key === name ? [`${place}/${key}`] : []), ...placesOf(name, value, `${place}/${key}`)])
}

function settingsOf({ options = {} }: Example): string {
  const settings = Object.entries(options).filter(([, value]) => typeof value !== 'object')
  return settings.map(([key, value]) => `, with ${code(`${key}: ${compact(value)}`)}`).join('')
}

/** What stands at a place, with its key. */
function fragment(body: unknown, pointer: string): string {
  const value = at(body, pointer)
  const key = pointer.slice(pointer.lastIndexOf('/') + 1)
  if (value === undefined) return `no ${code(key)}`
  return code(clip(/^\d*$/.test(key) ? compact(value) : `${key}: ${compact(value)}`, 40))
}

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

function compact(value: unknown): string {
  if (typeof value === 'string') return `'${clip(value, 24)}'`
  if (typeof value === 'function') return '() => …'
  if (Array.isArray(value)) return `[${value.map(compact).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${compact(item)}`)
    .join(', ')}}`
}

const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
