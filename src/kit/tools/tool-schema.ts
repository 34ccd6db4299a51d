import type { SchemaDialect } from '../../protocol.ts'
import { writeMember } from '../json/digits.ts'
import { isObject, type JsonObject, setOwn, without } from '../json/json.ts'
import { describing } from '../response/wrapped-output.ts'
import { fitsAlready } from './fits-already.ts'
import { inNewest, withItems } from './newest-draft.ts'
import { allowsObject } from './object-schema.ts'
import { refusedPatterns } from './patterns.ts'
import {
  resolveReferences,
  schemaAt,
  withDefinitions,
  withPlacesDefined,
} from './schema-references.ts'
import { fitSchema, mapSchemas, type SchemaSubset } from './schema-subset.ts'
import { typed } from './typed-schema.ts'

/** What a schema lost: the codes of notes. */
export type SchemaLoss =
  | 'tool.schema-root'
  | 'schema.reference'
  | 'schema.keywords'
  | 'schema.invalid'

/** `words`: what the root said and may not say, for the description of the tool. */
export type FittedSchema = { schema: JsonObject; lost: readonly SchemaLoss[]; words?: string }

const nothing: readonly SchemaLoss[] = []

/** The end of a tuple has no type. Source: https://github.com/vercel/ai/issues/18921 */
const refusedTyped: SchemaSubset = { items: value => value === false }

/** What names a whole schema, and constrains nothing. */
const naming = ['$schema', '$id'] as const

const unnamed = (schema: JsonObject) =>
  naming.some(key => key in schema) ? without(schema, [...naming]) : schema

/**
 * The schema as servers take it: in the words of the 2020-12 draft, with an object that has
 * properties at the root, and items in each array. The same object if nothing changed.
 */
export function toolSchema(given: JsonObject, dialect: SchemaDialect): FittedSchema {
  if (fitsAlready(given, dialect)) return { schema: given, lost: nothing }
  const fitted = fittedOnce(given, dialect)
  // What moves inside of the schema can no longer be found by its place.
  if (dialect.references || fitted.schema === given) return fitted
  const hoisted = withPlacesDefined(given)
  return hoisted === given ? fitted : fittedOnce(hoisted, dialect)
}

function fittedOnce(given: JsonObject, dialect: SchemaDialect): FittedSchema {
  const { plainRoot = false, references, form, rootKeys, incomplete, patterns } = dialect
  const valid = validSchema(given, dialect)
  const lost = [...valid.lost]
  const rooted = asObject(valid.schema, incomplete)
  const folded = plainRoot && rooted['type'] === 'object' ? foldRoot(rooted) : rooted
  if (folded !== rooted) lost.push('tool.schema-root')
  const resolved = references ? resolveReferences(folded, references) : undefined
  if (resolved?.isLess && !lost.includes('schema.reference')) lost.push('schema.reference')
  const bare = resolved?.schema ?? folded
  const named = form ? mapSchemas(bare, unnamed) : bare
  // A reference that is resolved may have brought a type next to a union.
  const united = form ? mapSchemas(named, one => loneUnion(one, incomplete)) : named
  const complete = form === 'typed' ? typed(united) : undefined
  const typedOnce = complete?.schema ?? united
  const taken = form === 'typed' ? fitSchema(typedOnce, refusedTyped) : typedOnce
  const compiled = fitSchema(taken, refusedPatterns[patterns ?? 'any'])
  if (complete?.isLess || named !== bare || compiled !== typedOnce) lost.push('schema.keywords')
  const fitted = { schema: compiled, lost }
  return rootKeys ? withRootKeys(fitted, rootKeys) : fitted
}

/**
 * The schema in the words of the 2020-12 draft, without references to nothing. The same object if
 * nothing changed.
 */
export function validSchema(
  given: JsonObject,
  { form, incomplete }: SchemaDialect,
): Omit<FittedSchema, 'words'> {
  const lost: SchemaLoss[] = []
  let isInvalid = false
  const newest = mapSchemas(given, one => {
    const { schema, isLess } = inNewest(one, incomplete)
    isInvalid ||= isLess
    return form ? loneUnion(withoutNull(schema, incomplete), incomplete) : schema
  })
  if (isInvalid) lost.push('schema.invalid')
  const { schema, isLess } = withDefinitions(newest)
  if (isLess) lost.push('schema.reference')
  return { schema, lost }
}

