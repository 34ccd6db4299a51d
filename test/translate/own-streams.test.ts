import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Part } from '../../src/canonical/message.ts'
import { createStreamTranslator, translateResponse } from '../../src/index.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { collectStream, explodeResponse } from '../../src/translate/fold.ts'
import { clientOf } from '../support/clients/index.ts'

const respondWith = (...parts: Part[]) =>
  explode({
    id: 'response_1',
    model: 'some-model',
    candidates: [
      {
        index: 0,
        messages: [{ role: 'assistant', origin: 'message', parts }],
        finish: { reason: 'stop' },
      },
    ],
  })

const signature = { value: 'c2ln', issuer: 'elsewhere' }

test.each<{ what: string; name: ProtocolName; parts: Part[] }>([
  {
    what: 'unsigned thinking',
    name: 'messages',
    parts: [{ type: 'reasoning', segments: [{ kind: 'summary', text: 'Hm' }] }],
  },
  {
    what: 'reasoning in the field of a dialect',
    name: 'chat-completions',
    parts: [{ type: 'reasoning', segments: [{ kind: 'raw', text: 'Hm' }] }],
  },
  {
    what: 'reasoning between two texts',
    name: 'chat-completions',
    parts: [
      { type: 'text', text: 'a' },
      { type: 'reasoning', segments: [{ kind: 'raw', text: 'Hm' }], signature },
      { type: 'text', text: 'b' },
    ],
  },
  {
    what: 'an empty segment',
    name: 'responses',
    parts: [{ type: 'reasoning', segments: [{ kind: 'summary', text: '' }], signature }],
  },
  {
    what: 'a call without arguments',
    name: 'messages',
    parts: [{ type: 'tool-call', id: 'call_1', name: 'run', kind: 'function', input: '' }],
  },
])('restores $what in a stream of $name without a note', ({ name, parts }) => {
  const protocol = protocols[name]
  const { wires } = encodeStream(protocol, respondWith(...parts))
  const again = encodeStream(protocol, decodeStream(protocol, wires))
  expect(again.wires).toEqual(wires)
  expect(again.notes).toEqual([])
})

test('keeps foreign raw reasoning raw through a stream of messages', () => {
  const { wires } = encodeStream(
    protocols.messages,
    respondWith({ type: 'reasoning', segments: [{ kind: 'raw', text: 'Hm' }], signature }),
  )
  const parts = collect(decodeStream(protocols.messages, wires)).response.candidates[0]?.messages[0]
    ?.parts
  expect(parts).toMatchObject([{ segments: [{ kind: 'raw', text: 'Hm' }], signature }])
})

test('makes no more notes for unchanged bytes than for a complete response', () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'c1',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'run', arguments: '{}' },
  }
  const translator = createStreamTranslator({ from: 'chat-completions', to: 'chat-completions' })
  for (const wire of [chunk({ tool_calls: [call] }), chunk({}, 'stop')])
    translator.push(`data: ${JSON.stringify(wire)}\n\n`)
  translator.push('data: [DONE]\n\n')
  translator.end()
  expect(translator.notes).toEqual([])
  const body = {
    id: 'c1',
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: [call] },
        finish_reason: 'stop',
      },
    ],
  }
  expect(
    translateResponse(body, { from: 'chat-completions', to: 'chat-completions' }).notes,
  ).toEqual([])
})

test('replaces the model name in a stream whose events are named only by their frames', () => {
  const translator = createStreamTranslator({ from: 'messages', to: 'messages', model: 'alias' })
  const start = {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'real',
      content: [],
      stop_reason: null,
      usage: {},
    },
  }
  expect(translator.push(`event: message_start\ndata: ${JSON.stringify(start)}\n\n`)).toBe(
    `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { ...start.message, model: 'alias' } })}\n\n`,
  )
})

test('adds up counts that come in chunks', () => {
  const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages' })
  const chunk = (delta: object, usage: object) =>
    `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, delta }], usage })}\n\n`
  translator.push(chunk({ content: 'a' }, { prompt_tokens: 7 }))
  translator.push(chunk({ content: 'b' }, { completion_tokens: 3 }))
  expect(translator.usage).toMatchObject({ input: 7, output: 3 })
})

