import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/index.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { framesOf } from '../../../src/testing/streams.ts'
import { blocks, chat as bodies, png } from '../../support/examples/wires.ts'
import { withPointers } from '../../support/pointers.ts'
import { translateError, translateRequest, translateResponse } from '../../support/untyped.ts'
import { chunk, decodeStream } from './run.ts'

/** What a caller may choose, and what happens without a choice. */

const chat = 'chat-completions'
const from = protocols[chat]
type Note = { code: string; path: string }
const reported = (notes: readonly Note[]) => notes.map(({ code, path }) => `${code} ${path}`)
const user = { role: 'user', content: 'hi' }

function ask(body: object, options: object = {}) {
  const { body: wire, notes } = translateRequest(blocks.request(body), {
    from: 'messages',
    to: chat,
    ...options,
  })
  return {
    wire: wire as {
      messages: { content?: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }[]
      tools?: unknown
      tool_choice?: unknown
    },
    notes: reported(notes),
  }
}

describe('call ids', () => {
  const loop = (id: string) => ({
    messages: [
      user,
      { role: 'assistant', content: [blocks.call(id)] },
      { role: 'user', content: [blocks.result(id)] },
    ],
  })
  const ids = (id: string, options?: object) => {
    const { wire, notes } = ask(loop(id), options)
    return { ids: [wire.messages[1]?.tool_calls?.[0]?.id, wire.messages[2]?.tool_call_id], notes }
  }

  test('stay as they are', () =>
    expect(ids('toolu_01A')).toEqual({ ids: ['toolu_01A', 'toolu_01A'], notes: [] }))
  test('of nine letters and digits stay for Mistral too', () =>
    expect(ids('abcDEF123', { chatCompletions: { shortIds: true } })).toEqual({
      ids: ['abcDEF123', 'abcDEF123'],
      notes: [],
    }))
  test('become nine letters and digits for Mistral, alike in call and result', () => {
    const made = ids('toolu_01A', { chatCompletions: { shortIds: true } })
    expect(made.ids[0]).toMatch(/^[A-Za-z0-9]{9}$/)
    expect(made.ids[1]).toBe(made.ids[0])
    expect(made.notes).toEqual(['tool-call.id /messages/1/content/0/id'])
  })
})

describe('calls whose reasoning the client forgot', () => {
  const thought = { type: 'thinking', thinking: 'hm', signature: '' }
  const loop = (...before: object[]) => ({
    messages: [
      user,
      { role: 'assistant', content: [...before, blocks.call('c1')] },
      { role: 'user', content: [blocks.result('c1')] },
    ],
  })
  const ended = (body: ReturnType<typeof loop>) => ({
    messages: [...body.messages, { role: 'assistant', content: 'yes' }, user],
  })
  const blank = { missingReasoning: 'blank' }
  const placeholder = { chatCompletions: blank }

  test('stay without', () =>
    expect(ask(loop()).wire.messages[1]).not.toHaveProperty('reasoning_content'))
  test('get a placeholder for servers that refuse them', () => {
    const { wire, notes } = ask(loop(), placeholder)
    expect(wire.messages[1]).toMatchObject({ reasoning_content: ' ' })
    expect(notes).toEqual(['reasoning.placeholder /messages/1/reasoning_content'])
  })
  test('get the placeholder in the field that the server reads', () =>
    expect(
      ask(loop(), { chatCompletions: { ...blank, reasoningField: 'reasoning' } }).wire.messages[1],
    ).toMatchObject({ reasoning: ' ' }))
  test('get the placeholder when the server refuses their reasoning', () => {
    expect(
      ask(ended(loop(thought)), { chatCompletions: { ...blank, reasoningInHistory: 'never' } }).wire
        .messages[1],
    ).toMatchObject({ reasoning_content: ' ' })
    expect(ask(ended(loop(thought)), placeholder).wire.messages[1]).toMatchObject({
      reasoning_content: 'hm',
    })
  })
  test('keep the reasoning of earlier turns with tool calls, and only of those', () => {
    const body = ended(loop(thought))
    const message = {
      role: 'assistant',
      content: [thought, { type: 'text', text: 'yes' }] as never,
    }
    body.messages.splice(3, 1, message)
    body.messages.push(message, user)
    const { wire, notes } = ask(body)
    expect(wire.messages[1]).toMatchObject({ reasoning_content: 'hm', tool_calls: [{ id: 'c1' }] })
    // The last message of the turn, after the tool results.
    expect(wire.messages[3]).toMatchObject({ reasoning_content: 'hm', content: 'yes' })
    expect(wire.messages[5]).not.toHaveProperty('reasoning_content')
    expect(notes.filter(note => note.includes('/messages/5'))).not.toEqual([])
  })
  test('do not get it where the reasoning is there, nor does a response', () => {
    expect(ask(loop(thought), placeholder).wire.messages[1]).toMatchObject({
      reasoning_content: 'hm',
    })
    expect(ask(ended(loop()), placeholder).wire.messages[3]).not.toHaveProperty('reasoning_content')
  })
})

