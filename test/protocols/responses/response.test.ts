import { describe, expect, test } from 'vitest'
import { explode } from '../../../src/canonical/explode.ts'
import type { Message, Part } from '../../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResponse, FinishReason, Usage } from '../../../src/canonical/response.ts'
import { createStreamTranslator, translateResponse } from '../../../src/index.ts'
import type { JsonObject } from '../../../src/kit/json/json.ts'
import { unwrapSignature } from '../../../src/kit/signatures/envelope.ts'
import type { CodecOptions } from '../../../src/protocol.ts'
import { type ResponsesOptions, responses } from '../../../src/protocols/responses/index.ts'
import { encode, lastResponse, run } from './support.ts'

const read = (wire: unknown) => responses.decodeResponse(wire).value
/**
 * Without the counts of 0 that a response gets when its source has none: no response here has
 * counts.
 */
const write = (value: CanonicalResponse, options?: CodecOptions & ResponsesOptions) => {
  const { wire, notes } = responses.encodeResponse(value, options)
  const codes = notes.map(({ code }) => code)
  if (value.usage || value.error) return { wire: wire as JsonObject, codes }
  return {
    wire: { ...wire, usage: null } as JsonObject,
    codes: codes.filter(code => code !== 'usage.missing'),
  }
}
const response = (
  parts: Part[],
  reason: FinishReason = 'stop',
  more: Partial<CanonicalResponse> = {},
): CanonicalResponse => ({
  id: 'x1',
  model: 'm-1',
  createdAt: 7,
  candidates: [
    { index: 0, messages: [{ role: 'assistant', origin: 'message', parts }], finish: { reason } },
  ],
  ...more,
})
const body = (more: JsonObject) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 5,
  model: 'm-1',
  status: 'completed',
  output: [],
  ...more,
})
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c',
  name: 'f',
  arguments: '{}',
  status: 'completed',
}

describe('restores a body without a note', () => {
  test.each([
    [
      'an echo of every kind',
      body({
        temperature: 0.3,
        tools: [{ type: 'function', name: 'f', odd: 1 }],
        text: { format: { type: 'text' } },
        store: true,
        instructions: ['x'],
      }),
    ],
    [
      'unknown fields',
      body({ billing: { payer: 'developer' }, tool_usage: {}, content_filters: null }),
    ],
    [
      'nulls',
      body({
        completed_at: null,
        error: null,
        incomplete_details: null,
        usage: null,
        service_tier: null,
      }),
    ],
    [
      'an incomplete response',
      body({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens', odd: 1 } }),
    ],
    [
      'an unknown reason',
      body({ status: 'incomplete', incomplete_details: { reason: 'steered' } }),
    ],
    ['an unknown status', body({ status: 'complete' })],
    ['a response in progress', body({ status: 'queued' })],
    ['a cancelled response', body({ status: 'cancelled' })],
    [
      'a failed response',
      body({ status: 'failed', error: { code: 'insufficient_quota', message: 'm', param: null } }),
    ],
    ['a failed response without a reason', body({ status: 'failed', error: null })],
    ['an error with status 200', { error: { message: 'm', code: 429 } }],
    [
      'items of every kind',
      body({
        output: [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 's' }],
            content: [{ type: 'reasoning_text', text: 'r' }],
            encrypted_content: 'SEAL',
            status: null,
          },
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            phase: 'commentary',
            content: [
              {
                type: 'output_text',
                text: 'hi',
                annotations: [
                  {
                    type: 'container_file_citation',
                    container_id: 'k',
                    file_id: 'f',
                    filename: 'n',
                    start_index: 0,
                    end_index: 1,
                  },
                ],
                logprobs: [{ token: 'hi', logprob: -1, bytes: [104, 105], top_logprobs: [] }],
              },
              { type: 'refusal', refusal: 'no' },
            ],
          },
          call,
          {
            type: 'custom_tool_call',
            id: 'ctc_1',
            call_id: 'd',
            name: 'g',
            input: 'raw',
            status: 'completed',
          },
          { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'QQ==' },
          { type: 'acme:item', id: 'i' },
        ],
      }),
    ],
    [
      'usage with more than the reference has',
      body({
        usage: {
          input_tokens: 3,
          output_tokens: 4,
          total_tokens: 9,
          output_tokens_details: { reasoning_tokens: 1, odd: 2 },
          cost: 0.1,
        },
      }),
    ],
  ])('%s', (_name, wire) => {
    const { value } = responses.decodeResponse(wire)
    const { wire: again, notes } = responses.encodeResponse(value)
    expect(again).toEqual(wire)
    expect(notes).toEqual([])
  })
})

