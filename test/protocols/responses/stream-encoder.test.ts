import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import type { ErrorKind } from '../../../src/canonical/error.ts'
import type { CanonicalEvent, Delta } from '../../../src/canonical/event.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { Part } from '../../../src/canonical/message.ts'
import type { FinishReason } from '../../../src/canonical/response.ts'
import { isObject } from '../../../src/kit/json/json.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { decodeStream, encodeStream } from '../../../src/testing/streams.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { runs } from '../../support/runs.ts'
import { accumulate, decode, encode, faultsOf, lastResponse, typesOf } from './support.ts'

const start: CanonicalEvent = { type: 'start', id: 'x1', model: 'm-1', createdAt: 7 }
const message = (index = 0): CanonicalEvent => ({
  type: 'message.start',
  candidate: 0,
  message: index,
  role: 'assistant',
})
const messageEnd = (index = 0): CanonicalEvent => ({
  type: 'message.end',
  candidate: 0,
  message: index,
})
const begin = (part: number, head: Part, of = 0): CanonicalEvent => ({
  type: 'part.start',
  candidate: 0,
  message: of,
  part,
  head,
})
const give = (part: number, delta: Delta): CanonicalEvent => ({
  type: 'part.delta',
  candidate: 0,
  part,
  delta,
})
const partEnd = (part: number): CanonicalEvent => ({ type: 'part.end', candidate: 0, part })
const finish = (reason: FinishReason): CanonicalEvent => ({
  type: 'finish',
  candidate: 0,
  finish: { reason },
})
const end = (clean = true): CanonicalEvent => ({ type: 'end', clean })
const text = (part: number, value: string, of = 0) => [
  begin(part, { type: 'text', text: '' }, of),
  give(part, { kind: 'text', text: value }),
  partEnd(part),
]
const call = (id: string): Part => ({
  type: 'tool-call',
  id,
  name: id.toUpperCase(),
  kind: 'function',
  input: '',
})