const hasType = ({ type }: JsonObject, word: string) =>
  type === word || (Array.isArray(type) && type.includes(word))

/** Arguments are always an object, whatever else the schema allows, and wherever it is defined. */
function asObject(given: JsonObject, isIncomplete = false): JsonObject {
  const schema = withoutRootReference(given)
  const { type, properties } = schema
  const isNamed = type === 'object'
  if (!isNamed && type !== undefined && !hasType(schema, 'object')) return schema
  if (isNamed && (properties != null || isIncomplete)) return schema
  // What is no list of properties stays: the server says what is wrong with it.
  return { ...schema, type: 'object', properties: properties ?? {} }
}

function withoutRootReference(given: JsonObject): JsonObject {
  const found = given['$ref'] === undefined ? undefined : definitionOf(given, given)
  return found ? { ...found, ...without(given, ['$ref']) } : given
}

/** What may be an object says so at its root, where servers look for it. */
export function typedRoot(given: JsonObject): JsonObject {
  const schema = withoutRootReference(given)
  const isOpen = schema['type'] === undefined && !describing.some(key => schema[key] !== undefined)
  return isOpen && allowsObject(schema) ? { type: 'object', ...schema } : schema
}

/** `null` is a type of its own where a server takes none among the words of an enum. */
function withoutNull(schema: JsonObject, isIncomplete = false): JsonObject {
  const { enum: words, anyOf, type } = schema
  if (!Array.isArray(words) || !words.includes(null)) return schema
  const { enum: _, type: __, ...rest } = schema
  const others = Array.isArray(type) ? type.filter(word => word !== 'null') : type
  const isNullable = others !== type || type === undefined || type === 'null'
  const known = words.filter(word => word !== null)
  const complete = isIncomplete ? (one: JsonObject) => one : withItems
  const options = [
    ...(known.length > 0
      ? [complete({ ...(others !== undefined && { type: others }), enum: known })]
      : []),
    ...(isNullable ? [{ type: 'null' }] : []),
  ]
  if (anyOf === undefined) return { ...rest, anyOf: options }
  const { allOf } = rest
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf: options }] }
}

/** A union says the types of its alternatives itself, where a server takes no type next to it. */
function loneUnion(schema: JsonObject, isIncomplete = false): JsonObject {
  const { anyOf, type } = schema
  if (!Array.isArray(anyOf) || type === undefined) return schema
  const isTyped = (option: JsonObject) => 'type' in option || '$ref' in option || 'anyOf' in option
  return {
    ...without(schema, ['type']),
    anyOf: anyOf.map((option: unknown) => {
      if (!isObject(option) && option !== true) return option
      const given = option === true ? {} : option
      if (isTyped(given)) return given
      return isIncomplete ? { type, ...given } : withItems({ type, ...given })
    }),
  }
}

/** Words of a schema that constrain nothing, and what is used by references alone. */
const silent = new Set([
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'examples',
  'default',
])

/** The root with these keywords alone. */
function withRootKeys(fitted: FittedSchema, taken: readonly string[]): FittedSchema {
  const { schema } = fitted
  const others = Object.keys(schema).filter(key => !taken.includes(key))
  if (others.length === 0) return fitted
  const { description } = schema
  const refused = others.filter(key => key !== 'description' && !silent.has(key))
  const omitted = refused.map(key => `${key}: ${writeMember(schema, key)}`).join(', ')
  const words = joinedWords(description, omitted && `(${omitted})`)
  return {
    ...fitted,
    schema: without(schema, others),
    lost: refused.length > 0 ? [...fitted.lost, 'schema.keywords'] : fitted.lost,
    ...(words !== '' && { words }),
  }
}

const joinedWords = (...words: readonly unknown[]): string =>
  words.filter(text => typeof text === 'string' && text !== '').join(' ')

const unions = ['anyOf', 'oneOf', 'allOf'] as const
const combining = [...unions, 'not', 'enum', 'const'] as const

/**
 * The schema without combinations at its root: it has the properties of all branches, requires what
 * every branch requires, and has the combination in its description. The same object if there is
 * none.
 */