describe('decoding', () => {
  test.each<[JsonObject, FinishReason | undefined]>([
    [{}, 'stop'],
    [{ output: [call] }, 'tool_calls'],
    [
      { output: [{ type: 'shell_call', id: 's', call_id: 'c', environment: { type: 'local' } }] },
      'tool_calls',
    ],
    [
      {
        output: [
          { type: 'shell_call', id: 's', call_id: 'c' },
          { type: 'shell_call_output', id: 'o', call_id: 'c' },
        ],
      },
      'stop',
    ],
    [{ output: [{ type: 'mcp_call', id: 'm' }] }, 'stop'],
    [{ output: [{ type: 'mcp_approval_request', id: 'm' }] }, 'tool_calls'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_messages' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'steered' } }, 'pause'],
    [{ status: 'cancelled' }, 'cancelled'],
    [{ status: 'failed', error: { code: 'server_error', message: 'm' } }, 'error'],
    [{ status: 'in_progress' }, undefined],
  ])('%j ended with %s', (more, reason) => {
    expect(read(body(more)).candidates[0]?.finish?.reason).toBe(reason)
  })

  test('the result of a call with a long id keeps the id of its call', () => {
    const long = 'x'.repeat(416)
    const { wire } = write(
      response([
        { type: 'tool-call', id: long, name: 'f', kind: 'function', input: '{}' },
        { type: 'tool-result', callId: long, kind: 'function', content: [] },
      ]),
    )
    const [call, result] = wire['output'] as JsonObject[]
    expect(call?.['call_id']).toMatch(/^call_[A-Za-z0-9]{24}$/)
    expect(result).toMatchObject({ type: 'function_call_output', call_id: call?.['call_id'] })
  })

  test('decodes one item to one message with its id, status and phase', () => {
    const { candidates } = read(
      body({
        output: [
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEAL' },
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            phase: 'commentary',
            content: [{ type: 'output_text', text: 'see', annotations: [] }],
          },
          call,
        ],
      }),
    )
    expect(candidates[0]?.messages).toMatchObject([
      {
        parts: [
          {
            type: 'reasoning',
            id: 'rs_1',
            segments: [],
            redacted: true,
            signature: { value: 'SEAL', issuer: 'responses', model: 'm-1', form: 'encrypted' },
          },
        ],
      },
      {
        id: 'msg_1',
        phase: 'commentary',
        status: 'completed',
        parts: [{ type: 'text', text: 'see' }],
      },
      {
        id: 'fc_1',
        parts: [{ type: 'tool-call', id: 'c', name: 'f', input: '{}', kind: 'function' }],
      },
    ])
  })

  test('decodes inclusive usage, and keeps absent counts absent', () => {
    const { usage } = read(
      body({
        usage: {
          input_tokens: 13,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 891,
          output_tokens_details: { reasoning_tokens: 704 },
          total_tokens: 904,
        },
      }),
    )
    const { ext: _, ...counts } = usage ?? {}
    expect(counts).toEqual({ input: 13, output: 891, cacheRead: 4, reasoning: 704 })
  })

  test('ignores a negative count, and preserves it', () => {
    const details = {
      input_tokens_details: {
        cached_tokens: -1,
        cache_write_tokens_details: { ttl_30m_tokens: -5 },
      },
      output_tokens_details: { reasoning_tokens: -4 },
    }
    const wire = body({
      usage: { input_tokens: -3, output_tokens: 7, total_tokens: 4, ...details },
    })
    const { ext, ...counts } = read(wire).usage ?? {}
    expect(counts).toEqual({ output: 7 })
    expect(ext?.responses?.fields).toEqual({ input_tokens: -3, total_tokens: 4, ...details })
    expect(write(read(wire))).toEqual({ wire, codes: [] })
  })

  test('decodes an error with status 200', () => {
    expect(read({ error: { message: 'slow down', code: 'rate_limit_exceeded' } })).toMatchObject({
      candidates: [],
      error: { kind: 'rate_limit', status: 429 },
    })
  })

  test.each([
    ['', 'text'],
    ['/output', {}],
    ['/output/0/content', body({ output: [{ type: 'message', role: 'assistant', content: 7 }] })],
    ['/status', body({ status: 7 })],
  ])('refuses a fault at %s as malformed', (path, wire) => {
    expect(() => read(wire)).toThrow(expect.objectContaining({ code: 'malformed', path }))
  })
})

