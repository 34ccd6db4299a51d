import { describe, expect, test } from 'vitest'
import { createBridge } from '../../src/bridge/index.ts'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import { textOf } from '../../src/canonical/read.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { ToolChoice } from '../../src/canonical/tool.ts'
import type { Protocol } from '../../src/protocol.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { translateRequest } from '../../src/translate/request.ts'
import { translateResponse } from '../../src/translate/response.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'

const all: readonly Protocol[] = Object.values(protocols)
const pairs = all.flatMap(client =>
  all.map(upstream => ({ name: `${client.name} → ${upstream.name}`, client, upstream })),
)
const bridge = createBridge({ capabilities: { tools: 'prompt', structuredOutput: 'prompt' } })
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const text = (one: string) => ({ type: 'text' as const, text: one })
const request: CanonicalRequest = {
  model: 'm',
  messages: [
    { role: 'user', origin: 'message', parts: [text('Weather in Rome and Oslo?')] },
    {
      role: 'assistant',
      origin: 'message',
      parts: [
        {
          type: 'tool-call',
          id: 'call_1',
          name: 'weather',
          kind: 'function',
          input: '{"city":"Rome"}',
        },
      ],
    },
    {
      role: 'tool',
      origin: 'message',
      parts: [
        {
          type: 'tool-result',
          callId: 'call_1',
          name: 'weather',
          kind: 'function',
          content: [text('sunny')],
        },
      ],
    },
  ],
  tools: [{ type: 'function', name: 'weather', description: 'Tells the weather.', parameters }],
  maxOutputTokens: 100,
}

function sent(
  { client, upstream }: { client: Protocol; upstream: Protocol },
  given: CanonicalRequest,
) {
  const { wire } = client.encodeRequest(given, { now: 0 })
  const path = client.address.target({ operation: 'generate', model: 'm', stream: false }) ?? ''
  return translateRequest(wire, client, upstream, all, { bridge, path })
}

const answer = (one: string): CanonicalResponse => ({
  id: 'r_1',
  model: 'm',
  candidates: [
    {
      index: 0,
      messages: [{ role: 'assistant', origin: 'message', parts: [text(one)] }],
      finish: { reason: 'stop' },
    },
  ],
  usage: { input: 5, output: 7 },
})

const codes = (notes: readonly { code: string; kind: string }[]) =>
  notes.filter(({ kind }) => kind === 'emulated').map(({ code }) => code)

