import { Ajv, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc, { type Arbitrary } from 'fast-check'

export type Schema = Record<string, unknown>

/** The drafts of JSON Schema that programs write. */
export const drafts = ['4', '6', '7', '2019-09', '2020-12'] as const
export type Draft = (typeof drafts)[number]

/** Names that some servers refuse, that mean something in JSON Schema or in JavaScript, and others. */
const propertyName = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'city', 'zip') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '$top',
      'filter[id]',
      'two words',
      'é.x',
      'x'.repeat(70),
      'type',
      'properties',
      '$ref',
      '@odata.type',
    ),
  },
)

const words = fc.constantFrom('red', 'green', 'blue', '', 'a b')
const count = fc.nat(3)

const optional = (keys: Record<string, Arbitrary<unknown>>): Arbitrary<Schema> =>
  fc.record(keys, { requiredKeys: [] })

const annotations = optional({
  title: words,
  description: words,
  default: fc.constantFrom(null, 1, 'red', { $top: 1 }),
})

/** Any schema of the draft, without one for the root. */
function anySchema(draft: Draft): Arbitrary<unknown> {
  const isOld = draft === '4'
  const isNew = draft === '2020-12'
  const hasConditions = draft !== '4' && draft !== '6'
  const places = draft === '2019-09' || isNew ? '$defs' : 'definitions'
  return fc.letrec<{ schema: unknown; object: Schema }>(tie => {
    const one = tie('schema')
    const list = fc.array(one, { minLength: 1, maxLength: 3 })
    const typed = (type: unknown, more: Record<string, Arbitrary<unknown>>) =>
      fc.tuple(optional(more), annotations).map(([keys, words]) => ({ type, ...keys, ...words }))
    const limit = isOld ? fc.boolean() : fc.integer({ min: -3, max: 3 })
    const scalar = fc.oneof(
      typed('string', {
        minLength: count,
        maxLength: fc.integer({ min: 3, max: 9 }),
        pattern: fc.constantFrom('^[a-z]*$', '(?=r)red', '\\d+', '^[^\\p{Cc}]*$', '(?<a>r)ed'),
        format: fc.constantFrom('uri', 'email', 'date-time', 'regex', 'int32'),
      }),
      typed('integer', { minimum: count, exclusiveMinimum: limit, multipleOf: fc.constant(1) }),
      typed('number', { maximum: count, exclusiveMaximum: limit }),
      typed('boolean', {}),
      typed('null', {}),
      fc.uniqueArray(words, { minLength: 1 }).map(list => ({ enum: list })),
      fc.uniqueArray(words, { minLength: 1 }).map(list => ({ type: 'string', enum: list })),
      fc.constantFrom<Schema[]>(
        { type: ['string', 'null'] },
        { type: ['array', 'null'] },
        { enum: ['red', null] },
        { enum: [{ $top: 1 }, 2] },
        { type: 'string', enum: Array.from({ length: 300 }, (_, i) => `w${i}`) },
        {},
        ...(isOld ? [] : [{ const: 'red' }, { const: { $top: 1 } }]),
      ),
    )
    const array = typed('array', {
      items: isNew ? one : fc.oneof(one, list),
      minItems: count,
      uniqueItems: fc.boolean(),
      ...(isNew ? { prefixItems: list } : { additionalItems: fc.oneof(one, fc.boolean()) }),
      ...(isOld ? {} : { contains: one }),
    })
    const needed = fc.uniqueArray(propertyName, { minLength: 1, maxLength: 2 })
    const object = fc
      .tuple(
        typed('object', {
          properties: fc.dictionary(propertyName, one, { maxKeys: 3 }),
          required: needed,
          additionalProperties: fc.oneof(fc.boolean(), one),
          patternProperties: fc.dictionary(fc.constantFrom('^a', '^\\$'), one, { maxKeys: 1 }),
          ...(isOld ? {} : { propertyNames: fc.constant({ pattern: '^' }) }),
          ...(draft === '2019-09' || isNew
            ? {
                dependentRequired: fc.dictionary(propertyName, needed, { maxKeys: 1 }),
                dependentSchemas: fc.dictionary(propertyName, one, { maxKeys: 1 }),
                unevaluatedProperties: fc.boolean(),
              }
            : { dependencies: fc.dictionary(propertyName, fc.oneof(one, needed), { maxKeys: 1 }) }),
        }),
        fc.boolean(),
      )
      .map(([schema, keepsType]): Schema => {
        const { type, ...rest } = schema
        return keepsType || !('properties' in rest) ? { type, ...rest } : rest
      })
    const combined = fc.oneof(
      list.map(anyOf => ({ anyOf })),
      list.map(oneOf => ({ oneOf })),
      list.map(allOf => ({ allOf })),
      fc.tuple(object, list).map(([schema, anyOf]) => ({ ...schema, anyOf })),
      fc.tuple(object, list).map(([schema, oneOf]) => ({ ...schema, oneOf })),
      one.map(not => ({ not: { allOf: [not, { required: ['never'] }] } })),
      ...(hasConditions
        ? [fc.tuple(one, one, one).map(([test, then, other]) => branches(test, then, other))]
        : []),
    )
    const reference = fc
      .tuple(
        fc.constantFrom(`#/${places}/A`, `#/${places}/B`, '#', `#/${places}/A/properties/a`),
        fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: annotations }),
      )
      .map(([$ref, beside]) => ({ $ref, ...beside }))
    return {
      object,
      schema: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        scalar,
        ...(isOld ? [] : [fc.boolean()]),
        array,
        object,
        combined,
        reference,
      ),
    }
  }).schema
}

