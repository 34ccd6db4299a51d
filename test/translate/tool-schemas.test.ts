import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { translateRequest } from '../support/untyped.ts'

type Schema = Record<string, unknown>
type Declared = { name: string; description?: string; schema: Schema }

/** A request with these functions, in each protocol. */
const requests: Record<ProtocolName, (tools: readonly Declared[]) => object> = {
  'chat-completions': tools => ({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    tools: tools.map(({ schema, ...named }) => ({
      type: 'function',
      function: { ...named, parameters: schema },
    })),
  }),
  responses: tools => ({
    model: 'm',
    input: 'hi',
    tools: tools.map(({ schema, ...named }) => ({
      type: 'function',
      ...named,
      parameters: schema,
      strict: false,
    })),
  }),
  messages: tools => ({
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'hi' }],
    tools: tools.map(({ schema, ...named }) => ({ ...named, input_schema: schema })),
  }),
  'generate-content': tools => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    tools: [
      {
        functionDeclarations: tools.map(({ schema, ...named }) => ({
          ...named,
          parametersJsonSchema: schema,
        })),
      },
    ],
  }),
  converse: tools => ({
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    toolConfig: {
      tools: tools.map(({ schema, ...named }) => ({
        toolSpec: { ...named, inputSchema: { json: schema } },
      })),
    },
  }),
}

/** The functions in a written request. */
function declaredIn(to: ProtocolName, body: unknown): { name: string; schema: Schema }[] {
  const { tools = [], toolConfig } = body as { tools?: Schema[]; toolConfig?: { tools: Schema[] } }
  const of = (one: unknown) => one as Schema & { name: string }
  if (to === 'converse')
    return (toolConfig?.tools ?? []).map(({ toolSpec }) => ({
      name: of(toolSpec).name,
      schema: of(of(toolSpec)['inputSchema'])['json'] as Schema,
    }))
  if (to === 'generate-content')
    return tools
      .flatMap(({ functionDeclarations }) => functionDeclarations as (Schema & { name: string })[])
      .map(one => ({ name: one.name, schema: one['parametersJsonSchema'] as Schema }))
  return tools.map(tool => {
    const one = of(to === 'chat-completions' ? tool['function'] : tool)
    return { name: one.name, schema: (one['parameters'] ?? one['input_schema']) as Schema }
  })
}

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
      notes: notes.filter(({ code }) => code.startsWith('tool.')).map(({ code }) => code),
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
