import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const schema = {
  type: 'object',
  properties: {
    any: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
    some: { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
  },
}
const fitted = {
  type: 'object',
  properties: {
    any: { type: 'object', additionalProperties: {} },
    some: { type: 'object', description: '(propertyNames: {"pattern":"^[a-z]+$"})' },
  },
}

/** A request for this format, which is not enforced. */
const written = (from: ProtocolName, given: object) =>
  protocols[from].encodeRequest({
    source: { protocol: from },
    messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] }],
    output: { format: { type: 'schema', schema: given, name: 'found', strict: false } },
    maxOutputTokens: 9,
    model: 'm',
  } as never).wire

describe.each(['chat-completions', 'responses'] as const)('the schema of a response to %s', to => {
  const schemaIn = (body: unknown) => {
    const format = protocols[to].decodeRequest(body).value.output?.format
    return format && 'schema' in format ? format.schema : undefined
  }
  const callers = (
    ['messages', 'generate-content', 'chat-completions', 'responses'] as const
  ).filter(from => from !== to)

  test.each(callers)('names no properties by a schema, which is refused, from %s', from => {
    const { body, notes } = translateRequest(written(from, schema), { from, to })
    expect(schemaIn(body)).toEqual(fitted)
    expect(notes.map(({ code }) => code)).toContain('schema.keywords')
  })

  test('from its own protocol, where the vendor is known', () => {
    const given = written(to, schema)
    const options = { from: to, to, model: 'gpt-5.6' } as const
    const { body } = translateRequest(given, { ...options, vendor: 'openai' })
    expect(schemaIn(body)).toEqual(fitted)
    expect(schemaIn(translateRequest(given, options).body)).toEqual(schema)
  })

  test('loses nothing with a keyword that allows all names', () => {
    const { any } = schema.properties
    const { body, notes } = translateRequest(
      written('messages', { type: 'object', properties: { any } }),
      { from: 'messages', to },
    )
    expect(schemaIn(body)).toEqual({ type: 'object', properties: { any: fitted.properties.any } })
    expect(notes.map(({ code }) => code)).not.toContain('schema.keywords')
  })
})

// "schema must be a JSON Schema of 'type: "object"', got 'type: "None"'"
describe.each(protocolNames)('the root of a schema for a response to %s', to => {
  const city = { type: 'string' }
  const defined = { type: 'object', properties: { city } }
  const roots: [what: string, given: object, written: object][] = [
    [
      'names a definition',
      { $ref: '#/definitions/A', definitions: { A: defined } },
      { ...defined, definitions: { A: defined } },
    ],
    ['says no type', { properties: { city } }, defined],
    [
      'has parts',
      { allOf: [{ $ref: '#/$defs/A' }], $defs: { A: defined } },
      { type: 'object', allOf: [{ $ref: '#/$defs/A' }], $defs: { A: defined } },
    ],
    ['says nothing', {}, { type: 'object' }],
  ]

  test.each(roots)('that %s is an object', (_, given, expected) => {
    for (const from of protocolNames.filter(from => from !== to)) {
      const { body } = translateRequest(written(from, given), { from, to })
      const format = protocols[to].decodeRequest(body).value.output?.format
      // What Claude makes no grammar of is asked for in the instructions.
      if (!format || !('schema' in format)) continue
      const { type, ...root } = format.schema as Record<string, unknown>
      expect(type, from).toBe('object')
      expect(root, from).not.toHaveProperty('$ref')
      // Others enforce schemas, or resolve references.
      if (to !== 'chat-completions' && to !== 'responses') continue
      expect(format.schema, from).toEqual(expected)
    }
  })
})

describe.each([
  ['messages', 'anthropic', 'claude-opus-5'],
  ['converse', 'bedrock', 'us.anthropic.claude-opus-4-5-v1:0'],
] as const)('a schema of which Claude makes no grammar, toward %s', (to, vendor, model) => {
  const text = { type: 'string' }
  const named = (count: number, one: object) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, one]))
  const closed = (properties: object, required = Object.keys(properties)) => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  })
  const union = { anyOf: [text, { type: 'null' }] }
  const node = closed({ next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } })
  const callers = [
    'chat-completions',
    'responses',
    'generate-content',
    'messages',
    'converse',
  ] as const

  const read = (from: ProtocolName, given: object, more: object = {}) => {
    const { body, notes } = translateRequest(
      { ...(written(from, given) as object), ...(from !== 'converse' && { model }), ...more },
      { from, to, vendor, model },
    )
    const { output, messages, tools } = protocols[to].decodeRequest(body).value
    const [first] = messages
    return {
      format: output?.format,
      instruction: first?.role === 'system' ? JSON.stringify(first.parts) : '',
      tools,
      codes: notes.map(({ code }) => code).filter(code => /^(output\.format|tool\.)/.test(code)),
    }
  }

  test.each<[string, object]>([
    ['25 properties may be left out', closed(named(25, text), [])],
    ['17 are of several types', closed(named(17, union))],
    ['it contains itself', { ...closed({ list: { $ref: '#/$defs/node' } }), $defs: { node } }],
  ])('is asked for in the instructions: %s', (_, given) => {
    for (const from of callers) {
      const { format, instruction, codes } = read(from, given)
      expect(format, from).toBeUndefined()
      expect(instruction, from).toContain('Respond with JSON that fits this schema')
      expect(codes, from).toEqual(['output.format-instructed'])
    }
  })

  test.each<[string, object]>([
    ['24 properties may be left out', closed(named(24, text), [])],
    ['16 are of several types', closed(named(16, union))],
  ])('is enforced if it is smaller: %s', (_, given) => {
    for (const from of callers) {
      const { format, instruction, codes } = read(from, given)
      expect(format, from).toMatchObject({ type: 'schema' })
      expect(instruction, from).toBe('')
      expect(codes, from).toEqual([])
    }
  })

  test('leaves its room to strict functions', () => {
    const parameters = closed(named(20, text), [])
    const tool = { type: 'function', function: { name: 'find', strict: true, parameters } }
    const given = closed(named(25, text), [])
    const { tools, codes } = read('chat-completions', given, { tools: [tool] })
    expect(tools).toMatchObject([{ strict: true }])
    expect(codes).toEqual(['output.format-instructed'])
  })
})

test('a schema of any size reaches other models on Converse, and unknown servers of messages', () => {
  const properties = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, {}]))
  const given = { type: 'object', properties, additionalProperties: false }
  const chat = written('chat-completions', given) as object
  const other = translateRequest(
    { ...chat, model: 'us.amazon.nova-pro-v1:0' },
    { from: 'chat-completions', to: 'converse' },
  )
  expect(other.notes.map(({ code }) => code)).not.toContain('output.format-instructed')
  const own = written('messages', given)
  expect(translateRequest(own, { from: 'messages', to: 'messages' }).body).toBe(own)
})
