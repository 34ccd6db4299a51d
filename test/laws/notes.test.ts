import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Note } from '../../src/canonical/note.ts'
import { TranslationError } from '../../src/errors.ts'
import { unwrapSignature } from '../../src/kit/envelope.ts'
import type { Decoded, Encoded, Protocol } from '../../src/protocol.ts'
import { runs } from '../support/arbitrary.ts'
import { leaves } from '../support/json.ts'
import { all, attempt, pairs, wiresOf } from '../support/wires.ts'

/**
 * Every leaf of a body is found again after the way to the other protocol and back, or a note covers it.
 *
 * «Found» is not «at the same place»: targets join and split messages, and spell words their own way. So only leaves that
 * can be recognized anywhere are looked for: text with a number of its own in it, and numbers from 100 on. A leaf is
 * found when it is part of any text, or equal to any number, of the body that came back.
 *
 * Words that only say what kind of thing stands there are no content.
 *
 * A note covers a leaf when it names the leaf, something the leaf stands in, or something inside of it; a note that is
 * made once for a fact covers it at every index.
 */
const telling = (value: unknown): value is string | number =>
  typeof value === 'string' ? /\d{6}/.test(value) : typeof value === 'number' && Number.isInteger(value) && value >= 100

const isKindWord = (path: string) => /\/(type|object|role|status)$/.test(path)

/** Lost by rule without a note: what only names the schema of an answer (protocol map, 2.9). */
const isCosmetic = (path: string) => /\/(json_schema|format)\/(name|description)$/.test(path)

/** Names and ids that a wire does not take are made anew and given back by the context; `history.test.ts` looks at them. */
const isIdentifier = (path: string) => /\/(name|id|call_id|tool_call_id|tool_use_id|namespace)$/.test(path)

/** Losses that are still silent; every row is to go. */
const stillSilent = [
  // Fields that nobody declared inside these small objects.
  /\/(cache_control|prompt_cache_breakpoint|source|output_format|format|stop_details)\/(x_extra|vendor|a~1b~0c)/,
  // How long what was written to the cache lives.
  /cache_write_tokens_details|cache_creation\//,
  // What only a request can hold, in a reply.
  /^\/content\/\d+\/(source|content)\//,
  // Counts that contradict each other: more came from the cache than came in.
  /^\/usage\/(input_tokens|prompt_tokens)$/,
  // A word of `display` that nobody knows.
  /^\/thinking\/display$/,
]

const everyIndex = (path: string) => path.replaceAll(/\/\d+(?=\/|$)/g, '/*')

function covers(notes: Note[], path: string): boolean {
  const spelled = olderSpellings.find(([, older]) => path.startsWith(older))
  const places = [path, ...(spelled ? [path.replace(spelled[1], spelled[0])] : [])].map(everyIndex)
  return notes.some(note => {
    if (note.kind === 'synthesized') return false
    const at = everyIndex(note.path)
    return places.some(place => place === at || place.startsWith(`${at}/`) || at.startsWith(`${place}/`))
  })
}

function contains(body: unknown, wanted: string | number): boolean {
  const text = JSON.stringify(wanted)
  const inner = typeof wanted === 'string' ? text.slice(1, -1) : text
  // Digits inside another number or a hash are no number.
  const alone = typeof wanted === 'string' ? /$^/ : new RegExp(`(?<![\\w.+-])${inner.replace('+', '\\+')}(?![\\w.])`)
  return leaves(opened(body)).some(({ path, value }) =>
    typeof wanted === 'number'
      ? value === wanted || (typeof value === 'string' && alone.test(value)) // a number inside arguments, which are text on some wires
      : (typeof value === 'string' && (value.includes(wanted) || value.includes(inner))) || path.includes(wanted),
  )
}

/** Where a body uses an older spelling of a field, notes name the newer one. */
const olderSpellings = [
  ['/output_config/format', '/output_format'],
  ['/max_completion_tokens', '/max_tokens'],
  ['/reasoning/summary', '/reasoning/generate_summary'],
  // Servers of one shape are told in several ways how much to think.
  ['/reasoning/max_tokens', '/thinking/budget_tokens'],
  ['/reasoning/max_tokens', '/thinking_budget'],
  ['/thinking/type', '/reasoning/enabled'],
  ['/thinking/type', '/enable_thinking'],
  ['/reasoning_effort', '/reasoning/effort'],
] as const

/** To something, or to where something is missing. */
function leadsSomewhere(body: unknown, path: string): boolean {
  return leads(body, path) || olderSpellings.some(([newer, older]) => path.startsWith(newer) && leads(body, path.replace(newer, older)))
}

function leads(body: unknown, path: string): boolean {
  let place = body
  const keys = path.split('/').slice(1)
  for (const key of keys.slice(0, -1)) {
    if (typeof place !== 'object' || place === null) return false
    place = (place as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return keys.length === 0 || (typeof place === 'object' && place !== null)
}

/** Signatures travel in envelopes where another protocol has a place for something opaque. */
function opened(value: unknown): unknown {
  if (typeof value === 'string') return unwrapSignature(value)?.signature.value ?? value
  if (Array.isArray(value)) return value.map(opened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, opened(item)]))
}

