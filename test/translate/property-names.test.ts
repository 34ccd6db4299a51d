import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { createStreamTranslator } from '../../src/index.ts'
import {
  endRenaming,
  renameChunk,
  renameKeys,
  startRenaming,
} from '../../src/kit/tools/property-names.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

const parameters = {
  type: 'object',
  properties: {
    $top: { type: 'integer' },
    'filter[id]': { type: 'string' },
    name: { type: 'string' },
    inner: { type: 'object', properties: { 'é.x': {} }, required: ['é.x'] },
    ['x'.repeat(65)]: { type: 'string' },
  },
  required: ['$top', 'name'],
}
const args = {
  $top: 12345678901,
  'filter[id]': '"$top": {',
  name: '$top',
  inner: { 'é.x': ['$top', 'b'] },
  ['x'.repeat(65)]: '',
}

/** A request with the tool and a call of it. */
const request = {
  messages: [
    { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] },
    {
      role: 'assistant',
      origin: 'message',
      parts: [
        {
          type: 'tool-call',
          id: 'c1',
          idOrigin: 'wire',
          name: 'list',
          kind: 'function',
          input: JSON.stringify(args),
        },
      ],
    },
    {
      role: 'tool',
      origin: 'message',
      parts: [
        {
          type: 'tool-result',
          callId: 'c1',
          name: 'list',
          kind: 'function',
          content: [{ type: 'text', text: 'ok' }],
        },
      ],
    },
  ],
  tools: [{ type: 'function', name: 'list', parameters }],
  maxOutputTokens: 9,
  model: 'm',
}

const callIn = ({ candidates }: Pick<CanonicalResponse, 'candidates'>) => {
  const parts = (candidates[0]?.messages ?? []).flatMap(message => message.parts)
  return parts.flatMap(part => (part.type === 'tool-call' ? [part] : []))
}

const pairs = protocolNames.flatMap(from =>
  protocolNames.flatMap(to => (from === to ? [] : [{ from, to }])),
)

describe.each(pairs)('properties of a tool $from → $to', ({ from, to }) => {
  const wire = protocols[from].encodeRequest(request as never).wire
  const { body, notes, context } = translateRequest(wire, { from, to, model: 'm' })
  const written = protocols[to].decodeRequest(body).value
  const tool = written.tools?.[0]
  const schema = (tool?.type === 'function' ? tool.parameters : {}) as typeof parameters
  const names = Object.keys(schema.properties)
  const isStrict = to === 'messages' || to === 'converse'

  test('have names that the target takes, and a note', () => {
    const codes = notes.map(({ code }) => code)
    expect(codes.filter(code => code === 'tool.property-renamed')).toHaveLength(isStrict ? 1 : 0)
    if (!isStrict) return expect(names).toEqual(Object.keys(parameters.properties))
    for (const name of [...names, ...Object.keys(schema.properties.inner.properties)])
      expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
    expect(schema.required).toEqual([names[0], 'name'])
    expect(schema.properties.inner.required).toEqual(
      Object.keys(schema.properties.inner.properties),
    )
  })

  test('have these names in earlier calls, and their own in answers', () => {
    const call = written.messages
      .flatMap(({ parts }) => parts)
      .find(one => one.type === 'tool-call')
    const sent = call?.type === 'tool-call' ? call.input : ''
    expect(Object.keys(JSON.parse(sent))).toEqual(names)
    const answer: CanonicalResponse = {
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
                  name: 'list',
                  kind: 'function',
                  input: sent,
                },
              ],
            },
          ],
        },
      ],
    }
    const upstream = protocols[to].encodeResponse(answer).wire
    const whole = translateResponse(upstream, { from: to, to: from, context })
    const [read] = callIn(protocols[from].decodeResponse(whole.body).value)
    expect(JSON.parse(read?.input ?? '')).toEqual(args)

    const translator = createStreamTranslator({ from: to, to: from, context })
    const { text } = encodeStream(protocols[to], explode(answer))
    const client = [...text].map(char => translator.push(char)).join('') + translator.end()
    const events = framesOf(client).map(({ wire: event }) => event)
    const [streamed] = callIn(
      collect(decodeStream(protocols[from as ProtocolName], events)).response,
    )
    expect(JSON.parse(streamed?.input ?? '')).toEqual(args)
  })
})

test.each([
  ['{"a":1}', '{"$a":1}'],
  [
    '{ "a" : {"b":"a","a":["a",{"a":12345678901234567890}]} }',
    '{ "$a" : {"b":"a","$a":["a",{"$a":12345678901234567890}]} }',
  ],
  ['{"b":"\\"a\\":","a":""}', '{"b":"\\"a\\":","$a":""}'],
  ['{"\\u0061":1}', '{"$a":1}'],
  ['{"a', '{"a'],
  ['"a"', '"a"'],
  ['', ''],
])('keys of %s are replaced, however it is cut', (given, expected) => {
  const names = { a: '$a' }
  expect(renameKeys(given, names)).toBe(expected)
  const state = startRenaming()
  const chunks = [...given].map(char => renameChunk(state, char, names))
  expect(chunks.join('') + endRenaming(state)).toBe(expected)
})
