import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { Part } from '../../../src/canonical/message.ts'
import type { FinishReason } from '../../../src/canonical/response.ts'
import { TranslationError } from '../../../src/errors.ts'
import { unwrapSignature, wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { collectStream, explodeResponse } from '../../../src/translate/fold.ts'
import { createStreamTranslator } from '../../../src/translate/stream.ts'
import { sampled } from '../../support/sampled.ts'
import { checkWire, decodeStream, encodeStream } from './run.ts'

/** What the vendor's own client makes of these frames. */
async function readWithSdk(wires: readonly unknown[]) {
  const body = wires.map(wire => messages.frames.write(wire)).join('')
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'k', fetch, maxRetries: 0 })
  return client.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
}

const c = { candidate: 0 } as const
const start: CanonicalEvent[] = [
  { type: 'start', id: 'msg_1', model: 'm' },
  { type: 'message.start', ...c, message: 0, role: 'assistant' },
]
const begin = (part: number, head: Part): CanonicalEvent => ({
  type: 'part.start',
  ...c,
  message: 0,
  part,
  head,
})
const textDelta = (part: number, text: string): CanonicalEvent => ({
  type: 'part.delta',
  ...c,
  part,
  delta: { kind: 'text', text },
})
const input = (part: number, text: string): CanonicalEvent => ({
  type: 'part.delta',
  ...c,
  part,
  delta: { kind: 'input', text },
})
const thought = (part: number, text: string, segment = 0): CanonicalEvent => ({
  type: 'part.delta',
  ...c,
  part,
  delta: { kind: 'reasoning', segment, of: 'summary', text },
})
const signed = (part: number, value: string, issuer: string): CanonicalEvent => ({
  type: 'part.delta',
  ...c,
  part,
  delta: { kind: 'signature', signature: { value, issuer } },
})
const ended = (part: number, final?: Part): CanonicalEvent => ({
  type: 'part.end',
  ...c,
  part,
  ...(final && { final }),
})
const finish = (reason: FinishReason = 'stop'): CanonicalEvent[] => [
  { type: 'message.end', ...c, message: 0 },
  { type: 'finish', ...c, finish: { reason } },
]
const clean: CanonicalEvent = { type: 'end', clean: true }
const cutOff: CanonicalEvent = { type: 'end', clean: false }
const usage: CanonicalEvent = {
  type: 'usage',
  usage: { input: 120, output: 30, cacheRead: 100, cacheWrite: 0, reasoning: 12 },
}
const text: Part = { type: 'text', text: '' }
const call = (id: string, name = 'w'): Part => ({
  type: 'tool-call',
  id,
  name,
  kind: 'function',
  input: '',
})

const types = (wires: readonly Record<string, unknown>[]) => wires.map(({ type }) => type)
const codes = (notes: readonly { code: string }[]) => notes.map(({ code }) => code)

