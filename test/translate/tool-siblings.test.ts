import { expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { strictToolsOf } from '../../src/testing/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { declaredIn, requests, type Schema } from '../support/tool-requests.ts'
import { translateRequest } from '../support/untyped.ts'

// Schemas that were fitted in one order of steps, and refused because of another step behind it.

type Target = [host: string, to: ProtocolName, vendor: VendorName, model: string]
const openai: Target = ['openai', 'chat-completions', 'openai', 'gpt-4o']
const anthropic: Target = ['anthropic', 'messages', 'anthropic', 'claude-opus-5']

const city = { type: 'string' }
const rows: [what: string, target: Target, schema: Schema, strict?: boolean][] = [
  [
    'names of schemas deep in it',
    ['mistral', 'chat-completions', 'mistral', 'mistral-large-4'],
    { type: 'object', properties: { a: { $schema: 'http://json-schema.org/schema', ...city } } },
  ],
  [
    'an expression that is none',
    anthropic,
    { type: 'object', properties: { a: { ...city, pattern: '(' } } },
  ],
  [
    'names by an expression that is none',
    ['bedrock', 'converse', 'bedrock', 'mistral.mistral-large-3'],
    { type: 'object', properties: {}, patternProperties: { '[': {} } },
  ],
  [
    'a list among the types of alternatives',
    openai,
    { type: 'object', properties: { a: { type: ['array', 'string'], enum: [null, 'a'] } } },
  ],
  [
    'a list among the types of a union',
    openai,
    { type: 'object', properties: { a: { type: ['array', 'null'], anyOf: [{ title: 'A' }] } } },
  ],
  [
    'a type next to a union, by a reference',
    ['moonshot', 'chat-completions', 'moonshot', 'kimi-k3'],
    {
      type: 'object',
      properties: { a: { $ref: '#/definitions/A', anyOf: [{ type: 'string' }, city] } },
      definitions: { A: { type: 'object', properties: {} } },
    },
  ],
  ['a strict one of any type', openai, { type: 'any' }, true],
  ['a strict list of anything', openai, { type: ['array', 'string'] }, true],
  [
    'a strict one with a misspelled object',
    anthropic,
    { type: 'object', properties: {}, $defs: { B: { type: 'OBJECT', required: ['city'] } } },
    true,
  ],
  [
    'a strict one with an anchor',
    anthropic,
    { type: 'object', properties: { a: { $ref: '#b' }, b: { $anchor: 'b', ...city } } },
    true,
  ],
]

test.each(rows)('%s: %j', (_, [host, to, vendor, model], schema, strict) => {
  for (const from of protocolNames) {
    const given = requests[from]([{ name: 'find', schema, ...(strict && { strict }) }])
    const { body } = translateRequest({ ...given, model }, { from, to, vendor, model })
    expect(declaredIn(to, body), from).toHaveLength(1)
    expect(strictToolsOf(host).checkTools(body, model), from).toEqual([])
  }
})