describe('the events of a stream', () => {
  test('writes an item, a part, deltas and their ends for a text', async () => {
    const { out, notes } = encode([
      start,
      message(),
      ...text(0, 'Hi'),
      messageEnd(),
      finish('stop'),
      { type: 'usage', usage: { input: 3, output: 2 } },
      end(),
    ])
    expect(typesOf(out)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
      '[DONE]',
    ])
    expect(notes).toEqual([])
    expect(faultsOf(out)).toEqual([])
    expect(lastResponse(out)).toMatchObject({
      id: 'resp_x1',
      object: 'response',
      created_at: 7,
      model: 'm-1',
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 5,
      },
    })
    expect(await accumulate(out)).toMatchObject({ status: 'completed', output_text: 'Hi' })
  })

  test('neighbouring texts of one message are one item with two parts', () => {
    const { out } = encode([
      start,
      message(),
      ...text(0, 'a'),
      ...text(1, 'b'),
      messageEnd(),
      finish('stop'),
      end(),
    ])
    expect(lastResponse(out)['output']).toMatchObject([{ content: [{ text: 'a' }, { text: 'b' }] }])
    expect(faultsOf(out)).toEqual([])
  })

  test('a summary and the raw text of reasoning are announced before their deltas', async () => {
    const { out } = encode([
      start,
      message(),
      begin(0, { type: 'reasoning', segments: [] }),
      give(0, { kind: 'reasoning', segment: 0, of: 'summary', text: 'so' }),
      give(0, { kind: 'reasoning', segment: 1, of: 'raw', text: 'raw' }),
      give(0, {
        kind: 'signature',
        signature: { value: 'SEAL', issuer: 'responses', form: 'encrypted' },
      }),
      partEnd(0),
      messageEnd(),
      finish('stop'),
      end(),
    ])
    expect(faultsOf(out)).toEqual([])
    expect(lastResponse(out)['output']).toMatchObject([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'so' }],
        content: [{ type: 'reasoning_text', text: 'raw' }],
        encrypted_content: 'SEAL',
      },
    ])
    expect(await accumulate(out)).toMatchObject({
      output: [{ summary: [{ text: 'so' }], content: [{ text: 'raw' }] }],
    })
  })

  test('keeps interleaved calls open at the same time', async () => {
    const { out, notes } = encode([
      start,
      message(),
      begin(0, call('a')),
      begin(1, call('b')),
      give(0, { kind: 'input', text: '{"x"' }),
      give(1, { kind: 'input', text: '{"y":2}' }),
      give(0, { kind: 'input', text: ':1}' }),
      partEnd(0),
      partEnd(1),
      messageEnd(),
      finish('tool_calls'),
      end(),
    ])
    expect(notes).toEqual([])
    expect(faultsOf(out)).toEqual([])
    expect(await accumulate(out)).toMatchObject({
      status: 'completed',
      output: [
        { call_id: 'a', name: 'A', arguments: '{"x":1}', status: 'completed' },
        { call_id: 'b', arguments: '{"y":2}' },
      ],
    })
  })

  test('writes an empty object for a call without arguments, with a note', () => {
    const { out, notes } = encode([
      start,
      message(),
      begin(0, call('a')),
      partEnd(0),
      messageEnd(),
      finish('tool_calls'),
      end(),
    ])
    expect(lastResponse(out)['output']).toMatchObject([{ arguments: '{}' }])
    expect(typesOf(out)).toContain('response.function_call_arguments.delta')
    expect(notes.map(({ code }) => code)).toEqual(['tool-call.empty-input'])
  })

  test('a freeform call is a custom tool call with its text as it is', async () => {
    const { out } = encode([
      start,
      message(),
      begin(0, {
        type: 'tool-call',
        id: 'c',
        name: 'patch',
        namespace: 'fs',
        kind: 'freeform',
        input: '',
      }),
      give(0, { kind: 'input', text: '*** "x"\n' }),
      partEnd(0),
      messageEnd(),
      finish('tool_calls'),
      end(),
    ])
    expect(await accumulate(out)).toMatchObject({
      output: [
        {
          type: 'custom_tool_call',
          call_id: 'c',
          name: 'patch',
          namespace: 'fs',
          input: '*** "x"\n',
        },
      ],
    })
  })

  test('writes the signature of a call into an item before it', () => {
    const signature = { value: 'QUJD', issuer: 'generate-content', form: 'thought' as const }
    const { out } = encode([
      start,
      message(),
      begin(0, { ...call('a'), signature } as Part),
      partEnd(0),
      messageEnd(),
      finish('tool_calls'),
      end(),
    ])
    expect(lastResponse(out)['output']).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: expect.stringMatching(/^xs1\./) },
      { type: 'function_call' },
    ])
    expect(faultsOf(out)).toEqual([])
  })

  test('a citation without offsets waits until the length of its text is known', () => {
    const citation = {
      kind: 'url' as const,
      url: 'https://example.org',
      title: 't',
      protocol: 'messages',
      raw: {},
    }
    const { out } = encode([
      start,
      message(),
      begin(0, { type: 'text', text: '' }),
      give(0, { kind: 'citation', citation }),
      give(0, { kind: 'text', text: 'né' }),
      partEnd(0),
      messageEnd(),
      finish('stop'),
      end(),
    ])
    const types = typesOf(out)
    expect(types.indexOf('response.output_text.annotation.added')).toBe(
      types.indexOf('response.output_text.done') - 1,
    )
    expect(lastResponse(out)['output']).toMatchObject([
      { content: [{ annotations: [{ type: 'url_citation', start_index: 0, end_index: 2 }] }] },
    ])
  })

  test('writes nothing before the first output', () => {
    const { out } = encode([
      start,
      { type: 'ping' },
      { type: 'error', error: { status: 429, kind: 'rate_limit', message: 'slow' } },
      end(false),
    ])
    expect(typesOf(out)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
      '[DONE]',
    ])
  })

  test('candidates after the first are left out with one note each', () => {
    const second = { type: 'message.start', candidate: 1, message: 0, role: 'assistant' } as const
    const { out, notes } = encode([
      start,
      message(),
      second,
      { type: 'message.end', candidate: 1, message: 0 },
      messageEnd(),
      finish('stop'),
      end(),
    ])
    expect(faultsOf(out)).toEqual([])
    expect(notes.map(({ code }) => code)).toEqual(['candidates.first-only'])
  })

  test('drops events of other protocols', () => {
    const { out, notes } = encode([
      start,
      message(),
      { type: 'opaque', protocol: 'messages', raw: { type: 'response.made_up' } },
      messageEnd(),
      finish('stop'),
      end(),
    ])
    expect(typesOf(out)).not.toContain('response.made_up')
    expect(notes.map(({ code }) => code)).toEqual(['event.unknown'])
  })
})

