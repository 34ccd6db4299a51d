import { describe, expect, test } from 'vitest'
import type { Covered } from '../support/covered.ts'
import { translateResponse } from '../support/untyped.ts'
import {
  begun,
  chatResponse,
  chatUsage,
  chunk,
  done,
  ended,
  frame,
  generatedResponse,
  messageItem,
  messagesResponse,
  others,
  pairs,
  report,
  responsesResponse,
  responsesStream,
  responsesUsage,
  shown,
  textBlock,
  textEvents,
  typesOf,
  usageChunk,
} from './support.ts'

type Body = Record<string, unknown>

/**
 * One count in the words of each protocol: 1000 in, of which 700 read from a cache and some written
 * to one; 60 out, of which 40 thought.
 */
const countsWith = (written: number): Record<Covered, Body> => ({
  'chat-completions': chatUsage(1000, 60, {
    prompt_tokens_details: {
      cached_tokens: 700,
      ...(written > 0 && { cache_write_tokens: written }),
    },
    completion_tokens_details: { reasoning_tokens: 40 },
  }),
  responses: responsesUsage(1000, 60, { cached: 700, written, reasoning: 40 }),
  messages: {
    input_tokens: 300 - written,
    cache_read_input_tokens: 700,
    cache_creation_input_tokens: written,
    output_tokens: 60,
    output_tokens_details: { thinking_tokens: 40 },
  },
  'generate-content': {
    promptTokenCount: 1000,
    cachedContentTokenCount: 700,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 40,
    totalTokenCount: 1060,
  },
})
const counts = countsWith(100)

const response = (protocol: Covered, usage: object) =>
  ({
    'chat-completions': () => chatResponse({ content: 'x' }, 'stop', { usage }),
    responses: () => responsesResponse([messageItem('x')], { usage }),
    messages: () => messagesResponse([{ type: 'text', text: 'x' }], 'end_turn', { usage }),
    'generate-content': () => generatedResponse([{ text: 'x' }], 'STOP', { usageMetadata: usage }),
  })[protocol]()

const stream = (protocol: Covered, usage: Body): unknown[] =>
  ({
    'chat-completions': () => [
      chunk({ role: 'assistant', content: 'x' }),
      chunk({}, 'stop'),
      usageChunk(usage),
      done,
    ],
    responses: () =>
      responsesStream(textEvents(0, 'x'), responsesResponse([messageItem('x')], { usage })),
    messages: () => [
      begun({ ...usage, output_tokens: 1 }),
      ...textBlock(0, 'x'),
      ...ended('end_turn', usage),
    ],
    'generate-content': () => [
      frame([{ text: 'x' }]),
      frame([{ text: '' }], 'STOP', { usageMetadata: usage }),
    ],
  })[protocol]()

const total = (protocol: Covered) =>
  protocol === 'generate-content' ? 'totalTokenCount' : 'total_tokens'
const inAndOut = (protocol: Covered, input: number, output: number, thought = 0) =>
  protocol === 'generate-content'
    ? {
        promptTokenCount: input,
        candidatesTokenCount: output - thought,
        ...(thought > 0 && { thoughtsTokenCount: thought }),
      }
    : { input_tokens: input, output_tokens: output }
const usageOf = (body: unknown) =>
  (body as { usage?: Body; usageMetadata?: Body }).usage ??
  (body as { usageMetadata: Body }).usageMetadata
const received = {
  context: {
    from: 'chat-completions',
    to: 'messages',
    request: { messages: [], stream: { enabled: true, includeUsage: true } },
  },
}

test('clients of messages receive the input tokens at the start when the first event of generate-content has them', () => {
  const early = { promptTokenCount: 10, cachedContentTokenCount: 4, totalTokenCount: 10 }
  const late = { ...early, candidatesTokenCount: 3, totalTokenCount: 13 }
  const { events, notes } = report(
    [
      frame([{ text: 'x' }], undefined, { usageMetadata: early }),
      frame([{ text: '' }], 'STOP', { usageMetadata: late }),
    ],
    {
      from: 'generate-content',
      to: 'messages',
    },
  )
  expect(events[0]).toMatchObject({
    message: { usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 0 } },
  })
  expect(events.at(-2)).toMatchObject({
    usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 3 },
  })
  expect(notes.map(({ code }) => code)).not.toContain('usage.late')
})

