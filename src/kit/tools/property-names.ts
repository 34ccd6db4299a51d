import { withDigitsOf } from '../json/digits.ts'
import { isObject, type JsonObject, parseJson, setOwn } from '../json/json.ts'
import { keyOfPointer } from './schema-references.ts'
import { everySchema, mapSchemas } from './schema-subset.ts'

/** By one name: the other. */
export type PropertyNames = Record<string, string>

/** Schemas whose properties have plain names, as another reading of them has found. */
const plain = new WeakSet<JsonObject>()

export const notePlainNames = (schema: JsonObject): void => {
  plain.add(schema)
}

/** Have all properties the names that `spell` writes? */
export const areSpelled = (schema: JsonObject, spell: (name: string) => string): boolean =>
  plain.has(schema) ||
  everySchema(schema, ({ properties }) => {
    if (isObject(properties))
      for (const name in properties) if (!isPlainName(name) && spell(name) !== name) return false
    return true
  })

/** Letters, digits and underscores: every server takes them. */
export function isPlainName(name: string): boolean {
  if (name === '' || name.length > 64) return false
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    const isTaken =
      (code >= 0x61 && code <= 0x7a) ||
      (code >= 0x41 && code <= 0x5a) ||
      (code >= 0x30 && code <= 0x39) ||
      code === 0x5f
    if (!isTaken) return false
  }
  return true
}

/**
 * The schema with the names of all its properties as `spell` writes them. `written`: by the name in
 * the given schema, only those that changed. The same object if none did.
 */
export function spellProperties(
  schema: JsonObject,
  spell: (name: string) => string,
): { schema: JsonObject; written: PropertyNames } {
  const written: PropertyNames = {}
  if (areSpelled(schema, spell)) return { schema, written }
  everySchema(schema, ({ properties }) => {
    if (isObject(properties))
      for (const name in properties) {
        const spelled = spell(name)
        if (spelled !== name) setOwn(written, name, spelled)
      }
    return true
  })
  const named = (name: string) => (Object.hasOwn(written, name) ? (written[name] ?? name) : name)
  const renamed = mapSchemas(schema, one => {
    const changed = { ...one }
    for (const key in one) {
      const value = one[key]
      if (byName.has(key) && isObject(value)) changed[key] = withNames(value, named)
      else if (key === 'required') changed[key] = namesIn(value, named)
      else if (examples.has(key)) changed[key] = withKeys(value, named)
      else if (key === '$ref' && typeof value === 'string') changed[key] = placeOf(value, named)
    }
    return changed
  })
  return { schema: renamed, written }
}

/** Keywords whose value has names of properties as keys. */
const byName = new Set(['properties', 'dependentRequired', 'dependentSchemas', 'dependencies'])
/** Keywords whose value is, or contains, a value as in arguments. */
const examples = new Set(['const', 'enum', 'default', 'examples'])

type Named = (name: string) => string

function withNames(value: JsonObject, named: Named): JsonObject {
  const names: JsonObject = {}
  for (const name in value) setOwn(names, named(name), namesIn(value[name], named))
  return names
}

const namesIn = (value: unknown, named: Named): unknown =>
  Array.isArray(value)
    ? value.map((name: unknown) => (typeof name === 'string' ? named(name) : name))
    : value

/** As in the arguments of a call, where keys are replaced at all levels. */
function withKeys(value: unknown, named: Named): unknown {
  if (Array.isArray(value)) return value.map(one => withKeys(one, named))
  if (!isObject(value)) return value
  const keys: JsonObject = {}
  for (const key in value) setOwn(keys, named(key), withKeys(value[key], named))
  return withDigitsOf(keys, value)
}

/** A reference by a place that leads through a property. */
function placeOf(reference: string, named: Named): string {
  const steps = reference.split('/')
  return steps
    .map((step, i) => (steps[i - 1] === 'properties' ? written(named, step) : step))
    .join('/')
}

function written(named: Named, step: string): string {
  const name = keyOfPointer(step)
  const other = named(name)
  return other === name ? step : other
}

/** The names by those that they are written as. */
export function invertNames(written: PropertyNames): PropertyNames {
  const names: PropertyNames = {}
  for (const name in written) setOwn(names, written[name] ?? name, name)
  return names
}

/**
 * Replaces keys in JSON text that arrives in chunks. `held`: a string that may be a key, until the
 * mark behind it shows that; `mark`: the last one that is not in a string. Plain data.
 */
export type Renaming = { held: string; mark: string; inString: boolean; escaped: boolean }

export const startRenaming = (): Renaming => ({
  held: '',
  mark: '',
  inString: false,
  escaped: false,
})

/** Reads the next chunk and returns the next chunk of the text with other keys. */
export function renameChunk(state: Renaming, text: string, names: PropertyNames): string {
  let out = ''
  for (const char of text) {
    const isInside = state.inString
    if (isInside) {
      state.inString = state.escaped || char !== '"'
      state.escaped = !state.escaped && char === '\\'
    } else if (char.trim() !== '') {
      out += char === ':' ? keyFor(state.held, names) : state.held
      state.held = ''
      state.inString = char === '"'
      if (!state.inString) state.mark = char
    }
    // A string behind a colon is a value.
    const mayBeKey = state.mark !== ':' && (isInside || state.inString || state.held !== '')
    if (mayBeKey) state.held += char
    else out += char
  }
  return out
}

/** What is left at the end of the text. */
export function endRenaming(state: Renaming): string {
  const { held } = state
  state.held = ''
  return held
}

/** The JSON text with other keys. All else stays as it is written. */
export function renameKeys(text: string, names: PropertyNames): string {
  const state = startRenaming()
  return renameChunk(state, text, names) + endRenaming(state)
}

/** `held`: a string as it is written, and the white space behind it. */
function keyFor(held: string, names: PropertyNames): string {
  const name = parseJson(held)
  return typeof name === 'string' && Object.hasOwn(names, name)
    ? held.replace(held.trim(), () => JSON.stringify(names[name]))
    : held
}