test.each([
  [
    'web_search_call',
    { type: 'response.web_search_call.searching', item_id: 'x_1', output_index: 7 },
  ],
  [
    'shell_call',
    { type: 'response.shell_call_command.delta', output_index: 7, command_index: 0, delta: 'ls' },
  ],
  [
    'shell_call_output',
    {
      type: 'response.shell_call_output_content.delta',
      item_id: 'x_1',
      output_index: 7,
      command_index: 0,
      delta: { stdout: 'a' },
    },
  ],
  ['compaction', { type: 'response.compaction.compacting', item_id: 'x_1', output_index: 7 }],
])('passes on the progress of an open %s at its index', (type, event) => {
  const item = { type, id: 'x_1', status: 'in_progress' }
  const created = {
    type: 'response.created',
    response: { id: 'resp_1', created_at: 1, model: 'm', status: 'in_progress', output: [] },
  }
  const wires = [
    created,
    { type: 'response.output_item.added', output_index: 7, item },
    event,
    { type: 'response.output_item.done', output_index: 7, item },
  ]
  const out = encodeStream(responses, decodeStream(responses, wires)).wires
  expect(out).toContainEqual({ ...event, output_index: 0, sequence_number: expect.any(Number) })
})

describe('how a stream ends', () => {
  test.each([
    ['stop', 'response.completed', 'completed', null],
    ['tool_calls', 'response.completed', 'completed', null],
    ['stop_sequence', 'response.completed', 'completed', null],
    ['compaction', 'response.completed', 'completed', null],
    ['other', 'response.completed', 'completed', null],
    ['length', 'response.incomplete', 'incomplete', { reason: 'max_output_tokens' }],
    ['context_window', 'response.incomplete', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'response.incomplete', 'incomplete', { reason: 'content_filter' }],
    ['refusal', 'response.completed', 'completed', null],
    ['recitation', 'response.incomplete', 'incomplete', { reason: 'content_filter' }],
    ['pause', 'response.incomplete', 'incomplete', { reason: 'pause_turn' }],
    ['cancelled', 'response.incomplete', 'cancelled', null],
    ['malformed_tool_call', 'response.completed', 'completed', null],
    ['error', 'response.failed', 'failed', null],
  ] as const)('%s ends with %s', (reason, type, status, details) => {
    const { out } = encode([start, message(), ...text(0, 'x'), messageEnd(), finish(reason), end()])
    expect(typesOf(out).at(-2)).toBe(type)
    expect(lastResponse(out)).toMatchObject({ status, incomplete_details: details })
    expect(faultsOf(out)).toEqual([])
  })

  test('the item that the limit cut off is incomplete, the ones before it are not', () => {
    const { out } = encode([
      start,
      message(),
      ...text(0, 'a'),
      messageEnd(),
      message(1),
      ...text(1, 'b', 1),
      messageEnd(1),
      finish('length'),
      end(),
    ])
    expect(lastResponse(out)['output']).toMatchObject([
      { status: 'completed' },
      { status: 'incomplete' },
    ])
  })

  test('an error is an event and a failed response, and the client throws', async () => {
    const events: CanonicalEvent[] = [
      start,
      message(),
      begin(0, call('a')),
      give(0, { kind: 'input', text: '{"x' }),
      { type: 'error', error: { status: 529, kind: 'overloaded', message: 'Overloaded' } },
      end(false),
    ]
    const { out } = encode(events)
    expect(typesOf(out).slice(-3)).toEqual(['error', 'response.failed', '[DONE]'])
    expect(out.at(-3)).toMatchObject({
      error: {
        type: 'server_error',
        code: 'server_is_overloaded',
        message: 'Overloaded',
        param: null,
      },
    })
    expect(lastResponse(out)).toMatchObject({
      status: 'failed',
      output: [{ arguments: '{"x', status: 'incomplete' }],
    })
    expect(typesOf(out)).not.toContain('response.function_call_arguments.done')
    expect(faultsOf(out)).toEqual([])
    await expect(accumulate(out)).rejects.toThrow('Overloaded')
  })

  // The provider's events all have a word, and @ai-sdk/openai 2 takes no other: it passed over the
  // error, and the stream seemed to be over.
  test.each<[kind: ErrorKind, code: string]>([
    ['internal', 'server_error'],
    ['invalid_request', 'invalid_request_error'],
    ['permission', 'permission_error'],
    ['rate_limit', 'rate_limit_exceeded'],
  ])('an event of an error has a code: %s', (kind, code) => {
    const { out } = encode([
      start,
      { type: 'error', error: { status: 500, kind, message: 'Broke down' } },
      end(false),
    ])
    expect(out.at(-3)).toMatchObject({ type: 'error', error: { message: 'Broke down', code } })
    expect(decode(out.filter(isObject)).out).toContainEqual({
      type: 'error',
      error: expect.objectContaining({ kind }),
    })
  })

  test('ends a cut-off stream as failed, with or without an end event', async () => {
    const events = [
      start,
      message(),
      begin(0, { type: 'text', text: '' }),
      give(0, { kind: 'text', text: 'par' }),
    ]
    for (const cut of [events, [...events, end(false)]]) {
      const { out } = encode(cut)
      expect(lastResponse(out)).toMatchObject({
        status: 'failed',
        error: { code: 'server_error', message: 'upstream stream ended early' },
        output: [{ status: 'incomplete' }],
      })
      expect(faultsOf(out)).toEqual([])
      await expect(accumulate(out)).rejects.toThrow('upstream stream ended early')
    }
  })

  test('a cut-off counts as the length limit on request, but a call without its end is never done', async () => {
    const events = [
      start,
      message(),
      begin(0, { type: 'text', text: '' }),
      give(0, { kind: 'text', text: 'par' }),
      begin(1, call('a')),
      give(1, { kind: 'input', text: '{' }),
    ]
    const { out, notes } = encode(events, { truncated: 'length' })
    expect(lastResponse(out)).toMatchObject({
      status: 'incomplete',
      output: [{ content: [{ text: 'par' }] }, { status: 'incomplete', arguments: '{' }],
    })
    expect(typesOf(out)).not.toContain('response.function_call_arguments.done')
    expect(notes.map(({ code }) => code)).toEqual(['finish.truncated-as-length'])
    expect(faultsOf(out)).toEqual([])
    expect(await accumulate(out)).toMatchObject({ status: 'incomplete' })
  })

  test('ends a stream that never began as failed', () => {
    expect(typesOf(encode([]).out)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
      '[DONE]',
    ])
  })

  test('writes a refused prompt as a refusal', () => {
    const { out } = encode([start, { type: 'update', promptBlocked: { reason: 'SAFETY' } }, end()])
    expect(lastResponse(out)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'Prompt blocked: SAFETY' }] }],
    })
    expect(faultsOf(out)).toEqual([])
  })

  test('the explanation of a refusal is emitted if there was no other text', () => {
    const refused: CanonicalEvent = {
      type: 'finish',
      candidate: 0,
      finish: { reason: 'refusal', message: 'No.' },
    }
    const { out } = encode([start, message(), messageEnd(), refused, end()])
    expect(lastResponse(out)['output']).toMatchObject([
      { content: [{ type: 'refusal', refusal: 'No.' }] },
    ])
    expect(faultsOf(out)).toEqual([])
  })

  test('completes the text before a refusal, and adds the refusal', () => {
    const { out } = encode([
      start,
      message(),
      ...text(0, 'Well'),
      messageEnd(),
      finish('refusal'),
      end(),
    ])
    expect(lastResponse(out)).toMatchObject({
      status: 'completed',
      output: [
        { status: 'completed', content: [{ type: 'output_text', text: 'Well' }] },
        {
          status: 'completed',
          content: [{ type: 'refusal', refusal: 'The request was refused.' }],
        },
      ],
    })
    expect(faultsOf(out)).toEqual([])
  })

  test('writes a filtered response without output as a refusal', () => {
    const { out } = encode([start, message(), messageEnd(), finish('content_filter'), end()])
    expect(lastResponse(out)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'The request was refused.' }] }],
    })
  })
})

