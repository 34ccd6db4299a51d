import { describe, expect, test } from 'vitest'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { translateResponse } from '../../support/untyped.ts'

const usage = {
  inputTokens: 3,
  outputTokens: 4,
  totalTokens: 19,
  cacheReadInputTokens: 10,
  cacheWriteInputTokens: 2,
}
const response = (content: object[], more: object = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage,
  metrics: { latencyMs: 5 },
  ...more,
})

function received(
  to: 'chat-completions' | 'messages' | 'responses' | 'generate-content',
  body: object,
) {
  const { body: written, notes } = translateResponse(body, { from: 'converse', to, now: 1 })
  expect(strictOf(to).checkResponse(written)).toEqual([])
  return { written, codes: notes.map(({ code }) => code) }
}

describe('decoding a response', () => {
  test('counts include what was cached', () => {
    expect(received('chat-completions', response([{ text: 'a' }])).written).toMatchObject({
      usage: {
        prompt_tokens: 15,
        completion_tokens: 4,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 10 },
      },
    })
    expect(received('messages', response([{ text: 'a' }])).written).toMatchObject({
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 2,
        output_tokens: 4,
      },
    })
  })

  test('older names of cached counts are read where the newer ones are missing', () => {
    const older = {
      inputTokens: 3,
      outputTokens: 4,
      totalTokens: 19,
      cacheReadInputTokenCount: 10,
      cacheWriteInputTokenCount: 2,
    }
    expect(received('messages', response([{ text: 'a' }], { usage: older }))).toMatchObject({
      written: {
        usage: { input_tokens: 3, cache_read_input_tokens: 10, cache_creation_input_tokens: 2 },
      },
      codes: ['response.id', 'response.model'],
    })
  })

  test('a call has its own id and an object as input', () => {
    const call = {
      toolUse: { toolUseId: 'functions.f:0', name: 'f', input: { a: 1 }, type: 'tool_use' },
    }
    const { written } = received('chat-completions', response([call], { stopReason: 'tool_use' }))
    expect(written).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: { tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }] },
        },
      ],
    })
  })

  test('a cited text is cited, and the rest of the text is not', () => {
    const cited = {
      citationsContent: {
        content: [{ text: 'b' }],
        citations: [{ title: 'T', location: { web: { url: 'https://e.x', domain: 'e.x' } } }],
      },
    }
    expect(received('chat-completions', response([{ text: 'a' }, cited])).written).toMatchObject({
      choices: [
        {
          message: {
            content: 'ab',
            annotations: [
              { url_citation: { start_index: 1, end_index: 2, title: 'T', url: 'https://e.x' } },
            ],
          },
        },
      ],
    })
  })

  test('what tools of the provider did is dropped with a note', () => {
    const own = [
      {
        toolUse: {
          toolUseId: 't',
          name: 'nova_grounding',
          input: { query: 'q' },
          type: 'server_tool_use',
        },
      },
      {
        toolResult: {
          toolUseId: 't',
          type: 'nova_grounding_result',
          status: 'success',
          content: [{ text: 'r' }],
        },
      },
      { text: 'a' },
    ]
    const { written, codes } = received('messages', response(own))
    expect(written).toMatchObject({
      content: [{ type: 'text', text: 'a' }],
      stop_reason: 'end_turn',
    })
    expect(codes.filter(code => code === 'server-tool.dropped')).toHaveLength(2)
  })

  test.each<[stop: string, chat: string, messages: string]>([
    ['end_turn', 'stop', 'end_turn'],
    ['max_tokens', 'length', 'max_tokens'],
    ['model_context_window_exceeded', 'length', 'model_context_window_exceeded'],
    ['content_filtered', 'content_filter', 'refusal'],
    ['guardrail_intervened', 'content_filter', 'refusal'],
    // Words of compatible servers.
    ['stop', 'stop', 'end_turn'],
    ['length', 'length', 'max_tokens'],
  ])('maps the stop reason %s', (stopReason, finish, stop) => {
    expect(
      received('chat-completions', response([{ text: 'a' }], { stopReason })).written,
    ).toMatchObject({ choices: [{ finish_reason: finish }] })
    expect(received('messages', response([{ text: 'a' }], { stopReason })).written).toMatchObject({
      stop_reason: stop,
    })
  })

  test('the stop sequence is in the fields that the client requested', () => {
    const body = response([{ text: 'a' }], {
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'E' },
    })
    expect(received('messages', body).written).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'E',
    })
  })
})

describe('encoding a response', () => {
  const chat = (message: object, finish_reason = 'stop') =>
    translateResponse(
      {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason },
        ],
        usage: {
          prompt_tokens: 15,
          completion_tokens: 4,
          total_tokens: 19,
          prompt_tokens_details: { cached_tokens: 10 },
        },
      },
      { from: 'chat-completions', to: 'converse' },
    ).body as Record<string, never>

  test('blocks, counts and a latency, which its clients require', () => {
    const body = chat({ content: 'a' })
    expect(strictOf('converse').checkResponse(body)).toEqual([])
    expect(body).toMatchObject({
      output: { message: { role: 'assistant', content: [{ text: 'a' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 5, outputTokens: 4, totalTokens: 19, cacheReadInputTokens: 10 },
      metrics: { latencyMs: 0 },
    })
  })

  test('an id that its clients refuse is mapped', () => {
    const body = chat(
      {
        tool_calls: [{ id: 'call/1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      'tool_calls',
    )
    expect(body).toMatchObject({
      stopReason: 'tool_use',
      output: {
        message: {
          content: [
            { toolUse: { toolUseId: expect.stringMatching(/^[\w.:-]{1,64}$/), input: {} } },
          ],
        },
      },
    })
  })
})
