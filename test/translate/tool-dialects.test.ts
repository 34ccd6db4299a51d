import { describe, expect, test } from 'vitest'
import type { TranslateOptions } from '../../src/index.ts'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { type Declared, declaredIn, requests, type Schema } from '../support/tool-requests.ts'
import { translateRequest } from '../support/untyped.ts'

type Given = Partial<Declared> & { from?: ProtocolName; model?: string; vendor?: string }

/** The only tool as it is written, with the codes of notes about tools. */
function written(to: ProtocolName, schema: Schema, given: Given = {}) {
  const { from = 'messages', model = 'm', vendor, ...named } = given
  const { body, notes } = translateRequest(
    { ...requests[from]([{ name: 'find', schema, ...named }]), model },
    { from, to, model, ...(vendor && { vendor }) } as TranslateOptions,
  )
  return {
    schema: declaredIn(to, body)[0]?.schema,
    body: JSON.stringify(body),
    notes: notes.map(({ code }) => code).filter(code => /^(tool|schema)\./.test(code)),
  }
}

const city = { type: 'string' }
const open = { type: 'object', properties: { city } }
const closed = { ...open, required: ['city'], additionalProperties: false }

describe('strict functions toward servers that require every property', () => {
  test.each<[string, Schema, string[]]>([
    ['a closed schema stays strict', closed, []],
    ['a property may be left out', { ...closed, required: [] }, ['tool.strict']],
    ['a deeper object is open', { ...closed, properties: { city: open } }, ['tool.strict']],
    ['a keyword is not known', { ...closed, minProperties: 1 }, ['tool.strict']],
    [
      'a format is not known',
      { ...closed, properties: { city: { ...city, format: 'uri' } } },
      ['tool.strict'],
    ],
    ['any value is allowed', { ...closed, properties: { city: {} } }, ['tool.strict']],
  ])('%s', (_, schema, codes) => {
    for (const to of ['chat-completions', 'responses'] as const) {
      const { body, notes } = written(to, schema, { strict: true })
      expect(notes).toEqual(codes)
      expect(body.includes('"strict":true')).toBe(codes.length === 0)
    }
  })

  test('a model of Claude that enforces grammars gets no recursive one', () => {
    const list = { type: 'array', items: { $ref: '#/$defs/Node' } }
    const schema = {
      type: 'object',
      properties: { list },
      required: ['list'],
      additionalProperties: false,
      $defs: { Node: { ...closed, properties: { city: list } } },
    }
    for (const to of ['messages', 'converse'] as const) {
      const { body, notes } = written(to, schema, {
        from: 'chat-completions',
        strict: true,
        model: 'anthropic.claude-sonnet-4-5',
      })
      expect(notes).toEqual(['tool.strict'])
      expect(body).not.toContain('"strict":true')
    }
  })
})

test('a chain of references may be longer than the stack of calls', () => {
  const links = Array.from({ length: 10_000 }, (_, i): [string, Schema] => [
    `d${i}`,
    i > 0 ? { $ref: `#/$defs/d${i - 1}` } : city,
  ])
  const schema = {
    ...closed,
    properties: { city: { $ref: '#/$defs/d9999' } },
    $defs: Object.fromEntries(links),
  }
  for (const from of protocolNames)
    for (const to of ['messages', 'converse'] as const) {
      const { notes } = written(to, schema, {
        from,
        model: 'anthropic.claude-sonnet-4-5',
        ...(from !== 'generate-content' && { strict: true }),
      })
      expect(notes).toEqual([])
    }
})

test('Claude gets at most twenty strict functions, also within its protocol', () => {
  const tools = Array.from({ length: 22 }, (_, i) => ({
    name: `f${i}`,
    schema: closed,
    strict: true,
  }))
  // Functions of generate-content are not strict.
  for (const [to, vendor, model] of [
    ['messages', 'anthropic', 'claude-opus-5'],
    ['converse', 'bedrock', 'us.anthropic.claude-opus-4-5-v1:0'],
  ] as const)
    for (const from of protocolNames.filter(name => name !== 'generate-content')) {
      const request = { ...requests[from](tools), model }
      const { body, notes } = translateRequest(request, { from, to, vendor, model })
      expect(JSON.stringify(body).match(/"strict":true/g)).toHaveLength(20)
      const lost = notes.filter(({ code }) => code === 'tool.strict')
      expect(lost).toHaveLength(2)
    }
})

