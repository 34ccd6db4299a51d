import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import {
  createStreamTranslator,
  type MessagesOptions,
  type ProtocolName,
} from '../../../src/index.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { chat, items, user } from '../../support/examples/wires.ts'
import { runsAll } from '../../support/sampled.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

/** What is written, and where the note on it points: rarer notes, one row each. */

const report = (notes: readonly { kind: string; code: string; path: string }[], code: string) =>
  notes.filter(note => note.code === code).map(({ kind, path }) => `${kind} ${path}`)

function stream(events: readonly object[], from: ProtocolName, to: ProtocolName) {
  const translator = createStreamTranslator({ from, to })
  const text =
    events.map(event => translator.push(`data: ${JSON.stringify(event)}\n\n`)).join('') +
    translator.end()
  const deltas = [...text.matchAll(/"(?:content|text)":"([^"]+)"/g)].map(([, message]) => message)
  return { text: deltas.join(''), notes: translator.notes }
}

describe('media', () => {
  const document = {
    type: 'media',
    kind: 'document',
    source: { type: 'base64', data: 'JVBERi0=' },
    at: '/messages/0/content/1',
  } as const
  const request: CanonicalRequest = {
    model: 'm',
    maxOutputTokens: 9,
    messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'a' }, document] }],
  }

  test('media.mime: a document of unknown type is a PDF', () => {
    const { wire, notes } = messages.encodeRequest(request)
    const block = {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    }
    expect(wire).toMatchObject({ messages: [{ content: [{ type: 'text', text: 'a' }, block] }] })
    expect(report(notes, 'media.mime')).toEqual([
      'synthesized /messages/0/content/1/source/media_type',
    ])
  })

  const image = (url: string) =>
    chat.says({
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'see' },
      ],
    })
  const source = (body: object, convertMedia: MessagesOptions['convertMedia']) => {
    const { body: there, notes } = translateRequest(body, {
      from: 'chat-completions',
      to: 'messages',
      ...(convertMedia && { messages: { convertMedia } }),
    })
    const [first] = (there as { messages: { content: { source?: unknown }[] }[] }).messages
    return {
      source: first?.content[0]?.source,
      notes: notes
        .filter(({ code }) => code.startsWith('media.'))
        .map(({ code, path }) => `${code} ${path}`),
    }
  }

  test.each<[string, string, MessagesOptions['convertMedia'], object | undefined, string[]]>([
    [
      'of another format is made into one that is taken',
      'data:image/bmp;base64,Qk0=',
      ({ mime, data }) => ({ mime: 'image/png', data: `${mime}+${data}` }),
      { type: 'base64', media_type: 'image/png', data: 'image/bmp+Qk0=' },
      ['media.converted /messages/0/content/0'],
    ],
    [
      'that cannot be made into one is left out',
      'data:image/bmp;base64,Qk0=',
      () => undefined,
      undefined,
      ['media.unsupported /messages/0/content/0'],
    ],
    [
      'made into what is not taken either is left out',
      'data:image/bmp;base64,Qk0=',
      media => ({ ...media, mime: 'image/tiff' }),
      undefined,
      ['media.unsupported /messages/0/content/0'],
    ],
    [
      'that is taken is left as it is',
      'data:image/png;base64,iVBORw0KGgo=',
      () => ({ mime: 'image/gif', data: '' }),
      { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
      [],
    ],
    [
      'is left out without conversion',
      'data:image/bmp;base64,Qk0=',
      undefined,
      undefined,
      ['media.unsupported /messages/0/content/0'],
    ],
  ])('convertMedia: an image %s', (_, url, convertMedia, written, noted) => {
    expect(source(image(url), convertMedia)).toEqual({ source: written, notes: noted })
  })
})

describe('citation.span: a citation of unknown span covers the text', () => {
  const annotation = (start_index: number, end_index: number) => ({
    type: 'url_citation',
    url_citation: { url: 'https://u', title: 't', start_index, end_index },
  })
  const citations = [
    {
      type: 'web_search_result_location',
      url: 'https://u',
      title: 't',
      cited_text: '',
      encrypted_index: '',
    },
  ]

  test.each<[string, number, number, object[], string[]]>([
    [
      'of nothing',
      1,
      1,
      [{ type: 'text', text: 'yes', citations }],
      ['approximated /choices/0/message/annotations'],
    ],
    [
      'from behind the text',
      5,
      9,
      [{ type: 'text', text: 'yes', citations }],
      ['approximated /choices/0/message/annotations'],
    ],
    ['of the whole text', 0, 3, [{ type: 'text', text: 'yes', citations }], []],
    [
      'of its beginning',
      0,
      2,
      [
        { type: 'text', text: 'ye', citations },
        { type: 'text', text: 's' },
      ],
      [],
    ],
  ])('%s', (_, start, end, content, noted) => {
    const { body, notes } = translateResponse(
      chat.response({ content: 'yes', annotations: [annotation(start, end)] }),
      {
        from: 'chat-completions',
        to: 'messages',
      },
    )
    expect((body as { content: unknown }).content).toEqual(content)
    expect(report(notes, 'citation.span')).toEqual(noted)
  })

  test('citation.span: in a stream whose block is already open', () => {
    const chunks = [
      chat.chunk({ content: 'yes', annotations: [annotation(0, 2)] }),
      chat.chunk({}, { finish_reason: 'stop' }),
    ]
    const { text: message, notes } = stream(chunks, 'chat-completions', 'messages')
    expect(message).toBe('yes')
    expect(report(notes, 'citation.span')).toEqual(['approximated /choices/0/message/annotations'])
  })
})