describe.each(pairs)('$name', pair => {
  const { client, upstream } = pair

  test('tools stand in the instructions, and calls and results in the text', () => {
    const { body, notes } = sent(pair, request)
    expect(strictOf(upstream.name as ProtocolName).checkRequest(body as never)).toEqual([])
    const written = JSON.stringify(body)
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('toolConfig')
    expect(written).not.toMatch(/tool_calls|tool_use"|function_call"|functionCall|toolUse/)
    for (const word of ['Tells the weather.', '<tool_call>', '<tool_response', 'sunny', 'Rome'])
      expect(written).toContain(word)
    expect(codes(notes).sort()).toEqual([
      'tool-call.prompted',
      'tool-call.prompted',
      'tool.prompted',
    ])
  })

  const called = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'

  test('what the model writes as a call is one, whole and streamed', () => {
    const { context } = sent(pair, request)
    const { wire } = upstream.encodeResponse(answer(called), { now: 0 })
    const { body, notes } = translateResponse(wire, upstream, client, { bridge, context })
    const callsIn = ({ candidates }: CanonicalResponse) =>
      candidates.flatMap(({ messages }) =>
        messages.flatMap(({ parts }) =>
          parts.flatMap(part =>
            part.type === 'tool-call' ? [[part.name, JSON.parse(part.input)]] : [],
          ),
        ),
      )
    const expected = [['weather', { city: 'Oslo' }]]
    expect(callsIn(client.decodeResponse(body).value)).toEqual(expected)
    expect(codes(notes)).toEqual(['tool-call.recovered'])
    const translator = createStreamTranslator(upstream, client, { bridge, context })
    const { text: frames } = encodeStream(upstream, explode(answer(called)), { now: 0 })
    const out = translator.push(frames) + translator.end()
    const wires = framesOf(out).map(({ wire: one }) => one)
    const streamed = collect(decodeStream(client, wires)).response
    expect(callsIn(streamed)).toEqual(expected)
  })

  test('JSON is asked for in the instructions, and is alone in the response', () => {
    const { tools: _, ...plain } = request
    const asking: CanonicalRequest = {
      ...plain,
      messages: plain.messages.slice(0, 1),
      output: { format: { type: 'schema', name: 'place', schema: parameters } },
    }
    const { body, notes, context } = sent(pair, asking)
    expect(strictOf(upstream.name as ProtocolName).checkRequest(body as never)).toEqual([])
    expect(JSON.stringify(body)).not.toMatch(
      /response_format|json_schema|responseJsonSchema|textFormat/,
    )
    expect(JSON.stringify(body)).toContain('additionalProperties')
    expect(codes(notes)).toContain('output.prompted')
    for (const [given, expected, code] of [
      ['```json\n{"city": "Rome"}\n```', { city: 'Rome' }, ['output.repaired']],
      ["Here it is: {'city': 'Rome',}", { city: 'Rome' }, ['output.repaired']],
      ['{"city": "Rome"}', { city: 'Rome' }, []],
    ] as const) {
      const { wire } = upstream.encodeResponse(answer(given), { now: 0 })
      const got = translateResponse(wire, upstream, client, { bridge, context })
      const [part] = client.decodeResponse(got.body).value.candidates[0]?.messages[0]?.parts ?? []
      expect(part?.type === 'text' && JSON.parse(part.text)).toEqual(expected)
      expect(codes(got.notes)).toEqual(code)
      const streamed = streamedBack(pair, context, answer(given))
      expect(JSON.parse(streamed.text)).toEqual(expected)
      expect(streamed.codes).toEqual(code)
    }
  })

  test('an answer in JSON that a limit cut off stays as it is', () => {
    const { tools: _, ...plain } = request
    const { context } = sent(pair, {
      ...plain,
      messages: plain.messages.slice(0, 1),
      output: { format: { type: 'schema', name: 'place', schema: parameters } },
    })
    const given = answer('```json\n{"city": "Ro')
    const finish = { reason: 'length' as const }
    const cut = { ...given, candidates: given.candidates.map(one => ({ ...one, finish })) }
    const { wire } = upstream.encodeResponse(cut, { now: 0 })
    const { body } = translateResponse(wire, upstream, client, { bridge, context })
    const [part] = client.decodeResponse(body).value.candidates[0]?.messages[0]?.parts ?? []
    expect(part).toMatchObject({ type: 'text', text: '```json\n{"city": "Ro' })
    expect(streamedBack(pair, context, cut)).toEqual({ text: '```json\n{"city": "Ro', codes: [] })
  })
})

function streamedBack(
  { client, upstream }: { client: Protocol; upstream: Protocol },
  context: ReturnType<typeof sent>['context'],
  response: CanonicalResponse,
): { text: string; codes: string[] } {
  const translator = createStreamTranslator(upstream, client, { bridge, context })
  // In small pieces, as they come from a model.
  const events = [...explode(response)].flatMap(event =>
    event.type === 'part.delta' && event.delta.kind === 'text'
      ? [...event.delta.text].map(one => ({ ...event, delta: { ...event.delta, text: one } }))
      : [event],
  )
  const { text: frames } = encodeStream(upstream, events as never, { now: 0 })
  const out = translator.push(frames) + translator.end()
  const wires = framesOf(out).map(({ wire }) => wire)
  expect(strictOf(client.name as ProtocolName).checkStream(wires)).toEqual([])
  return {
    text: textOf(collect(decodeStream(client, wires)).response),
    codes: codes(translator.notes),
  }
}

test.each<[ToolChoice, string]>([
  [{ mode: 'required' }, 'You have to call a function now.'],
  [
    { mode: 'tool', kind: 'function', name: 'weather' },
    'You have to call the function \\"weather\\" now.',
  ],
])('the choice %j is said', (toolChoice, words) => {
  const messages = protocols.messages
  const { body } = sent({ client: messages, upstream: messages }, { ...request, toolChoice })
  expect(JSON.stringify(body)).toContain(words)
})

test('what a provider would run is left out next to functions', () => {
  const { responses, 'chat-completions': chat } = protocols
  const tools = [{ type: 'function', name: 'weather' }, { type: 'web_search' }]
  const { body, notes } = translateRequest(
    { model: 'm', input: 'Hello', tools },
    responses,
    chat,
    all,
    { bridge },
  )
  expect(body).not.toHaveProperty('tools')
  expect(notes.find(({ code }) => code === 'tool.left-out')?.path).toBe('/tools/1')
})

test('without tools, calls and formats a request stays the same object', () => {
  const wire = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
  const { messages } = protocols
  expect(translateRequest(wire, messages, messages, all, { bridge }).body).toBe(wire)
})
