import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { createStreamTranslator } from '../../src/index.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { strictToolsOf } from '../../src/testing/index.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { declaredIn, requests, type Schema } from '../support/tool-requests.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

// Between equal protocols, a named vendor gets the tools that it takes, and nothing else changes.

type Row = [name: ProtocolName, vendor: VendorName, host: string, model: string]

const rows: Row[] = [
  ['chat-completions', 'openai', 'openai', 'gpt-5.6-sol'],
  ['chat-completions', 'azure', 'openai', 'my-deployment'],
  ['chat-completions', 'mistral', 'mistral', 'mistral-large-9'],
  ['chat-completions', 'moonshot', 'moonshot', 'kimi-k4'],
  ['responses', 'openai', 'openai', 'gpt-7'],
  ['responses', 'xai', 'xai', 'grok-9'],
  ['messages', 'anthropic', 'anthropic', 'claude-opus-9'],
  ['messages', 'vertex', 'anthropic', 'claude-sonnet-4-5'],
  ['converse', 'bedrock', 'bedrock', 'us.anthropic.claude-opus-4-5-v1:0'],
  ['generate-content', 'gemini', 'gemini', 'gemini-3.8-flash'],
]

const city = { type: 'string' }
const plain: Schema = { type: 'object', properties: { city }, required: ['city'] }
const odd: Schema = {
  type: 'object',
  properties: { $top: { type: 'integer' }, 'filter[id]': city },
  required: ['$top'],
}
const closed: Schema = { ...plain, additionalProperties: false }
const input = '{"$top":12345678901,"filter[id]":"$top"}'

/** A response with a call of this name and with this input. */
const calling = (name: string, given: string): CanonicalResponse => ({
  model: 'm',
  id: 'r1',
  candidates: [
    {
      index: 0,
      finish: { reason: 'tool_calls' },
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          parts: [
            { type: 'tool-call', id: 'c1', idOrigin: 'wire', name, kind: 'function', input: given },
          ],
        },
      ],
    },
  ],
})

const callsIn = ({ candidates }: Pick<CanonicalResponse, 'candidates'>) =>
  (candidates[0]?.messages ?? [])
    .flatMap(({ parts }) => parts)
    .flatMap(part => (part.type === 'tool-call' ? [{ name: part.name, input: part.input }] : []))

describe.each(rows)('%s at %s (%s), %s', (name, vendor, host, model) => {
  const sent = (body: object) =>
    translateRequest(
      { ...body, ...(!['generate-content', 'converse'].includes(name) && { model }) },
      { from: name, to: name, vendor, model },
    )

  test('gets names and properties that it takes, and its client its own again', () => {
    const given = requests[name]([
      { name: 'find.it!', schema: odd },
      { name: 'bar', schema: plain },
    ])
    const { body, notes, context } = sent(given)
    expect(strictToolsOf(host).checkTools(body, model)).toEqual([])
    const [first, second] = declaredIn(name, body)
    expect(notes.map(({ code }) => code)).toContain('tool.renamed')
    expect(second).toEqual({ name: 'bar', schema: plain })
    const [top = '', filter = ''] = Object.keys(first?.schema['properties'] as object)
    const written = JSON.stringify({ [top]: 12345678901, [filter]: '$top' })
    const upstream = protocols[name].encodeResponse(calling(first?.name ?? '', written)).wire

    const whole = translateResponse(upstream, { from: name, to: name, context })
    const expected = [{ name: 'find.it!', input }]
    expect(callsIn(protocols[name].decodeResponse(whole.body).value)).toEqual(expected)

    const translator = createStreamTranslator({ from: name, to: name, context })
    const { text } = encodeStream(protocols[name], explode(calling(first?.name ?? '', written)))
    const client = [...text].map(char => translator.push(char)).join('') + translator.end()
    const events = framesOf(client).map(({ wire }) => wire)
    expect(callsIn(collect(decodeStream(protocols[name], events)).response)).toEqual(expected)
  })

  test('gets the first of two tools with one name', () => {
    const { body, notes } = sent(
      requests[name]([
        { name: 'add', schema: plain },
        { name: 'add', schema: { ...plain, title: 'other' } },
      ]),
    )
    expect(declaredIn(name, body)).toHaveLength(1)
    expect(notes.map(({ code }) => code)).toContain('tool.duplicate')
  })

  test.each<[string, Schema]>([
    ['an open object', plain],
    ['keywords that few enforce', { ...closed, properties: { city: { ...city, minLength: 1 } } }],
    ['a recursive one', { ...closed, properties: { city: { $ref: '#' } } }],
    ['no root', {}],
  ])('gets a strict function that it takes: %s', (_, schema) => {
    const { body } = sent(requests[name]([{ name: 'add', schema, strict: true }]))
    expect(strictToolsOf(host).checkTools(body, model)).toEqual([])
  })

  test('gets what it takes unchanged', () => {
    const given = requests[name]([{ name: 'add', schema: closed, strict: true }])
    const { body, context } = translateRequest(given, { from: name, to: name, vendor })
    expect(body).toBe(given)
    expect(context).toEqual({ from: name, to: name })
  })

  test('an unknown server gets what its client sends', () => {
    const given = requests[name]([{ name: 'find.it!', schema: odd, strict: true }])
    const { body, context } = translateRequest(given, { from: name, to: name })
    expect(body).toBe(given)
    expect(context).not.toHaveProperty('tools')
  })
})

test('earlier calls, their results and the choice have the name that is sent', () => {
  const { body } = translateRequest(
    {
      model: 'claude-opus-4-6',
      max_tokens: 9,
      tools: [{ name: 'find.it', input_schema: odd }],
      tool_choice: { type: 'tool', name: 'find.it' },
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'find.it', input: JSON.parse(input) }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] },
      ],
    },
    { from: 'messages', to: 'messages', vendor: 'anthropic' },
  )
  const [{ name = '', schema = {} } = {}] = declaredIn('messages', body)
  expect(name).toMatch(/^[\w-]{1,128}$/)
  expect(body).toMatchObject({
    tool_choice: { type: 'tool', name },
    messages: [{}, { content: [{ name, id: 'c1' }] }, { content: [{ tool_use_id: 'c1' }] }],
  })
  const { messages } = body as { messages: { content: { input: object }[] }[] }
  expect(Object.keys(messages[1]?.content[0]?.input ?? {})).toEqual(
    Object.keys(schema['properties'] as object),
  )
})
