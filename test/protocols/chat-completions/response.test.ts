import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/message.ts'
import type { Candidate, FinishReason, Usage } from '../../../src/canonical/response.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { codes, encodeStream, type Options } from './run.ts'

const { decodeResponse, encodeResponse } = chatCompletions

const body = (message: object, finish_reason: unknown = 'stop', rest: object = {}) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 7,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  ...rest,
})
const candidateOf = (wire: unknown, options?: Options) =>
  decodeResponse(wire, options).value.candidates[0] as Candidate
const partsOf = (message: object, options?: Options) =>
  candidateOf(body(message), options).messages[0]?.parts

function write(parts: Part[], finish: FinishReason = 'stop', options?: Options) {
  const { wire, notes } = encodeResponse(
    {
      id: 'r',
      model: 'm',
      createdAt: 7,
      candidates: [
        {
          index: 0,
          messages: [{ role: 'assistant', origin: 'message', parts }],
          finish: { reason: finish },
        },
      ],
    },
    options,
  )
  const [choice] = (
    wire as { choices: { message: Record<string, unknown>; finish_reason: string }[] }
  ).choices
  return { wire, message: choice?.message, finish: choice?.finish_reason, codes: codes(notes) }
}

describe('reading', () => {
  test.each<[string, object, object[]]>([
    [
      'text and calls',
      {
        content: 'a',
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"a"' } }],
      },
      [
        { type: 'text', text: 'a' },
        { type: 'tool-call', id: 'x', input: '{"a"' },
      ],
    ],
    [
      'empty text beside calls',
      {
        content: '',
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      [{ type: 'tool-call', input: '' }],
    ],
    [
      'text and a refusal',
      { content: 'a', refusal: 'no' },
      [{ type: 'text' }, { type: 'refusal', text: 'no' }],
    ],
    [
      'content as blocks',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
          { type: 'text', text: 'a' },
        ],
      },
      [
        { type: 'reasoning', segments: [{ text: 'r' }] },
        { type: 'text', text: 'a' },
      ],
    ],
    ['calls that are null', { content: 'a', tool_calls: null }, [{ type: 'text' }]],
    [
      'reasoning',
      { content: 'a', reasoning_content: 'r' },
      [{ type: 'reasoning', segments: [{ kind: 'raw', text: 'r' }] }, { type: 'text' }],
    ],
    [
      'citations',
      {
        content: 'a',
        annotations: [
          {
            type: 'url_citation',
            url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://example.org' },
          },
        ],
      },
      [
        {
          type: 'text',
          citations: [{ kind: 'url', start: 0, end: 1, url: 'https://example.org' }],
        },
      ],
    ],
    [
      'audio',
      { content: null, audio: { id: 'au', data: 'AAAA', transcript: 'hi', expires_at: 9 } },
      [
        {
          type: 'media',
          kind: 'audio',
          source: { type: 'base64', data: 'AAAA' },
          transcript: 'hi',
          expiresAt: 9,
        },
      ],
    ],
    [
      'a call of unknown type',
      { content: null, tool_calls: [{ id: 'x', type: 'new', x: 1 }] },
      [{ type: 'opaque', raw: { type: 'new' } }],
    ],
  ])('%s', (_, message, parts) => {
    expect(partsOf(message)).toMatchObject(parts)
    expect(partsOf(message)).toHaveLength(parts.length)
  })

  test.each<[unknown, boolean, FinishReason]>([
    ['stop', false, 'stop'],
    ['stop', true, 'tool_calls'],
    ['length', true, 'length'],
    ['tool_calls', true, 'tool_calls'],
    ['function_call', true, 'tool_calls'],
    ['content_filter', false, 'content_filter'],
    ['eos', false, 'stop'],
    ['model_length', false, 'length'],
    ['model_context_window_exceeded', false, 'context_window'],
    ['insufficient_system_resource', false, 'error'],
    ['brand_new', false, 'other'],
    ['', false, 'other'],
    [null, false, 'other'],
  ])('the finish reason %o, with calls: %s, means %s', (word, calls, reason) => {
    const message = calls
      ? {
          content: null,
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
        }
      : { content: 'a' }
    const wire = body(message, word)
    const { value, notes } = decodeResponse(wire)
    expect(value.candidates[0]?.finish).toMatchObject({ reason })
    const repaired = word === 'stop' && calls ? ['finish.repaired'] : []
    expect(codes(notes)).toEqual(word ? repaired : ['finish.missing'])
    if (reason !== 'error') expect(encodeResponse(value)).toMatchObject({ wire })
  })

  test.each<[string, object, Usage, string[]]>([
    [
      'DeepSeek: the rest of the input adds nothing',
      {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 12,
        prompt_cache_hit_tokens: 4,
        prompt_cache_miss_tokens: 6,
      },
      { input: 10, output: 2, cacheRead: 4 },
      [],
    ],
    [
      'counts and details',
      {
        prompt_tokens: 13,
        completion_tokens: 838,
        total_tokens: 851,
        prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 704 },
      },
      { input: 13, output: 838, cacheRead: 3, cacheWrite: 2, reasoning: 704 },
      [],
    ],
    [
      'reasoning outside the output',
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        completion_tokens_details: { reasoning_tokens: 340 },
      },
      { input: 12, output: 342, reasoning: 340 },
      [],
    ],
    [
      'a total that no count explains',
      { prompt_tokens: 12, completion_tokens: 2, total_tokens: 20 },
      { input: 12, output: 8 },
      ['usage.repaired'],
    ],
    [
      'cached tokens under other names',
      {
        prompt_tokens: 9,
        completion_tokens: 1,
        total_tokens: 10,
        prompt_cache_hit_tokens: 4,
        prompt_cache_miss_tokens: 5,
      },
      { cacheRead: 4 },
      [],
    ],
    [
      'cached tokens at the top',
      { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, cached_tokens: 4 },
      { cacheRead: 4 },
      [],
    ],
    [
      'less than nothing',
      { prompt_tokens: -1, completion_tokens: 2, prompt_tokens_details: { cached_tokens: -3 } },
      { output: 2 },
      ['usage.repaired'],
    ],
    [
      'what is no number',
      { prompt_tokens: 'some', completion_tokens: 2 },
      { output: 2 },
      ['usage.repaired'],
    ],
    [
      'counts as text',
      { prompt_tokens: '9', completion_tokens: '1', total_tokens: '10' },
      { input: 9, output: 1 },
      ['usage.repaired'],
    ],
    [
      'details that are null, and no total',
      { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: null },
      { input: 9, output: 1 },
      [],
    ],
  ])('usage: %s', (_, usage, counts, notes) => {
    const wire = body({ content: 'a' }, 'stop', { usage })
    const decoded = decodeResponse(wire)
    expect(decoded.value.usage).toMatchObject(counts)
    expect(codes(decoded.notes)).toEqual(notes)
    expect(encodeResponse(decoded.value).wire).toEqual(wire)
  })

  test('decodes an error in a response with status 200', () => {
    expect(decodeResponse({ error: { message: 'busy', code: 429 } }).value).toMatchObject({
      candidates: [],
      error: { status: 429, kind: 'rate_limit', message: 'busy' },
    })
    expect(decodeResponse({ id: 'c', choices: [] }).value).toMatchObject({
      candidates: [],
      error: { kind: 'internal' },
    })
  })

  test('assigns logprobs to the text', () => {
    const logprobs = {
      content: [
        {
          token: 'a',
          bytes: [97],
          logprob: -0.1,
          top_logprobs: [{ token: 'b', bytes: null, logprob: -2 }],
        },
      ],
      refusal: null,
    }
    const wire = {
      ...body({ content: 'a' }),
      choices: [
        { index: 0, message: { role: 'assistant', content: 'a' }, logprobs, finish_reason: 'stop' },
      ],
    }
    const { value } = decodeResponse(wire)
    expect(value.candidates[0]?.messages[0]?.parts[0]).toMatchObject({
      logprobs: [{ token: 'a', logprob: -0.1, bytes: [97], top: [{ token: 'b' }] }],
    })
    expect(encodeResponse(value).wire).toEqual(wire)
  })

  test('creates ids for calls without one', () => {
    const calls = [
      { function: { name: 'ns__f', arguments: {} } },
      { function: { name: 'constructor', arguments: '{}' } },
    ]
    const parts = partsOf({ content: null, tool_calls: calls })
    expect(parts).toMatchObject([
      { name: 'ns__f', input: '{}', idOrigin: 'synthesized' },
      { name: 'constructor' },
    ])
    const [first, second] = parts as { id: string }[]
    expect(first?.id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(first?.id).not.toBe(second?.id)
  })

  test('refuses a malformed completion', () => {
    expect(() => decodeResponse({ choices: 3 })).toThrow(
      expect.objectContaining({ code: 'malformed', path: '/choices' }),
    )
    expect(() => decodeResponse('text')).toThrow(expect.objectContaining({ code: 'malformed' }))
  })
})

