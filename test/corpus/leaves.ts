import { isDeepStrictEqual } from 'node:util'
import type { Note } from '../../src/canonical/note.ts'
import { leaves } from '../../src/testing/json.ts'
import { covers, valueAt } from '../support/cross.ts'

type Translated = { body: unknown; notes: Note[] }

/**
 * `path`: its path. `place`: the same, but items of lists are identified by their content, not by
 * their index.
 */
type Leaf = { path: string; place: string; value: unknown }

/**
 * Leaves of a body that do not come back from another protocol, and that no note names. A leaf has
 * come back when its value is at the same place, in an object of the same type and role, in the
 * same order as similar ones.
 */
export function unreported(
  body: unknown,
  there: Translated,
  back: Translated,
  exceptions: RegExp[] = [],
): string[] {
  const returned = new Map<string, unknown[]>()
  for (const { place, value } of placed(back.body))
    returned.set(place, [...(returned.get(place) ?? []), value])
  return placed(body)
    .filter(({ place, value }) => !take(returned.get(place), value))
    .filter(
      ({ path, place, value }) =>
        !(hasNewRole(path, there, back) && take(inAnyRole(back.body, place), value)),
    )
    .filter(({ path, value }) => !isNameOfCall(body, path, value))
    .filter(({ path }) => !covers(there.notes, path) && !isSentBeside(there.notes, path))
    .filter(({ value }) => !isNotedOnTheWayBack(value, there.body, back.notes))
    .filter(
      ({ place, value }) =>
        !sayingNothing.some(([at, word]) => at.test(place) && word === value) &&
        !exceptions.some(at => at.test(`${place} ${value}`)),
    )
    .map(({ place, path, value }) => `${place} = ${JSON.stringify(value)?.slice(0, 100)} (${path})`)
}

function take(values: unknown[] | undefined, wanted: unknown): boolean {
  const found =
    values?.findIndex(
      value => isDeepStrictEqual(parsed(value), parsed(wanted)) || value === `resp_${wanted}`,
    ) ?? -1
  if (found < 0 || !values) return false
  values.splice(0, found + 1)
  return true
}

/** Arguments are JSON in a text; how it was spaced says nothing. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Notes report that a message has another role now, or is a part of its neighbor. */
const hasNewRole = (path: string, there: Translated, back: Translated) =>
  covers(there.notes, path.replace(/^(\/\w+\/\d+)\/.*/, '$1/role')) ||
  back.notes.some(({ code }) => code.startsWith('system.'))

const inAnyRole = (body: unknown, place: string) => {
  const bare = (one: string) => one.replaceAll(/\*[^/]*/g, '*')
  return placed(body).flatMap(one => (bare(one.place) === bare(place) ? [one.value] : []))
}

/** Results of chat completions may repeat the name of their call, which the id implies. */
function isNameOfCall(body: unknown, path: string, value: unknown): boolean {
  const id = valueAt(body, path.replace(/\/name$/, '/tool_call_id'))
  const call = leaves(body).find(one => one.value === id && /\/tool_calls\/\d+\/id$/.test(one.path))
  return call !== undefined && valueAt(body, call.path.replace(/\/id$/, '/function/name')) === value
}

const isNotedOnTheWayBack = (value: unknown, between: unknown, notes: Note[]) =>
  leaves(between).some(one => isDeepStrictEqual(one.value, value) && covers(notes, one.path))

/**
 * The type of an object says of what kind its other values are, and a namespace is half of a name:
 * these are noted.
 */
const isSentBeside = (notes: Note[], path: string) =>
  (path.endsWith('/name') && covers(notes, path.replace(/name$/, 'namespace'))) ||
  (path.endsWith('/type') &&
    notes.some(
      note =>
        note.kind !== 'synthesized' &&
        note.path.startsWith(path.slice(0, -'type'.length)) &&
        covers(notes, note.path),
    ))

/** Words that mean what silence means, on all wires that know them. */
const sayingNothing: [RegExp, unknown][] = [
  [/^\/parallel_tool_calls$/, true],
  [/\/strict$/, false],
  [/\/is_error$/, false],
  [/\/caller\/type$/, 'direct'],
  [/^\/thinking\/display$/, 'omitted'],
  // None of what the other wire does not count.
  [/^\/usage\/(?:\w+_details|cache_creation)\/\w+$/, 0],
]

// ---- one spelling for what a wire may spell in several ways

function placed(value: unknown, path = '', place = ''): Leaf[] {
  if (value === null || value === undefined) return []
  if (
    typeof value === 'string' &&
    /\/(content|system|input|instructions|output)$/.test(place) &&
    !/\*(function|custom)_call /.test(place)
  ) {
    const message = { path, place: textPlace(place), value }
    return value === '' ? [] : [message]
  }
  if (typeof value !== 'object') return value === '' ? [] : [{ path, place: newer(place), value }]
  if (Array.isArray(value))
    return value.flatMap((one, i) => placed(one, `${path}/${i}`, `${place}/*${kindOf(one)}`))
  return Object.entries(value).flatMap(([key, one]) =>
    // Part of the place, unless it is all there is.
    (key === 'type' || key === 'role') &&
    place.includes('*') &&
    place.lastIndexOf('*') > place.lastIndexOf('/') &&
    Object.keys(value).length > 1
      ? []
      : placed(
          one,
          `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          `${place}/${key}`,
        ),
  )
}

function textPlace(place: string): string {
  if (place === '/input') return '/input/*user/content/*text/text'
  if (place === '/instructions') return '/input/*system/content/*text/text'
  return `${place}/*text/text`
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return ''
  const {
    type,
    role,
    input_schema: schema,
  } = value as { type?: unknown; role?: unknown; input_schema?: unknown }
  if (type === 'custom' && schema !== undefined) return ''
  const words = new Map<unknown, string>([
    ['input_text', 'text'],
    ['output_text', 'text'],
    ['message', ''],
  ])
  return [words.get(type) ?? type, role].filter(Boolean).join(' ')
}

const newer = (place: string) => place.replace(/^\/max_tokens$/, '/max_completion_tokens')
