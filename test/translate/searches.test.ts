import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import { messages } from '../../src/protocols/messages/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { explodeResponse, translateRequest, translateResponse } from '../support/untyped.ts'

const sources = [
  { type: 'url', url: 'https://example.org/tides' },
  { type: 'api', name: 'oai-weather' },
]
const call = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type: 'search', query: 'tides', queries: ['tides', 'moon'], sources },
}
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Twice a day.', annotations: [] }],
}
const responseOf = (...output: object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output,
})
const settings = { from: 'responses', to: 'messages' } as const

const id = expect.stringMatching(/^srvtoolu_\w+$/)
const found = (url: string, title: string) => ({
  type: 'web_search_result',
  url,
  title,
  encrypted_content: '',
  page_age: null,
})
const blocks = [
  { type: 'server_tool_use', id, name: 'web_search', input: { query: 'tides' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: id,
    content: [found('https://example.org/tides', 'https://example.org/tides')],
  },
  { type: 'text', text: 'Twice a day.' },
]

/** What the official SDK collects from the stream. */
async function throughSdk(text: string) {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({
    apiKey: 'none',
    baseURL: 'https://api.example',
    maxRetries: 0,
    fetch,
  })
  return client.messages
    .stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
    .finalMessage()
}

describe('a web search that a server of responses has run', () => {
  const whole = () => translateResponse(responseOf(call, message), settings)
  const streamed = () => {
    const translator = createStreamTranslator(settings)
    const text =
      translator.push(explodeResponse(responseOf(call, message), { protocol: 'responses' })) +
      translator.end()
    return { text, notes: translator.notes }
  }

  test('becomes the blocks of a search for a client of messages, with one note', () => {
    const { body, notes } = whole()
    expect(body).toMatchObject({ stop_reason: 'end_turn', content: blocks })
    expect(strictOf('messages').checkResponse(body)).toEqual([])
    expect(notes.filter(({ code }) => code.startsWith('server-tool'))).toEqual([
      expect.objectContaining({ code: 'server-tool.search', path: '/output/0' }),
    ])
  })

  test('becomes the same blocks in a stream, as the official SDK collects it', async () => {
    const { text, notes } = streamed()
    const { content } = await throughSdk(text)
    expect(content).toEqual((whole().body as { content: unknown }).content)
    expect(notes.filter(({ code }) => code.startsWith('server-tool'))).toHaveLength(1)
  })

  test('is a call and its result for the decoder of messages', () => {
    const { value } = messages.decodeResponse(whole().body)
    const [first, second] = value.candidates[0]?.messages[0]?.parts ?? []
    expect(first).toMatchObject({ type: 'server-tool', phase: 'call', tool: 'web_search', id })
    expect(second).toMatchObject({
      type: 'server-tool',
      phase: 'result',
      tool: 'web_search',
      id: (first as { id: string }).id,
    })
  })

  test.each([
    [
      'the titles of its results',
      { ...call, results: [{ url: 'https://example.org/a', title: 'A' }] },
      'tides',
      [found('https://example.org/a', 'A')],
    ],
    ['no results', { ...call, action: { type: 'search', query: 'tides' } }, 'tides', []],
    [
      'several queries and no first one',
      { ...call, action: { type: 'search', queries: ['tides', 'moon'] } },
      'tides; moon',
      [],
    ],
  ])('is written with %s', (_what, item, query, content) => {
    expect(translateResponse(responseOf(item), settings).body).toMatchObject({
      content: [{ input: { query } }, { content }],
    })
  })

  test.each([
    ['opened a page', { type: 'open_page', url: 'https://example.org' }],
    ['has no query', { type: 'search' }],
    ['has no action', undefined],
  ])('is dropped with a note when it %s', (_what, action) => {
    const { body, notes } = translateResponse(responseOf({ ...call, action }, message), settings)
    expect(body).toMatchObject({ content: [{ type: 'text' }] })
    expect(notes).toContainEqual(expect.objectContaining({ code: 'server-tool.dropped' }))
  })

  test('is dropped from the history of a client of responses', () => {
    const input = [{ role: 'user', content: 'When?' }, call, { role: 'user', content: 'Sure?' }]
    const { body, notes } = translateRequest({ model: 'm', input, store: false }, settings)
    expect(JSON.stringify(body)).not.toContain('web_search')
    expect(notes).toContainEqual(
      expect.objectContaining({ code: 'server-tool.dropped', path: '/input/1' }),
    )
  })

  test('reaches no server of messages when a client sends it back: its results are not encrypted', () => {
    const { content } = whole().body as { content: unknown }
    const own = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ ...found('https://example.org', 't'), encrypted_content: 'Eo8B' }],
      },
    ]
    const history = [
      { role: 'user', content: 'When?' },
      { role: 'assistant', content },
      { role: 'user', content: 'Sure?' },
      { role: 'assistant', content: own },
      { role: 'user', content: 'Well?' },
    ]
    const { body, notes } = translateRequest(
      { model: 'm', max_tokens: 9, messages: history },
      { from: 'messages', to: 'messages' },
    )
    expect(body).toMatchObject({
      messages: [{}, { content: 'Twice a day.' }, {}, { content: own }, {}],
    })
    expect(notes.map(({ code, path }) => [code, path])).toEqual([
      ['server-tool.dropped', '/messages/1/content/0'],
      ['server-tool.dropped', '/messages/1/content/1'],
    ])
  })
})