describe.each(pairs)('token counts of $from for a client of $to', ({ from, to }) => {
  // One wire does not count what is written to a cache.
  const counts = countsWith(from === 'generate-content' || to === 'generate-content' ? 0 : 100)

  test('are the same, complete or streamed', async () => {
    const whole = translateResponse(response(from, counts[from]), { from, to })
    expect(usageOf(whole.body)).toMatchObject(counts[to])
    const streamed = report(stream(from, counts[from]), {
      from,
      to,
    })
    expect(usageOf(await streamed.response())).toMatchObject(counts[to])
    expect(
      [...shown(whole.notes), ...shown(streamed.notes)].filter(
        note => note.includes('usage') && !note.includes('usage.late'),
      ),
    ).toEqual([])
  })

  test('are not negative when only cached tokens are counted', () => {
    const odd: Record<Covered, Body> = {
      'chat-completions': chatUsage(10, 5, { prompt_tokens_details: { cached_tokens: 50 } }),
      responses: responsesUsage(10, 5, { cached: 50 }),
      messages: {
        input_tokens: 0,
        cache_read_input_tokens: 50,
        cache_creation_input_tokens: 0,
        output_tokens: 5,
      },
      'generate-content': {
        promptTokenCount: 10,
        cachedContentTokenCount: 50,
        candidatesTokenCount: 5,
        totalTokenCount: 15,
      },
    }
    const { body } = translateResponse(response(from, odd[from]), { from, to })
    expect(JSON.stringify(usageOf(body))).not.toMatch(/:-\d/)
  })

  test('are kept when a response was cut at the limit', async () => {
    const cut: Record<Covered, unknown[]> = {
      'chat-completions': [
        chunk({ role: 'assistant', content: 'x' }),
        chunk({}, 'length'),
        usageChunk(counts['chat-completions']),
        done,
      ],
      responses: responsesStream(
        textEvents(0, 'x'),
        responsesResponse([messageItem('x', { status: 'incomplete' })], {
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          usage: counts.responses,
        }),
        'response.incomplete',
      ),
      messages: [
        begun({ ...counts.messages, output_tokens: 1 }),
        ...textBlock(0, 'x'),
        ...ended('max_tokens', counts.messages),
      ],
      'generate-content': [
        frame([{ text: 'x' }]),
        frame([{ text: '' }], 'MAX_TOKENS', { usageMetadata: counts['generate-content'] }),
      ],
    }
    expect(usageOf(await report(cut[from], { from, to }).response())).toMatchObject(counts[to])
  })
})

