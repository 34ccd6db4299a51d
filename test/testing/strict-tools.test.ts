import { describe, expect, test } from 'vitest'
import { strictHosts, strictToolsOf } from '../../src/testing/index.ts'
import { declaredIn, requests, type Schema } from '../support/tool-requests.ts'

const city = { type: 'string' }
const closed = { additionalProperties: false, required: ['city'] }
const fine: Schema = { type: 'object', properties: { city }, ...closed }

type Row = [host: string, model: string, refused: Schema | string, fault: string, strict?: boolean]

const rows: readonly Row[] = [
  ['openai', 'gpt-5.2', { properties: {} }, "/type: must be 'object'"],
  ['openai', 'gpt-5.2', { type: 'object' }, 'object schema missing properties'],
  ['openai', 'gpt-5.2', { ...fine, properties: { a: { type: 'array' } } }, 'missing items'],
  ['openai', 'gpt-5.2', { ...fine, $id: 'Two words' }, '/$id: does not match'],
  ['openai', 'gpt-5.2', { ...fine, minimum: 1, exclusiveMinimum: true }, '/exclusiveMinimum'],
  ['openai', 'gpt-5.2', 'two words', '/name'],
  ['openai', 'gpt-4o', { ...fine, anyOf: [{}] }, '/anyOf: is not permitted'],
  ['openai', 'gpt-5.2', { ...fine, required: [] }, 'lacks city', true],
  ['openai', 'gpt-5.2', { ...fine, additionalProperties: true }, 'must be false', true],
  ['openai', 'gpt-5.2', { ...fine, properties: { city: {} } }, "must have a 'type'", true],
  [
    'openai',
    'gpt-5.2',
    { ...fine, properties: { city: { ...city, format: 'uri' } } },
    '/format',
    true,
  ],
  [
    'openai',
    'gpt-5.2',
    { ...fine, properties: { city: { ...city, pattern: '(?=a)' } } },
    '/pattern',
    true,
  ],
  ['anthropic', 'claude-opus-5', { ...fine, oneOf: [{}] }, '/oneOf: is not permitted'],
  ['anthropic', 'claude-opus-5', { ...fine, properties: { $top: city } }, "'$top' should match"],
  [
    'anthropic',
    'claude-opus-5',
    { ...fine, properties: { a: { items: [city] } } },
    'expected a schema',
  ],
  ['anthropic', 'claude-opus-5', { ...fine, minProperties: 1 }, 'is not permitted', true],
  [
    'anthropic',
    'claude-opus-5',
    { ...fine, $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } } },
    'recursive',
    true,
  ],
  [
    'anthropic',
    'claude-opus-5',
    {
      ...fine,
      properties: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`p${i}`, city])),
    },
    'optional',
    true,
  ],
  [
    'anthropic',
    'claude-opus-5',
    {
      ...fine,
      properties: { city: { anyOf: Array.from({ length: 17 }, () => ({ anyOf: [city] })) } },
    },
    'union',
    true,
  ],
  ['deepseek', 'm', { ...fine, properties: { a: { pattern: '[a[\\]]' } } }, "not a 'regex'"],
  ['moonshot', 'm', 'ls', '/name'],
  ['bedrock', 'mistral.mistral-large', { properties: {} }, "must be 'object'"],
  ['bedrock', 'us.anthropic.claude-sonnet-5', { ...fine, allOf: [{}] }, '/allOf'],
  ['bedrock', 'us.amazon.nova-lite-v1:0', fine, '/additionalProperties: is not permitted'],
  [
    'gemini',
    'gemini-3-pro',
    { ...fine, properties: { a: { $ref: '#/$defs/A' } } },
    'undefined schema',
  ],
  [
    'gemini',
    'gemini-3-pro',
    { ...fine, properties: { a: { $ref: '#/$defs/A', title: 'A' } }, $defs: { A: {} } },
    '/title: set alongside $ref',
  ],
  ['gemini', 'gemini-3-pro', '1st', '/name'],
  ['mistral', 'm', { ...fine, properties: { a: { exclusiveMinimum: true } } }, '/exclusiveMinimum'],
  ['mistral', 'm', { ...fine, $schema: 'https://json-schema.org/draft/2020-12/schema' }, '$schema'],
  ['deepseek', 'm', { ...fine, required: null }, '/required'],
  ['deepseek', 'm', { ...fine, properties: { a: { pattern: '\\p{L}' } } }, "not a 'regex'"],
  ['openai', 'gpt-5.6', { ...fine, properties: { a: { pattern: '(?<a>b)' } } }, "not a 'regex'"],
  ['moonshot', 'm', { ...fine, properties: { a: {} } }, 'type is not defined'],
  ['moonshot', 'm', { ...fine, properties: { a: { type: 'string', anyOf: [city] } } }, 'anyOf'],
  ['moonshot', 'm', { ...fine, properties: { a: { $ref: '#/properties/b' } } }, '#/$defs/'],
  ['moonshot', 'm', '1st', '/name'],
  ['groq', 'm', { type: 'object', required: ['a'] }, "'properties' is missing"],
  ['groq', 'm', { ...fine, additionalProperties: true }, 'must be false', true],
  ['cerebras', 'm', { ...fine, additionalProperties: true }, 'must be false', true],
  ['xai', 'm', { ...fine, anyOf: [city] }, '/anyOf'],
  ['xai', 'm', { ...fine, properties: { a: { enum: ['b', null] } } }, '/enum'],
]

const asked = (host: string, schema: Schema, name = 'find', strict = false) => {
  const [protocol] = strictToolsOf(host).protocols as (keyof typeof requests)[]
  const body = requests[protocol ?? 'messages']([{ name, schema, ...(strict && { strict }) }])
  expect(declaredIn(protocol ?? 'messages', body)).toHaveLength(1)
  return body
}

describe('tools that a host refuses', () => {
  test.each(rows)('%s, %s: %j', (host, model, given, fault, strict) => {
    const [name, schema] = typeof given === 'string' ? [given, fine] : ['find', given]
    const faults = strictToolsOf(host).checkTools(
      { ...asked(host, schema, name, strict), model },
      model,
    )
    expect(faults.join('; ')).toContain(fault)
  })

  test.each(strictHosts)('%s takes a plain tool, strict and not', host => {
    for (const strict of [false, true])
      expect(strictToolsOf(host).checkTools(asked(host, fine, 'find', strict), 'm')).toEqual([])
  })

  test.each(strictHosts)('%s takes one tool of a name', host => {
    const [protocol] = strictToolsOf(host).protocols as (keyof typeof requests)[]
    const body = requests[protocol ?? 'messages']([
      { name: 'find', schema: fine },
      { name: 'find', schema: fine },
    ])
    expect(strictToolsOf(host).checkTools(body, 'm').join()).toContain('used twice')
  })

  test('a host has a limit of tools, and counts those of a namespace apart', () => {
    const tools = Array.from({ length: 129 }, (_, i) => ({ name: `f${i}`, schema: fine }))
    const { checkTools } = strictToolsOf('openai')
    expect(checkTools(requests['chat-completions'](tools))).toEqual(['/tools: more than 128'])
    const one = { type: 'function', name: 'find', parameters: fine, strict: false }
    const spaces = ['a', 'b'].map(name => ({ type: 'namespace', name, tools: [one] }))
    expect(checkTools({ tools: spaces })).toEqual([])
  })

  test('other hosts have no validator', () => {
    expect(() => strictToolsOf('opnai')).toThrow(/openai/)
  })
})
