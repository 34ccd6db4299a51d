import { describe, expect, test } from 'vitest'
import { createStreamTranslator, type Message, type ProtocolName } from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { thinkerOf } from '../support/reasoning/index.ts'
import {
  collectStream,
  historyOf,
  referencesOf,
  translateRequest,
  translateResponse,
} from '../support/untyped.ts'

const others = ['chat-completions', 'messages'] as const
const from = 'responses'
const message = (text: string): Message[] => [
  { role: 'user', origin: 'message', parts: [{ type: 'text', text }] },
]
const textsOf = (body: unknown) => JSON.stringify(body).match(/earlier|now|rules|old rules/g)

describe.each(others)('a responses request for a %s upstream', to => {
  const earlier: Message[] = [
    { role: 'system', origin: 'instructions', parts: [{ type: 'text', text: 'old rules' }] },
    ...message('earlier'),
    { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: 'earlier' }] },
  ]
  const body = {
    model: 'claude-opus-5-5',
    previous_response_id: 'resp_1',
    instructions: 'rules',
    input: 'now',
  }
  const references = [
    {
      name: 'an earlier response',
      extra: { previous_response_id: 'resp_1' },
      path: '/previous_response_id',
      found: { resolvePrevious: () => earlier },
    },
    {
      name: 'a conversation',
      extra: { conversation: { id: 'conv_1' } },
      path: '/conversation',
      found: { resolveConversation: () => earlier },
    },
    {
      name: 'a stored prompt',
      extra: { prompt: { id: 'pmpt_1', variables: { a: 'b' } } },
      path: '/prompt',
      found: { resolvePrompt: () => earlier },
    },
    {
      name: 'an item',
      extra: {
        input: [
          { type: 'item_reference', id: 'msg_1' },
          { role: 'user', content: 'now' },
        ],
      },
      path: '/input/0',
      found: { resolveItem: () => earlier },
    },
  ]

  test.each(references)(
    'is refused when it refers to $name and no resolver looks it up',
    ({ extra, path }) => {
      expect(() => translateRequest({ model: 'm', input: 'now', ...extra }, { from, to })).toThrow(
        expect.objectContaining({ code: 'inexpressible', path }),
      )
      const { notes } = translateRequest(
        { model: 'm', input: 'now', ...extra },
        { from, to, onUnresolvable: 'note' },
      )
      expect(notes).toContainEqual(expect.objectContaining({ code: 'state.unresolvable', path }))
    },
  )

  test.each(references)(
    'has $name in front, without its instructions and without a note',
    ({ extra, found }) => {
      const received = {
        model: 'claude-opus-5-5',
        instructions: 'rules',
        input: 'now',
        store: false,
        ...extra,
      }
      const { body: written, notes, context } = translateRequest(received, { from, to, ...found })
      expect(textsOf(written)).toEqual(expect.arrayContaining(['rules', 'earlier', 'now']))
      expect(JSON.stringify(written)).not.toContain('old rules')
      expect(JSON.stringify(written).indexOf('earlier')).toBeLessThan(
        JSON.stringify(written).indexOf('now'),
      )
      expect(notes.filter(({ kind }) => kind !== 'synthesized')).toEqual([])
      expect(strictOf(to).checkRequest(written)).toEqual([])
      expect(JSON.stringify(context)).not.toContain('earlier')
    },
  )

  test('is refused when the lookup knows nothing of the id', () => {
    expect(() => translateRequest(body, { from, to, resolvePrevious: () => undefined })).toThrow(
      expect.objectContaining({ path: '/previous_response_id' }),
    )
  })

  test('notes what is dropped of the history at the path of the reference', () => {
    const odd: Message[] = [
      {
        role: 'user',
        origin: 'message',
        at: '/input/7',
        parts: [
          { type: 'opaque', protocol: 'responses', raw: { type: 'novelty' }, at: '/input/7' },
        ],
      },
    ]
    const { notes } = translateRequest(body, {
      from,
      to,
      resolvePrevious: () => [...message('earlier'), ...odd],
    })
    expect(notes).toContainEqual(
      expect.objectContaining({ code: 'part.unknown', path: '/previous_response_id' }),
    )
  })

  test('has a file as the source that the lookup gives', () => {
    const received = {
      model: 'claude-opus-5-5',
      input: [
        { role: 'user', content: [{ type: 'input_image', file_id: 'file_1', detail: 'auto' }] },
      ],
      store: false,
    }
    expect(() => translateRequest(received, { from, to })).toThrow(
      expect.objectContaining({ code: 'inexpressible' }),
    )
    const seen: string[] = []
    const resolveFile = (id: string, issuer: string) => {
      seen.push(`${issuer}:${id}`)
      return { type: 'base64' as const, data: 'iVBORw0=', mime: 'image/png' }
    }
    const { body: written, notes } = translateRequest(received, { from, to, resolveFile })
    expect(seen).toEqual(['responses:file_1'])
    expect(JSON.stringify(written)).toContain('iVBORw0=')
    expect(notes.filter(({ kind }) => kind !== 'synthesized')).toEqual([])
    expect(strictOf(to).checkRequest(written)).toEqual([])
  })
})

describe('between equal protocols', () => {
  const body = { model: 'm', previous_response_id: 'resp_1', input: 'now' }

  test('keeps a reference unchanged', () => {
    expect(translateRequest(body, { from, to: from }).body).toBe(body)
    expect(translateRequest(body, { from, to: from, resolvePrevious: () => undefined }).body).toBe(
      body,
    )
  })

  test('writes out a reference that the caller resolves', () => {
    const { body: written, notes } = translateRequest(body, {
      from,
      to: from,
      resolvePrevious: () => message('earlier'),
    })
    expect(written).toMatchObject({ model: 'm', input: [{ role: 'user' }, { role: 'user' }] })
    expect(written).not.toHaveProperty('previous_response_id')
    expect(textsOf(written)).toEqual(['earlier', 'now'])
    expect(notes).toEqual([])
  })
})