describe('counts of messages', () => {
  test.each(others('messages'))(
    'at the start and at the end are not added up for a client of %s',
    async to => {
      const wires = [
        begun({
          input_tokens: 100,
          cache_read_input_tokens: 400,
          cache_creation_input_tokens: 0,
          output_tokens: 1,
        }),
        ...textBlock(0, 'x'),
        ...ended('end_turn', {
          input_tokens: 100,
          cache_read_input_tokens: 400,
          output_tokens: 20,
        }),
      ]
      const usage = usageOf(
        await report(wires, {
          from: 'messages',
          to,
        }).response(),
      )
      expect(usage).toMatchObject(
        {
          responses: responsesUsage(500, 20, { cached: 400 }),
          'chat-completions': chatUsage(500, 20, { prompt_tokens_details: { cached_tokens: 400 } }),
          'generate-content': {
            promptTokenCount: 500,
            cachedContentTokenCount: 400,
            candidatesTokenCount: 20,
            totalTokenCount: 520,
          },
          messages: {},
        }[to],
      )
    },
  )

  test.each(others('messages'))(
    'that end with null or not at all keep the counts of the start for a client of %s',
    async to => {
      const wires = [
        begun({ input_tokens: 100, cache_read_input_tokens: 400, output_tokens: 1 }),
        ...textBlock(0, 'x'),
        ...ended('end_turn', {
          input_tokens: null,
          cache_read_input_tokens: null,
          output_tokens: 20,
        }),
      ]
      expect(
        usageOf(
          await report(wires, {
            from: 'messages',
            to,
          }).response(),
        ),
      ).toMatchObject({ [total(to)]: 520 })
    },
  )

  test.each(others('messages'))(
    'that grow at the end, as with tools of the provider, are those of the end for a client of %s',
    async to => {
      const wires = [
        begun({ input_tokens: 100, output_tokens: 1 }),
        ...textBlock(0, 'x'),
        ...ended('end_turn', { input_tokens: 900, output_tokens: 20 }),
      ]
      expect(
        usageOf(
          await report(wires, {
            from: 'messages',
            to,
          }).response(),
        ),
      ).toMatchObject({ [total(to)]: 920 })
    },
  )

  test.each(others('messages'))(
    'of a response that fails then reach a client of %s, or are noted',
    to => {
      const wires = [
        begun({ input_tokens: 100, output_tokens: 1 }),
        ...textBlock(0, 'x'),
        { type: 'error', error: { type: 'api_error', message: 'Engine on fire' } },
      ]
      const { outcome, events, notes } = report(wires, {
        from: 'messages',
        to,
      })
      expect(outcome).toBe('failed')
      if (to === 'responses')
        expect(events.at(-2)).toMatchObject({ response: { usage: { input_tokens: 100 } } })
      else
        expect(shown(notes)).toContainEqual(
          expect.stringMatching(/^dropped \/usage\S* field\.unsupported$/),
        )
    },
  )

  test('are noted after the start only when they are new', () => {
    const counting = (output: number) => ({
      usageMetadata: {
        promptTokenCount: 7,
        candidatesTokenCount: output,
        totalTokenCount: 7 + output,
      },
    })
    const wires = [
      frame([{ text: 'a' }], undefined, counting(2)),
      frame([{ text: 'b' }], undefined, counting(5)),
    ]
    const { notes } = report(wires, { from: 'generate-content', to: 'messages' })
    expect(shown(notes).filter(note => note.includes('sage'))).toEqual([
      'dropped /usageMetadata/candidatesTokenCount field.unsupported',
    ])
  })
})

describe('counts that chat completions sends late', () => {
  test('after the finish reason are in the one message_delta, all of them', async () => {
    const { events, response, notes } = report(
      stream('chat-completions', counts['chat-completions']),
      { from: 'chat-completions', to: 'messages' },
    )
    const deltas = events.filter(event => (event as Body)['type'] === 'message_delta')
    expect(deltas).toHaveLength(1)
    expect(deltas[0]).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: {
        input_tokens: 200,
        cache_read_input_tokens: 700,
        cache_creation_input_tokens: 100,
        output_tokens: 60,
      },
    })
    expect(typesOf(events).slice(-2)).toEqual(['message_delta', 'message_stop'])
    expect(usageOf(await response())).toMatchObject({ input_tokens: 200, output_tokens: 60 })
    expect(shown(notes).filter(note => note.includes('usage'))).toEqual([
      expect.stringMatching(/^synthesized \S+ usage\.late$/),
    ])
  })

  test.each<[where: string, ...wires: object[]]>([
    ['beside the finish reason', chunk({}, 'stop', { usage: chatUsage(9, 3) })],
    [
      'in the choice',
      {
        ...chunk({}),
        choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: chatUsage(9, 3) }],
      },
    ],
    [
      'in a field of one provider',
      chunk({}, 'stop', { x_groq: { id: 'req_1', usage: chatUsage(9, 3) } }),
    ],
    [
      'with the finish reason a second time',
      chunk({}, 'stop'),
      chunk({}, 'stop', { usage: chatUsage(9, 3) }),
    ],
  ])('%s arrive', async (_, ...wires) => {
    for (const to of others('chat-completions')) {
      const { response } = report([chunk({ role: 'assistant', content: 'x' }), ...wires, done], {
        from: 'chat-completions',
        to,
      })
      expect(usageOf(await response())).toMatchObject(inAndOut(to, 9, 3))
    }
  })

  test('are zero for a client of responses or messages, and noted as unknown', () => {
    const wires = [chunk({ role: 'assistant', content: 'x' }), chunk({}, 'stop'), done]
    const responses = report(wires, { from: 'chat-completions', to: 'responses' })
    expect(responses.events.at(-2)).toMatchObject({
      response: { usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } },
    })
    expect(shown(responses.notes)).toContain('synthesized /usage usage.missing')
    const { notes } = report(wires, { from: 'chat-completions', to: 'messages' })
    expect(shown(notes)).toContainEqual(
      expect.stringMatching(/^synthesized \S* usage\.(unknown|late)$/),
    )
  })
})