describe('reasoning', () => {
  test('reasoning.budget-raised: a budget is at least 1024 tokens', () => {
    const body = {
      ...chat.request({ thinking: { type: 'enabled', budget_tokens: 500 } }),
      model: 'claude-3-7-sonnet',
      max_completion_tokens: 5000,
    }
    const { body: there, notes } = translateRequest(body, {
      from: 'chat-completions',
      to: 'messages',
    })
    expect(there).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 5000,
    })
    expect(report(notes, 'reasoning.budget-raised')).toEqual([
      'approximated /thinking/budget_tokens',
    ])
  })

  const carrier = (attach: 'prev' | 'next', value = 'one') => ({
    type: 'redacted_thinking',
    data: wrapSignature({ signature: { value, issuer: 'generate-content' }, attach }),
  })
  const yes = { type: 'text', text: 'yes' }
  const rows: [string, object[], string[], string | undefined][] = [
    ['for what comes next, and nothing does', [yes, carrier('next')], ['/1'], undefined],
    ['for what came before, and nothing did', [carrier('prev'), yes], ['/0'], undefined],
    ['twice for what comes next', [carrier('next'), carrier('next', 'two'), yes], ['/0'], 'two'],
    ['for what comes next', [carrier('next'), yes], [], 'one'],
  ]

  test.each(rows)('reasoning.signature-orphaned: a signature %s', (_, content, lost, kept) => {
    const { value, notes } = messages.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [user, { role: 'assistant', content }],
    })
    expect(value.messages[1]?.parts).toEqual([expect.objectContaining(yes)])
    expect(value.messages[1]?.parts[0]?.signature?.value).toBe(kept)
    expect(report(notes, 'reasoning.signature-orphaned')).toEqual(
      lost.map(place => `dropped /messages/1/content${place}`),
    )
  })

  test('keeps the signatures of a call and a text apart when thinking comes first, as from LiteLLM', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
    const content = [carrier('next'), yes, call, { ...call, id: 'toolu_2' }]
    const { value, notes } = messages.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [user, { role: 'assistant', content }],
    })
    expect(value.messages[1]?.parts.map(({ signature }) => signature?.value)).toEqual([
      undefined,
      'one',
      undefined,
    ])
    expect(notes).toEqual([])
  })

  test('keeps the signatures of two calls apart when thinking comes first', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
    const content = [carrier('next'), carrier('next', 'two'), yes, call, { ...call, id: 'toolu_2' }]
    const { value, notes } = messages.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [user, { role: 'assistant', content }],
    })
    expect(value.messages[1]?.parts.map(({ signature }) => signature?.value)).toEqual([
      undefined,
      'one',
      'two',
    ])
    expect(notes).toEqual([])
  })

  test('examines each pending signature once', () => {
    // The square of their number shows at many alone.
    const count = runsAll() ? 100_000 : 10_000
    const content = [
      ...Array(count).fill(carrier('next')),
      ...Array(count).fill({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
    ]
    const before = process.cpuUsage()
    const { value, notes } = messages.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [user, { role: 'assistant', content }],
    })
    const { user: inside, system } = process.cpuUsage(before)
    expect(value.messages[1]?.parts.at(-1)?.signature?.value).toBe('one')
    expect(notes).toEqual([])
    expect((inside + system) / 1000).toBeLessThan(10_000)
  })

  test.each(rows)(
    'reasoning.signature-orphaned: in a stream, a signature %s',
    (_, content, lost) => {
      const blocks = content.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ])
      const { text: message, notes } = stream(
        [start, ...blocks, ...ending],
        'messages',
        'responses',
      )
      expect(message).toContain('yes')
      expect(report(notes, 'reasoning.signature-orphaned')).toEqual(
        lost.map(place => `dropped /content${place}`),
      )
    },
  )
})

const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const ending = [
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: 'message_stop' },
]
const text = (...deltas: object[]) => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...deltas.map(delta => ({ type: 'content_block_delta', index: 0, delta })),
  { type: 'content_block_stop', index: 0 },
]
const says = { type: 'text_delta', text: 'yes' }
const late = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'late' } }

describe('values that a stream cannot hold', () => {
  test.each<[string, string, object[], string[]]>([
    [
      'of another kind than its block',
      'stream.stray-delta',
      [start, ...text(says, { type: 'input_json_delta', partial_json: '{' }), ...ending],
      ['/delta'],
    ],
    [
      'after the end of its block',
      'stream.stray-delta',
      [start, ...text(says), late, ...ending],
      ['/delta'],
    ],
    ['twice', 'stream.stray-delta', [start, ...text(says), late, late, ...ending], ['/delta']],
    [
      'that begins again',
      'stream.repeated-start',
      [start, start, ...text(says), ...ending],
      ['/message'],
    ],
    [
      'that begins again in the midst',
      'stream.repeated-start',
      [start, ...text(says), start, ...ending],
      ['/message'],
    ],
  ])('%s: %s', (_, code, events, noted) => {
    const { text: message, notes } = stream(events, 'messages', 'chat-completions')
    expect(message).toBe('yes')
    expect(report(notes, code)).toEqual(noted.map(place => `dropped ${place}`))
  })

  test('stream.final-differs: streamed text stays', () => {
    const delta = {
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'ja',
    }
    const { text: message, notes } = stream(
      [...items.opening, delta, ...items.ending('yes')],
      'responses',
      'messages',
    )
    expect(message).toBe('ja')
    expect(report(notes, 'stream.final-differs')).toEqual(['dropped /output/0/content/0'])
  })

  test('stream.final-differs: makes no note for text that the end adds', () => {
    const delta = {
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'ye',
    }
    const { text: message, notes } = stream(
      [...items.opening, delta, ...items.ending('yes')],
      'responses',
      'messages',
    )
    expect(message).toBe('yes')
    expect(report(notes, 'stream.final-differs')).toEqual([])
  })
})
