import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { translateResponse } from '../../src/translate/response.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { cross } from '../support/cross.ts'
import { explodeResponse } from '../support/untyped.ts'

/** What `npm run fuzz` found once, made small. */

describe('restores a body after decoding and encoding', () => {
  test.each<[what: string, kind: 'request' | 'response', of: ProtocolName, wire: object]>([
    [
      'a file that is a text, inside a result',
      'request',
      'generate-content',
      {
        contents: [
          {
            role: 'user',
            parts: [
              {
                functionResponse: {
                  name: 'f',
                  response: {},
                  parts: [{ fileData: '{' }, { inlineData: { data: 1 } }],
                },
              },
            ],
          },
        ],
      },
    ],
    [
      'a key of a request that leads elsewhere',
      'request',
      'generate-content',
      { contents: [], '../x': 1, './x': 2, '.x': 3 },
    ],
    [
      'a key of a response that leads elsewhere',
      'response',
      'generate-content',
      { candidates: [], '../x': 1, './x': 2 },
    ],
    [
      'a key of a call that leads elsewhere',
      'response',
      'generate-content',
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ functionCall: { name: 'f', args: {}, '../x': 1 } }],
            },
            finishReason: 'STOP',
            index: 0,
          },
        ],
      },
    ],
    [
      'a key of a result that leads elsewhere',
      'request',
      'generate-content',
      {
        contents: [
          {
            role: 'user',
            parts: [
              { functionResponse: { id: 'a', name: 'f', response: { output: 'x' }, '../x': 1 } },
            ],
          },
        ],
      },
    ],
    [
      'an id, a status and a phase that are no text, of an item without a type',
      'response',
      'responses',
      {
        id: 'r',
        created_at: 1,
        status: 'completed',
        error: null,
        incomplete_details: null,
        output: [
          {
            id: ['x'],
            status: 5,
            phase: {},
            role: 'assistant',
            content: [{ type: 'refusal', refusal: 'no' }],
          },
        ],
      },
    ],
    [
      'a time that is no whole second',
      'response',
      'responses',
      { created_at: 1.5, status: 'incomplete', output: [], incomplete_details: {} },
    ],
  ])('%s', (_, kind, of, wire) => {
    const crossed = cross(kind, wire, protocols[of], protocols[of])
    expect(canonicalJson(crossed?.wire)).toBe(canonicalJson(wire))
    expect(crossed?.notes).toEqual([])
  })
})

test.each([
  ['data: {"t\r\rype":"message_start"'],
  ['data: {"a":1}\r\rdata: {"b":2}\r\r'],
  ['data: {"a":1}\r\n\r\ndata: {"b"\n\n'],
])('fails with the same message however a stream is split: %j', text => {
  const received = (chunks: Iterable<string>) => {
    const translator = createStreamTranslator(protocols.messages, protocols['generate-content'], {})
    let out = ''
    for (const chunk of chunks) out += translator.push(chunk)
    return out + translator.end()
  }
  expect(received(text)).toBe(received([text]))
})

describe('deltas of an unannounced part go to the same part at any split', () => {
  const begun = {
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    output: [],
    status: 'in_progress',
  }
  const partAt = (index: number) => ({
    type: 'response.content_part.added',
    output_index: 0,
    content_index: index,
    part: { type: 'output_text', text: '', annotations: [] },
  })
  const textAt = (index: number, delta: string) => ({
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: index,
    delta,
  })
  const blockAt = (index: number) => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'text', text: '' },
  })
  const deltaAt = (index: number, text: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'text_delta', text },
  })
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {},
  }

  test.each<[from: ProtocolName, wires: object[]]>([
    [
      'responses',
      [
        { type: 'response.created', response: begun },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
        },
        partAt(1),
        ...[
          textAt(0, 'a'),
          textAt(0, 'b'),
          partAt(2),
          textAt(0, 'c'),
          textAt(0, 'd'),
          textAt(1, 'e'),
        ],
      ],
    ],
    [
      'messages',
      [
        { type: 'message_start', message },
        ...[
          blockAt(0),
          deltaAt(7, 'a'),
          deltaAt(7, 'b'),
          blockAt(1),
          deltaAt(7, 'c'),
          deltaAt(7, 'd'),
          deltaAt(0, 'e'),
        ],
      ],
    ],
  ])('%s', (from, wires) => {
    const text = wires.map(wire => protocols[from].frames.write(wire)).join('')
    const received = (chunks: Iterable<string>) => {
      const translator = createStreamTranslator(protocols[from], protocols.converse, {})
      let out = ''
      for (const chunk of chunks) out += translator.push(chunk)
      return out + translator.end()
    }
    expect(received([text])).toBe(received(text))
  })
})

test('writes half of a surrogate pair alike however the stream is split', () => {
  const chunks = ['a', 'b', '\ud83d', 'c'].map(
    content =>
      `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`,
  )
  const received = (texts: Iterable<string>) => {
    const translator = createStreamTranslator(protocols['chat-completions'], protocols.messages, {})
    let out = ''
    for (const text of texts) out += translator.push(text)
    return out + translator.end()
  }
  const whole = received([chunks.join('')])
  expect(whole).toBe(received(chunks.join('').split(/(?=[{}])/)))
  expect(whole.isWellFormed()).toBe(true)
})