export function foldRoot(schema: JsonObject): JsonObject {
  const found = combining.filter(key => key in schema)
  if (found.length === 0) return schema
  const { properties, required } = folded(schema, { root: schema, known: new Map() }, 0)
  const omitted = found.map(key => `${key}: ${writeMember(schema, key)}`).join(', ')
  return {
    ...without(schema, [...found]),
    type: 'object',
    properties,
    ...(required.size > 0 && { required: [...required] }),
    description: joinedWords(schema['description'], `(${omitted})`),
  }
}

/** `isIf`: some of the properties depend on a condition. */
type Folded = { properties: JsonObject; required: Set<unknown>; isIf: boolean }

/** Where branches are. `condition`: what holds if it does, and what holds else. */
const branching = [...unions, 'condition'] as const

/** Branches in each other are read this deep. */
const deepest = 20

/** In letters of JSON: longer alternatives of a property become any value. */
const longest = 20_000

/** `known`: what was folded, as definitions may name each other again and again. */
type Folding = { root: JsonObject; known: Map<JsonObject, Folded> }

/** The properties of a schema and of all its branches. */
function folded(schema: JsonObject, folding: Folding, depth: number): Folded {
  const known = folding.known.get(schema)
  if (known) return known
  const properties: JsonObject = isObject(schema['properties']) ? schema['properties'] : {}
  const isIf = schema['if'] !== undefined
  const own: Folded = { properties, required: new Set(namesIn(schema)), isIf }
  if (depth === deepest) return own
  // For branches that contain it.
  folding.known.set(schema, own)
  const result = { properties: { ...properties }, required: new Set(own.required), isIf }
  for (const key of branching) {
    const branches = branchesOf(schema, key, folding.root).map(branch =>
      folded(branch, folding, depth + 1),
    )
    addBranches(result, branches, key)
  }
  folding.known.set(schema, result)
  return result
}

/** Adds what branches describe, unless the schema says it itself. */
function addBranches(
  { properties, required }: Folded,
  branches: readonly Folded[],
  key: (typeof branching)[number],
): void {
  const isChoice = key !== 'allOf' || branches.some(branch => branch.isIf)
  const found = new Map<string, unknown[]>()
  const needing = new Map<unknown, number>()
  for (const branch of branches) {
    for (const name in branch.properties) {
      const forms = found.get(name)
      if (forms) forms.push(branch.properties[name])
      else found.set(name, [branch.properties[name]])
    }
    for (const name of branch.required) needing.set(name, (needing.get(name) ?? 0) + 1)
  }
  for (const [name, forms] of found)
    if (!Object.hasOwn(properties, name)) setOwn(properties, name, oneOf(forms, isChoice))
  const isTotal = key !== 'condition' || branches.length > 1
  for (const [name, count] of needing)
    if (key === 'allOf' || (isTotal && count === branches.length)) required.add(name)
}

/** A property as its branches describe it: alternatives where they differ. */
function oneOf(forms: readonly unknown[], isChoice: boolean): unknown {
  const different = new Map(forms.map(form => [JSON.stringify(form), form]))
  const [first] = different.values()
  if (different.size === 1 || !isChoice) return first
  const length = [...different.keys()].reduce((sum, text) => sum + text.length, 0)
  return length > longest ? {} : { anyOf: [...different.values()] }
}

const namesIn = ({ required }: JsonObject): unknown[] => (Array.isArray(required) ? required : [])

/** The alternatives, also those that are defined elsewhere in the schema. */
function branchesOf(
  schema: JsonObject,
  key: (typeof branching)[number],
  root: JsonObject,
): JsonObject[] {
  const list = key === 'condition' ? [schema['then'], schema['else']] : schema[key]
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map(branch => definitionOf(root, branch) ?? branch)
}

/** What a reference names in the end. Undefined: nothing, or itself. */
function definitionOf(root: JsonObject, schema: JsonObject): JsonObject | undefined {
  const seen = new Set<unknown>()
  let found: JsonObject | undefined = schema
  while (found && found['$ref'] !== undefined) {
    if (seen.has(found['$ref'])) return undefined
    seen.add(found['$ref'])
    found = schemaAt(root, String(found['$ref']))
    if (found === root) return undefined
  }
  return found !== schema && found && Object.keys(found).length > 0 ? found : undefined
}