describe('encoding what another protocol sent', () => {
  test('writes its own ids, which are stable', () => {
    const { wire } = write(
      response(
        [
          { type: 'text', text: 'a' },
          { type: 'tool-call', id: 'toolu_1', name: 'f', kind: 'function', input: '{"q":1}' },
        ],
        'tool_calls',
      ),
    )
    expect(wire).toMatchObject({
      id: 'resp_x1',
      object: 'response',
      created_at: 7,
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [
        {
          type: 'message',
          id: expect.stringMatching(/^msg_[A-Za-z0-9]{24}$/),
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }],
        },
        {
          type: 'function_call',
          id: expect.stringMatching(/^fc_[A-Za-z0-9]{24}$/),
          call_id: 'toolu_1',
          name: 'f',
          arguments: '{"q":1}',
          status: 'completed',
        },
      ],
    })
    expect(write(response([{ type: 'text', text: 'a' }])).wire['output']).toMatchObject([
      { id: (wire['output'] as JsonObject[])[0]?.['id'] },
    ])
  })

  // As the provider responds: see the captures of its responses with such a tool.
  test('repeats an MCP server without its secrets', () => {
    const tool = {
      type: 'mcp',
      server_label: 'docs',
      server_url: 'https://example.org/mcp',
      require_approval: 'never',
    }
    const reported = {
      ...tool,
      authorization: 'secret-token',
      headers: { 'x-key': 'secret-value' },
    }
    const request = responses.decodeRequest({ input: 'x', tools: [reported] }).value
    const { wire } = write(response([]), {
      context: { from: 'responses', to: 'messages', request },
    })
    expect(wire['tools']).toEqual([{ ...tool, headers: { 'x-key': '<redacted>' } }])
  })

  test('the echo has the defaults, or the values of the request', () => {
    expect(write(response([])).wire).toMatchObject({
      temperature: 1,
      top_p: 1,
      tools: [],
      tool_choice: 'auto',
      text: { format: { type: 'text' } },
      truncation: 'disabled',
      metadata: {},
      store: false,
    })
    const request = responses.decodeRequest({
      input: 'x',
      instructions: 'I',
      temperature: 0.5,
      tools: [{ type: 'custom', name: 'k' }],
      reasoning: { effort: 'low' },
      metadata: { a: 'b' },
      store: true,
    }).value
    const { wire, codes } = write(response([]), {
      context: { from: 'responses', to: 'messages', request },
    })
    expect(wire).toMatchObject({
      instructions: 'I',
      temperature: 0.5,
      tools: [{ type: 'custom', name: 'k' }],
      reasoning: { effort: 'low' },
      metadata: { a: 'b' },
      store: true,
    })
    expect(codes).toEqual([])
  })

  test('writes every key that Open Responses requires, in complete responses and in all snapshots', () => {
    const demanded =
      'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key'.split(
        ' ',
      )
    const request: CanonicalRequest = {
      model: 'm',
      messages: [],
      sampling: { temperature: 0.5 },
      reasoning: { effort: 'low' },
      output: { verbosity: 'low' },
    }
    const value = response([{ type: 'text', text: 'a' }])
    for (const context of [undefined, { from: 'messages', to: 'responses', request }]) {
      const options = context ? { context } : {}
      const snapshots = encode(explode(value), options).out.flatMap(event =>
        typeof event === 'object' && 'response' in event ? [event.response as JsonObject] : [],
      )
      expect(snapshots).toHaveLength(3)
      for (const reported of [write(value, options).wire, ...snapshots]) {
        expect(demanded.filter(key => reported[key] === undefined)).toEqual([])
        expect(reported).toMatchObject(
          context
            ? {
                temperature: 0.5,
                reasoning: { effort: 'low' },
                text: { format: { type: 'text' }, verbosity: 'low' },
              }
            : { temperature: 1 },
        )
      }
    }
  })

  test('synthesized values are noted', () => {
    const bare: CanonicalResponse = {
      candidates: [{ index: 0, messages: [], finish: { reason: 'stop' } }],
    }
    expect(write(bare)).toMatchObject({
      wire: { id: 'resp_0', created_at: 0, model: 'unknown' },
      codes: ['response.id', 'response.created', 'response.model'],
    })
    expect(write(bare, { now: 9, newId: prefix => `${prefix}new` })).toMatchObject({
      wire: { id: 'resp_new', created_at: 9 },
      codes: ['response.id', 'response.model'],
    })
  })

  test.each<[FinishReason, string, string | null, string[]]>([
    ['stop', 'completed', null, []],
    // The response of this table holds no call.
    ['tool_calls', 'completed', null, ['finish.approximated']],
    ['length', 'incomplete', 'max_output_tokens', []],
    ['content_filter', 'completed', null, ['finish.approximated', 'refusal.synthesized']],
    ['cancelled', 'cancelled', null, []],
    ['stop_sequence', 'completed', null, ['finish.approximated']],
    ['context_window', 'incomplete', 'max_output_tokens', ['finish.approximated']],
    ['refusal', 'completed', null, ['finish.approximated', 'refusal.synthesized']],
    ['recitation', 'incomplete', 'content_filter', ['finish.approximated']],
    ['pause', 'incomplete', 'pause_turn', ['finish.approximated']],
    ['compaction', 'completed', null, ['finish.approximated']],
    ['malformed_tool_call', 'completed', null, ['finish.approximated']],
    ['other', 'completed', null, ['finish.approximated']],
  ])('%s is %s', (reason, status, details, codes) => {
    const { wire, codes: made } = write(response([], reason))
    expect(wire).toMatchObject({
      status,
      incomplete_details: details === null ? null : { reason: details },
    })
    expect(made).toEqual(codes)
  })

  test('a limit leaves the last item incomplete', () => {
    const { wire } = write(
      response(
        [
          { type: 'text', text: 'a' },
          { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{' },
        ],
        'length',
      ),
    )
    expect(wire['output']).toMatchObject([
      { status: 'completed' },
      { status: 'incomplete', arguments: '{' },
    ])
  })

  test('a response without a finish reason is refused, or counts as cut off', () => {
    const open: CanonicalResponse = {
      id: 'x',
      model: 'm',
      createdAt: 1,
      candidates: [{ index: 0, messages: [] }],
    }
    expect(() => write(open)).toThrow(expect.objectContaining({ code: 'truncated' }))
    expect(write(open, { truncated: 'length' })).toMatchObject({
      wire: { status: 'incomplete' },
      codes: ['finish.truncated-as-length'],
    })
  })

  test('a signature of another issuer travels in an envelope', () => {
    const signature = { value: 'S1', issuer: 'messages', form: 'thinking' as const }
    const { wire, codes } = write(
      response([{ type: 'reasoning', segments: [{ kind: 'summary', text: 'abc' }], signature }]),
    )
    const [item] = wire['output'] as JsonObject[]
    expect(item).toMatchObject({
      type: 'reasoning',
      id: expect.stringMatching(/^rs_/),
      summary: [{ type: 'summary_text', text: 'abc' }],
    })
    expect(unwrapSignature(String(item?.['encrypted_content']))).toEqual({ signature })
    expect(codes).toEqual([])
    const { candidates } = read(wire)
    expect(candidates[0]?.messages[0]?.parts[0]).toMatchObject({ signature })
  })

  test.each<[string, Part]>([
    ['a call', { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{}' }],
    ['a text', { type: 'text', text: 'x' }],
  ])('restores the signature of %s', (_name, part) => {
    const signature = { value: 'QUJD', issuer: 'generate-content' }
    const { wire, codes } = write(
      response([{ ...part, signature } as Part], part.type === 'tool-call' ? 'tool_calls' : 'stop'),
    )
    expect(wire['output']).toHaveLength(2)
    expect(codes).toEqual([])
    expect(read(wire).candidates[0]?.messages).toMatchObject([
      { parts: [{ type: part.type, signature }] },
    ])
  })

  test('writes a refusal as a part of a completed response', () => {
    expect(write(response([{ type: 'refusal', text: 'No.' }])).wire).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }],
    })
    const refused: CanonicalResponse = {
      ...response([]),
      candidates: [{ index: 0, messages: [], finish: { reason: 'refusal', message: 'Not this.' } }],
    }
    expect(write(refused)).toMatchObject({
      wire: {
        status: 'completed',
        incomplete_details: null,
        output: [{ content: [{ type: 'refusal', refusal: 'Not this.' }] }],
      },
      codes: ['finish.approximated', 'refusal.synthesized'],
    })
    const partly: CanonicalResponse = { ...response([{ type: 'text', text: 'Well' }]) }
    for (const candidate of partly.candidates) candidate.finish = { reason: 'refusal' }
    expect(write(partly).wire).toMatchObject({
      status: 'completed',
      output: [
        { status: 'completed', content: [{ type: 'output_text', text: 'Well' }] },
        {
          status: 'completed',
          content: [{ type: 'refusal', refusal: 'The request was refused.' }],
        },
      ],
    })
    const blocked: CanonicalResponse = {
      id: 'x',
      model: 'm',
      createdAt: 1,
      candidates: [],
      promptBlocked: { reason: 'SAFETY' },
    }
    expect(write(blocked).wire).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'Prompt blocked: SAFETY' }] }],
    })
  })

  test('cuts off a response that the content filter stopped after its text', () => {
    const cut: CanonicalResponse = { ...response([{ type: 'text', text: 'Well' }]) }
    for (const candidate of cut.candidates) candidate.finish = { reason: 'content_filter' }
    expect(write(cut)).toMatchObject({
      wire: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      codes: [],
    })
  })

  test.each<[string, Usage, JsonObject]>([
    [
      'all of it',
      { input: 120, cacheRead: 100, cacheWrite: 5, output: 30, reasoning: 12 },
      {
        input_tokens: 120,
        input_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 12 },
        total_tokens: 150,
      },
    ],
    [
      'little of it',
      { output: 30 },
      {
        input_tokens: 0,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 30,
      },
    ],
    [
      'what was written for how long',
      { input: 9, cacheWrite: 7, cacheWriteByTtl: { '30m': 5, '12h': 2 }, output: 1 },
      {
        input_tokens: 9,
        input_tokens_details: {
          cached_tokens: 0,
          cache_write_tokens: 7,
          cache_write_tokens_details: { ttl_30m_tokens: 5, ttl_12h_tokens: 2 },
        },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10,
      },
    ],
  ])('usage: %s', (_name, usage, expected) => {
    expect(write(response([], 'stop', { usage })).wire['usage']).toEqual(expected)
  })

  test('writes counts of 0 when the source has none', () => {
    const value = response([{ type: 'text', text: 'Hi' }])
    const whole = responses.encodeResponse(value)
    const streamed = run(responses.streamEncoder, [...explode(value)])
    for (const { usage } of [whole.wire as JsonObject, lastResponse(streamed.out)])
      expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
    for (const { notes } of [whole, streamed])
      expect(notes.map(({ code }) => code)).toEqual(['usage.missing'])
  })

  test('writes an image as the result of an image generation call', () => {
    const { wire, codes } = write(
      response([
        { type: 'text', text: 'see' },
        {
          type: 'media',
          kind: 'image',
          source: { type: 'base64', data: 'QQ==', mime: 'image/png' },
        },
      ]),
    )
    expect(wire['output']).toMatchObject([
      { type: 'message' },
      {
        type: 'image_generation_call',
        id: expect.stringMatching(/^ig_/),
        result: 'QQ==',
        output_format: 'png',
      },
    ])
    expect(codes).toEqual(['media.as-image-call'])
  })

  test.each<[string | undefined, string, string[]]>([
    ['priority', 'priority', []],
    ['batch', 'default', ['tier.nearest']],
    [undefined, 'default', []],
  ])('a service tier of %s becomes %s', (serviceTier, tier, expected) => {
    const value = {
      ...response([{ type: 'text', text: 'a' }]),
      ...(serviceTier !== undefined && { serviceTier }),
    }
    const { wire, codes } = write(value)
    expect([wire['service_tier'], codes]).toEqual([tier, expected])
    const streamed = encode(explode(value), { now: 7 })
    expect([
      lastResponse(streamed.out)['service_tier'],
      streamed.notes.map(({ code }) => code),
    ]).toEqual([tier, expected])
  })

  test('a service tier that only the counts have is used, complete and streamed; the one of the response has priority', () => {
    const reported = (tiers: { serviceTier?: string }) => {
      const value = {
        ...response([{ type: 'text', text: 'a' }]),
        ...tiers,
        usage: { input: 1, output: 2, serviceTier: 'flex' },
      }
      return [
        write(value).wire['service_tier'],
        lastResponse(encode(explode(value), { now: 7 }).out)['service_tier'],
      ]
    }
    expect(reported({})).toEqual(['flex', 'flex'])
    expect(reported({ serviceTier: 'priority' })).toEqual(['priority', 'priority'])
  })

  test('drops media that a response cannot hold', () => {
    const { wire, codes } = write(
      response([
        { type: 'media', kind: 'image', source: { type: 'url', url: 'https://a.org/b.png' } },
      ]),
    )
    expect(wire['output']).toEqual([])
    expect(codes).toEqual(['media.unsupported'])
  })

  test('citations keep what can be expressed', () => {
    const citation = (more: object) => ({
      kind: 'url' as const,
      url: 'https://a.org',
      protocol: 'messages',
      raw: {},
      ...more,
    })
    const { wire, codes } = write(
      response([
        {
          type: 'text',
          text: 'né',
          citations: [
            citation({ title: 't', start: 0, end: 1 }),
            citation({ citedText: 'x' }),
            { kind: 'document', protocol: 'messages', raw: {} },
          ],
        },
      ]),
    )
    expect(wire['output']).toMatchObject([
      {
        content: [
          {
            annotations: [
              {
                type: 'url_citation',
                start_index: 0,
                end_index: 1,
                title: 't',
                url: 'https://a.org',
              },
              {
                type: 'url_citation',
                start_index: 0,
                end_index: 2,
                title: '',
                url: 'https://a.org',
              },
            ],
          },
        ],
      },
    ])
    expect(codes).toEqual(['citation.approximated', 'citation.unsupported'])
  })

  test.each([
    ['no more than fits', { title: 't', start: 0, end: 2 }, []],
    [
      'what was cited',
      { title: 't', start: 0, end: 2, citedText: 'né' },
      ['citation.approximated'],
    ],
    ['a signature', { title: 't', start: 0, end: 2, encrypted: 'p' }, ['citation.approximated']],
    ['no title', { start: 0, end: 2 }, ['citation.approximated']],
    ['no place', { title: 't' }, ['citation.approximated']],
  ])('a citation of a page with %s', (_, message, expected) => {
    const citations = [
      { kind: 'url' as const, url: 'https://a.org', protocol: 'messages', raw: {}, ...message },
    ]
    expect(write(response([{ type: 'text', text: 'né', citations }])).codes).toEqual(expected)
  })

  test('candidates after the first are left out with a note for each', () => {
    const value = response([{ type: 'text', text: 'a' }])
    const others = [1, 2].map(index => ({
      index,
      messages: [],
      finish: { reason: 'stop' as const },
    }))
    expect(write({ ...value, candidates: [...value.candidates, ...others] }).codes).toEqual([
      'candidates.first-only',
      'candidates.first-only',
    ])
  })

  test('two calls with one id are distinguished', () => {
    const twice: Part = { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{}' }
    const { wire, codes } = write(response([twice, twice], 'tool_calls'))
    expect(wire['output']).toMatchObject([{ call_id: 'c' }, { call_id: 'c_2' }])
    expect(codes).toEqual(['tool-call.id-twice'])
  })

  test('writes an error as a failed response', () => {
    const { wire } = write({
      ...response([]),
      error: { status: 529, kind: 'overloaded', message: 'Overloaded', protocol: 'messages' },
    })
    expect(wire).toMatchObject({
      status: 'failed',
      error: { code: 'server_is_overloaded', message: 'Overloaded' },
    })
  })
})