/**
 * Random streams that obey the grammar: several messages and parts open at once, any kinds, any
 * ends.
 */
const stream = fc
  .array(fc.record({ act: fc.nat(11), pick: fc.nat(7), text: fc.string({ maxLength: 4 }) }), {
    maxLength: 40,
  })
  .chain(acts =>
    fc.record({
      acts: fc.constant(acts),
      ending: fc.nat(4),
      reason: fc.constantFrom<FinishReason[]>(
        'stop',
        'length',
        'tool_calls',
        'refusal',
        'error',
        'pause',
        'other',
      ),
    }),
  )
  .map(({ acts, ending, reason }) => {
    const events: CanonicalEvent[] = [start]
    const messages: number[] = []
    const parts: { part: number; message: number; head: Part }[] = []
    let nextMessage = 0
    let nextPart = 0
    const heads = (value: string): Part[] => [
      { type: 'text', text: value },
      { type: 'refusal', text: '' },
      { type: 'reasoning', segments: value ? [{ kind: 'summary', text: value }] : [], id: value },
      { type: 'tool-call', id: value, name: value, kind: 'function', input: '' },
      {
        type: 'tool-call',
        id: `c${nextPart}`,
        name: 'f',
        kind: 'freeform',
        input: value,
        signature: { value: 's', issuer: 'messages' },
      },
      { type: 'media', kind: 'image', source: { type: 'base64', data: 'QQ==', mime: 'image/png' } },
      {
        type: 'server-tool',
        phase: 'call+result',
        tool: 'web_search',
        id: 'w',
        protocol: 'responses',
        raw: { type: 'web_search_call', id: value, status: 'completed' },
      },
      { type: 'opaque', protocol: 'messages', raw: { type: 'x' } },
    ]
    const deltas = (value: string): Delta[] => [
      { kind: 'text', text: value },
      { kind: 'input', text: value },
      { kind: 'reasoning', segment: value.length, of: 'summary', text: value },
      { kind: 'reasoning', segment: 0, of: 'raw', text: value },
      { kind: 'signature', signature: { value, issuer: 'messages' } },
      {
        kind: 'citation',
        citation: { kind: 'url', url: 'u', title: value, protocol: 'chat-completions', raw: {} },
      },
      { kind: 'logprobs', logprobs: [{ token: value, logprob: -1 }] },
      { kind: 'media', base64: 'QQ==' },
    ]
    const take = <T>(list: T[], at: number): T | undefined =>
      list.length > 0 ? list[at % list.length] : undefined
    const endOf = (part: { part: number }) => {
      events.push(partEnd(part.part))
      parts.splice(
        parts.findIndex(one => one.part === part.part),
        1,
      )
    }
    for (const { act, pick, text: value } of acts) {
      if (act === 0 || messages.length === 0) {
        messages.push(nextMessage)
        events.push(message(nextMessage++))
      } else if (act <= 3) {
        const of = take(messages, pick) ?? 0
        const head = take(heads(value), pick)
        if (head) {
          parts.push({ part: nextPart, message: of, head })
          events.push(begin(nextPart++, head, of))
        }
      } else if (act <= 8) {
        const part = take(parts, pick)
        const delta = take(deltas(value), act + pick)
        if (part && delta) events.push(give(part.part, delta))
      } else if (act === 9) {
        const part = take(parts, pick)
        if (part) endOf(part)
      } else if (act === 10) {
        const of = take(messages, pick) ?? 0
        for (const part of parts.filter(one => one.message === of)) endOf(part)
        messages.splice(messages.indexOf(of), 1)
        events.push(messageEnd(of))
      } else
        events.push(
          take<CanonicalEvent>(
            [
              { type: 'ping' },
              { type: 'usage', usage: { input: 1 } },
              { type: 'opaque', protocol: 'responses', raw: { type: 'odd' } },
            ],
            pick,
          ) ?? { type: 'ping' },
        )
    }
    if (ending === 0) return events
    if (ending === 1) return [...events, end(false)]
    if (ending === 2)
      return [
        ...events,
        { type: 'error', error: { status: 500, kind: 'internal', message: 'broke' } },
        end(false),
      ] satisfies CanonicalEvent[]
    for (const part of [...parts]) endOf(part)
    for (const of of messages) events.push(messageEnd(of))
    if (nextMessage > 0) events.push(finish(reason))
    return [
      ...events,
      { type: 'usage', usage: { output: 1 } },
      end(nextMessage > 0),
    ] satisfies CanonicalEvent[]
  })

