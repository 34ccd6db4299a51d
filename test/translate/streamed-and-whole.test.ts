import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Part } from '../../src/canonical/message.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { valueAt } from '../support/cross.ts'

/** What a streamed response and the same complete one have in common, where they once had not. */

const { 'generate-content': google, 'chat-completions': chat, responses } = protocols
const result = (parts: object[], more: object = {}, beside: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
  modelVersion: 'm',
  responseId: 'r1',
  createTime: '2026-01-01T00:00:00Z',
  ...beside,
})
const signed = { text: 'yes', thoughtSignature: 'QUJD' }
const blocked = { promptFeedback: { blockReason: 'SAFETY' } }

function both(body: object, to: typeof chat | typeof responses) {
  const { fieldNames, decodeResponse } = google
  const { value } = decodeResponse(body)
  const whole = to.encodeResponse(value, { fieldNames })
  const streamed = encodeStream(to, explode(value), { fieldNames })
  return {
    whole,
    streamed,
    collected: to.encodeResponse(collect(decodeStream(to, streamed.wires)).response).wire,
  }
}

const codes = (notes: Note[]) => notes.map(({ code, path }) => `${code} ${path}`).sort()

describe('notes of a complete response and of its stream', () => {
  test.each([
    [
      'a blocked prompt next to a response',
      chat,
      result([{ text: 'yes' }], {}, blocked),
      'prompt.blocked /promptFeedback',
    ],
    [
      'a blocked prompt next to a response that has items',
      responses,
      result([{ text: 'yes' }], {}, blocked),
      'finish.approximated /promptFeedback',
    ],
    [
      'a blocked prompt beside a failure',
      responses,
      result([], { finishReason: 'MALFORMED_FUNCTION_CALL' }, blocked),
      'finish.approximated /promptFeedback',
    ],
    [
      'the signature of a text',
      chat,
      result([signed]),
      'reasoning.dialect-field /candidates/0/content',
    ],
    [
      'an image with a signature',
      responses,
      result([
        { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' }, thoughtSignature: 'QUJD' },
      ]),
      'media.as-image-call /candidates/0/content/parts/0',
    ],
    [
      'two calls of one id',
      responses,
      result([
        { functionCall: { id: 'a', name: 'look', args: {} } },
        { functionCall: { id: 'a', name: 'look', args: {} } },
      ]),
      'tool-call.id-twice /candidates/0/content/parts/1/functionCall/id',
    ],
    [
      'why there is no text',
      responses,
      result([{ text: '', thoughtSignature: 'QUJD' }], {
        finishReason: 'SAFETY',
        finishMessage: 'unsafe',
      }),
      'refusal.synthesized /output',
    ],
  ] as const)('%s', (_, to, body, note) => {
    const { whole, streamed } = both(body, to)
    expect(codes(whole.notes)).toContain(note)
    expect(codes(streamed.notes)).toEqual(codes(whole.notes))
  })
})

test('reasoning in two fields is noted at both, complete and streamed', () => {
  const thought = (at: string): Part => ({
    type: 'reasoning',
    segments: [{ kind: 'raw', text: at }],
    at,
  })
  const value: CanonicalResponse = {
    id: 'r1',
    model: 'm',
    createdAt: 1,
    candidates: [
      {
        index: 0,
        messages: [
          {
            role: 'assistant',
            origin: 'message',
            parts: [thought('/plan'), thought('/content/0')],
          },
        ],
        finish: { reason: 'stop' },
      },
    ],
  }
  const noted = ['reasoning.dialect-field /content/0', 'reasoning.dialect-field /plan']
  expect(codes(encodeStream(chat, explode(value), { fieldNames: {} }).notes)).toEqual(noted)
  expect(codes(chat.encodeResponse(value).notes)).toEqual(noted)
})

describe('collected streams and complete responses', () => {
  test('a call that could not be read is a failure with its error', () => {
    const { whole, collected } = both(
      result([], { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'no JSON' }),
      responses,
    )
    expect(collected).toMatchObject({ status: 'failed', error: { message: 'no JSON' } })
    expect(collected).toEqual(whole.wire)
  })

  test('a finish reason of a truncated response is complete itself, and the call before it is not', () => {
    const { whole, collected } = both(
      result([{ functionCall: { id: 'a', name: 'look' } }], {
        finishReason: 'SAFETY',
        finishMessage: 'unsafe',
      }),
      responses,
    )
    expect(collected).toMatchObject({
      output: [
        { type: 'function_call', status: 'incomplete' },
        { type: 'message', status: 'completed' },
      ],
    })
    expect(collected).toEqual(whole.wire)
  })

  test.each([
    ['behind a text', [signed]],
    [
      'after an image',
      [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0=' }, thoughtSignature: 'QUJD' }],
    ],
    [
      'before a call',
      [{ functionCall: { id: 'a', name: 'look', args: { q: 1 } }, thoughtSignature: 'QUJD' }],
    ],
  ])('the item that carries a signature keeps its id: %s', (_, parts) => {
    const { whole, collected } = both(result(parts), responses)
    expect(collected).toEqual(whole.wire)
  })
})

describe('the same of other protocols', () => {
  const { messages } = protocols
  const blocks = (...content: object[]) => ({
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'end_turn',
    usage: {},
  })
  const choice = (reported: object) => ({
    id: 'c1',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', ...reported }],
  })
  const sent = (message: object) => choice({ message: { role: 'assistant', ...message } })
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' },
  }
  const document = {
    type: 'document',
    source: { type: 'content', content: [{ type: 'text', text: 'a' }] },
    title: 't',
  }
  const code = { executableCode: { language: 'PYTHON', code: '1' } }

  test.each<[string, Protocol, Protocol, object]>([
    ['a text before an image', messages, responses, blocks({ type: 'text', text: 'a' }, image)],
    [
      'a document of texts between texts',
      messages,
      responses,
      blocks({ type: 'text', text: 'a' }, document, { type: 'text', text: 'b' }),
    ],
    [
      'texts around what is left out',
      google,
      responses,
      result([{ text: 'a' }, code, { text: 'b' }]),
    ],
    [
      'a text beside what a recording says',
      chat,
      responses,
      sent({ content: 'a', audio: { id: 'x', data: '', expires_at: 1, transcript: 'b' } }),
    ],
    [
      'what a recording says',
      chat,
      messages,
      sent({ content: null, audio: { id: 'x', data: '', expires_at: 1, transcript: 'b' } }),
    ],
    [
      'a summary with its signature',
      google,
      chat,
      result([{ text: 'Hm.', thought: true, thoughtSignature: 'QUJD' }, { text: 'a' }]),
    ],
    [
      'a proven summary and nothing after it',
      google,
      chat,
      result([{ text: 'Hm.', thought: true, thoughtSignature: 'QUJD' }]),
    ],
  ])('%s', (_, from, to, body) => {
    const { value } = from.decodeResponse(body)
    const { wires } = encodeStream(to, explode(value), { fieldNames: from.fieldNames })
    expect(to.encodeResponse(collect(decodeStream(to, wires)).response).wire).toEqual(
      to.encodeResponse(value, { fieldNames: from.fieldNames }).wire,
    )
  })

  test.each<[string, Protocol, object, object]>([
    [
      'of a recording',
      chat,
      sent({
        content: null,
        refusal: null,
        audio: { id: 'x', data: 'AAAA', expires_at: 99, transcript: 'b' },
      }),
      { id: 'x', expires_at: 99 },
    ],
    [
      'without a source',
      google,
      result([{ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }]),
      { expires_at: 0 },
    ],
  ])('sends the expiry %s only in the last audio delta of a stream', (_, from, body, reported) => {
    const { value } = from.decodeResponse(body)
    const { wires, notes } = encodeStream(chat, explode(value), { fieldNames: from.fieldNames })
    const audios = (
      wires as { choices?: { delta?: { audio?: { expires_at?: number } } }[] }[]
    ).flatMap(({ choices }) => choices?.[0]?.delta?.audio ?? [])
    expect(audios.map(({ expires_at }) => expires_at)).toEqual([
      ...audios.slice(1).map(() => undefined),
      expect.any(Number),
    ])
    expect(chat.encodeResponse(collect(decodeStream(chat, wires)).response).wire).toMatchObject({
      choices: [{ message: { audio: { data: 'AAAA', ...reported } } }],
    })
    expect(codes(notes)).toEqual(
      codes(chat.encodeResponse(value, { fieldNames: from.fieldNames }).notes),
    )
  })

  test('writes no audio when it is absent', () => {
    const { value } = chat.decodeResponse(
      sent({ content: 'a', audio: { id: '', data: '', expires_at: 0, transcript: '' } }),
    )
    const { wires } = encodeStream(chat, explode(value))
    expect(
      wires.flatMap(
        wire =>
          (wire as { choices?: { delta?: { audio?: object } }[] }).choices?.[0]?.delta?.audio ?? [],
      ),
    ).toEqual([])
  })

  test('a document of texts reaches readers that use only deltas', () => {
    const { wires } = encodeStream(
      responses,
      explode(messages.decodeResponse(blocks(document)).value),
    )
    const deltas = (wires as { type?: string; delta?: string }[]).flatMap(({ type, delta }) =>
      type === 'response.output_text.delta' ? [delta] : [],
    )
    expect(deltas).toEqual(['t', 'a'])
    expect(strictOf('responses').checkStream(wires)).toEqual([])
  })

  const logprobs = {
    content: [{ token: 'f', logprob: -1, bytes: [102], top_logprobs: [] }],
    refusal: null,
  }
  const call = {
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  }
  const googleLogprobs = {
    logprobsResult: { chosenCandidates: [{ token: 'f', logProbability: -1 }] },
  }
  const mark = { cache_control: { type: 'ephemeral' } }
  const marked = { type: 'text', text: 'yes', ...mark }
  const breakpoint = { type: 'text', text: 'yes', prompt_cache_breakpoint: { mode: 'explicit' } }
  const going = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'in_progress',
    content: [{ type: 'output_text', text: 'yes', annotations: [] }],
  }
  const responded = (...output: object[]) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output,
  })

  test.each<[string, Protocol, object, string, Protocol[]]>([
    [
      'the name of who speaks',
      chat,
      sent({ name: 'ann', content: 'yes' }),
      'field.unsupported /choices/0/message/name',
      [responses, messages, google],
    ],
    [
      'the logprobs of a call',
      chat,
      choice({ logprobs, message: call }),
      'field.unsupported /choices/0/logprobs',
      [responses, messages],
    ],
    [
      'the logprobs of a refusal',
      chat,
      choice({
        logprobs: { content: null, refusal: logprobs.content },
        message: { content: null, refusal: 'f' },
      }),
      'field.unsupported /choices/0/logprobs/refusal',
      [responses, messages],
    ],
    [
      'a cache mark on a text',
      messages,
      blocks(marked),
      'cache.unsupported /content/0/cache_control',
      [chat, responses],
    ],
    [
      'a cache mark on a text',
      chat,
      sent({ content: [breakpoint] }),
      'cache.unsupported /choices/0/message/content/0/prompt_cache_breakpoint',
      [messages],
    ],
    [
      'that an item is not complete',
      responses,
      responded(going),
      'message.ids /output/0/status',
      [chat],
    ],
    [
      'that an item is not complete',
      responses,
      responded(going),
      'message.envelope /output/0/status',
      [messages, google],
    ],
  ])('%s is noted, whole and streamed', (_, from, body, note, targets) => {
    const { value } = from.decodeResponse(body)
    const { fieldNames } = from
    for (const to of targets) {
      expect(codes(to.encodeResponse(value, { fieldNames }).notes)).toContain(note)
      expect(codes(encodeStream(to, explode(value), { fieldNames }).notes)).toContain(note)
    }
  })

  test.each<[string, Protocol, Protocol, object, string, string]>([
    [
      'the logprobs of a call',
      chat,
      google,
      choice({ logprobs, message: call }),
      '/candidates/0/logprobsResult/chosenCandidates/0/token',
      'f',
    ],
    [
      'the logprobs of a call',
      google,
      chat,
      result([{ functionCall: { name: 'f', args: {} } }], googleLogprobs),
      '/choices/0/logprobs/content/0/token',
      'f',
    ],
    [
      'the name of who speaks',
      chat,
      chat,
      sent({ name: 'ann', content: 'yes' }),
      '/choices/0/message/name',
      'ann',
    ],
  ])('%s comes through, whole and streamed', (_, from, to, body, place, expected) => {
    const { value } = from.decodeResponse(body)
    expect(valueAt(to.encodeResponse(value).wire, place)).toBe(expected)
    const { response } = collect(decodeStream(to, encodeStream(to, explode(value)).wires))
    expect(valueAt(to.encodeResponse(response).wire, place)).toBe(expected)
  })

  test.each([google, chat])(
    'logprobs that are in no text leave those of the text before the end to clients of $name',
    to => {
      const token = (text: string) => ({ token: text, logprob: -1 })
      const parts: Part[] = [{ type: 'text', text: 'yes', logprobs: [token('yes')] }]
      const value: CanonicalResponse = {
        candidates: [
          {
            index: 0,
            messages: [{ role: 'assistant', origin: 'message', parts }],
            logprobs: [token('end')],
            finish: { reason: 'stop' },
          },
        ],
      }
      const { wires, notes } = encodeStream(to, explode(value))
      const { candidates } = collect(decodeStream(to, wires)).response
      expect(JSON.stringify(candidates)).toContain('"token":"yes"')
      expect(JSON.stringify(candidates)).toContain('"token":"end"')
      expect(codes(notes)).not.toContain('field.unsupported /logprobs')
    },
  )

  test('notes a cache mark once on a text that is split at citations', () => {
    const cited = {
      annotations: [
        {
          type: 'url_citation',
          url_citation: { start_index: 0, end_index: 2, title: 't', url: 'https://example.org' },
        },
      ],
    }
    const { wire, notes } = messages.encodeResponse(
      chat.decodeResponse(sent({ content: [marked], ...cited })).value,
    )
    expect(wire).toMatchObject({ content: [{ text: 'ye' }, { text: 's' }] })
    expect(notes.filter(({ code }) => code === 'cache.unsupported')).toHaveLength(1)
  })

  test.each([responses, messages, chat, google])(
    'a response that is not counted from 0 reaches a client of $name',
    to => {
      const { value } = chat.decodeResponse(
        choice({ index: 1, message: { role: 'assistant', content: 'yes' } }),
      )
      const { response, clean } = collect(decodeStream(to, encodeStream(to, explode(value)).wires))
      expect(clean).toBe(true)
      expect(response.candidates).toMatchObject([{ messages: [{ parts: [{ text: 'yes' }] }] }])
    },
  )

  test('unknown keys of a refusal are noted', () => {
    const refusal = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'refusal', refusal: 'no', odd: 1 }],
    }
    const { value } = responses.decodeResponse({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [refusal],
    })
    const { fieldNames } = responses
    const { notes } = encodeStream(chat, explode(value), { fieldNames })
    expect(codes(notes)).toContain('field.unknown /output/0/content/0/odd')
    expect(codes(notes)).toEqual(codes(chat.encodeResponse(value, { fieldNames }).notes))
  })
})