describe('a model that takes little at the root', () => {
  const model = 'us.amazon.nova-pro-v1:0'

  test('gets references in place, and the rest in the description', () => {
    const { schema, body, notes } = written(
      'converse',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: 'Find',
        type: 'object',
        properties: { city: { $ref: '#/$defs/City' } },
        additionalProperties: false,
        $defs: { City: city },
      },
      { model, description: 'Finds it.' },
    )
    expect(schema).toEqual(open)
    expect(body).toContain('"description":"Finds it. (additionalProperties: false)"')
    expect(notes).toEqual(['schema.keywords'])
  })

  test('the same for its own clients at a named vendor alone', () => {
    const given = { ...open, title: 'Find' }
    const own = { from: 'converse', model } as const
    expect(written('converse', given, own).schema).toEqual(given)
    expect(written('converse', given, { ...own, vendor: 'bedrock' }).schema).toEqual(open)
  })
})

describe('a server that requires a type in each schema', () => {
  test('gets types, and nothing next to references', () => {
    const { schema } = written(
      'chat-completions',
      {
        type: 'object',
        properties: {
          any: { description: 'whatever' },
          named: { $ref: '#/$defs/City', description: 'where' },
          maybe: { type: 'string', anyOf: [{ minLength: 1 }, { const: '' }] },
          words: { enum: ['a', null] },
        },
        $defs: { City: city },
      },
      { vendor: 'moonshot' },
    )
    expect(schema).toMatchObject({
      properties: {
        any: { description: 'whatever', anyOf: [{ type: 'string' }, {}, {}, {}, {}, {}] },
        named: { type: 'string', description: 'where' },
        maybe: {
          anyOf: [
            { type: 'string', minLength: 1 },
            { type: 'string', const: '' },
          ],
        },
        words: { anyOf: [{ enum: ['a'] }, { type: 'null' }] },
      },
    })
  })

  test.each(
    (['chat-completions', 'responses'] as const).flatMap(to =>
      protocolNames.map(from => [to, from] as const),
    ),
  )('a name begins with a letter, over %s from %s', (to, from) => {
    const named = (name: string) => written(to, open, { from, vendor: 'moonshot', name }).body
    expect(named('21st_magic')).toContain('"name":"_21st_magic"')
    expect(named('ls')).toContain('"name":"ls_"')
    expect(named('3')).toContain('"name":"_3_"')
    expect(named('_ls')).toContain('"name":"_ls"')
  })
})

describe('callers of the same protocol', () => {
  const old = { type: 'object', properties: { a: { minimum: 0, exclusiveMinimum: true } } }
  const pairs: [ProtocolName, string, string, Schema, Schema][] = [
    ['chat-completions', 'openai', 'gpt-5.2', old, { properties: { a: { exclusiveMinimum: 0 } } }],
    ['chat-completions', 'mistral', 'm', old, { properties: { a: { exclusiveMinimum: 0 } } }],
    ['responses', 'openai', 'gpt-5.2', { type: 'object' }, { properties: {} }],
    ['messages', 'anthropic', 'claude-opus-5', old, { properties: { a: { exclusiveMinimum: 0 } } }],
    [
      'messages',
      'anthropic',
      'claude-opus-5',
      { ...open, anyOf: [{ required: ['city'] }] },
      { ...open, required: ['city'] },
    ],
    ['converse', 'bedrock', 'anthropic.claude-opus-4-5', { properties: { city } }, open],
    [
      'generate-content',
      'gemini',
      'gemini-3-pro',
      { ...open, properties: { a: { $ref: '#/$defs/A', title: 'a' } }, $defs: { A: city } },
      { properties: { a: { type: 'string', title: 'a' } } },
    ],
  ]

  test.each(pairs)('of %s get at %s, %s what it takes', (name, vendor, model, given, sent) => {
    expect(written(name, given, { from: name, vendor, model }).schema).toMatchObject(sent)
  })

  test.each(pairs)('of %s keep at an unknown server what they send', (name, _, model, given) => {
    expect(written(name, given, { from: name, model }).schema).toBe(given)
  })

  test('of Mistral keep no name of a schema', () => {
    const given = { $id: 'x', $schema: 'https://json-schema.org/draft/2020-12/schema', ...open }
    for (const from of ['chat-completions', 'messages', 'responses'] as const)
      expect(written('chat-completions', given, { from, vendor: 'mistral' }).schema).toEqual(open)
  })

  test('keep a tool that the vendor takes', () => {
    const given = { type: 'object' }
    for (const [name, vendor] of [
      ['messages', 'anthropic'],
      ['converse', 'bedrock'],
      ['generate-content', 'gemini'],
    ] as const)
      expect(written(name, given, { from: name, vendor, model: 'm' }).schema).toBe(given)
  })
})

