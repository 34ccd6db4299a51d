import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { type Declared, declaredIn, requests, type Schema } from '../support/tool-requests.ts'
import { translateRequest } from '../support/untyped.ts'

const city = { type: 'string' }
const branches = [
  { properties: { city }, required: ['city'] },
  { properties: { zip: { type: 'string' } }, required: ['zip'] },
]

describe.each(pairs)('tools $name', ({ from, to }) => {
  const translated = (...tools: Declared[]) => {
    const { body, notes } = translateRequest(requests[from.name as ProtocolName](tools), {
      from: from.name as ProtocolName,
      to: to.name as ProtocolName,
      model: 'm',
    })
    return {
      tools: declaredIn(to.name as ProtocolName, body),
      notes: notes.filter(({ code }) => /^(tool|schema)\./.test(code)).map(({ code }) => code),
    }
  }
  const schemaOf = (schema: Schema) => translated({ name: 'f', schema })
  const folds = to.name === 'messages' || to.name === 'converse'

  test('a combination of schemas at the root is folded where the target refuses it', () => {
    const { tools, notes } = schemaOf({ type: 'object', anyOf: branches })
    expect(tools[0]?.schema).toMatchObject({ type: 'object' })
    expect(notes).toEqual(folds ? ['tool.schema-root'] : [])
    if (!folds) return
    expect(tools[0]?.schema).toEqual({
      type: 'object',
      properties: { city, zip: { type: 'string' } },
      description: `(anyOf: ${JSON.stringify(branches)})`,
    })
  })

  test.runIf(folds)('what all branches require is required', () => {
    const { tools } = schemaOf({
      type: 'object',
      required: ['day'],
      properties: { day: { type: 'string' } },
      allOf: [{ required: ['city'], properties: { city } }],
      oneOf: [{ $ref: '#/$defs/Hour' }, { required: ['hour', 'zone'] }],
      $defs: { Hour: { required: ['hour'], properties: { hour: { type: 'integer' } } } },
    })
    expect(tools[0]?.schema).toMatchObject({
      required: ['day', 'hour', 'city'],
      properties: { day: {}, city: {}, hour: { type: 'integer' } },
    })
  })

  test.runIf(folds)('conditions in one list give the properties of all their branches', () => {
    const when = (kind: string, then: Schema) => ({
      if: { properties: { kind: { const: kind } } },
      ['then' as string]: then,
    })
    const allOf = [
      when('a', { properties: { x: { type: 'string' }, z: {} }, required: ['x', 'z'] }),
      when('b', { properties: { x: { type: 'number' }, y: city }, required: ['y'] }),
      { required: ['kind'] },
    ]
    const { tools, notes } = schemaOf({ type: 'object', properties: { kind: city }, allOf })
    expect(tools[0]?.schema).toEqual({
      type: 'object',
      properties: {
        kind: city,
        x: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        z: {},
        y: city,
      },
      required: ['kind'],
      description: `(allOf: ${JSON.stringify(allOf)})`,
    })
    expect(notes).toEqual(['tool.schema-root'])
  })

  test('the root is an object with properties, and an array has items', () => {
    const bare = {
      type: 'object',
      properties: { list: { type: 'array' }, any: { type: 'object' } },
    }
    expect(schemaOf({}).tools[0]?.schema).toEqual({ type: 'object', properties: {} })
    expect(schemaOf({ type: 'object' }).tools[0]?.schema).toEqual({
      type: 'object',
      properties: {},
    })
    expect(schemaOf({ type: 'object', properties: [] }).tools[0]?.schema).toEqual({
      type: 'object',
      properties: {},
    })
    expect(schemaOf({ type: ['object', 'null'], properties: { city } }).tools[0]?.schema).toEqual({
      type: 'object',
      properties: { city },
    })
    const named = { properties: { city }, required: ['city'] }
    expect(schemaOf({ $ref: '#/$defs/Place', $defs: { Place: named } }).tools[0]?.schema).toEqual({
      type: 'object',
      ...named,
      $defs: { Place: named },
    })
    expect(schemaOf(bare).tools[0]?.schema).toEqual({
      type: 'object',
      properties: { list: { type: 'array', items: {} }, any: { type: 'object' } },
    })
    expect(schemaOf(bare).notes).toEqual([])
  })

  test('keywords of earlier drafts are those of 2020-12 where the target takes no others', () => {
    const { tools, notes } = schemaOf({
      type: 'object',
      properties: {
        ttl: { type: 'number', minimum: 0, exclusiveMinimum: true, exclusiveMaximum: false },
        pair: { type: 'array', items: [city, city], additionalItems: false },
      },
    })
    expect(notes).toEqual([])
    if (!folds) return
    expect(tools[0]?.schema['properties']).toEqual({
      ttl: { type: 'number', exclusiveMinimum: 0 },
      pair: { type: 'array', prefixItems: [city, city], items: false },
    })
  })

  const option = { type: 'object', properties: { label: { type: 'string' } } }
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } }
  test.each<[string, Schema, Schema, string[]]>([
    [
      'a definition, with words next to the reference',
      {
        properties: { first: { $ref: '#/$defs/Option', title: 'First', description: 'it' } },
        $defs: { Option: { ...option, description: 'One of them.' } },
      },
      {
        properties: { first: { ...option, title: 'First', description: 'it One of them.' } },
        $defs: { Option: { ...option, description: 'One of them.' } },
      },
      [],
    ],
    [
      'a definition, with properties next to the reference',
      {
        properties: { first: { $ref: '#/$defs/Option', properties: { b: {} }, required: ['b'] } },
        $defs: { Option: { ...option, required: ['label'] } },
      },
      {
        properties: {
          first: {
            ...option,
            properties: { ...option.properties, b: {} },
            required: ['label', 'b'],
          },
        },
        $defs: { Option: { ...option, required: ['label'] } },
      },
      [],
    ],
    [
      'definitions of an earlier draft, in a list, in a map and through each other',
      {
        properties: {
          list: { type: 'array', items: { $ref: '#/definitions/Two' } },
          map: { type: 'object', additionalProperties: { $ref: '#/definitions/One' } },
        },
        definitions: { One: option, Two: { $ref: '#/definitions/One' } },
      },
      {
        properties: {
          list: { type: 'array', items: option },
          map: { type: 'object', additionalProperties: option },
        },
      },
      [],
    ],
    [
      'a place in the schema, with escaped names',
      {
        properties: { a: option, b: { $ref: '#/properties/a' }, c: { $ref: '#/of/d~1e%20f' } },
        of: { 'd/e f': option },
      },
      { properties: { a: option, b: option, c: option }, of: { 'd/e f': option } },
      [],
    ],
    [
      'a definition of itself',
      { properties: { list: { $ref: '#/$defs/Node' } }, $defs: { Node: node } },
      { properties: { list: { $ref: '#/$defs/Node' } }, $defs: { Node: node } },
      [],
    ],
    [
      'a definition of itself, with words',
      {
        properties: {},
        $defs: { Node: { properties: { next: { $ref: '#/$defs/Node', title: 'N' } } } },
      },
      {
        properties: {},
        $defs: {
          Node: {
            properties: {
              next: { properties: { next: { $ref: '#/$defs/Node' } }, title: 'N' },
            },
          },
        },
      },
      ['schema.reference'],
    ],
    [
      'the root',
      { properties: { inner: { $ref: '#', description: 'again' } } },
      { properties: { inner: { description: 'again' } } },
      ['schema.reference'],
    ],
    [
      'an earlier definition of itself',
      {
        properties: { a: { $ref: '#/definitions/A' } },
        definitions: { A: { properties: { a: { $ref: '#/definitions/A' } } } },
      },
      { properties: { a: { properties: { a: {} } } } },
      ['schema.reference'],
    ],
    [
      'nothing',
      { properties: { a: { $ref: 'https://example.com/a' }, b: { $ref: '#/$defs/B' } } },
      { properties: { a: {}, b: {} } },
      ['schema.reference'],
    ],
  ])(
    'toward Google a reference stands alone in tools and formats: %s',
    (what, given, google, codes) => {
      const schema = { type: 'object', ...given }
      // No server takes a reference to nothing.
      const isFitted = to.name === 'generate-content' || what === 'nothing'
      const expected = isFitted ? { type: 'object', ...google } : schema
      const { tools, notes } = schemaOf(schema)
      expect(tools[0]?.schema).toEqual(expected)
      expect(notes).toEqual(isFitted ? codes : [])
      if (from.name !== 'chat-completions' || to.name !== 'generate-content') return
      const { body } = translateRequest(
        {
          model: 'm',
          messages: [{ role: 'user', content: 'hi' }],
          response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
        },
        { from: 'chat-completions', to: 'generate-content' },
      )
      expect(body).toMatchObject({ generationConfig: { responseJsonSchema: expected } })
    },
  )

  test('the first tool of a name is sent, and a copy of it is no loss', () => {
    const schema = { type: 'object', properties: { city } }
    const other = { type: 'object', properties: { zip: city } }
    const copied = translated({ name: 'f', schema }, { name: 'g', schema }, { name: 'f', schema })
    expect(copied.tools.map(({ name }) => name)).toEqual(['f', 'g'])
    expect(copied.notes).toEqual([])
    const twice = translated({ name: 'f', schema }, { name: 'f', schema: other })
    expect(twice.tools).toMatchObject([{ name: 'f', schema }])
    expect(twice.notes).toEqual(['tool.duplicate'])
  })
})

