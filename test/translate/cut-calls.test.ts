import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import type { Covered } from '../support/covered.ts'
import { collectStream, translateResponse } from '../support/untyped.ts'

const inputs = ['', '{"city":"Par']

const whole: Partial<Record<Covered, (input: string, isCut: boolean) => object>> = {
  'chat-completions': (input, isCut) => ({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: isCut ? 'length' : 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: input } }],
        },
      },
    ],
  }),
  responses: (input, isCut) => ({
    id: 'resp_x',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: [
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'f',
        arguments: input,
        status: isCut ? 'incomplete' : 'completed',
      },
    ],
  }),
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const streamed = (input: string, finish: string) => [
  chunk({
    role: 'assistant',
    tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
  }),
  ...(input ? [chunk({ tool_calls: [{ index: 0, function: { arguments: input } }] })] : []),
  chunk({}, finish),
  'data: [DONE]\n\n',
]

/** The arguments of the only call in a response, as on the wire; undefined: there is no call. */
function argumentsIn(body: unknown): unknown {
  const { choices, output, content, candidates } = body as Record<string, never[]>
  const found: Record<string, Record<string, unknown>>[] = [
    ...(choices ?? []).flatMap(
      ({ message }) => (message as Record<string, never[]>)['tool_calls'] ?? [],
    ),
    ...(candidates ?? []).flatMap(
      (candidate: { content: { parts: never[] } }) => candidate.content.parts,
    ),
  ]
  const items: Record<string, unknown>[] = [...(output ?? []), ...(content ?? [])].filter(
    ({ type }) => type === 'function_call' || type === 'tool_use',
  )
  return (
    found[0]?.['function']?.['arguments'] ??
    found[0]?.['functionCall']?.['args'] ??
    items[0]?.['arguments'] ??
    items[0]?.['input']
  )
}

/** What each target writes for a call with these arguments that the token limit cut off. */
const expected: Record<Covered, (input: string) => unknown> = {
  'chat-completions': input => input,
  responses: input => input,
  messages: () => ({}),
  'generate-content': () => undefined,
}

describe.each(Object.keys(expected) as Covered[])(
  'a call that the token limit cut off, toward %s',
  to => {
    test.each(
      Object.keys(whole).flatMap(from =>
        from === to ? [] : inputs.map(input => [from as Covered, input] as const),
      ),
    )('is not completed in a response of %s with the arguments %j', (from, input) => {
      const { body, notes } = translateResponse(whole[from]?.(input, true), { from, to, now: 1 })
      expect(argumentsIn(body)).toEqual(expected[to](input))
      if (to === 'responses')
        expect(body).toMatchObject({ status: 'incomplete', output: [{ status: 'incomplete' }] })
      const isLost = to === 'generate-content' || (to === 'messages' && input !== '')
      expect(notes.filter(({ code }) => code === 'tool-call.cut').length).toBe(isLost ? 1 : 0)
      expect(notes.map(({ code }) => code)).not.toContain('tool-call.empty-input')
    })

    test.runIf(to !== 'chat-completions').each(inputs)(
      'is not completed in a stream with the arguments %j',
      async input => {
        const translator = createStreamTranslator({ from: 'chat-completions', to, now: 1 })
        const text =
          streamed(input, 'length')
            .map(one => translator.push(one))
            .join('') + translator.end()
        const { body } = await collectStream([text], { protocol: to, now: 1 })
        expect(argumentsIn(body)).toEqual(expected[to](input))
        if (to === 'responses')
          expect(body).toMatchObject({
            status: 'incomplete',
            output: [{ status: 'incomplete', arguments: input }],
          })
        expect(text).not.toContain('__raw')
      },
    )

    test.runIf(to !== 'chat-completions').each(['stop', 'tool_calls'])(
      'has an empty object as arguments when the model finished with %s',
      async finish => {
        const translator = createStreamTranslator({ from: 'chat-completions', to, now: 1 })
        const text =
          streamed('', finish)
            .map(one => translator.push(one))
            .join('') + translator.end()
        const { body } = await collectStream([text], { protocol: to, now: 1 })
        expect(argumentsIn(body)).toEqual(to === 'responses' ? '{}' : {})
      },
    )
  },
)

describe.each(['chat-completions', 'responses', 'generate-content'] as const)(
  'an empty call at the end of a messages response, for %s',
  to => {
    const call = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
    const head = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    const events = (stop_reason: string) => [
      { type: 'message_start', message: { ...head, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: call },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '' },
      },
      ...(stop_reason === 'max_tokens' ? [] : [{ type: 'content_block_stop', index: 0 }]),
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
    const inStream = async (stop_reason: string) => {
      const text = events(stop_reason).map(
        event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      const translator = createStreamTranslator({ from: 'messages', to, now: 1 })
      const out = text.map(one => translator.push(one)).join('') + translator.end()
      return argumentsIn((await collectStream([out], { protocol: to, now: 1 })).body)
    }
    const inWhole = (stop_reason: string) =>
      argumentsIn(
        translateResponse(
          { ...head, content: [call], stop_reason },
          { from: 'messages', to, now: 1 },
        ).body,
      )

    test('is not completed when the token limit cut it off', async () => {
      expect(inWhole('max_tokens')).toBe(expected[to](''))
      expect(await inStream('max_tokens')).toBe(expected[to](''))
    })

    test('has an empty object as arguments when the model finished', async () => {
      const empty = to === 'generate-content' ? {} : '{}'
      expect(inWhole('tool_use')).toEqual(empty)
      expect(await inStream('tool_use')).toEqual(empty)
    })
  },
)

test('an empty call toward chat-completions is completed once the next part begins', () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'c2', name: 'f', input: {} },
    },
  ]
  const translator = createStreamTranslator({ from: 'messages', to: 'chat-completions', now: 1 })
  const text = events
    .map(event => translator.push(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
    .join('')
  expect(text).toContain('{"index":0,"function":{"arguments":"{}"}}')
  expect(text).toContain('"id":"c2"')
})
