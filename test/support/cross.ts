import type { Note } from '../../src/canonical/note.ts'
import type { Encoded, Protocol } from '../../src/protocol.ts'
import { keysOf } from './change.ts'
import { attempt } from './wires.ts'

export type Kind = 'request' | 'response'
export const kinds: Kind[] = ['request', 'response']

/** A body for another protocol, with the notes of both codecs. */
export type Crossed = { wire: unknown; notes: Note[] }

/**
 * One leg of the way. Undefined when it was refused, which is no silent loss; failed replies cross as errors, which have a
 * way of their own. What only the source's provider can resolve is noted, so that more bodies get across.
 */
export function cross(kind: Kind, wire: unknown, from: Protocol, to: Protocol): Crossed | undefined {
  const options = { fieldNames: from.fieldNames, onUnresolvable: 'note' as const }
  return attempt(() => {
    if (kind === 'request') {
      const { value, notes } = from.decodeRequest(wire)
      return joined(notes, to.encodeRequest(value, options))
    }
    const { value, notes } = from.decodeResponse(wire)
    return value.error ? undefined : joined(notes, to.encodeResponse(value, options))
  })
}

const joined = (notes: Note[], encoded: Encoded<unknown>): Crossed => ({ wire: encoded.wire, notes: [...notes, ...encoded.notes] })

/** Where a body uses an older spelling of a field, notes name the newer one. */
const olderSpellings = [
  ['/output_config/format', '/output_format'],
  ['/max_completion_tokens', '/max_tokens'],
  ['/reasoning/summary', '/reasoning/generate_summary'],
  ['/tool_choice', '/function_call'],
  // Servers of one shape are told in several ways how much to think.
  ['/reasoning/max_tokens', '/thinking/budget_tokens'],
  ['/reasoning/max_tokens', '/thinking_budget'],
  ['/thinking/type', '/reasoning/enabled'],
  ['/thinking/type', '/enable_thinking'],
  ['/reasoning_effort', '/reasoning/effort'],
] as const

/** The place that a note names, as this body spells it. */
export function placeOf(body: unknown, { path }: Note): string {
  if (valueAt(body, path) != null) return path
  const [newer, older] = olderSpellings.find(([name, old]) => path.startsWith(name) && valueAt(body, old) !== undefined) ?? []
  return newer === undefined || older === undefined ? path : path.replace(newer, older)
}

/** Does a note of a loss name this place, or something it stands in? What is said once for all names the first of its kind. */
export function covers(body: unknown, notes: Note[], path: string): boolean {
  return notes.some(note => {
    if (note.kind === 'synthesized') return false
    const single = notes.filter(other => other.code === note.code && everyIndex(other.path) === everyIndex(note.path)).length === 1
    const spell = single ? everyIndex : (place: string) => place
    const place = spell(path)
    const at = spell(placeOf(body, note))
    return place === at || place.startsWith(`${at}/`)
  })
}

export const everyIndex = (path: string) => path.replaceAll(/\/\d+(?=\/|$)/g, '/*')

/** What stands at a pointer; undefined: nothing does. */
export function valueAt(body: unknown, path: string): unknown {
  let place = body
  for (const key of keysOf(path)) {
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined
    place = (place as Record<string, unknown>)[key]
  }
  return place
}

export const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