describe('writing a stream', () => {
  test('begins a text as the provider does', () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, text),
      textDelta(0, 'Hello'),
      ended(0),
      ...finish(),
      clean,
    ])
    expect(wires[1]).toEqual({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    })
  })

  test('writes text, then usage after the finish', async () => {
    const { wires, notes } = encodeStream([
      ...start,
      begin(0, text),
      textDelta(0, 'Hel'),
      textDelta(0, 'lo'),
      ended(0),
      ...finish(),
      usage,
      clean,
    ])
    expect(types(wires)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(codes(notes)).toEqual(['usage.late'])
    expect(await readWithSdk(wires)).toMatchObject({
      id: 'msg_1',
      model: 'm',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 20,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 0,
        output_tokens: 30,
        output_tokens_details: { thinking_tokens: 12 },
      },
    })
  })

  test('calls that arrive in turns are written one after the other', async () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, call('c0', 'a')),
      begin(1, call('c1', 'b')),
      input(0, '{"x"'),
      input(1, '{"y":2'),
      input(0, ':1}'),
      input(1, '}'),
      ended(0),
      ended(1),
      ...finish('tool_calls'),
      clean,
    ])
    expect(checkWire(wires)).toEqual([])
    expect(await readWithSdk(wires)).toMatchObject({
      content: [
        { type: 'tool_use', id: 'c0', name: 'a', input: { x: 1 } },
        { type: 'tool_use', id: 'c1', name: 'b', input: { y: 2 } },
      ],
      stop_reason: 'tool_use',
    })
  })

  test('a call is closed as soon as its input is whole and something waits', () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, call('c0')),
      input(0, '{}'),
      begin(1, text),
      textDelta(1, 'a'),
    ])
    expect(types(wires).slice(0, 6)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
    ])
  })

  test('text after the end of a closed call is noted, white space is not', () => {
    const calls = [...start, begin(0, call('c0')), input(0, '{}'), begin(1, call('c1'))]
    expect(codes(encodeStream([...calls, input(0, ' \n')]).notes)).not.toContain(
      'stream.trailing-arguments',
    )
    expect(codes(encodeStream([...calls, input(0, 'x')]).notes)).toContain(
      'stream.trailing-arguments',
    )
  })

  test.each<[string, string[], unknown, string[]]>([
    ['no arguments', [], {}, []],
    ['blank arguments', [' '], {}, []],
    ['null for no arguments', ['nu', 'll'], {}, ['tool-call.input']],
    ['a list', ['[1', ',2]'], { __raw: '[1,2]' }, ['tool-call.input']],
    ['an object after white space', ['\n ', '{"a":', '1}'], { a: 1 }, []],
  ])('writes a call with %s', async (_, deltas, expected, noted) => {
    const { wires, notes } = encodeStream([
      ...start,
      begin(0, call('c')),
      ...deltas.map(delta => input(0, delta)),
      ended(0),
      ...finish('tool_calls'),
      usage,
      clean,
    ])
    expect(checkWire(wires)).toEqual([])
    expect((await readWithSdk(wires)).content[0]).toMatchObject({
      type: 'tool_use',
      input: expected,
    })
    expect(codes(notes)).toEqual(['usage.late', ...noted])
  })

  test('fails the stream instead of ending a cut-off call', async () => {
    for (const tail of [
      [cutOff],
      [],
      [ended(0), cutOff],
      [ended(0), ...finish('tool_calls'), clean],
      [ended(0), ...finish('error'), cutOff],
    ]) {
      const { wires } = encodeStream([...start, begin(0, call('c')), input(0, '{"a": "b'), ...tail])
      expect(types(wires)).not.toContain('content_block_stop')
      expect(types(wires).at(-1)).toBe('error')
      await expect(readWithSdk(wires)).rejects.toThrow()
    }
  })

  test.each<FinishReason>(['other', 'cancelled', 'malformed_tool_call', 'stop_sequence'])(
    'fails the stream for a cut-off call after `%s`',
    reason => {
      const { wires } = encodeStream([
        ...start,
        begin(0, call('c')),
        input(0, '{"a": "b'),
        ended(0),
        ...finish(reason),
        usage,
        clean,
      ])
      expect(types(wires).at(-1)).toBe('error')
      expect(checkWire(wires)).toEqual([])
    },
  )

  test('does not end a call that the output limit cut off', async () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, call('c')),
      input(0, '{"a": "b'),
      ended(0),
      ...finish('length'),
      usage,
      clean,
    ])
    expect(types(wires)).not.toContain('content_block_stop')
    expect(await readWithSdk(wires)).toMatchObject({ stop_reason: 'max_tokens' })
  })

  test('a stream that is cut off ends in an error, or as the length limit on demand', async () => {
    const cut = [...start, begin(0, text), textDelta(0, 'a'), cutOff]
    expect(encodeStream(cut).wires.at(-1)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'upstream stream ended early' },
    })
    const { wires, notes } = encodeStream(cut, { truncated: 'length' })
    expect(await readWithSdk(wires)).toMatchObject({
      content: [{ text: 'a' }],
      stop_reason: 'max_tokens',
    })
    expect(codes(notes)).toContain('finish.truncated-as-length')
    expect(
      types(
        encodeStream([...start, begin(0, call('c')), input(0, '{'), cutOff], {
          truncated: 'length',
        }).wires,
      ).at(-1),
    ).toBe('error')
  })

  test('writes only the error when a stream fails at once', () => {
    const error: CanonicalEvent = {
      type: 'error',
      error: { status: 529, kind: 'overloaded', message: 'Overloaded' },
    }
    expect(encodeStream([{ type: 'start' }, { type: 'ping' }, usage, error, cutOff]).wires).toEqual(
      [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    )
    expect(
      types(encodeStream([...start, begin(0, text), textDelta(0, 'a'), error, cutOff]).wires),
    ).toEqual(['message_start', 'content_block_start', 'content_block_delta', 'error'])
  })

  test('writes early usage into the start', () => {
    const { wires, notes } = encodeStream([
      start[0] as CanonicalEvent,
      usage,
      start[1] as CanonicalEvent,
      begin(0, text),
      textDelta(0, 'a'),
      ended(0),
      ...finish(),
      clean,
    ])
    expect(wires[0]).toMatchObject({
      message: { usage: { input_tokens: 20, cache_read_input_tokens: 100 } },
    })
    expect(notes).toEqual([])
  })

  test('writes own signatures unchanged, foreign ones in an envelope, and an empty one for none', async () => {
    const { wires, notes } = encodeStream([
      ...start,
      begin(0, { type: 'reasoning', segments: [] }),
      thought(0, 'a'),
      signed(0, 'S1', 'messages'),
      ended(0),
      begin(1, { type: 'reasoning', segments: [], id: 'rs_1' }),
      thought(1, 'b'),
      thought(1, 'c', 1),
      signed(1, 'S2', 'responses'),
      ended(1),
      begin(2, { type: 'reasoning', segments: [] }),
      thought(2, 'd'),
      ended(2),
      begin(3, { type: 'reasoning', segments: [] }),
      ended(3),
      begin(4, {
        type: 'reasoning',
        segments: [],
        redacted: true,
        signature: { value: 'S3', issuer: 'responses' },
      }),
      ended(4),
      ...finish(),
      usage,
      clean,
    ])
    const { content } = await readWithSdk(wires)
    expect(content.map(({ type }) => type)).toEqual([
      'thinking',
      'thinking',
      'thinking',
      'redacted_thinking',
    ])
    expect(content[0]).toMatchObject({ thinking: 'a', signature: 'S1' })
    expect(content[1]).toMatchObject({ thinking: 'b\n\nc' })
    expect(unwrapSignature((content[1] as { signature: string }).signature)).toEqual({
      signature: { value: 'S2', issuer: 'responses' },
      id: 'rs_1',
      lengths: [1, 1],
    })
    expect(content[2]).toMatchObject({ thinking: 'd', signature: '' })
    expect(codes(notes)).toEqual(['usage.late', 'reasoning.signature-empty'])
    const back = collect(decodeStream(wires)).response.candidates[0]?.messages[0]?.parts
    expect(back?.[1]).toMatchObject({
      id: 'rs_1',
      segments: [{ text: 'b' }, { text: 'c' }],
      signature: { value: 'S2', issuer: 'responses' },
    })
  })

  test('a signature on a call travels beside it and comes back', () => {
    const signature = { value: 'QUJD', issuer: 'generate-content' }
    const early = encodeStream([
      ...start,
      begin(0, { ...call('c'), signature }),
      input(0, '{}'),
      ended(0),
      ...finish('tool_calls'),
      clean,
    ])
    const late = encodeStream([
      ...start,
      begin(0, call('c')),
      input(0, '{}'),
      { type: 'part.delta', ...c, part: 0, delta: { kind: 'signature', signature } },
      ended(0),
      ...finish('tool_calls'),
      clean,
    ])
    for (const { wires } of [early, late]) {
      expect(checkWire(wires)).toEqual([])
      expect(collect(decodeStream(wires)).response.candidates[0]?.messages[0]?.parts).toMatchObject(
        [{ type: 'tool-call', signature }],
      )
    }
  })

  test('a text that begins when a signature waits behind a whole call is not lost', () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, { type: 'reasoning', segments: [] }),
      thought(0, 'why'),
      ended(0),
      begin(1, call('c')),
      input(1, '{}'),
      signed(0, 'QUJD', 'elsewhere'),
      begin(2, text),
      ended(1),
      textDelta(2, 'so'),
      ended(2),
      ...finish('tool_calls'),
      clean,
    ])
    expect(checkWire(wires)).toEqual([])
    expect(collect(decodeStream(wires)).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { segments: [{ text: 'why' }], signature: { value: 'QUJD', issuer: 'elsewhere' } },
      { type: 'tool-call' },
      { type: 'text', text: 'so' },
    ])
  })

  test('a signature of a text without content is a block of its own, and a text again', () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, call('c')),
      input(0, '{}'),
      ended(0),
      begin(1, text),
      signed(1, 'Q', 'generate-content'),
      ended(1),
      ...finish('tool_calls'),
      clean,
    ])
    const parts = collect(decodeStream(wires)).response.candidates[0]?.messages[0]?.parts
    expect(parts).toMatchObject([
      { type: 'tool-call' },
      { type: 'text', text: '', signature: { value: 'Q', issuer: 'generate-content' } },
    ])
    expect(parts?.[0]).not.toHaveProperty('signature')
  })

  test('writes reasoning that is redacted only at its end', () => {
    const whole: Part = {
      type: 'reasoning',
      segments: [],
      redacted: true,
      id: 'rs_1',
      signature: { value: 'E', issuer: 'responses' },
    }
    const { wires } = encodeStream([
      ...start,
      begin(0, { type: 'reasoning', segments: [] }),
      ended(0, whole),
      ...finish(),
      clean,
    ])
    expect(collect(decodeStream(wires)).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      whole,
    ])
  })

  test('writes the text of a freeform call as one string', async () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, { ...call('c'), kind: 'freeform' } as Part),
      input(0, 'say "hi"\n'),
      input(0, '\ud83d'),
      input(0, '\ude00'),
      ended(0),
      ...finish('tool_calls'),
      clean,
    ])
    expect((await readWithSdk(wires)).content[0]).toMatchObject({
      input: { input: 'say "hi"\n😀' },
    })
  })

  test('adds what the deltas lacked at the end of a part', () => {
    const { wires } = encodeStream([
      ...start,
      begin(0, text),
      textDelta(0, 'He'),
      ended(0, { type: 'text', text: 'Hello' }),
      begin(1, call('c')),
      ended(1, { ...call('c'), input: '{"q":1}' } as Part),
      ...finish('tool_calls'),
      clean,
    ])
    expect(collect(decodeStream(wires)).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { text: 'Hello' },
      { input: '{"q":1}' },
    ])
  })

  test('writes refusals and filtered responses', async () => {
    const refused = encodeStream([
      ...start,
      begin(0, { type: 'refusal', text: '' }),
      textDelta(0, 'I cannot'),
      ended(0),
      ...finish(),
      usage,
      clean,
    ])
    expect(await readWithSdk(refused.wires)).toMatchObject({
      content: [{ type: 'text', text: 'I cannot' }],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'I cannot' },
    })
    const filtered = encodeStream([
      ...start,
      begin(0, text),
      textDelta(0, 'par'),
      ended(0),
      ...finish('content_filter'),
      usage,
      clean,
    ])
    expect(await readWithSdk(filtered.wires)).toMatchObject({
      content: [{ text: 'par' }],
      stop_reason: 'refusal',
      stop_details: { explanation: null },
    })
    const blocked = encodeStream([
      { type: 'start', id: 'r', model: 'm' },
      { type: 'update', promptBlocked: { reason: 'SAFETY' } },
      clean,
    ])
    expect(await readWithSdk(blocked.wires)).toMatchObject({ content: [], stop_reason: 'refusal' })
  })

  test('only the first candidate is written', () => {
    const other = { candidate: 1 } as const
    const { wires, notes } = encodeStream([
      ...start,
      { type: 'message.start', ...other, message: 0, role: 'assistant' },
      { type: 'part.start', ...other, message: 0, part: 0, head: text },
      { type: 'part.delta', ...other, part: 0, delta: { kind: 'text', text: 'no' } },
      begin(0, text),
      textDelta(0, 'yes'),
      ended(0),
      ...finish(),
      usage,
      clean,
    ])
    expect(JSON.stringify(wires)).not.toContain('"no"')
    expect(codes(notes)).toContain('candidates.first-only')
  })

  test('pings are kept, except before any output', () => {
    expect(types(encodeStream([{ type: 'start' }, { type: 'ping' }]).wires)).toEqual(['error'])
    expect(types(encodeStream([...start, { type: 'ping' }]).wires)).toEqual([
      'message_start',
      'ping',
      'error',
    ])
  })
})

