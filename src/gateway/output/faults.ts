import { copyOf } from '../../canonical/copy.ts'
import type { JsonSchema } from '../../canonical/tool.ts'
import { isObject, parseJson } from '../../kit/json/json.ts'

/** What is said of an answer: so many faults, each so long. In UTF-16 units. */
const mostFaults = 8
const longestFault = 300

/** References of a schema that are followed: one that repeats itself would never end. */
const mostReferences = 100_000

/** A longer answer is not checked. In UTF-16 units. */
const longest = 1024 * 1024

/**
 * What is wrong with an answer that should be JSON, in words for its model. Undefined: nothing.
 * `schema` undefined: any JSON object will do.
 * @throws whatever cannot be checked: a schema with faults of its own, or no validator installed
 */
export async function faultsOf(
  text: string,
  schema: JsonSchema | undefined,
): Promise<string[] | undefined> {
  const value = parseJson(text)
  if (value === undefined) return ['It is not JSON.']
  if (!schema) return isObject(value) ? undefined : ['It is not a JSON object.']
  if (text.length > longest) return undefined
  const { dereference, validate } = await import('@cfworker/json-schema').catch(
    (cause: unknown) => {
      throw new Error(
        'to check JSON against a schema install @cfworker/json-schema: npm install @cfworker/json-schema',
        { cause },
      )
    },
  )
  const known = bounded(copyOf(schema))
  const { valid, errors } = validate(
    value,
    known,
    draftOf(schema),
    counted(dereference(known)),
    false,
  )
  if (valid) return undefined
  // What stands above another fault says only that there is one.
  const own = errors.filter(({ error }) => !/had errors|does not match schema/.test(error))
  const lines = (own.length > 0 ? own : errors).map(({ instanceLocation, error }) =>
    `${instanceLocation.replace(/^#\/?/, '/')}: ${error}`.slice(0, longestFault),
  )
  return [...new Set(lines)].slice(0, mostFaults)
}

function draftOf({ $schema }: JsonSchema) {
  if (typeof $schema !== 'string') return '2020-12'
  if (/draft-0?4/.test($schema)) return '4'
  if (/draft-0?7/.test($schema)) return '7'
  return $schema.includes('2019-09') ? '2019-09' : '2020-12'
}

/**
 * The schema is the client's, and the answer is what it makes the model write: neither may take the
 * time of others. Expressions can take forever, and lists without repetition are compared in pairs.
 * `format` is an annotation since 2019. Changes the value.
 */
function bounded<Value>(value: Value, isMap = false): Value {
  if (Array.isArray(value)) for (const one of value) bounded(one)
  else if (isObject(value)) {
    if (!isMap) {
      for (const key of unchecked) delete value[key]
      if (value['patternProperties']) {
        delete value['patternProperties']
        delete value['additionalProperties']
        delete value['unevaluatedProperties']
      }
    }
    for (const [key, one] of Object.entries(value))
      if (isMap || !asData.has(key)) bounded(one, !isMap && maps.has(key))
  }
  return value
}

const unchecked = ['pattern', 'uniqueItems', 'format']
/** Their members are names of the answer. */
const maps: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])
/** Their values are data. */
const asData: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** Each reference is looked up here. */
function counted<Lookup extends object>(lookup: Lookup): Lookup {
  let left = mostReferences
  return new Proxy(lookup, {
    get(target, key) {
      if (left-- === 0) throw new Error('the schema repeats itself too often')
      return Reflect.get(target, key) as unknown
    },
  })
}
