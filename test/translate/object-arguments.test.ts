import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { createStreamTranslator, type TranslationContext } from '../../src/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { declaredIn, requests, type Schema } from '../support/tool-requests.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

const pairs = protocolNames.flatMap(from =>
  protocolNames.flatMap(to => (from === to ? [] : [{ from, to }])),
)
const list = { type: 'array', items: { type: 'string' } }
const around = (value: Schema) => ({
  type: 'object',
  properties: { value },
  required: ['value'],
  additionalProperties: false,
})

const answer = (input: string): CanonicalResponse => ({
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
            {
              type: 'tool-call',
              id: 'c2',
              idOrigin: 'wire',
              name: 'find',
              kind: 'function',
              input,
            },
          ],
        },
      ],
    },
  ],
})

const inputsIn = ({ candidates }: Pick<CanonicalResponse, 'candidates'>) =>
  (candidates[0]?.messages ?? [])
    .flatMap(({ parts }) => parts)
    .flatMap(part => (part.type === 'tool-call' ? [part.input] : []))

/** The arguments that the client sees, in a whole response and in a stream of single letters. */
function seen(from: ProtocolName, to: ProtocolName, input: string, context: TranslationContext) {
  const upstream = protocols[to].encodeResponse(answer(input)).wire
  const whole = translateResponse(upstream, { from: to, to: from, context })
  const [inWhole] = inputsIn(protocols[from].decodeResponse(whole.body).value)
  const translator = createStreamTranslator({ from: to, to: from, context })
  const { text } = encodeStream(protocols[to], explode(answer(input)))
  const out = [...text].map(char => translator.push(char)).join('') + translator.end()
  const events = framesOf(out).map(({ wire }) => wire)
  const [inStream] = inputsIn(collect(decodeStream(protocols[from], events)).response)
  const codesOf = (notes: readonly { code: string }[]) => notes.map(({ code }) => code)
  return {
    whole: inWhole,
    stream: inStream,
    notes: [codesOf(whole.notes), codesOf(translator.notes)],
  }
}