type Kind = 'request' | 'response'
const codecs = {
  request: (protocol: Protocol) => ({ decode: (wire: unknown) => protocol.decodeRequest(wire), encode: protocol.encodeRequest.bind(protocol) }),
  response: (protocol: Protocol) => ({ decode: (wire: unknown) => protocol.decodeResponse(wire), encode: protocol.encodeResponse.bind(protocol) }),
} as const

/** Failed replies cross as errors, which have a way of their own. */
const readable = (kind: Kind, wire: unknown, protocol: Protocol) =>
  attempt(() => codecs[kind](protocol).decode(wire).value as { error?: unknown })?.error === undefined

/** One leg of the way; undefined when it was refused, which is no silent loss. */
function cross(kind: Kind, wire: unknown, from: Protocol, to: Protocol): { wire: unknown; notes: Note[] } | undefined {
  const decoded = codecs[kind](from).decode(wire) as Decoded<never>
  const encoded = attempt(() => codecs[kind](to).encode(decoded.value, { fieldNames: from.fieldNames }) as Encoded<unknown>)
  return encoded && { wire: encoded.wire, notes: [...decoded.notes, ...encoded.notes] }
}

describe.each(pairs)('$name', ({ from, to }) => {
  test.each<Kind>(['request', 'response'])('what a %s loses is noted', kind => {
    fc.assert(
      fc.property(wiresOf(from)[kind], wire => {
        fc.pre(attempt(() => codecs[kind](from).decode(wire)) !== undefined && readable(kind, wire, from))
        const there = cross(kind, wire, from, to)
        fc.pre(there !== undefined)
        const back = cross(kind, there.wire, to, from)
        const seen = [there.wire, ...(back ? [back.wire] : [])]
        const lost = leaves(wire).filter(
          ({ path, value }) =>
            telling(value) &&
            !isKindWord(path) &&
            !isCosmetic(path) &&
            !isIdentifier(path) &&
            !stillSilent.some(place => place.test(path)) &&
            !covers(there.notes, path) &&
            !seen.some(body => contains(body, value)),
        )
        expect(lost).toEqual([])
      }),
      runs(250),
    )
  })

  test.each<Kind>(['request', 'response'])('what is noted as dropped from a %s is not there', kind => {
    fc.assert(
      fc.property(wiresOf(from)[kind], wire => {
        fc.pre(attempt(() => codecs[kind](from).decode(wire)) !== undefined && readable(kind, wire, from))
        const there = cross(kind, wire, from, to)
        fc.pre(there !== undefined)
        const dropped = there.notes.filter(note => note.kind === 'dropped').map(note => note.path)
        // The same words may stand elsewhere in the body, from where they were carried.
        const kept = leaves(wire).filter(({ path }) => !dropped.includes(path))
        const lying = leaves(wire).filter(
          ({ path, value }) => dropped.includes(path) && telling(value) && contains(there.wire, value) && !kept.some(other => contains([other.value], value)),
        )
        expect(lying).toEqual([])
      }),
      runs(150),
    )
  })

  test.each<Kind>(['request', 'response'])('a note of a loss points into the %s that it is lost from', kind => {
    fc.assert(
      fc.property(wiresOf(from)[kind], wire => {
        fc.pre(attempt(() => codecs[kind](from).decode(wire)) !== undefined && readable(kind, wire, from))
        const there = cross(kind, wire, from, to)
        fc.pre(there !== undefined)
        expect(there.notes.filter(note => note.kind !== 'synthesized' && !leadsSomewhere(wire, note.path)).map(({ code, path }) => `${code} ${path}`)).toEqual(
          [],
        )
      }),
      runs(150),
    )
  })

  test.each<Kind>(['request', 'response'])('what it writes of a %s, its own decoder reads', kind => {
    fc.assert(
      fc.property(wiresOf(from)[kind], wire => {
        const decoded = attempt(() => codecs[kind](from).decode(wire))
        fc.pre(decoded !== undefined)
        const there = cross(kind, wire, from, to)
        fc.pre(there !== undefined)
        expect(() => codecs[kind](to).decode(there.wire)).not.toThrow()
      }),
      runs(100),
    )
  })
})

describe.each(all)('$name: notes', protocol => {
  test('have a code of a table, the kind and the words that stand there, and a path', () => {
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.constantFrom<Kind>('request', 'response'), fc.nat(), (from, kind, seed) => {
        const [wire] = fc.sample(wiresOf(from)[kind], { numRuns: 1, seed })
        const notes = notesOf(() => codecs[kind](protocol).encode(codecs[kind](from).decode(wire).value as never, { fieldNames: from.fieldNames }).notes)
        for (const { code, kind: told, reason, path, target } of notes) {
          expect(path === '' || path.startsWith('/')).toBe(true)
          expect(target).toBe(protocol.name)
          const entry = Object.hasOwn(protocol.notes, code) ? protocol.notes[code] : undefined
          if (entry) expect({ told, reason }).toEqual({ told: entry.kind, reason: entry.reason })
          else expect(code).toMatch(/^(field|part|tool|event)\.(unsupported|unknown)$/)
          expect(reason).not.toMatch(/\d{6}/)
        }
      }),
      runs(200),
    )
  })
})

function notesOf(act: () => Note[]): Note[] {
  try {
    return act()
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    return error.notes ?? []
  }
}