/** Random, but the same in every run. */
function createGenerator(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return (state >> 8) % sides
  }
}

test('any interleaving of parts, cut anywhere, is a legal stream that loses no text', () => {
  const kinds: (() => [Part, string[], (part: number, chunk: string) => CanonicalEvent])[] = [
    () => [call('c'), ['{"a"', ':[1', ',{}]', '}'], input],
    () => [call('c'), [], input],
    () => [{ ...call('c'), kind: 'freeform' } as Part, ['*** "', '}{'], input],
    () => [text, ['one ', 'two'], textDelta],
    () => [
      { type: 'reasoning', segments: [] },
      ['why', ' not'],
      (part, chunk) => thought(part, chunk),
    ],
  ]
  for (const seed of sampled(Array.from({ length: 400 }, (_, i) => i + 1))) {
    const random = createGenerator(seed)
    const parts = Array.from({ length: 1 + random(4) }, (_, part) => {
      const [head, deltas, make] = (kinds[random(kinds.length)] ?? kinds[0])?.() ?? [
        text,
        [],
        textDelta,
      ]
      const named = head.type === 'tool-call' ? { ...head, id: `c${part}` } : head
      return [begin(part, named), ...deltas.map(chunk => make(part, chunk)), ended(part)]
    })
    const events = [...start]
    let opened = 0
    const rest = parts.map(list => [...list])
    while (rest.some(list => list.length > 0)) {
      const choice = random(Math.min(opened + 1, rest.length))
      const next = rest[choice]?.shift()
      if (next) {
        events.push(next)
        if (choice === opened) opened++
      } else if (choice === opened && opened < rest.length) opened++
    }
    events.push(...finish('tool_calls'), usage, clean)
    expect(checkGrammar(events)).toEqual([])
    const whole = encodeStream(events)
    expect(checkWire(whole.wires)).toEqual([])
    const sent = collect(events).response.candidates[0]?.messages[0]?.parts.map(part => {
      if ('text' in part) return part.text
      if (part.type === 'tool-call') return part.input
      return JSON.stringify(
        (part as { segments: unknown[] }).segments.map(s => (s as { text: string }).text),
      )
    })
    const got = collect(decodeStream(whole.wires)).response.candidates[0]?.messages[0]?.parts.map(
      part => {
        if (part.type === 'tool-call') return part.input
        return 'text' in part
          ? part.text
          : JSON.stringify(
              (part as { segments: unknown[] }).segments.map(s => (s as { text: string }).text),
            )
      },
    )
    const unwrapped = got?.map(one => {
      if (one.startsWith('{"input"')) return (JSON.parse(one) as { input: string }).input
      if (one === '{}') return ''
      return one
    })
    expect(unwrapped).toEqual(sent)
    for (let cut = 0; cut < events.length; cut++) {
      const { wires } = encodeStream([...events.slice(0, cut), cutOff])
      expect(checkWire(wires)).toEqual([])
      if (cut < events.length - 1) expect(types(wires).at(-1)).toBe('error')
    }
  }
})

