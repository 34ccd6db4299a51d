import { describe, expect, test } from 'vitest'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { createStreamTranslator, normalizeResponse, textOf } from '../../src/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { collectStream, translateRequest, translateResponse } from '../support/untyped.ts'

const schema = {
  type: 'object',
  properties: {
    $top: { type: 'integer' },
    city: { type: 'string' },
    list: { type: 'array', items: { type: 'object', properties: { 'a b': {} } } },
  },
  required: ['$top'],
  additionalProperties: false,
}
const request = {
  model: 'm',
  messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] }],
  output: { format: { type: 'schema', schema, name: 'list' } },
  maxOutputTokens: 9,
}
const answer = '{"$top":12345678901,"city":"$top","list":[{"a b":1}]}'

const saying = (text: string): CanonicalResponse => ({
  model: 'm',
  id: 'r1',
  candidates: [
    {
      index: 0,
      finish: { reason: 'stop' },
      messages: [{ role: 'assistant', origin: 'message', parts: [{ type: 'text', text }] }],
    },
  ],
})

/** The schema that is sent, in one of the protocols that have demands on names. */
function schemaIn(to: ProtocolName, body: unknown): typeof schema {
  const { output_config, outputConfig } = body as {
    output_config?: { format: { schema: typeof schema } }
    outputConfig?: { textFormat: { structure: { jsonSchema: { schema: string } } } }
  }
  return to === 'messages'
    ? (output_config?.format.schema ?? schema)
    : JSON.parse(outputConfig?.textFormat.structure.jsonSchema.schema ?? '{}')
}

type Row = [to: 'messages' | 'converse', model: string, vendor: VendorName | undefined]
const rows: Row[] = [
  ['messages', 'claude-sonnet-4-5', undefined],
  ['messages', 'claude-opus-9', 'anthropic'],
  ['converse', 'us.anthropic.claude-sonnet-4-5-v1:0', undefined],
  ['converse', 'us.anthropic.claude-sonnet-4-5-v1:0', 'bedrock'],
]

describe.each(rows)('a response of %s, %s, %s', (to, model, vendor) => {
  const callers = protocolNames.filter(from => vendor !== undefined || from !== to)
  const options = { to, model, ...(vendor && { vendor }) }

  test.each(callers)('has the names that %s knows, whole and streamed', async from => {
    const wire = protocols[from].encodeRequest(request as never).wire
    const { body, notes, context } = translateRequest(wire, { ...options, from })
    expect(notes.map(({ code }) => code)).toContain('output.property-renamed')
    const sent = schemaIn(to, body)
    // What is edited in a body of the own protocol comes last.
    const [top = '', ...same] = Object.keys(sent.properties).sort()
    const [inner = ''] = Object.keys(sent.properties.list.items.properties)
    for (const name of [top, inner]) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
    expect(same).toEqual(['city', 'list'])
    expect(sent.required).toEqual([top])

    const written = JSON.stringify({ [top]: 12345678901, city: '$top', list: [{ [inner]: 1 }] })
    const upstream = protocols[to].encodeResponse(saying(written)).wire
    const whole = translateResponse(upstream, { from: to, to: from, context })
    expect(textOf(normalizeResponse(whole.body, { protocol: from }))).toBe(answer)

    const translator = createStreamTranslator({ from: to, to: from, context })
    const { text } = encodeStream(protocols[to], explode(saying(written)))
    const client = [...text].map(char => translator.push(char)).join('') + translator.end()
    const { body: streamed } = await collectStream([client], { protocol: from })
    expect(textOf(normalizeResponse(streamed, { protocol: from }))).toBe(answer)
  })
})

test.each(['chat-completions', 'responses', 'generate-content'] as const)(
  'a response of %s has the names of the request',
  to => {
    const wire = protocols.messages.encodeRequest(request as never).wire
    const { body, context } = translateRequest(wire, { from: 'messages', to })
    expect(JSON.stringify(body)).toContain('"$top"')
    expect(context).not.toHaveProperty('outputNames')
  },
)

test('a text of another form stays as it is', () => {
  const wire = protocols.responses.encodeRequest(request as never).wire
  const { context } = translateRequest(wire, { from: 'responses', to: 'messages' })
  const upstream = protocols.messages.encodeResponse(saying('I say: "$top": no {')).wire
  const { body } = translateResponse(upstream, { from: 'messages', to: 'responses', context })
  expect(textOf(normalizeResponse(body, { protocol: 'responses' }))).toBe('I say: "$top": no {')
})
