import type { SchemaDialect } from '../../protocol.ts'
import { isObject, type JsonObject } from '../json/json.ts'

/**
 * Is it surely in this dialect already? Nearly all schemas are, and this reads one in a fraction of
 * the time that mapping it takes. `false`: it may be.
 */
export function fitsAlready(root: JsonObject, dialect: SchemaDialect): boolean {
  const { plainRoot, references, form, rootKeys, incomplete } = dialect
  if (root['type'] !== 'object' || form !== undefined || rootKeys !== undefined) return false
  if (!incomplete && !isObject(root['properties'])) return false
  if (plainRoot) for (const key in root) if (combining.has(key)) return false
  return fits(root, references !== undefined, incomplete === true, 0)
}

const combining = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'])

/** Deeper ones are left to what maps them. */
const deepest = 100

function fits(schema: JsonObject, isBare: boolean, isIncomplete: boolean, depth: number): boolean {
  if (depth > deepest) return false
  for (const key in schema) {
    const value = schema[key]
    if (typeof value === 'string') {
      if (key === 'type') {
        if (value === 'array' ? !isIncomplete && schema['items'] === undefined : !isType(value))
          return false
      } else if (key.charCodeAt(0) === dollar && !silent.has(key) && (isBare || key !== '$ref'))
        return false
    } else if (typeof value === 'object') {
      if (!fitsHeld(key, value as JsonObject | unknown[] | null, isBare, isIncomplete, depth))
        return false
    } else if (typeof value === 'boolean' && odd.has(key)) return false
  }
  return true
}

const dollar = 0x24
/** They never change, and no others that begin so are common. */
const silent = new Set(['$schema', '$comment'])
/** Keywords that are no longer flags. */
const odd = new Set(['exclusiveMinimum', 'exclusiveMaximum', 'required', '$recursiveAnchor'])

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
  isBare: boolean,
  isIncomplete: boolean,
  depth: number,
): boolean {
  switch (key) {
    case 'properties':
    case '$defs':
    case 'patternProperties':
    case 'dependentSchemas': {
      if (value === null || Array.isArray(value)) return false
      for (const name in value) {
        const inner = value[name]
        if (!isObject(inner) || !fits(inner, isBare, isIncomplete, depth + 1)) return false
      }
      return true
    }
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return (
        Array.isArray(value) &&
        value.every(one => isObject(one) && fits(one, isBare, isIncomplete, depth + 1))
      )
    case 'required':
      return Array.isArray(value) && isUnique(value)
    case 'enum':
    case 'const':
    case 'default':
    case 'examples':
      return true
    case 'items':
    case 'additionalProperties':
    case 'contains':
    case 'propertyNames':
    case 'not':
      return isObject(value) && fits(value, isBare, isIncomplete, depth + 1)
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