describe('reading a stream', () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 1 },
  }
  const opening = { type: 'message_start', message }
  const blockStart = (index: number, content_block: object) => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (index: number, of: object) => ({ type: 'content_block_delta', index, delta: of })
  const blockStop = (index: number) => ({ type: 'content_block_stop', index })
  const ending = (stop_reason: string | null, more: object = { output_tokens: 9 }) => ({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: more,
  })
  const stop = { type: 'message_stop' }

  const session = [
    opening,
    blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
    { type: 'ping' },
    delta(0, { type: 'thinking_delta', thinking: 'I should' }),
    delta(0, { type: 'signature_delta', signature: 'Eq' }),
    blockStop(0),
    blockStart(1, { type: 'text', text: '', citations: null }),
    delta(1, {
      type: 'citations_delta',
      citation: {
        type: 'web_search_result_location',
        url: 'u',
        title: 't',
        cited_text: 'c',
        encrypted_index: 'e',
      },
    }),
    delta(1, { type: 'text_delta', text: 'Look' }),
    blockStop(1),
    blockStart(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"query":' }),
    delta(2, { type: 'input_json_delta', partial_json: '"q"}' }),
    blockStop(2),
    blockStart(3, { type: 'tool_use', id: 't', name: 'n', input: {} }),
    delta(3, { type: 'input_json_delta', partial_json: '' }),
    delta(3, { type: 'input_json_delta', partial_json: '{"q": 1}' }),
    blockStop(3),
    ending('tool_use', { input_tokens: 43, output_tokens: 37, cache_read_input_tokens: 2 }),
    stop,
  ]

  test('decodes all content', () => {
    const events = decodeStream(session)
    expect(checkGrammar(events)).toEqual([])
    const { response, clean: whole } = collect(events)
    expect(whole).toBe(true)
    expect(response).toMatchObject({
      id: 'msg_1',
      model: 'm',
      usage: { input: 45, output: 37, cacheRead: 2 },
      candidates: [
        {
          finish: { reason: 'tool_calls', raw: 'tool_use' },
          messages: [
            {
              parts: [
                {
                  type: 'reasoning',
                  segments: [{ kind: 'summary', text: 'I should' }],
                  signature: { value: 'Eq', issuer: 'messages' },
                },
                {
                  type: 'text',
                  text: 'Look',
                  citations: [{ kind: 'url', url: 'u', citedText: 'c', encrypted: 'e' }],
                },
                { type: 'server-tool', tool: 'web_search', raw: { input: { query: 'q' } } },
                { type: 'tool-call', id: 't', name: 'n', input: '{"q": 1}' },
              ],
            },
          ],
        },
      ],
    })
  })

  test('is legal after any cut, and not clean before its stop reason', () => {
    for (let cut = 0; cut < session.length; cut++) {
      const events = decodeStream(session.slice(0, cut))
      expect(checkGrammar(events)).toEqual([])
      expect(collect(events).clean).toBe(
        session.slice(0, cut).some(wire => JSON.stringify(wire).includes('"stop_reason":"')),
      )
    }
  })

  test('keeps its content when encoded again', async () => {
    const { wires } = encodeStream(decodeStream(session))
    const [first, second] = [await readWithSdk(wires), await readWithSdk(session)]
    expect(first.content.map(({ type }) => type)).toEqual(second.content.map(({ type }) => type))
    expect(first.content[2]).toMatchObject({ type: 'server_tool_use', input: { query: 'q' } })
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      usage: { input_tokens: 43, output_tokens: 37 },
    })
  })

  test.each<[string, unknown[], object[], boolean]>([
    [
      'text in the start of its block',
      [
        opening,
        blockStart(0, { type: 'text', text: 'whole' }),
        blockStop(0),
        ending('end_turn'),
        stop,
      ],
      [{ text: 'whole' }],
      true,
    ],
    [
      'input in the start of its block',
      [
        opening,
        blockStart(0, { type: 'tool_use', id: 't', name: 'n', input: { a: 1 } }),
        blockStop(0),
        ending('tool_use'),
        stop,
      ],
      [{ input: '{"a":1}' }],
      true,
    ],
    [
      'no input at all',
      [
        opening,
        blockStart(0, { type: 'tool_use', id: 't', name: 'n', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '' }),
        blockStop(0),
        ending('tool_use'),
        stop,
      ],
      [{ input: '{}' }],
      true,
    ],
    [
      'a second start with the same id',
      [
        opening,
        blockStart(0, { type: 'text', text: 'a' }),
        opening,
        blockStop(0),
        ending('end_turn'),
        stop,
      ],
      [{ text: 'a' }],
      true,
    ],
    [
      'no start',
      [blockStart(0, { type: 'text', text: 'a' }), blockStop(0), ending('end_turn'), stop],
      [{ text: 'a' }],
      true,
    ],
    [
      'a trailing [DONE]',
      [
        opening,
        blockStart(0, { type: 'text', text: 'a' }),
        blockStop(0),
        ending('end_turn'),
        stop,
        '[DONE]',
      ],
      [{ text: 'a' }],
      true,
    ],
    [
      'two endings, of which the second says nothing',
      [
        opening,
        blockStart(0, { type: 'text', text: 'a' }),
        blockStop(0),
        ending('max_tokens'),
        ending(null),
        stop,
      ],
      [{ text: 'a' }],
      true,
    ],
    [
      'a block that is never stopped',
      [opening, blockStart(0, { type: 'text', text: 'a' }), ending('end_turn'), stop],
      [{ text: 'a' }],
      true,
    ],
    [
      'a first index of 1',
      [opening, blockStart(1, { type: 'text', text: 'a' }), blockStop(1), ending('end_turn'), stop],
      [{ text: 'a' }],
      true,
    ],
    [
      'indices that begin again',
      [
        opening,
        blockStart(0, { type: 'text', text: 'a' }),
        blockStop(0),
        blockStart(0, { type: 'text', text: 'b' }),
        blockStop(0),
        ending('stop'),
        stop,
      ],
      [{ text: 'a' }, { text: 'b' }],
      true,
    ],
    [
      'a response that is complete in its start',
      [
        {
          type: 'message_start',
          message: { ...message, content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' },
        },
        stop,
      ],
      [{ text: 'a' }],
      true,
    ],
    [
      'a compaction in chunks',
      [
        opening,
        blockStart(0, { type: 'compaction', content: null }),
        delta(0, { type: 'compaction_delta', content: 'sum' }),
        blockStop(0),
        ending('compaction'),
        stop,
      ],
      [{ type: 'control', raw: { type: 'compaction', content: 'sum' } }],
      true,
    ],
    [
      'an unknown event',
      [
        opening,
        { type: 'newest' },
        blockStart(0, { type: 'text', text: 'a' }),
        blockStop(0),
        ending('end_turn'),
        stop,
      ],
      [{ text: 'a' }],
      true,
    ],
    [
      'a delta of an unknown kind',
      [
        opening,
        blockStart(0, { type: 'text', text: 'a' }),
        delta(0, { type: 'newest' }),
        blockStop(0),
        ending('end_turn'),
        stop,
      ],
      [{ text: 'a' }],
      true,
    ],
  ])('%s', (_, wires, parts, isClean) => {
    const events = decodeStream(wires)
    expect(checkGrammar(events)).toEqual([])
    const { response, clean: whole } = collect(events)
    expect(response.candidates[0]?.messages[0]?.parts).toMatchObject(parts)
    expect(whole).toBe(isClean)
    expect(checkWire(encodeStream(events).wires)).toEqual([])
  })

  test('an unknown event does not replace the start after it, and is noted', () => {
    const state = messages.streamDecoder.initial()
    const events: CanonicalEvent[] = []
    for (const wire of [
      { type: 'vendor_hello' },
      opening,
      blockStart(0, { type: 'text', text: 'a' }),
      stop,
    ])
      messages.streamDecoder.step(state, wire, event => events.push(event))
    expect(events[0]).toMatchObject({ type: 'start', id: 'msg_1', model: 'm' })
    expect(codes(state.notes)).toEqual(['event.unknown'])
  })

  test('an unknown event is noted once, also where the stream becomes one response', async () => {
    const wires = [
      opening,
      { type: 'vendor_news' },
      blockStart(0, { type: 'text', text: 'a' }),
      { type: 'vendor_news' },
      blockStop(0),
      ending('end_turn'),
      stop,
    ]
    const text = wires.map(wire => messages.frames.write(wire))
    const { body, notes } = await collectStream(text, messages, {})
    expect(body).toMatchObject({ content: [{ text: 'a' }] })
    expect(codes(notes)).toEqual(['event.unknown'])
    const translator = createStreamTranslator(messages, responses, {})
    for (const frame of text) translator.push(frame)
    expect(codes(translator.notes).filter(code => code === 'event.unknown')).toHaveLength(1)
  })

  test('ends at an error', () => {
    const failed = decodeStream([
      opening,
      {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
        request_id: 'r',
      },
      stop,
    ])
    expect(checkGrammar(failed)).toEqual([])
    expect(failed.map(({ type }) => type)).toEqual(['start', 'usage', 'error', 'end'])
    expect(collect(failed).response.error).toMatchObject({
      status: 529,
      kind: 'overloaded',
      requestId: 'r',
    })
    expect(encodeStream(failed).wires).toEqual([
      {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
        request_id: 'r',
      },
    ])
  })

  test.each<[string, unknown[], string]>([
    ['no event', [7], 'malformed'],
    ['an event without type', [{ a: 1 }], 'malformed'],
    ['a block without its text', [opening, blockStart(0, { type: 'text' })], 'malformed'],
    [
      'a delta without its text',
      [opening, blockStart(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta' })],
      'malformed',
    ],
    [
      'a block without index',
      [opening, { type: 'content_block_start', content_block: { type: 'text', text: '' } }],
      'malformed',
    ],
    ['a delta before the start', [delta(0, { type: 'text_delta', text: 'a' })], 'out-of-order'],
    [
      'another message inside this one',
      [
        opening,
        blockStart(0, { type: 'text', text: 'a' }),
        { type: 'message_start', message: { ...message, id: 'msg_2' } },
      ],
      'out-of-order',
    ],
  ])('%s is refused', (_, wires, code) => {
    const state = messages.streamDecoder.initial()
    const events: CanonicalEvent[] = []
    let seen: unknown
    try {
      for (const wire of wires)
        messages.streamDecoder.step(state, wire, event => events.push(event))
    } catch (error) {
      seen = TranslationError.is(error) ? error.code : error
    }
    expect(seen).toBe(code)
    messages.streamDecoder.end(state, event => events.push(event))
    expect(checkGrammar(events)).toEqual([])
  })

  test('yields a legal stream for any values in any order', () => {
    const pool = [
      ...session,
      opening,
      stop,
      null,
      [],
      'x',
      { type: 'error' },
      { type: 1 },
      { error: 'e' },
      blockStart(0, { type: 'text', text: 1 }),
      ending('x', {}),
      delta(9, {}),
      { type: '__proto__' },
      blockStop(9),
    ]
    for (let seed = 1; seed <= 300; seed++) {
      const random = createGenerator(seed)
      const state = messages.streamDecoder.initial()
      const events: CanonicalEvent[] = []
      for (let count = 0; count < 12; count++)
        try {
          messages.streamDecoder.step(state, pool[random(pool.length)], event => events.push(event))
        } catch (error) {
          expect(TranslationError.is(error)).toBe(true)
        }
      messages.streamDecoder.end(state, event => events.push(event))
      expect(checkGrammar(events)).toEqual([])
      expect(checkWire(encodeStream(events).wires)).toEqual([])
    }
  })
})

test('restores a complete response from its stream', () => {
  const { value } = messages.decodeResponse({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      {
        type: 'thinking',
        thinking: 'a',
        signature: wrapSignature({ signature: { value: 'v', issuer: 'responses' }, id: 'rs' }),
      },
      { type: 'text', text: 'b' },
      { type: 'tool_use', id: 't', name: 'n', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 2 },
  })
  const { wires } = encodeStream(explode(value))
  const { response } = collect(decodeStream(wires))
  const bare = (parts: Part[] | undefined) => parts?.map(({ at: _, ext: __, ...part }) => part)
  expect(bare(response.candidates[0]?.messages[0]?.parts)).toEqual(
    bare(value.candidates[0]?.messages[0]?.parts),
  )
  expect(response.usage).toMatchObject({ input: 1, output: 2 })
})

describe('unknown fields in streams and complete responses', () => {
  const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
  const container = { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' }
  const diagnostics = { cache_miss_reason: { type: 'model_changed', cache_missed_input_tokens: 4 } }
  const use = { type: 'tool_use', id: 't', name: 'find', input: { a: 1 }, caller }
  const usage = { input_tokens: 5, output_tokens: 6 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
    stop_details: null,
    diagnostics,
    usage,
  }
  const whole = { ...message, container, content: [use], stop_reason: 'tool_use' }
  const reported = { diagnostics, container, content: [use] }

  test('where the stream is folded', async () => {
    const stream = [
      {
        type: 'message_start',
        message: { ...message, container: null, content: [], stop_reason: null },
      },
      { type: 'content_block_start', index: 0, content_block: { ...use, input: {} } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container },
        usage,
      },
      { type: 'message_stop' },
    ]
    const { body, notes } = await collectStream(stream.map(messages.frames.write), messages, {})
    expect(body).toMatchObject(reported)
    expect(notes).toEqual([])
  })

  test('where the response is a stream', async () => {
    const { body, notes } = await collectStream(
      [explodeResponse(whole, messages, { strict: true }).text],
      messages,
      {},
    )
    expect(body).toMatchObject(reported)
    expect(notes).toEqual([])
  })
})

test('takes id, model and counts from the start, not from a ping before it', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 7 },
    },
  }
  const events = decodeStream([{ type: 'ping' }, start])
  expect(events.slice(0, 2)).toMatchObject([
    { type: 'start', id: 'msg_1', model: 'm' },
    { type: 'usage', usage: { input: 7 } },
  ])
})