describe('references', () => {
  test('by a place in the schema still lead there when it has changed', () => {
    const { schema } = written(
      'messages',
      {
        type: 'object',
        properties: {
          pair: { type: 'array', items: [city, { type: 'integer' }] },
          second: { $ref: '#/properties/pair/items/1' },
        },
      },
      { from: 'chat-completions' },
    )
    expect(schema).toMatchObject({
      properties: {
        pair: { prefixItems: [city, { type: 'integer' }] },
        second: { $ref: '#/$defs/_properties_pair_items_1' },
      },
      $defs: { _properties_pair_items_1: { type: 'integer' } },
    })
  })

  test('through a renamed property have its new name, as values and dependents have', () => {
    const { schema = {} } = written(
      'messages',
      {
        type: 'object',
        properties: { $top: city, other: { $ref: '#/properties/$top' } },
        dependentRequired: { $top: ['other'], other: ['$top'] },
        default: { $top: 'a' },
      },
      { from: 'chat-completions' },
    )
    expect(JSON.stringify(schema)).not.toContain('$top')
    const [name = ''] = Object.keys(schema['properties'] as object)
    expect(schema).toMatchObject({
      properties: { other: { $ref: `#/properties/${name}` } },
      dependentRequired: { [name]: ['other'], other: [name] },
      default: { [name]: 'a' },
    })
  })

  test('by an anchor are found', () => {
    const { schema, notes } = written('generate-content', {
      type: 'object',
      properties: { a: { $ref: '#city' } },
      definitions: { City: { $id: '#city', type: 'string' } },
    })
    expect(schema).toMatchObject({ properties: { a: city } })
    expect(notes).toEqual([])
  })
})

test.each<[string, Schema, Schema]>([
  ['dependencies of names', { dependencies: { a: ['b'] } }, { dependentRequired: { a: ['b'] } }],
  ['dependencies of schemas', { dependencies: { a: {} } }, { dependentSchemas: { a: {} } }],
  ['a list in a list', { items: [{ type: 'array' }] }, { prefixItems: [{ items: {} }] }],
  ['keywords without a value', { required: null, description: null }, {}],
  ['a type of a program', { type: 'int' }, {}],
  ['names twice', { required: ['a', 'a'] }, { required: ['a'] }],
  ['an empty list of alternatives', { anyOf: [] }, {}],
  ['what is no alternative', { anyOf: ['string', city] }, { anyOf: [city] }],
  ['an empty list of words', { type: 'string', enum: [] }, { type: 'string' }],
  ['a word for a flag', { additionalProperties: 'false' }, {}],
  ['a flag for a word', { title: 5, readOnly: 'no', deprecated: 'yes' }, {}],
  ['a negative number of letters', { minLength: -1, maxLength: '9', multipleOf: 0 }, {}],
  ['the name of a type', { properties: { b: 'string' } }, { properties: { b: city } }],
  ['no schema', { properties: { b: null, c: [] } }, { properties: { b: {}, c: {} } }],
  ['items of no schema', { type: 'array', items: 'string' }, { type: 'array', items: {} }],
])('%s are written in 2020-12', (_, inner, expected) => {
  const { schema = {} } = written('chat-completions', {
    type: 'object',
    properties: { a: inner },
  })
  const { a } = schema['properties'] as { a: Schema }
  expect(a).toMatchObject(expected)
  expect(Object.keys(a)).toEqual(Object.keys(expected))
  if ('properties' in expected) expect(a['properties']).toEqual(expected['properties'])
})