describe('tools that the client runs', () => {
  const bash = { type: 'bash_20250124', name: 'bash' }
  const forced = { tools: [bash, blocks.tool('look')], tool_choice: { type: 'tool', name: 'bash' } }

  test('become functions on request, and can be forced', () => {
    const { wire, notes } = ask(forced, { tools: { expandClientTools: true } })
    expect(wire.tools).toMatchObject([
      {
        type: 'function',
        function: { name: 'bash', parameters: { properties: { command: { type: 'string' } } } },
      },
      {},
    ])
    expect(wire.tool_choice).toEqual({ type: 'function', function: { name: 'bash' } })
    expect(notes).toEqual(['tool.expanded /tools/0'])
  })
  test('are dropped otherwise, and a choice of one is refused', () => {
    expect(ask({ tools: forced.tools }).notes).toEqual(['tool.server /tools/0'])
    expect(() => ask(forced)).toThrow(/forced tool/)
    const { wire, notes } = ask(forced, { onUnresolvable: 'note' })
    expect(wire).not.toHaveProperty('tool_choice')
    expect(notes).toEqual(['tool.server /tools/0', 'tool-choice.unsupported /tool_choice'])
  })
})

describe('calls that a provider ran itself', () => {
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'sun' } }
  const hits = {
    type: 'web_search_tool_result',
    tool_use_id: 's1',
    content: [
      {
        type: 'web_search_result',
        title: 'Sun',
        url: 'https://example.org',
        encrypted_content: 'zzz',
      },
    ],
  }
  const history = {
    messages: [
      user,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          search,
          hits,
          { type: 'text', text: 'It shines.' },
        ],
      },
      user,
    ],
  }

  test('is dropped', () => {
    const { wire, notes } = ask(history)
    expect(wire.messages[1]?.content).toBe('I look.It shines.')
    expect(notes).toEqual([
      'part.unsupported /messages/1/content/1',
      'part.unsupported /messages/1/content/2',
    ])
  })
})

describe('details of an upstream error', () => {
  const error = {
    status: 400,
    headers: {},
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'No.', details: { limit: 3 } },
    },
  }
  const known = { message: 'No.', type: 'invalid_request_error', param: null, code: null }

  test('are dropped with a note', () => {
    const { body, notes } = translateError(error, { from: 'messages', to: chat })
    expect(body).toEqual({ error: known })
    expect(notes.map(({ code }) => code)).toEqual(['error.details'])
  })
})