describe('counts that were left out, for a client of responses', () => {
  const codes = (notes: Parameters<typeof shown>[0]) =>
    shown(notes).filter(note => note.includes('usage.missing'))

  test.each(others('responses'))('are 0 when %s has none at all', from => {
    const { body, notes } = translateResponse(response(from, {}), { from, to: 'responses' })
    expect(body).toMatchObject({ usage: responsesUsage(0, 0) })
    expect(codes(notes)).toEqual(['synthesized /usage usage.missing'])
  })

  test.each(['chat-completions', 'generate-content'] as const)(
    'are 0 when a stream of %s has none at all',
    from => {
      const { events, notes } = report(stream(from, {}), { from, to: 'responses' })
      expect(events.at(-2)).toMatchObject({ response: { usage: responsesUsage(0, 0) } })
      expect(codes(notes)).toEqual(['synthesized /usage usage.missing'])
    },
  )

  test('stay null in a response that failed', () => {
    const failure = { error: { message: 'overloaded', type: 'server_error' } }
    const { events } = report([chunk({ role: 'assistant', content: 'x' }), failure], {
      from: 'chat-completions',
      to: 'responses',
    })
    expect(events.at(-2)).toMatchObject({ type: 'response.failed', response: { usage: null } })
  })

  test.each([
    ['chat-completions', { completion_tokens: 4 }],
    ['messages', { output_tokens: 4 }],
  ] as const)('are 0 where %s sent others, with a note', (from, usage) => {
    const { body, notes } = translateResponse(response(from, usage), { from, to: 'responses' })
    expect(body).toMatchObject({ usage: { input_tokens: 0, output_tokens: 4 } })
    expect(codes(notes)).toEqual(['synthesized /usage usage.missing'])
  })
})

describe('reasoning tokens', () => {
  test.each([340, 300])(
    'are added to the output when a server left them out, with a note when they (%i) do not add up',
    thought => {
      const usage = {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 354,
        completion_tokens_details: { reasoning_tokens: thought },
      }
      for (const to of others('chat-completions')) {
        const { body, notes } = translateResponse(response('chat-completions', usage), {
          from: 'chat-completions',
          to,
        })
        expect(usageOf(body)).toMatchObject(inAndOut(to, 12, 342, thought))
        expect(notes.map(({ code }) => code).includes('usage.repaired')).toBe(thought !== 340)
        if (thought === 340)
          expect(JSON.stringify(usageOf(body))).toMatch(
            /"((thinking|reasoning)_tokens|thoughtsTokenCount)":340/,
          )
      }
    },
  )

  test('have their own field, next to the objects that strict clients require', () => {
    expect(
      usageOf(
        translateResponse(response('messages', counts.messages), {
          from: 'messages',
          to: 'chat-completions',
        }).body,
      ),
    ).toMatchObject({
      completion_tokens_details: { reasoning_tokens: 40 },
    })
    const bare = translateResponse(response('messages', { input_tokens: 5, output_tokens: 2 }), {
      from: 'messages',
      to: 'responses',
    })
    expect(usageOf(bare.body)).toEqual(responsesUsage(5, 2))
  })
})

test('a client of chat completions that requested counts gets them in one last chunk, with the id of the response', () => {
  const { events } = report(stream('messages', counts.messages), {
    from: 'messages',
    to: 'chat-completions',
    ...received,
  })
  expect(events.at(-1)).toBe(done)
  expect(events.at(-2)).toMatchObject({
    id: expect.stringMatching(/./),
    choices: [],
    usage: counts['chat-completions'],
  })
  expect(events.slice(0, -2).filter(event => (event as Body)['usage'])).toEqual([])
})