function branches(test: unknown, first: unknown, second: unknown): Schema {
  return Object.fromEntries([
    ['if', test],
    ['then', first],
    ['else', second],
  ])
}

const urls: Record<Draft, string> = {
  4: 'http://json-schema.org/draft-04/schema#',
  6: 'http://json-schema.org/draft-06/schema#',
  7: 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

/** The parameters of a tool as programs describe them: mostly an object, with definitions. */
export const parameters: Arbitrary<{ draft: Draft; schema: Schema }> = fc
  .constantFrom(...drafts)
  .chain(draft => {
    const one = anySchema(draft)
    const definition = one.filter(schema => typeof schema === 'object') as Arbitrary<Schema>
    const root = fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            fc.dictionary(propertyName, one, { maxKeys: 4 }),
            definition,
            fc.constantFrom({}, { additionalProperties: false }),
          )
          .map(([properties, other, more]): Schema => {
            const { type: _, properties: __, $ref: ___, ...rest } = other
            return { type: 'object', properties, ...rest, ...more }
          }),
      },
      // Arguments are an object, which the root may leave open.
      {
        weight: 2,
        arbitrary: definition.filter(
          ({ type, $ref }) => type === 'object' || (type === undefined && $ref === undefined),
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Schema[]>(
          {},
          { type: 'object' },
          { type: ['object', 'null'] },
          { type: 'object', properties: [] },
          { type: 'object', properties: {}, required: null },
        ),
      },
    )
    return fc
      .tuple(root, definition, definition, fc.boolean())
      .map(([schema, first, second, isNamed]) => ({
        draft,
        schema: {
          ...(isNamed && { $schema: urls[draft] }),
          ...schema,
          [draft === '2019-09' || draft === '2020-12' ? '$defs' : 'definitions']: {
            A: { type: 'object', properties: { a: first } },
            B: second,
          },
        },
      }))
  })

const options: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  validateSchema: false,
}

const kinds: Partial<Record<Draft, typeof Ajv2020>> = { '2019-09': Ajv2019, '2020-12': Ajv2020 }

/**
 * The validator of a schema of this draft. Undefined: it has none, as where a reference names
 * nothing.
 */
export function validatorOf(
  schema: Schema,
  draft: Draft,
): ((value: unknown) => boolean) | undefined {
  const Kind = kinds[draft] ?? Ajv
  const { $schema: _, ...rest } = draft === '4' ? withNumbers(schema) : schema
  try {
    const validate = new Kind(options).compile(rest)
    return value => {
      try {
        return validate(value) as boolean
      } catch {
        return false
      }
    }
  } catch {
    return undefined
  }
}

/** Limits of draft 4 as those of later ones. */
function withNumbers<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withNumbers) as T
  if (typeof value !== 'object' || value === null) return value
  const schema = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withNumbers(inner as unknown)]),
  )
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const { [flag]: isExclusive, [limit]: bound } = schema
    if (typeof isExclusive !== 'boolean') continue
    delete schema[flag]
    if (!isExclusive || bound === undefined) continue
    delete schema[limit]
    schema[flag] = bound
  }
  return schema as T
}

/** Arguments that may fit: some of the properties, with values of every type. */
export const anyArguments: Arbitrary<Schema> = fc.letrec<{ value: unknown; object: Schema }>(
  tie => ({
    object: fc.dictionary(propertyName, tie('value'), { maxKeys: 3 }),
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, 0, 1, 2.5, -1, 'red', '', 'w7', '12'),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
  }),
).object