describe('writing', () => {
  test('writes the complete envelope', () => {
    expect(write([{ type: 'text', text: 'a' }]).wire).toEqual({
      id: 'r',
      object: 'chat.completion',
      created: 7,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'a', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
    })
  })

  test('missing values of the source are synthesized and noted', () => {
    const bare = { candidates: [{ index: 0, messages: [], finish: { reason: 'stop' as const } }] }
    const { wire, notes } = encodeResponse(bare, {
      now: 9,
      newId: prefix => `${prefix}x`,
      context: {
        from: 'chat-completions',
        to: 'messages',
        request: { model: 'requested', messages: [] },
      },
    })
    expect(wire).toMatchObject({
      id: 'chatcmpl-x',
      created: 9,
      model: 'requested',
      choices: [{ message: { content: null } }],
    })
    expect(codes(notes)).toEqual(['response.id', 'response.created', 'response.model'])
  })

  test.each<[FinishReason, string, boolean]>([
    ['stop', 'stop', true],
    ['length', 'length', true],
    ['tool_calls', 'tool_calls', true],
    ['content_filter', 'content_filter', true],
    ['stop_sequence', 'stop', false],
    ['context_window', 'length', false],
    ['recitation', 'content_filter', false],
    ['refusal', 'content_filter', false],
    ['pause', 'stop', false],
    ['compaction', 'stop', false],
    ['malformed_tool_call', 'stop', false],
    ['cancelled', 'stop', false],
    ['other', 'stop', false],
  ])('the ending %s as %s', (reason, word, exact) => {
    const call = {
      type: 'tool-call' as const,
      id: 'c',
      kind: 'function' as const,
      name: 'f',
      input: '{}',
    }
    const { finish, codes } = write(
      [{ type: 'text', text: 'a' }, ...(reason === 'tool_calls' ? [call] : [])],
      reason,
    )
    expect(finish).toBe(word)
    expect(codes).toEqual(exact ? [] : ['finish.approximated'])
  })

  test('a failed response is an error body', () => {
    expect(
      encodeResponse({
        candidates: [{ index: 0, messages: [], finish: { reason: 'error', message: 'gone' } }],
      }).wire,
    ).toMatchObject({
      error: { message: 'gone', type: 'server_error' },
    })
    expect(
      encodeResponse({
        candidates: [],
        error: { status: 529, kind: 'overloaded', message: 'Overloaded' },
      }).wire,
    ).toEqual({
      error: { message: 'Overloaded', type: 'server_error', param: null, code: 'overloaded' },
    })
  })

  test('a response without a finish reason is refused, or cut by length on request', () => {
    const open = { candidates: [{ index: 0, messages: [] }] }
    expect(() => encodeResponse(open)).toThrow(expect.objectContaining({ code: 'truncated' }))
    expect(() => encodeResponse({ candidates: [] })).toThrow(
      expect.objectContaining({ code: 'truncated' }),
    )
    expect(encodeResponse(open, { truncated: 'length' }).wire).toMatchObject({
      choices: [{ finish_reason: 'length' }],
    })
  })

  test('counts of predictions and of audio have their own fields', () => {
    const usage: Usage = {
      input: 9,
      output: 8,
      inputAudio: 1,
      outputAudio: 2,
      acceptedPrediction: 3,
      rejectedPrediction: 4,
    }
    expect(
      encodeResponse({
        candidates: [{ index: 0, messages: [], finish: { reason: 'stop' } }],
        usage,
      }).wire,
    ).toMatchObject({
      usage: {
        prompt_tokens_details: { audio_tokens: 1 },
        completion_tokens_details: {
          audio_tokens: 2,
          accepted_prediction_tokens: 3,
          rejected_prediction_tokens: 4,
        },
      },
    })
  })

  test('writes logprobs of a refusal next to those of the text', () => {
    const parts: Part[] = [
      { type: 'text', text: 'a', logprobs: [{ token: 'a', logprob: -1 }] },
      { type: 'refusal', text: 'no', logprobs: [{ token: 'no', logprob: -2 }] },
    ]
    expect(
      encodeResponse({
        candidates: [
          {
            index: 0,
            messages: [{ role: 'assistant', origin: 'message', parts }],
            finish: { reason: 'stop' },
          },
        ],
      }).wire,
    ).toMatchObject({
      choices: [
        {
          logprobs: {
            content: [{ token: 'a', logprob: -1 }],
            refusal: [{ token: 'no', logprob: -2 }],
          },
        },
      ],
    })
  })

  test('writes refusals and refused prompts', () => {
    expect(write([{ type: 'refusal', text: 'no' }])).toMatchObject({
      message: { content: null, refusal: 'no' },
      finish: 'stop',
      codes: [],
    })
    expect(write([], 'refusal')).toMatchObject({
      message: { content: null, refusal: 'The request was refused.' },
      finish: 'content_filter',
    })
    const { wire } = encodeResponse({
      id: 'r',
      model: 'm',
      createdAt: 1,
      candidates: [],
      promptBlocked: { reason: 'SAFETY' },
    })
    expect(wire).toMatchObject({
      choices: [
        {
          message: { content: null, refusal: 'Prompt blocked: SAFETY' },
          finish_reason: 'content_filter',
        },
      ],
    })
    const streamed = encodeStream([
      { type: 'start', id: 'r', model: 'm' },
      { type: 'update', promptBlocked: { reason: 'SAFETY' } },
      { type: 'end', clean: true },
    ]).frames
    expect(streamed).toMatchObject([
      { choices: [{ delta: { role: 'assistant' } }] },
      { choices: [{ delta: { refusal: 'Prompt blocked: SAFETY' } }] },
      { choices: [{ finish_reason: 'content_filter' }] },
      '[DONE]',
    ])
  })

  test('joins items into one message, with citation offsets in the joined text', () => {
    const cite = (start?: number, end?: number) => ({
      kind: 'url' as const,
      url: 'https://example.org',
      title: 't',
      ...(start !== undefined && { start }),
      ...(end !== undefined && { end }),
      protocol: 'responses',
      raw: {},
    })
    const { message, codes } = write([
      { type: 'text', text: '🙂a', citations: [cite(1, 2)] },
      {
        type: 'text',
        text: 'bc',
        citations: [cite(0, 1), cite(), { kind: 'file', protocol: 'responses', raw: {} }],
      },
    ])
    expect(message?.['content']).toBe('🙂abc')
    expect(message?.['annotations']).toMatchObject(
      [
        [1, 2],
        [2, 3],
        [2, 4],
      ].map(([start_index, end_index]) => ({ url_citation: { start_index, end_index } })),
    )
    expect(codes.sort()).toEqual([
      'citation.unsupported',
      'citation.whole-part',
      'text.boundary-lost',
    ])
  })

  test('writes reasoning and its signature in the requested form', () => {
    const thinking: Part = {
      type: 'reasoning',
      segments: [
        { kind: 'summary', text: 'a' },
        { kind: 'summary', text: 'b' },
      ],
      signature: { value: 'S', issuer: 'responses', form: 'encrypted' },
      id: 'rs_1',
    }
    const common = write([thinking, { type: 'text', text: 't' }])
    expect(common.message).toMatchObject({
      reasoning_content: 'a\n\nb',
      reasoning_details: [
        { type: 'reasoning.summary', summary: 'a', id: 'rs_1', index: 0 },
        { type: 'reasoning.summary', summary: 'b' },
        { type: 'reasoning.encrypted', data: expect.stringMatching(/^xs1\./), format: 'xs1' },
      ],
    })
    expect(common.codes).toEqual(['reasoning.dialect-field'])
    expect(partsOf(common.message as object)).toMatchObject([thinking, { text: 't' }])
    expect(write([thinking], 'stop', { reasoningField: 'reasoning' }).message).toMatchObject({
      reasoning: 'a\n\nb',
    })
    expect(write([thinking], 'stop', { reasoningField: 'details' }).message).not.toHaveProperty(
      'reasoning_content',
    )
    expect(write([thinking], 'stop', { reasoningField: 'omit' })).toMatchObject({
      codes: ['reasoning.dropped'],
    })
    const unsigned = write([thinking], 'stop', { signatures: 'none' })
    expect(unsigned.message).not.toHaveProperty('reasoning_details')
    expect(unsigned.codes).toContain('reasoning.signature-dropped')
    // Details without signatures are the only place of its words.
    const options = { signatures: 'none', reasoningField: 'details' } as const
    const { message } = write([thinking], 'stop', options)
    expect(message?.['reasoning_details']).toMatchObject([{ summary: 'a' }, { summary: 'b' }])
  })

  test('restores signatures on calls and on text', () => {
    const signature = { value: 'QUJD', issuer: 'generate-content', form: 'thought' as const }
    const parts: Part[] = [
      { type: 'text', text: 'a', signature },
      { type: 'tool-call', id: 'x', name: 'f', kind: 'function', input: '{}', signature },
    ]
    const { message, codes } = write(parts, 'tool_calls')
    expect(message?.['tool_calls']).toMatchObject([
      { extra_content: { google: { thought_signature: 'QUJD' } } },
    ])
    expect(codes).toEqual(['reasoning.dialect-field'])
    // A client that sends the message back brings it to its creator.
    const { messages } = chatCompletions.decodeRequest({
      messages: [{ role: 'user', content: 'x' }, message],
    }).value
    expect(messages[1]?.parts).toMatchObject(parts)
  })

  test('writes inclusive counts, and notes unsupported ones', () => {
    const { wire, notes } = encodeResponse({
      id: 'r',
      model: 'm',
      createdAt: 1,
      candidates: [{ index: 0, messages: [], finish: { reason: 'stop' } }],
      usage: {
        input: 120,
        output: 30,
        cacheRead: 100,
        cacheWrite: 5,
        reasoning: 12,
        toolPrompt: 3,
      },
    })
    expect(wire).toMatchObject({
      usage: {
        prompt_tokens: 120,
        completion_tokens: 30,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 12 },
      },
    })
    expect(notes).toMatchObject([{ kind: 'approximated', code: 'usage.merged' }])
  })
})

test('writes `stop` with a note when the pending tool call cannot be written', () => {
  const { wire, notes } = chatCompletions.encodeResponse({
    id: 'r',
    model: 'm',
    createdAt: 1,
    candidates: [
      {
        index: 0,
        messages: [{ role: 'assistant', origin: 'item', parts: [{ type: 'text', text: 'hi' }] }],
        finish: { reason: 'tool_calls', protocol: 'other' },
      },
    ],
  })
  expect(wire).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
  expect(notes).toMatchObject([{ code: 'finish.approximated' }])
})
