import { describe, expect, test } from 'vitest'
import { explode } from '../../../src/canonical/explode.ts'
import type { Part } from '../../../src/canonical/message.ts'
import type { CanonicalResponse, FinishReason } from '../../../src/canonical/response.ts'
import { unwrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { encodeStream } from './run.ts'

type Wire = {
  [key: string]: unknown
  content: { [key: string]: unknown; type: string }[]
  usage: Record<string, unknown>
}

const text: Part = { type: 'text', text: 'a' }
const call: Part = { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{"q":1}' }

/** A response of another protocol, as this one writes it. */
function write(
  parts: Part[],
  reason: FinishReason = 'stop',
  more: Partial<CanonicalResponse> = {},
) {
  const { wire, notes } = messages.encodeResponse({
    id: 'r1',
    model: 'm',
    candidates: [
      { index: 0, messages: [{ role: 'assistant', origin: 'message', parts }], finish: { reason } },
    ],
    usage: { input: 1, output: 2 },
    ...more,
  })
  return { wire: wire as Wire, codes: notes.map(({ code }) => code) }
}

const response = (more: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: 'end_turn',
  ...more,
})

describe('a decoded response is written back unchanged', () => {
  test.each<[string, object]>([
    [
      'text',
      {
        content: [{ type: 'text', text: 'a', citations: null }],
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    ],
    ['a stop sequence', { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['a stop reason of tomorrow', { stop_reason: 'newest' }],
    ['a stop reason of another server', { stop_reason: 'length' }],
    [
      'a refusal',
      {
        stop_reason: 'refusal',
        stop_details: {
          type: 'refusal',
          category: 'cyber',
          explanation: 'e',
          recommended_model: 'n',
        },
      },
    ],
    [
      'calls in a response that did not stop for them',
      {
        content: [
          {
            type: 'tool_use',
            id: 't',
            name: 'n',
            input: {},
            caller: { type: 'code_execution_20260120', tool_id: 's' },
          },
        ],
      },
    ],
    [
      'every count',
      {
        usage: {
          input_tokens: 8,
          cache_creation_input_tokens: 12963,
          cache_read_input_tokens: null,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 12963 },
          output_tokens: 4,
          output_tokens_details: { thinking_tokens: 2 },
          server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
          service_tier: 'batch',
          inference_geo: null,
          iterations: [{ type: 'compaction' }],
        },
      },
    ],
    ['no counts', { usage: null }],
    [
      'fields of its envelope',
      {
        container: { id: 'c' },
        diagnostics: null,
        context_management: { applied_edits: [] },
        input_transformations: [],
      },
    ],
    [
      'thinking without a signature',
      { content: [{ type: 'thinking', thinking: 'a', signature: '' }] },
    ],
    [
      'thinking with an empty text',
      { content: [{ type: 'thinking', thinking: '', signature: 'S' }] },
    ],
  ])('%s', (_, more) => {
    const body = response(more)
    const decoded = messages.decodeResponse(body)
    const encoded = messages.encodeResponse(decoded.value)
    expect(encoded.wire).toEqual(body)
    expect([...decoded.notes, ...encoded.notes]).toEqual([])
  })
})

describe('reading', () => {
  test.each<[string, FinishReason]>([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop_sequence'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_calls'],
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_window'],
    ['compaction', 'compaction'],
    ['stop', 'stop'],
    ['length', 'length'],
    ['tool_calls', 'tool_calls'],
    ['content_filter', 'content_filter'],
    ['sensitive', 'content_filter'],
    ['invented', 'other'],
  ])('%s means %s', (stop_reason, reason) => {
    expect(
      messages.decodeResponse(response({ stop_reason })).value.candidates[0]?.finish,
    ).toMatchObject({ reason, raw: stop_reason })
  })

  test('adds cached tokens to the input', () => {
    const usage = {
      input_tokens: 15,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 100,
      output_tokens: 30,
      output_tokens_details: { thinking_tokens: 12 },
    }
    expect(messages.decodeResponse(response({ usage })).value.usage).toMatchObject({
      input: 120,
      cacheWrite: 5,
      cacheRead: 100,
      output: 30,
      reasoning: 12,
    })
  })

  test('leaves out an unknown count', () => {
    expect(
      messages.decodeResponse(
        response({ usage: { output_tokens: 3, cache_read_input_tokens: null } }),
      ).value.usage,
    ).not.toHaveProperty('input')
  })

  test.each([
    { type: 'error', error: { type: 'api_error', message: 'x' } },
    { error: { type: 'api_error', message: 'x' } },
  ])('an error body with status 200 is an error: %j', body => {
    expect(messages.decodeResponse(body).value).toMatchObject({
      candidates: [],
      error: { status: 500, kind: 'internal', message: 'x' },
    })
  })

  test.each<unknown>([null, [], {}, { content: 'a' }, { content: [{ type: 'text' }] }])(
    '%j is refused',
    body => {
      expect(() => messages.decodeResponse(body)).toThrow(
        expect.objectContaining({ code: 'malformed' }),
      )
    },
  )
})

describe('writing', () => {
  test('writes a complete response', () => {
    expect(write([text]).wire).toEqual({
      id: 'r1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'a' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: null,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: null,
        inference_geo: null,
        speed: null,
      },
    })
  })

  test.each<[FinishReason, string, string[]]>([
    ['stop', 'end_turn', []],
    ['length', 'max_tokens', []],
    ['context_window', 'model_context_window_exceeded', []],
    ['tool_calls', 'end_turn', ['stop.no-call']],
    ['content_filter', 'refusal', ['finish.approximated']],
    ['refusal', 'refusal', []],
    ['recitation', 'refusal', ['finish.approximated']],
    ['pause', 'pause_turn', []],
    ['compaction', 'compaction', []],
    ['malformed_tool_call', 'end_turn', ['finish.approximated']],
    ['cancelled', 'end_turn', ['finish.approximated']],
    ['other', 'end_turn', ['finish.approximated']],
    ['stop_sequence', 'end_turn', ['finish.approximated']],
  ])('%s is %s', (reason, word, expected) => {
    const { wire, codes } = write([text], reason)
    expect(wire['stop_reason']).toBe(word)
    expect(wire['stop_sequence']).toBeNull()
    expect(codes).toEqual(expected)
  })

  test('a response with calls stops for them', () => {
    expect(write([text, call])).toMatchObject({
      wire: {
        stop_reason: 'tool_use',
        content: [
          { type: 'text' },
          { type: 'tool_use', id: 'c', input: { q: 1 }, caller: { type: 'direct' } },
        ],
      },
      codes: ['finish.tool-use'],
    })
  })

  test('the result of a tool has no place in a response, complete or streamed', () => {
    const result: Part = {
      type: 'tool-result',
      callId: 'c',
      kind: 'function',
      content: [text],
      at: '/output/1',
    }
    const { wire, codes } = write([call, result, text], 'tool_calls')
    expect(wire.content.map(({ type }) => type)).toEqual(['tool_use', 'text'])
    expect(codes).toEqual(['part.unsupported'])
    expect(strictOf('messages').checkResponse(wire)).toEqual([])
    const candidates = [
      {
        index: 0,
        messages: [
          { role: 'assistant' as const, origin: 'message' as const, parts: [call, result, text] },
        ],
        finish: { reason: 'tool_calls' as const },
      },
    ]
    const { wires, notes } = encodeStream([
      ...explode({ id: 'r1', model: 'm', candidates, usage: { input: 1, output: 2 } }),
    ])
    expect(strictOf('messages').checkStream(wires)).toEqual([])
    expect(notes.filter(({ code }) => code === 'part.unsupported')).toMatchObject([
      { path: '/output/1' },
    ])
  })

  test('writes the reason of a refusal', () => {
    expect(write([{ type: 'refusal', text: 'no' }])).toMatchObject({
      wire: {
        content: [{ type: 'text', text: 'no' }],
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: null, explanation: 'no' },
      },
      codes: ['refusal.as-text', 'finish.refusal'],
    })
  })

  test('a blocked prompt is a refusal without content', () => {
    const { wire } = messages.encodeResponse({
      id: 'r',
      model: 'm',
      candidates: [],
      promptBlocked: { reason: 'SAFETY' },
    })
    expect(wire).toMatchObject({
      content: [],
      stop_reason: 'refusal',
      stop_details: { explanation: 'Prompt blocked: SAFETY' },
    })
  })

  test('a response without a finish reason is refused', () => {
    const cut: CanonicalResponse = { candidates: [{ index: 0, messages: [] }] }
    expect(() => messages.encodeResponse(cut)).toThrow(
      expect.objectContaining({ code: 'truncated' }),
    )
    expect(messages.encodeResponse(cut, { truncated: 'length' }).wire).toMatchObject({
      stop_reason: 'max_tokens',
    })
  })

  test('a response that failed is an error body', () => {
    expect(
      messages.encodeResponse({
        candidates: [],
        error: { status: 500, kind: 'internal', message: 'x' },
      }).wire,
    ).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'x' },
    })
  })

  test('writes zero for unknown usage, with a note', () => {
    const { wire, notes } = messages.encodeResponse({
      id: 'r',
      model: 'm',
      candidates: [{ index: 0, messages: [], finish: { reason: 'stop' } }],
    })
    expect(wire).toMatchObject({ usage: { input_tokens: 0, output_tokens: 0 } })
    expect(notes.map(({ code }) => code)).toEqual(['usage.missing'])
  })

  test('subtracts cached tokens from the input', () => {
    const usage = {
      input: 120,
      cacheRead: 100,
      cacheWrite: 5,
      cacheWriteByTtl: { '30m': 5 },
      output: 30,
      reasoning: 12,
    }
    expect(write([text], 'stop', { usage })).toMatchObject({
      wire: {
        usage: {
          input_tokens: 15,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 5,
          cache_creation: { ephemeral_5m_input_tokens: 5 },
          output_tokens: 30,
          output_tokens_details: { thinking_tokens: 12 },
        },
      },
      codes: ['usage.ttl'],
    })
  })

  test('more than one candidate is noted', () => {
    const candidates = [0, 1].map(index => ({
      index,
      messages: [],
      finish: { reason: 'stop' as const },
    }))
    expect(write([text], 'stop', { candidates }).codes).toEqual(['candidates.first-only'])
  })

  test('writes reasoning of several kinds', () => {
    const { wire, codes } = write([
      { type: 'reasoning', segments: [{ kind: 'raw', text: 'a' }] },
      {
        type: 'reasoning',
        segments: [
          { kind: 'summary', text: 'b' },
          { kind: 'summary', text: 'c' },
        ],
        id: 'rs',
        signature: { value: 'v', issuer: 'responses' },
      },
      {
        type: 'reasoning',
        segments: [],
        redacted: true,
        signature: { value: 'd', issuer: 'messages', form: 'redacted' },
      },
      { type: 'reasoning', segments: [] },
      text,
    ])
    expect(wire.content.slice(0, -1)).toMatchObject([
      { type: 'thinking', thinking: 'a', signature: '' },
      { type: 'thinking', thinking: 'b\n\nc' },
      { type: 'redacted_thinking', data: 'd' },
    ])
    expect(unwrapSignature(wire.content[1]?.['signature'] as string)).toEqual({
      signature: { value: 'v', issuer: 'responses' },
      id: 'rs',
      lengths: [1, 1],
    })
    expect(codes).toEqual(['reasoning.signature-empty'])
  })

  test('signatures of calls and of text stand beside them, and are found again', () => {
    const signature = { value: 'QUJD', issuer: 'generate-content', form: 'thought' as const }
    const { wire } = write(
      [
        { ...call, signature },
        { ...text, signature },
      ],
      'tool_calls',
    )
    expect(wire.content.map(({ type }) => type)).toEqual([
      'redacted_thinking',
      'tool_use',
      'text',
      'redacted_thinking',
    ])
    expect(messages.decodeResponse(wire).value.candidates[0]?.messages[0]?.parts).toMatchObject([
      { type: 'tool-call', signature },
      { type: 'text', signature },
    ])
  })

  // As the provider writes it; the types have `null` there, which the schema of @ai-sdk/anthropic 3
  // refuses.
  test.each<[what: string, part: Part]>([
    ['a text', text],
    ['a refusal', { type: 'refusal', text: 'a' }],
    [
      'words of an audio',
      { type: 'media', kind: 'audio', source: { type: 'base64', data: 'QQ==' }, transcript: 'a' },
    ],
  ])('%s that cites nothing has no citations', (_, part) => {
    expect(write([part]).wire.content).toEqual([{ type: 'text', text: 'a' }])
  })

  test('a citation of a span cuts the text into blocks, counted in code points', () => {
    const cited: Part = {
      type: 'text',
      text: '😀ab cd',
      citations: [
        {
          kind: 'url',
          url: 'https://u',
          title: 't',
          start: 1,
          end: 3,
          protocol: 'responses',
          raw: {},
        },
      ],
    }
    const { wire, codes } = write([cited])
    expect(wire.content).toEqual([
      { type: 'text', text: '😀' },
      {
        type: 'text',
        text: 'ab',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://u',
            title: 't',
            cited_text: '',
            encrypted_index: '',
          },
        ],
      },
      { type: 'text', text: ' cd' },
    ])
    expect(codes).toEqual(['citation.encrypted-index'])
  })

  test('notes unsupported content', () => {
    const { codes } = write([text], 'stop', { createdAt: 1, completedAt: 2 })
    expect(codes).toEqual(['field.unsupported', 'field.unsupported'])
  })
})