test('the references of a request are listed with kind, id and place', () => {
  const body = {
    model: 'm',
    previous_response_id: 'resp_1',
    conversation: 'conv_1',
    prompt: { id: 'pmpt_1', version: '2' },
    input: [
      { type: 'item_reference', id: 'msg_1' },
      { role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [{ type: 'input_image', file_id: 'file_2', detail: 'auto' }],
      },
    ],
  }
  expect(referencesOf(body, { protocol: from })).toMatchObject([
    { kind: 'conversation', id: 'conv_1', issuer: from, path: '/conversation' },
    { kind: 'previous', id: 'resp_1', path: '/previous_response_id' },
    { kind: 'prompt', id: 'pmpt_1', path: '/prompt', raw: { version: '2' } },
    { kind: 'item', id: 'msg_1', path: '/input/0' },
    { kind: 'file', id: 'file_1', issuer: from, path: '/input/1/content/0' },
    { kind: 'file', id: 'file_2', path: '/input/2/output/0' },
  ])
  const thread = {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'now' }],
    thread: { type: 'continue', id: 'thr_1' },
  }
  expect(referencesOf(thread, { protocol: 'messages' })).toMatchObject([
    { kind: 'thread', id: 'thr_1', path: '/thread' },
  ])
  const resolved = translateRequest(thread, {
    from: 'messages',
    to: 'chat-completions',
    resolveThread: () => message('earlier'),
  })
  expect(textsOf(resolved.body)).toEqual(['earlier', 'now'])
  expect(
    referencesOf(
      { model: 'm', messages: [{ role: 'user', content: 'now' }] },
      { protocol: 'chat-completions' },
    ),
  ).toEqual([])
})

describe.each(
  others.flatMap(upstream =>
    [false, true].map(streamed => ({ upstream, streamed, form: streamed ? 'streamed' : 'whole' })),
  ),
)(
  'a responses client that only names the response before ($upstream, $form)',
  ({ upstream, streamed }) => {
    const thinker = thinkerOf(upstream)

    /** A store as a gateway has one; all that is kept is plain JSON. */
    async function converse(turns: number): Promise<unknown> {
      const [shape] = thinker.shapes
      const store = new Map<string, string>()
      const resolvePrevious = (id: string): Message[] | undefined => {
        const kept = store.get(id)
        return kept === undefined ? undefined : (JSON.parse(kept) as Message[])
      }
      let body: Record<string, unknown> = {
        model: 'any',
        instructions: 'rules',
        input: 'What is it?',
      }
      for (let turn = 1; ; turn++) {
        const received = translateRequest(body, {
          from,
          to: upstream,
          resolvePrevious,
          chatCompletions: { reasoningInHistory: 'always' },
        })
        if (turn > turns) return received.body
        const response = (await result(shape?.response(turn), upstream, received.context)) as {
          id: string
          output: { type: string; call_id: string }[]
        }
        const { id, messages } = historyOf(body, response, { protocol: from, resolvePrevious })
        expect(id).toBe(response.id)
        store.set(response.id, JSON.stringify(messages))
        const calls = response.output.filter(({ type }) => type === 'function_call')
        body = {
          model: 'any',
          previous_response_id: response.id,
          input: calls.map(({ call_id }) => ({
            type: 'function_call_output',
            call_id,
            output: `result ${turn}`,
          })),
        }
      }
    }

    async function result(
      wire: unknown,
      of: ProtocolName,
      context: ReturnType<typeof translateRequest>['context'],
    ): Promise<unknown> {
      if (!streamed) return translateResponse(wire, { from: of, to: from, context }).body
      const translator = createStreamTranslator({ from: of, to: from, context })
      return (
        await collectStream([translator.push(thinker.stream(wire)) + translator.end()], {
          protocol: from,
        })
      ).body
    }

    test('sends the complete history to the upstream: questions, calls, results and signed reasoning', async () => {
      const body = await converse(3)
      expect(strictOf(upstream).checkRequest(body)).toEqual([])
      expect(thinker.echoed(body)).toEqual(
        [1, 2, 3].map(turn => thinker.essence(thinker.shapes[0]?.response(turn))),
      )
      const text = JSON.stringify(body)
      expect(
        ['What is it?', 'result 1', 'result 2', 'result 3'].map(one => text.split(one).length - 1),
      ).toEqual([1, 1, 1, 1])
      expect(text).not.toContain('rules')
    })
  },
)

test('keeps no history of an exchange that continues an unknown response', () => {
  const response = thinkerOf(from).shapes[0]?.response(1)
  const request = { model: 'm', previous_response_id: 'resp_0', input: 'now' }
  expect(() => historyOf(request, response, { protocol: from })).toThrow(
    expect.objectContaining({ code: 'inexpressible', path: '/previous_response_id' }),
  )
  expect(
    historyOf(request, response, { protocol: from, onUnresolvable: 'note' }).messages.length,
  ).toBeGreaterThan(1)
})

test.each(protocolNames.filter(name => name !== 'generate-content'))(
  'reports the path of a refused reference inside a wrapper: to %s',
  to => {
    const body = {
      generateContentRequest: {
        model: 'models/m',
        contents: [{ role: 'user', parts: [{ text: 'now' }] }],
        cachedContent: 'cachedContents/1',
      },
    }
    expect(() => translateRequest(body, { from: 'generate-content', to })).toThrow(
      expect.objectContaining({
        code: 'inexpressible',
        path: '/generateContentRequest/cachedContent',
      }),
    )
  },
)