test('a streamed response ends in the same snapshot as the complete one', () => {
  const message = (parts: Part[]): Message => ({ role: 'assistant', origin: 'message', parts })
  const value: CanonicalResponse = {
    id: 'x1',
    model: 'm-1',
    createdAt: 7,
    usage: { input: 3, output: 4 },
    candidates: [
      {
        index: 0,
        finish: { reason: 'length' },
        messages: [
          message([
            {
              type: 'reasoning',
              segments: [
                { kind: 'summary', text: 'so' },
                { kind: 'raw', text: 'raw' },
              ],
              signature: { value: 'S', issuer: 'messages' },
            },
            {
              type: 'text',
              text: 'a',
              citations: [{ kind: 'url', url: 'u', title: 't', protocol: 'messages', raw: {} }],
            },
            { type: 'text', text: 'b', logprobs: [{ token: 'b', logprob: -1 }] },
            {
              type: 'tool-call',
              id: 'c',
              name: 'f',
              kind: 'function',
              input: '',
              signature: { value: 'T', issuer: 'generate-content' },
            },
            { type: 'media', kind: 'image', source: { type: 'base64', data: 'QQ==' } },
          ]),
          message([{ type: 'refusal', text: 'no' }]),
        ],
      },
    ],
  }
  expect(lastResponse(encode(explode(value)).out)).toEqual(write(value).wire)
})