test.each(Object.values(protocols))('adds no model to an error: $name', ({ withModel }) => {
  for (const error of [{ error: { message: 'no' } }, { type: 'error', error: { message: 'no' } }])
    expect(withModel(error, 'alias')).toEqual(error)
})

describe('a stream of messages with a stop reason and no end event', () => {
  const { wires } = encodeStream(protocols.messages, respondWith({ type: 'text', text: 'Hi' }))
  const last = protocols.messages.frames.write(wires.at(-1))
  const message = wires
    .slice(0, -1)
    .map(wire => protocols.messages.frames.write(wire))
    .join('')

  test.each([undefined, 'alias'])('gets its end event: %s', async model => {
    const translator = createStreamTranslator({
      from: 'messages',
      to: 'messages',
      ...(model && { model }),
    })
    const text = translator.push(message) + translator.end()
    expect(text.split('message_stop')).toHaveLength(3)
    expect(translator.finished).toBe(true)
    expect(await clientOf('messages').readStream(text)).toMatchObject({
      text: 'Hi',
      stop: 'end_turn',
    })
  })

  test.each(['', '\n\n'])(
    'gets no second end when only the last blank line is missing: %j',
    blank => {
      const translator = createStreamTranslator({ from: 'messages', to: 'messages' })
      const came = message + last.trimEnd() + blank
      expect(translator.push(came) + translator.end()).toBe(came)
    },
  )

  test('fails when a block is open', () => {
    const translator = createStreamTranslator({ from: 'messages', to: 'messages' })
    const open = wires.filter(wire => !/content_block_stop|message_stop/.test(JSON.stringify(wire)))
    translator.push(open.map(wire => protocols.messages.frames.write(wire)).join(''))
    expect(translator.end()).toContain('event: error')
    expect(translator.finished).toBe(false)
  })
})

test('a stream of responses that is cut off ends in an event with all that the types ask for', () => {
  const frame = (sequence_number: number, type: string) =>
    protocols.responses.frames.write({ type, sequence_number, response: {} })
  const translator = createStreamTranslator({ from: 'responses', to: 'responses' })
  translator.push(frame(0, 'response.created') + frame(1, 'response.in_progress'))
  const [, data = ''] = /data: (\{.*)/.exec(translator.end()) ?? []
  expect(JSON.parse(data)).toEqual({
    type: 'error',
    sequence_number: 2,
    error: {
      type: 'server_error',
      code: 'server_error',
      message: 'upstream stream ended early',
      param: null,
    },
  })
})

test('repairs of the decoder are not noted within one protocol: a response that becomes a stream of its protocol, and back', async () => {
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'run', arguments: '{}' },
  }
  const usage = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 }
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, tool_calls: [call] },
    finish_reason: 'stop',
  }
  const body = {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [choice],
    usage,
  }
  const protocol = protocols['chat-completions']
  const { text, notes } = explodeResponse(body, protocol, { strict: true })
  expect(notes).toEqual([])
  expect(text).toContain(`"finish_reason":"stop"`)
  // What only the total counts is output.
  const repaired = { prompt_tokens: 35, completion_tokens: 74, total_tokens: 109 }
  expect(text).toContain(`"usage":${JSON.stringify(repaired).slice(0, -1)}`)
  const again = await collectStream([text], protocol, { strict: true })
  expect(again).toMatchObject({
    body: { choices: [{ finish_reason: 'stop' }], usage: repaired },
    notes: [],
  })
})

describe('an empty stream that ends in [DONE]', () => {
  const stream = ': hello\n\ndata: [DONE]\n\n'
  test.each([
    ['in one chunk', [stream]],
    ['in single characters', [...stream]],
    ['without its last blank line', [stream.trimEnd()]],
  ])('gets an error instead of [DONE], %s', (_, chunks) => {
    for (const options of [{}, { model: 'other' }]) {
      const translator = createStreamTranslator({
        from: 'chat-completions',
        to: 'chat-completions',
        ...options,
      })
      const text = chunks.map(chunk => translator.push(chunk)).join('') + translator.end()
      expect(text).not.toContain('[DONE]')
      expect(text).toContain('"error"')
      expect(translator.finished).toBe(false)
    }
  })

  test('stays as it is when a choice has finished', () => {
    const whole =
      'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"[DONE]"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    const translator = createStreamTranslator({ from: 'chat-completions', to: 'chat-completions' })
    expect(translator.push(whole) + translator.end()).toBe(whole)
  })
})