describe('images next to a response', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }
  const response = bodies.response({ content: 'Here.', images: [image] })
  const media = {
    type: 'media',
    kind: 'image',
    source: { type: 'base64', mime: 'image/png', data: png },
  }

  test('are media, and come back unchanged', () => {
    const { value } = from.decodeResponse(response)
    expect(withPointers(value.candidates[0]?.messages[0]?.parts)).toMatchObject([
      { type: 'text' },
      { ...media, at: '/choices/0/message/images/0' },
    ])
    expect(from.encodeResponse(value)).toEqual({ wire: response, notes: [] })
  })
  test('are media in a stream', () => {
    const { events } = decodeStream([
      chunk({ role: 'assistant', content: 'Here.' }),
      chunk({ images: [image] }),
      chunk({}, 'stop'),
      '[DONE]',
    ])
    expect(events.filter(({ type }) => type === 'part.start')).toMatchObject([
      { head: { type: 'text' } },
      { head: media },
    ])
  })
  test.each(['messages', 'responses'] as const)('are noted where they have no place: %s', to => {
    const { notes } = translateResponse(response, { from: chat, to })
    expect(reported(notes).filter(note => note.includes('images'))).toHaveLength(1)
    const stream = createStreamTranslator({ from: chat, to })
    for (const one of [
      chunk({ content: 'Here.' }),
      chunk({ images: [image] }),
      chunk({}, 'stop'),
      '[DONE]',
    ])
      stream.push(from.frames.write(one))
    stream.end()
    expect(reported(stream.notes).filter(note => note.includes('images'))).toHaveLength(1)
  })
  test('of other protocols are written, unless they are to be dropped', () => {
    const parts = [
      {
        type: 'media' as const,
        kind: 'image' as const,
        source: { type: 'base64' as const, mime: 'image/png', data: png },
        at: '/x',
      },
    ]
    const made = {
      id: 'c',
      model: 'm',
      createdAt: 1,
      candidates: [
        {
          index: 0,
          messages: [{ role: 'assistant' as const, origin: 'message' as const, parts }],
          finish: { reason: 'stop' as const },
        },
      ],
    }
    const { wire, notes } = from.encodeResponse(made)
    expect(wire).toMatchObject({ choices: [{ message: { images: [{ ...image, index: 0 }] } }] })
    expect(reported(notes)).toEqual(['media.images-field /x'])
  })
})

describe('names of calls in a stream', () => {
  const named = (...names: string[]) => [
    ...names.map((name, i) =>
      chunk({ tool_calls: [{ index: 0, ...(i === 0 && { id: 'c1' }), function: { name } }] }),
    ),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]
  const heads = (frames: unknown[], options = {}) =>
    decodeStream(frames, options).events.flatMap(event =>
      event.type === 'part.start' && event.head.type === 'tool-call' ? [event.head.name] : [],
    )

  test('are not joined when they repeat', () =>
    expect(heads(named('look', 'look'))).toEqual(['look']))
})

describe('an error in a choice', () => {
  const error = { code: 429, message: 'Slow down.', metadata: { provider_name: 'p' } }
  const response = bodies.response({ content: 'par' }, { finish_reason: 'error', error })

  test('is the error of the response, and stays unchanged in its own protocol', () => {
    const { value } = from.decodeResponse(response)
    expect(value.error).toMatchObject({ status: 429, kind: 'rate_limit', message: 'Slow down.' })
    expect(from.encodeResponse(value)).toEqual({ wire: response, notes: [] })
  })
  test.each([
    ['messages', { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }],
    ['responses', { error: { message: 'Slow down.', type: 'rate_limit_error' } }],
  ] as const)('reaches a client of %s', (to, body) => {
    expect(translateResponse(response, { from: chat, to }).body).toMatchObject(body)
  })
  test.each(['messages', 'responses'] as const)('is sent in a stream: %s', to => {
    const stream = createStreamTranslator({ from: chat, to })
    const text = [
      chunk({ content: 'par' }),
      chunk({ content: '' }, 'error', {
        choices: [{ index: 0, delta: {}, finish_reason: 'error', error }],
      }),
    ]
      .map(one => stream.push(from.frames.write(one)))
      .join('')
    const wires = framesOf(text + stream.end()).map(({ wire }) => JSON.stringify(wire))
    expect(wires.filter(wire => wire.includes('Slow down.')).length).toBeGreaterThan(0)
    expect(stream.error).toMatchObject({ status: 429, kind: 'rate_limit' })
  })
})
