import { describe, expect, test } from 'vitest'
import { translateError, translateResponse } from '../../../src/index.ts'

const usage = { input_tokens: 1, output_tokens: 2 }
const response = (more: object = {}) => {
  const content = [{ type: 'text', text: 'hi' }]
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    usage,
    ...more,
  }
}
const cross = (to: 'chat-completions' | 'responses', more: object) => {
  const { body, notes } = translateResponse(response(more), { from: 'messages', to, now: 1 })
  return { body, notes: notes.map(({ code, path }) => `${code} ${path}`) }
}

describe('the finish reason of a response', () => {
  test.each<[word: string, finish: string, status: string, reason: string | null, exact: boolean]>([
    ['end_turn', 'stop', 'completed', null, true],
    ['stop_sequence', 'stop', 'completed', null, false],
    ['max_tokens', 'length', 'incomplete', 'max_output_tokens', true],
    ['pause_turn', 'stop', 'incomplete', 'pause_turn', false],
    ['model_context_window_exceeded', 'length', 'incomplete', 'max_output_tokens', false],
    ['refusal', 'content_filter', 'completed', null, false],
    ['compaction', 'stop', 'completed', null, false],
    ['invented', 'stop', 'completed', null, false],
  ])('%s', (stop_reason, finish_reason, status, reason, exact) => {
    const more = { stop_reason, stop_sequence: stop_reason === 'stop_sequence' ? 'END' : null }
    const chat = cross('chat-completions', more)
    expect(chat.body).toMatchObject({ choices: [{ finish_reason, message: { content: 'hi' } }] })
    const items = cross('responses', more)
    expect(items.body).toMatchObject({ status, incomplete_details: reason && { reason } })
    for (const { notes } of [chat, items])
      expect(notes.some(note => note.startsWith('finish.approximated'))).toBe(!exact)
  })

  test('a refusal without text has a reason', () => {
    const more = {
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' },
    }
    expect(cross('chat-completions', more).body).toMatchObject({
      choices: [{ finish_reason: 'content_filter', message: { content: null, refusal: 'No.' } }],
    })
    expect(cross('responses', more).body).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }],
    })
    for (const to of ['chat-completions', 'responses'] as const)
      expect(cross(to, more).notes.some(note => note.endsWith('/stop_details'))).toBe(true)
  })
})

describe('citations of whole blocks are spans of the text', () => {
  const web = {
    type: 'web_search_result_location',
    url: 'https://u',
    title: 't',
    cited_text: 'ct',
    encrypted_index: 'E',
  }
  const inside = {
    type: 'char_location',
    document_index: 0,
    document_title: 'd',
    start_char_index: 0,
    end_char_index: 3,
    cited_text: 'x',
    file_id: null,
  }
  const content = [
    { type: 'text', text: '😀 a' },
    { type: 'text', text: 'bc😀', citations: [web, inside] },
    { type: 'text', text: 'z', citations: [web] },
  ]

  test('counts code points of the complete text for chat-completions', () => {
    const { body, notes } = cross('chat-completions', { content })
    const span = (start_index: number, end_index: number) => ({
      type: 'url_citation',
      url_citation: { start_index, end_index, url: 'https://u', title: 't' },
    })
    expect(body).toMatchObject({
      choices: [{ message: { content: '😀 abc😀z', annotations: [span(3, 6), span(6, 7)] } }],
    })
    expect(notes).toContain('citation.unsupported /content/1/citations')
  })

  test('counts code points of the part for responses', () => {
    const span = (start_index: number, end_index: number) => ({
      type: 'url_citation',
      start_index,
      end_index,
      url: 'https://u',
      title: 't',
    })
    expect(cross('responses', { content }).body).toMatchObject({
      output: [
        {
          content: [
            { text: '😀 a', annotations: [] },
            { annotations: [span(0, 3)] },
            { annotations: [span(0, 1)] },
          ],
        },
      ],
    })
  })
})

describe('counts', () => {
  test('are inclusive in other protocols, and unsupported ones are noted', () => {
    const counts = {
      input_tokens: 8,
      cache_creation_input_tokens: 12963,
      cache_read_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 963, ephemeral_1h_input_tokens: 12000 },
      output_tokens: 30,
      output_tokens_details: { thinking_tokens: 12 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      iterations: [{ type: 'compaction', input_tokens: 5, output_tokens: 6 }],
    }
    const chat = cross('chat-completions', { usage: counts })
    expect(chat.body).toMatchObject({
      usage: {
        prompt_tokens: 12975,
        completion_tokens: 30,
        total_tokens: 13005,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 12963 },
        completion_tokens_details: { reasoning_tokens: 12 },
      },
    })
    const items = cross('responses', { usage: counts })
    expect(items.body).toMatchObject({
      usage: {
        input_tokens: 12975,
        output_tokens: 30,
        total_tokens: 13005,
        output_tokens_details: { reasoning_tokens: 12 },
      },
    })
    for (const { notes } of [chat, items])
      for (const place of ['cache_creation', 'server_tool_use', 'iterations'])
        expect(notes.some(note => note.endsWith(`/usage/${place}`))).toBe(true)
  })
})

describe('overload', () => {
  test.each(['chat-completions', 'responses'] as const)('becomes 503 for %s', other => {
    const body = {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: 'req_1',
    }
    const out = translateError(
      { status: 529, headers: { 'retry-after': '7' }, body },
      { from: 'messages', to: other },
    )
    expect(out).toMatchObject({
      status: 503,
      headers: { 'retry-after': '7' },
      body: { error: { message: 'Overloaded', type: 'server_error' } },
    })
    const back = translateError(
      { status: out.status, headers: out.headers, body: out.body },
      { from: other, to: 'messages' },
    )
    expect(back).toMatchObject({
      status: 529,
      headers: { 'retry-after': '7' },
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    })
  })
})