test('begins a segment at every empty reasoning part, however the stream is split', () => {
  const frameOf = (parts: object[]) =>
    protocols['generate-content'].frames.write({
      candidates: [{ index: 0, content: { role: 'model', parts } }],
    })
  const segment = frameOf([
    { text: '', thought: true },
    { text: 'b', thought: true },
  ])
  const frames = [frameOf([{ text: 'a', thought: true }]), segment, segment, segment]
  const received = (chunks: string[]) => {
    const translator = createStreamTranslator(
      protocols['generate-content'],
      protocols.responses,
      {},
    )
    return chunks.map(chunk => translator.push(chunk)).join('') + translator.end()
  }
  const whole = received([frames.join('')])
  expect(whole).toBe(received([...frames.join('')]))
  expect(whole.match(/reasoning_summary_part.added"/g)).toHaveLength(4)
})

describe.each(Object.values(protocols).filter(({ name }) => name !== 'responses'))(
  'a call by an empty name, to $name',
  to => {
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c',
      name: '',
      arguments: '{}',
      status: 'completed',
    }
    const responseOf = (...output: object[]) => ({
      id: 'r',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output,
    })

    const text = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    }

    test('beside a text is a legal call that is noted, streamed and whole', () => {
      const response = responseOf(text, call)
      const whole = translateResponse(response, protocols.responses, to, {})
      expect(strictOf(to.name).checkResponse(whole.body)).toEqual([])
      const translator = createStreamTranslator(protocols.responses, to, {})
      const wires = framesOf(
        translator.push(explodeResponse(response, { protocol: 'responses' })) + translator.end(),
      ).map(({ wire }) => wire)
      expect(strictOf(to.name).checkStream(wires)).toEqual([])
      for (const notes of [whole.notes, translator.notes])
        expect(notes).toContainEqual(
          expect.objectContaining({ code: 'tool-call.empty-name', path: '/output/1' }),
        )
    })

    test('alone is an error, streamed and whole', () => {
      const response = responseOf(call)
      expect(
        strictOf(to.name).checkError(translateResponse(response, protocols.responses, to, {}).body),
      ).toEqual([])
      const translator = createStreamTranslator(protocols.responses, to, {})
      const wires = framesOf(
        translator.push(explodeResponse(response, { protocol: 'responses' })) + translator.end(),
      ).map(({ wire }) => wire)
      expect(strictOf(to.name).checkStream(wires)).toEqual([])
      expect(strictOf(to.name).outcome(wires)).toBe('failed')
    })
  },
)

test('writes a legal chunk with a note for incomplete counts', () => {
  const reported = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
      },
    },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ]
  const translator = createStreamTranslator(protocols.messages, protocols['chat-completions'], {})
  const wires = framesOf(
    translator.push(reported.map(protocols.messages.frames.write).join('')) + translator.end(),
  ).map(({ wire }) => wire)
  expect(strictOf('chat-completions').checkStream(wires)).toEqual([])
  expect(wires).toContainEqual(
    expect.objectContaining({
      usage: expect.objectContaining({ prompt_tokens: 0, completion_tokens: 9, total_tokens: 9 }),
    }),
  )
  expect(translator.notes.map(({ code }) => code)).toContain('usage.missing')
})

test('writes a number for an invalid probability', () => {
  const logprobs = {
    content: [{ token: 'a', logprob: 'odd', bytes: null, top_logprobs: [] }],
    refusal: null,
  }
  const wire = {
    id: 'c',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop', logprobs },
    ],
  }
  const crossed = cross(
    'response',
    wire,
    protocols['chat-completions'],
    protocols['generate-content'],
  )
  expect(crossed?.wire).toMatchObject({
    candidates: [{ logprobsResult: { chosenCandidates: [{ token: 'a', logProbability: -9999 }] } }],
  })
})

test.each(Object.values(protocols))(
  'adds a message to an empty error: $name',
  ({ decodeError }) => {
    for (const body of [
      { error: { message: '' } },
      { error: { message: '', type: 'x' } },
      { message: '' },
      '',
      {},
      null,
    ])
      expect(decodeError({ status: 429, headers: {}, body }).value.message).not.toBe('')
  },
)

test.each(Object.values(protocols))(
  'requests a model whose name is half a character: $name',
  ({ encodeRequest, address }) => {
    const { context } = encodeRequest({ model: 'a\ud800', messages: [], maxOutputTokens: 1 })
    expect(context?.path ?? '').not.toContain('\ud800')
    expect(() =>
      address.target({ operation: 'generate', model: 'a\ud800', stream: false }),
    ).not.toThrow()
  },
)

test('writes a legal sum for overlapping counts', () => {
  const usage = {
    input_tokens: 16,
    output_tokens: 0,
    output_tokens_details: { thinking_tokens: 3 },
  }
  const wire = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }
  const crossed = cross('response', wire, protocols.messages, protocols['generate-content'])
  expect(strictOf('generate-content').checkResponse(crossed?.wire)).toEqual([])
  expect(crossed?.notes.map(({ code }) => code)).toContain('usage.overlap')
})

test.each([undefined, null, {}, [null], ['x']])(
  'does not crash on a namespace that holds %s',
  tools => {
    const wire = { input: 'x', tools: [{ type: 'namespace', name: 'n', description: '', tools }] }
    for (const to of Object.values(protocols))
      expect(() => cross('request', wire, protocols.responses, to)).not.toThrow()
    expect(() => protocols.responses.decodeRequest(wire)).not.toThrow(TypeError)
  },
)
