import { isObject, type JsonObject } from '../strict/faults.ts'
import {
  closed,
  type Declared,
  formats,
  type Host,
  hasLookaround,
  isStrict,
  objectAtRoot,
  rootWithout,
  upTo,
} from './host.ts'
import {
  checkSchema,
  entriesIn,
  listIn,
  named,
  newestDraft,
  refuses,
  type SchemaRule,
} from './schema-rules.ts'

/**
 * Keys of all properties, and what the root may not have. Sources:
 * https://github.com/beautyfree/appstore-connect-mcp/issues/2 (2026-04-13),
 * https://github.com/ComposioHQ/composio/pull/3067 (2026-03-29),
 * https://github.com/anthropics/claude-code/issues/44788 (2026-04-07),
 * https://github.com/anthropics/claude-code/issues/63673 (the draft, 2026-05-29)
 */
export const rules: readonly SchemaRule[] = [
  newestDraft,
  objectAtRoot,
  rootWithout('anyOf', 'oneOf', 'allOf'),
  ({ schema, at }, faults) => {
    for (const [name] of entriesIn(schema['properties']))
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
        faults.push(`${at}/properties: '${name}' should match ^[a-zA-Z0-9_.-]{1,64}$`)
  },
]

/**
 * Keywords that strict tools and schemas of responses may not have. Source:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations (2026-11-30)
 */
export const refusedWords: ReadonlySet<string> = new Set([
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** The subset of strict tools. Source: as above. */
export const strictRules: readonly SchemaRule[] = [
  closed,
  refuses(
    (key, value) =>
      refusedWords.has(key) ||
      (key === 'minItems' && value !== 0 && value !== 1) ||
      (key === 'format' && ![...formats, 'uri', 'uuid'].includes(String(value))) ||
      (key === 'pattern' && (hasLookaround(value) || /\\[1-9bB]/.test(String(value)))) ||
      (key === 'enum' && listIn(value).some(word => typeof word === 'object' && word !== null)) ||
      (key === '$ref' && !String(value).startsWith('#')),
  ),
  ({ schema, at, root }, faults) => {
    const { $ref } = schema
    if (typeof $ref !== 'string') return
    if (!isObject(named(root, $ref))) faults.push(`${at}/$ref: names nothing`)
    else if (isRecursive(root, $ref)) faults.push(`${at}/$ref: recursive schemas are not supported`)
  },
]

/** Does a schema use itself? */
function isRecursive(root: JsonObject, reference: string): boolean {
  const seen = new Set<string>()
  const reach = (name: string): boolean => {
    const found = named(root, name)
    if (seen.has(name) || !isObject(found)) return false
    seen.add(name)
    let again = false
    const rule: SchemaRule = ({ schema: { $ref } }) => {
      if (typeof $ref === 'string') again ||= $ref === reference || reach($ref)
    }
    checkSchema(found, [rule], '')
    return again
  }
  return reach(reference)
}

/**
 * Limits over all strict tools of a request. Sources: as above,
 * https://github.com/elie222/inbox-zero/issues/2323 (optional ones, 2026-04-20)
 */
export function checkStrictCount(all: readonly Declared[], faults: string[]): void {
  const strict = all.filter(isStrict)
  if (strict.length > 20) faults.push('/tools: more than 20 strict ones')
  const count = { optional: 0, unions: 0 }
  const rule: SchemaRule = ({ schema }) => {
    const wanted = listIn(schema['required'])
    count.optional += entriesIn(schema['properties']).filter(
      ([name]) => !wanted.includes(name),
    ).length
    if (Array.isArray(schema['anyOf']) || listIn(schema['type']).length > 1) count.unions++
  }
  for (const { schema } of strict) if (isObject(schema)) checkSchema(schema, [rule], '')
  if (count.optional > 24) faults.push('/tools: too many optional parameters (limit: 24)')
  if (count.unions > 16) faults.push('/tools: too many parameters with union types (limit: 16)')
}

export const anthropic: Host = {
  protocols: ['messages'],
  // https://github.com/github/copilot-cli/issues/1879 (2026-03-06)
  name: () => upTo(128),
  rules: declared => [...rules, ...(isStrict(declared) ? strictRules : [])],
  more: checkStrictCount,
}