test('definitions that use each other often are resolved a limited number of times', () => {
  const definitions = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => {
      const next = { $ref: `#/definitions/D${i + 1}` }
      return [`D${i}`, { properties: { a: next, b: next } }]
    }),
  )
  const schema = { type: 'object', properties: { a: { $ref: '#/definitions/D0' } }, definitions }
  const { body, notes } = translateRequest(requests.messages([{ name: 'f', schema }]), {
    from: 'messages',
    to: 'generate-content',
    model: 'm',
  })
  expect(JSON.stringify(body)).not.toContain('$ref')
  expect(notes.map(({ code }) => code)).toEqual(['schema.reference'])
})

test('a long definition that is named often makes no request much longer', () => {
  const long = { type: 'object', description: 'x'.repeat(50_000) }
  const names = Array.from({ length: 500 }, (_, i) => [`p${i}`, { $ref: '#/definitions/long' }])
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names),
    definitions: { long },
  }
  const given = requests.messages([{ name: 'f', schema }])
  const { body, notes } = translateRequest(given, {
    from: 'messages',
    to: 'generate-content',
    model: 'm',
  })
  expect(JSON.stringify(body).length).toBeLessThan(15 * JSON.stringify(given).length)
  expect(notes.map(({ code }) => code)).toContain('schema.reference')
})

test('a schema in the result of a tool is text for Google, which reads references in objects', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/A' } } }
  const resultOf = (json: object) => {
    const { body } = translateRequest(
      {
        messages: [
          { role: 'user', content: [{ text: 'hi' }] },
          { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'f', input: {} } }] },
          { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [{ json }] } }] },
        ],
      },
      { from: 'converse', to: 'generate-content', model: 'm' },
    )
    return (body as { contents: { parts: object[] }[] }).contents[2]?.parts[0]
  }
  expect(resultOf(schema)).toMatchObject({
    functionResponse: { response: { output: JSON.stringify(schema) } },
  })
  expect(resultOf({ type: 'object' })).toMatchObject({
    functionResponse: { response: { type: 'object' } },
  })
})