test.each<[string, JsonObject]>([
  [
    'a response',
    {
      id: 'resp_1',
      object: 'response',
      model: 'm',
      created_at: 1,
      status: null,
      output: null,
      error: { code: 'server_error', message: 'No.' },
    },
  ],
  ['a body', { status: null, output: null, error: { message: 'No.' } }],
])('treats %s with only an error as failed', (_, body) => {
  const { value } = responses.decodeResponse(body)
  expect(value.error).toMatchObject({ message: 'No.' })
  expect(responses.outcome(body).error).toMatchObject({ message: 'No.' })
  expect(responses.encodeResponse(value).wire).toEqual(body)
})

test('notes a fingerprint in the metadata for other protocols, complete and streamed, but not repeated request metadata', () => {
  const item = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'hi', annotations: [] }],
  }
  const metadata = { mine: 'x', system_fingerprint: 'fp_1' }
  const body = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    metadata,
    output: [item],
  }
  const events = [
    { type: 'response.created', response: { ...body, status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: body },
  ]
  for (const to of ['chat-completions', 'messages', 'generate-content', 'responses'] as const) {
    const translator = createStreamTranslator({ from: 'responses', to })
    translator.push(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''))
    translator.end()
    const whole = translateResponse(body, { from: 'responses', to })
    for (const { notes } of [whole, translator])
      expect(notes.map(({ path }) => path).filter(path => path.startsWith('/metadata'))).toEqual(
        to === 'responses' ? [] : ['/metadata/system_fingerprint'],
      )
    if (to === 'responses') expect(whole.body).toMatchObject({ metadata })
  }
})