describe.each(pairs)('parameters that are no object $from → $to', ({ from, to }) => {
  const translated = (schema: Schema) => {
    const { body, notes, context } = translateRequest(requests[from]([{ name: 'find', schema }]), {
      from,
      to,
      model: 'm',
    })
    const codes = notes.map(({ code }) => code).filter(code => /^(tool|schema)\./.test(code))
    return { schema: declaredIn(to, body)[0]?.schema, codes, context }
  }

  test.each<[string, Schema, Schema]>([
    ['a list', list, list],
    ['a text', { type: 'string', minLength: 1 }, { type: 'string', minLength: 1 }],
    [
      'a list or nothing',
      { ...list, type: ['array', 'null'] },
      { ...list, type: ['array', 'null'] },
    ],
    ['one of two', { oneOf: [list, { type: 'string' }] }, { oneOf: [list, { type: 'string' }] }],
  ])('are put into an object: %s', (_, given, value) => {
    const { schema, codes } = translated(given)
    expect(schema).toEqual(around(value))
    expect(codes).toEqual(['tool.arguments-wrapped'])
  })

  test('are put into an object with all that their references name', () => {
    const $defs = { Name: { type: 'string' } }
    const named = { $ref: '#/$defs/Names', $defs: { ...$defs, Names: list } }
    expect(translated(named).schema).toMatchObject({
      type: 'object',
      properties: { value: { $ref: '#/$defs/Names' } },
      $defs: named.$defs,
    })
    const tree = { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#' }] } }
    if (to === 'generate-content') return
    expect(translated(tree).schema).toMatchObject({
      properties: { value: { items: { anyOf: [{}, { $ref: '#/properties/value' }] } } },
    })
  })

  test.each<[string, Schema]>([
    ['an object', { type: 'object', properties: { a: list } }],
    ['an object or nothing', { type: ['object', 'null'], properties: { a: list } }],
    ['an object or a list', { anyOf: [{ type: 'object', properties: {} }, list] }],
    ['properties', { properties: { a: list } }],
    ['nothing', {}],
  ])('stay an object where they may be one: %s', (_, given) => {
    const { schema, codes } = translated(given)
    expect(schema).toMatchObject({ type: 'object' })
    expect(codes).not.toContain('tool.arguments-wrapped')
  })

  const takesText = from === 'chat-completions' || from === 'responses'

  test.each([
    ['["a}","b\\"]"]', '["a}","b\\"]"]'],
    [' 12345678901234567890 ', '12345678901234567890'],
    ['"a"', '"a"'],
  ])('are restored in calls: %s', (value, expected) => {
    const { context } = translated(list)
    const { whole, stream, notes } = seen(from, to, `{"value":${value}}`, context)
    const inObject = `{"value":${expected}}`
    // An object may have other white space, and numbers that its wire rounds.
    const plain = (text = '') => (takesText ? text.trim() : JSON.stringify(JSON.parse(text)))
    const restored = takesText ? expected : plain(inObject)
    expect([plain(whole), plain(stream)]).toEqual([restored, restored])
    expect(notes.flat()).not.toContain('tool-call.unwrap-failed')
  })

  test.runIf(takesText)('leave other arguments of a model as they are, with a note', () => {
    const { context } = translated(list)
    const { whole, stream, notes } = seen(from, to, '{"items":["a"]}', context)
    expect([whole, stream]).toEqual(['{"items":["a"]}', '{"items":["a"]}'])
    for (const codes of notes) expect(codes).toContain('tool-call.unwrap-failed')
  })

  test('are in the same object in calls of the history', () => {
    const inObject = '{"value":["a"]}'
    const { tools } = protocols[from].decodeRequest(
      requests[from]([{ name: 'find', schema: list }]),
    ).value
    const messages = [
      { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] },
      ...(answer(inObject).candidates[0]?.messages ?? []),
      {
        role: 'tool',
        origin: 'message',
        parts: [
          {
            type: 'tool-result',
            callId: 'c2',
            name: 'find',
            kind: 'function',
            content: [{ type: 'text', text: 'ok' }],
          },
        ],
      },
    ]
    const asked = { model: 'm', maxOutputTokens: 9, messages, tools }
    const wire = JSON.stringify(protocols[from].encodeRequest(asked as never).wire)
    const given = takesText
      ? wire.replace(JSON.stringify(inObject), () => JSON.stringify('["a"]'))
      : wire
    const { body } = translateRequest(JSON.parse(given), { from, to, model: 'm' })
    const written = protocols[to].decodeRequest(body).value.messages.flatMap(({ parts }) => parts)
    expect(written.flatMap(part => (part.type === 'tool-call' ? [part.input] : []))).toEqual([
      inObject,
    ])
  })
})

test.each<[ProtocolName, VendorName]>([
  ['messages', 'anthropic'],
  ['chat-completions', 'openai'],
  ['chat-completions', 'moonshot'],
  ['responses', 'openai'],
  ['converse', 'bedrock'],
])('a vendor of %s gets an object from its own protocol, too: %s', (protocol, vendor) => {
  const given = requests[protocol]([{ name: 'find', schema: list }])
  const { body, notes, context } = translateRequest(given, {
    from: protocol,
    to: protocol,
    vendor,
    model: 'm',
  })
  expect(declaredIn(protocol, body)[0]?.schema).toMatchObject(around(list))
  expect(notes.map(({ code }) => code)).toContain('tool.arguments-wrapped')
  const takesText = protocol === 'chat-completions' || protocol === 'responses'
  const { whole, stream } = seen(protocol, protocol, '{"value":["a"]}', context)
  const expected = takesText ? '["a"]' : '{"value":["a"]}'
  expect([whole, stream]).toEqual([expected, expected])
})