describe('any stream that obeys the grammar', () => {
  test('is written legally', () => {
    fc.assert(
      fc.property(stream, events => {
        const { out } = encode(events)
        expect(faultsOf(out)).toEqual([])
      }),
      runs(300),
    )
  })

  test('has the outcome that its name states', () => {
    fc.assert(
      fc.property(stream, events => {
        expect(
          checkGrammar(events.at(-1)?.type === 'end' ? events : [...events, end(false)]),
        ).toEqual([])
      }),
      runs(100),
    )
  })

  test('is read by the official client to its end, or thrown as its error', async () => {
    await fc.assert(
      fc.asyncProperty(stream, async events => {
        const { out } = encode(events)
        const failed = typesOf(out).includes('error')
        if (failed)
          await expect(accumulate(out)).rejects.toThrow(/broke|ended early|did not finish/)
        else
          expect(['completed', 'incomplete', 'failed', 'cancelled']).toContain(
            (await accumulate(out))['status'],
          )
      }),
      { numRuns: 60 },
    )
  })
})

describe('calls and reasoning with unusual chunks', () => {
  const stream = (head: Part, deltas: Delta[]) =>
    encodeStream(responses, [
      start,
      message(),
      begin(0, head),
      ...deltas.map(delta => give(0, delta)),
      ...over,
    ]).wires
  const over: CanonicalEvent[] = [
    { type: 'part.end', candidate: 0, part: 0 },
    messageEnd(),
    { type: 'finish', candidate: 0, finish: { reason: 'stop' } },
    { type: 'end', clean: true },
  ]

  test('arguments of nothing but white space end as what their deltas add up to', () => {
    const wires = stream({ type: 'tool-call', id: 'c', name: 'run', kind: 'function', input: '' }, [
      { kind: 'input', text: ' ' },
    ])
    expect(strictOf('responses').checkStream(wires)).toEqual([])
    expect(wires).toContainEqual(
      expect.objectContaining({ type: 'response.function_call_arguments.done', arguments: ' {}' }),
    )
  })

  test('late reasoning of an ended segment continues with the last one', () => {
    const wires = stream({ type: 'reasoning', segments: [] }, [
      { kind: 'reasoning', segment: 1, of: 'summary', text: 'so' },
      { kind: 'reasoning', segment: 0, of: 'summary', text: 'hm' },
    ])
    expect(strictOf('responses').checkStream(wires)).toEqual([])
    expect(JSON.stringify(wires.at(-2))).toContain('sohm')
  })
})

test.each<[string, object]>([
  ['a status of one server', { status: 'complete' }],
  [
    'a reason of one server',
    { status: 'incomplete', incomplete_details: { reason: 'odd', more: 1 } },
  ],
  ['a pause for new input', { status: 'incomplete', incomplete_details: { reason: 'steered' } }],
])('ends a stream like the complete response: %s', (_, ending) => {
  const { value } = responses.decodeResponse({
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    output: [],
    ...ending,
  })
  const { out, notes } = encode(explode(value))
  expect(lastResponse(out)).toMatchObject({ id: 'r', ...ending })
  expect(collect(decode(out).out).response.candidates[0]?.finish).toEqual(
    value.candidates[0]?.finish,
  )
  expect(notes).toEqual([])
})
