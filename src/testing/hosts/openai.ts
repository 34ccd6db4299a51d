import { isObject } from '../strict/faults.ts'
import {
  closed,
  formats,
  type Host,
  hasLookaround,
  isStrict,
  itemsInArrays,
  objectAtRoot,
  openName,
  openProtocols,
  pythonPatterns,
  rootWithout,
} from './host.ts'
import {
  atRoot,
  checkSchema,
  entriesIn,
  listIn,
  named,
  newestDraft,
  refuses,
  type SchemaRule,
} from './schema-rules.ts'

/**
 * "object schema missing properties". Source:
 * https://github.com/spring-projects/spring-ai/issues/4776 (2025-11-11)
 */
const propertiesAtRoot = atRoot(({ schema, at }, faults) => {
  if (!isObject(schema['properties'])) faults.push(`${at}: object schema missing properties`)
})

/**
 * The subset of strict functions. Sources:
 * https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas (2026-11-30),
 * https://github.com/can1357/oh-my-pi/issues/209 (`propertyNames`, 2026-02-28),
 * https://github.com/cyanheads/git-mcp-server/issues/47 (formats, 2026-05-06),
 * https://github.com/can1357/oh-my-pi/issues/211 (schemas without a type, 2026-02-28),
 * https://github.com/anomalyco/opencode/issues/32073 (lookarounds, 2026-06-12)
 */
const openaiStrict: readonly SchemaRule[] = [
  closed,
  refuses(
    (key, value, schema) =>
      [
        'allOf',
        'oneOf',
        'not',
        'if',
        'then',
        'else',
        'dependentRequired',
        'dependentSchemas',
        'patternProperties',
        'propertyNames',
        'prefixItems',
        'contains',
        'minContains',
        'maxContains',
        'uniqueItems',
        'minProperties',
        'maxProperties',
        'unevaluatedItems',
        'unevaluatedProperties',
      ].includes(key) ||
      (key === 'format' && ![...formats, 'uuid'].includes(String(value))) ||
      (key === 'pattern' && hasLookaround(value)) ||
      ('$ref' in schema && key !== '$ref' && key !== '$defs' && key !== 'definitions'),
  ),
  ({ schema, at, root, depth }, faults) => {
    const wanted = listIn(schema['required'])
    for (const [name] of entriesIn(schema['properties']))
      if (!wanted.includes(name)) faults.push(`${at}/required: lacks ${name}`)
    const hasType = ['type', '$ref', 'anyOf', 'enum', 'const'].some(key => key in schema)
    if (!hasType && schema !== root) faults.push(`${at}: schema must have a 'type' key`)
    if (depth > 10) faults.push(`${at}: more than 10 levels`)
    if (typeof schema['$ref'] === 'string' && !isObject(named(root, schema['$ref'])))
      faults.push(`${at}/$ref: names nothing`)
  },
  atRoot(({ schema, at }, faults) => {
    const size = { properties: 0, enums: 0, letters: 0 }
    const rule: SchemaRule = ({ schema: inner, at: place }) => {
      const names = [...entriesIn(inner['properties']), ...entriesIn(inner['$defs'])]
      const words = [...listIn(inner['enum']), inner['const']].map(lengthOf)
      size.properties += entriesIn(inner['properties']).length
      size.enums += listIn(inner['enum']).length
      size.letters += [...names.map(([name]) => name.length), ...words].reduce((a, b) => a + b, 0)
      if (words.length > 251 && words.reduce((a, b) => a + b, 0) > 15_000)
        faults.push(`${place}/enum: more than 15000 letters`)
    }
    checkSchema(schema, [rule], at)
    if (size.properties > 5000) faults.push(`${at}: more than 5000 properties`)
    if (size.enums > 1000) faults.push(`${at}: more than 1000 enum values`)
    if (size.letters > 120_000) faults.push(`${at}: more than 120000 letters of names and words`)
  }),
]

const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : 0)

/**
 * Models up to GPT-4 and the o models. Sources:
 * https://github.com/nspady/google-calendar-mcp/issues/39 (2025-06-01),
 * https://github.com/cecli-dev/cecli/issues/281 (2025-12-19)
 */
const isOlder = (model: string) => /(^|\/)(gpt-(3|4)|chatgpt-4|o\d)/.test(model)

export const openai: Host = {
  protocols: openProtocols,
  // https://github.com/tadata-org/fastapi_mcp/issues/161 (2025-06-06); for 128 the
  // OpenAPI of the Responses API
  name: openName,
  // https://platform.openai.com/docs/api-reference/chat/create (2026-11-30): at most 128 functions
  most: 128,
  rules: (declared, model) => [
    // https://github.com/griptape-ai/griptape/issues/2150 (2026-04-16): it checks against the metaschema
    newestDraft,
    objectAtRoot,
    propertiesAtRoot,
    itemsInArrays,
    pythonPatterns,
    ...(isOlder(model) || isStrict(declared)
      ? [rootWithout('anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not')]
      : []),
    ...(isStrict(declared) ? openaiStrict : []),
  ],
}