describe('the same candidate of several is kept, streamed or complete, however a server counts them', () => {
  const response = (index: number | undefined, text: string) => ({
    ...(index !== undefined && { index }),
    content: { role: 'model', parts: [{ text }] },
    finishReason: 'STOP',
  })
  const rows: [string, (number | undefined)[]][] = [
    ['backwards', [1, 0]],
    ['each as the first', [0, 0]],
    ['below 0', [-1]],
    ['in halves, then not at all', [1.5, undefined]],
  ]
  test.each(
    rows.flatMap(([how, indexes]) =>
      (['messages', 'responses'] as const).map(to => [how, to, indexes] as const),
    ),
  )('%s, toward %s', (_, to, indexes) => {
    const body = {
      candidates: indexes.map((index, i) => response(index, `text ${i}`)),
      modelVersion: 'm',
      responseId: 'r1',
    }
    const textsIn = (events: Parameters<typeof collect>[0]) => {
      const { candidates } = collect(events).response
      return candidates.flatMap(({ messages }) =>
        messages.flatMap(({ parts }) =>
          parts.map(part => (part.type === 'text' ? part.text : part.type)),
        ),
      )
    }
    const target = protocols[to]
    const { value } = google.decodeResponse(body)
    const whole = textsIn(explode(target.decodeResponse(target.encodeResponse(value).wire).value))
    expect(whole).toEqual([expect.stringMatching(/^text \d$/)])
    for (const events of [explode(value), decodeStream(google, [body])])
      expect(textsIn(decodeStream(target, encodeStream(target, events).wires))).toEqual(whole)
  })
})