describe('schemas that programs write', () => {
  const targets = protocolNames.map(to => [to, protocolNames.find(from => from !== to)] as const)

  test.each(targets)('toward %s: types in capital letters are types', (to, from) => {
    const given = { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'Any' } } }
    const { schema, notes } = written(to, given, { from: from ?? to })
    expect(schema).toEqual({ type: 'object', properties: { a: { type: 'string' }, b: {} } })
    expect(notes).toEqual([])
  })

  test.each(targets)('toward %s: nothing is required of no properties', (to, from) => {
    const given = { type: 'object', properties: {}, required: [] }
    const { schema, notes } = written(to, given, { from: from ?? to })
    expect(schema).toEqual({ type: 'object', properties: {} })
    expect(notes).toEqual([])
  })

  test.each(targets)('toward %s: a definition is found where it stands', (to, from) => {
    const inner = {
      type: 'object',
      properties: { s: { $ref: '#/$defs/S' } },
      $defs: { S: { type: 'string' } },
    }
    const given = { type: 'object', properties: { a: inner } }
    const { schema, notes } = written(to, given, { from: from ?? to })
    const { a } = (schema?.['properties'] ?? {}) as Record<string, { properties: { s: Schema } }>
    const found: unknown = schema?.['$defs'] ?? { S: a?.properties.s }
    expect(found).toEqual({ S: { type: 'string' } })
    expect(notes).toEqual([])
  })

  test.each(targets)('toward %s: a reference to nothing allows any value', (to, from) => {
    const given = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/Missing', description: 'd' } },
    }
    const { schema, body, notes } = written(to, given, { from: from ?? to })
    expect(body).not.toContain('Missing')
    expect(schema).toEqual({ type: 'object', properties: { a: { description: 'd' } } })
    expect(notes).toEqual(['schema.reference'])
  })

  test.each(protocolNames.filter(to => to !== 'chat-completions'))(
    'toward %s: the format of a response, too',
    to => {
      const schema = {
        type: 'OBJECT',
        properties: { a: { type: 'STRING' }, b: { $ref: '#/$defs/Missing', type: 'string' } },
        required: ['a', 'b'],
        additionalProperties: false,
      }
      const request = {
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
      }
      const { body, notes } = translateRequest(request, { from: 'chat-completions', to })
      const text = JSON.stringify(body).replaceAll('\\"', '"')
      expect(text).toContain('"properties":{"a":{"type":"string"},"b":{"type":"string"}}')
      expect(notes.map(({ code }) => code)).toContain('schema.reference')
    },
  )

  test('toward llama.cpp: what its grammar cannot count or class moves into the description', () => {
    const given = {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 65_536 },
        b: { type: 'string', pattern: '^\\S+$' },
        c: { type: 'string', maxLength: 100, pattern: '^[a-z]+$' },
      },
    }
    for (const vendor of ['llama-cpp', 'lm-studio'] as const)
      for (const from of ['messages', 'chat-completions'] as const) {
        const { schema, notes } = written('chat-completions', given, { from, vendor })
        expect(schema).toEqual({
          type: 'object',
          properties: {
            a: { type: 'string', description: '(maxLength: 65536)' },
            b: { type: 'string', description: '(pattern: "^\\\\S+$")' },
            c: given.properties.c,
          },
        })
        expect(notes).toEqual(['schema.keywords'])
      }
  })

  test('toward Moonshot: each required property is defined, and tuples have no last item', () => {
    const tuple = { type: 'array', prefixItems: [{ type: 'string' }], items: false }
    const given = { type: 'object', properties: { a: tuple }, required: ['a', 'b'] }
    for (const from of ['messages', 'chat-completions'] as const) {
      const model = 'kimi-k3'
      const { schema } = written('chat-completions', given, { from, model, vendor: 'moonshot' })
      const any = ['string', 'number', 'boolean', 'object', 'array', 'null']
      expect(schema).toEqual({
        type: 'object',
        properties: {
          a: { type: 'array', prefixItems: [{ type: 'string' }], description: '(items: false)' },
          b: { anyOf: any.map(type => ({ type })) },
        },
        required: ['a', 'b'],
      })
    }
  })
})
