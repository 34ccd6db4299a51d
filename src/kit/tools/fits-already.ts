import type { SchemaDialect } from '../../protocol.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { counts, isCount } from './keyword-values.ts'
import { hasNoProperties } from './newest-draft.ts'
import { compiles, mostRepeated } from './patterns.ts'
import { isPlainName, notePlainNames } from './property-names.ts'
import { schemaAt } from './schema-references.ts'

/**
 * Is it surely in this dialect already? Nearly all schemas are, and this reads one in a fraction of
 * the time that mapping it takes. `false`: it may be.
 */
export function fitsAlready(root: JsonObject, dialect: SchemaDialect): boolean {
  const { plainRoot, form, rootKeys, incomplete } = dialect
  if (root['type'] !== 'object' || form !== undefined || rootKeys !== undefined) return false
  if (!incomplete && !isObject(root['properties'])) return false
  if (plainRoot) for (const key in root) if (combining.has(key)) return false
  const asked: Asked = { root, isPlain: dialect.checkedNames === true, ...dialect }
  if (!fits(root, asked, 0)) return false
  if (asked.isPlain) notePlainNames(root)
  return true
}

const combining = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'])

/** Deeper ones are left to what maps them. */
const deepest = 100

/** `isPlain`: names of properties are looked at, and every one so far is plain. */
type Asked = SchemaDialect & { root: JsonObject; isPlain: boolean }

function fits(schema: JsonObject, dialect: Asked, depth: number): boolean {
  if (depth > deepest) return false
  for (const key in schema) {
    const value = schema[key]
    switch (typeof value) {
      case 'string':
        if (key === 'type') {
          const isComplete = dialect.incomplete === true || schema['items'] !== undefined
          if (value === 'array' ? !isComplete : !isType(value)) return false
        } else if (key !== 'description' && !fitsText(key, value, dialect)) return false
        break
      case 'object':
        if (key === 'required' && isNone(value) && hasNoProperties(schema)) return false
        if (!fitsHeld(key, value as JsonObject | unknown[] | null, dialect, depth)) return false
        break
      case 'boolean':
        if (!flags.has(key)) return false
        break
      default:
        if (!numbers.has(key) && !(counts.has(key) && fitsCount(value, dialect))) return false
    }
  }
  return true
}

const isNone = (value: unknown) => Array.isArray(value) && value.length === 0

const fitsCount = (value: unknown, { patterns }: Asked) =>
  isCount(value) && (patterns !== 'anchored' || Number(value) <= mostRepeated)

/** A word that is no type. */
function fitsText(key: string, value: string, { references, patterns, root }: Asked): boolean {
  if (key === 'title') return true
  if (key === 'pattern') return compiles(value, patterns ?? 'any')
  if (key === '$ref') return references === undefined && schemaAt(root, value) !== undefined
  return texts.has(key)
}

/** What has such a value, never changes, and is common. */
const texts = new Set(['$schema', '$comment', 'format', 'default', 'const'])
const flags = new Set([
  'additionalProperties',
  'uniqueItems',
  'default',
  'const',
  'deprecated',
  'readOnly',
  'writeOnly',
  'nullable',
])
const numbers = new Set([
  'default',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
])

const isType = (word: string) =>
  word === 'string' ||
  word === 'object' ||
  word === 'integer' ||
  word === 'number' ||
  word === 'boolean' ||
  word === 'null'

/** The value of a keyword that is a list or an object. */
function fitsHeld(
  key: string,
  value: JsonObject | unknown[] | null,
  dialect: Asked,
  depth: number,
): boolean {
  switch (key) {
    case 'properties':
    case '$defs':
    case 'dependentSchemas': {
      if (value === null || Array.isArray(value)) return false
      for (const name in value) {
        if (dialect.isPlain && !isPlainName(name)) dialect.isPlain = false
        const inner = value[name]
        if (!isObject(inner) || !fits(inner, dialect, depth + 1)) return false
      }
      return true
    }
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return (
        Array.isArray(value) &&
        value.length > 0 &&
        value.every(one => isObject(one) && fits(one, dialect, depth + 1))
      )
    case 'required':
      return Array.isArray(value) && isUnique(value)
    case 'enum':
      return Array.isArray(value) && value.length > 0
    case 'const':
    case 'default':
      return true
    case 'items':
    case 'additionalProperties':
    case 'contains':
    case 'propertyNames':
    case 'not':
      return isObject(value) && fits(value, dialect, depth + 1)
    default:
      // What is rare is left to what maps it.
      return false
  }
}

function isUnique(names: readonly unknown[]): boolean {
  if (names.length > 16) return new Set(names).size === names.length
  for (let i = 1; i < names.length; i++) if (names.indexOf(names[i]) !== i) return false
  return true
}
