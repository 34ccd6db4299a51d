import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/index.ts'
import { withoutWire } from '../../../src/kit/fields/source.ts'
import { unwrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import {
  collectStream,
  explodeResponse,
  translateRequest,
  translateResponse,
} from '../../support/untyped.ts'

const response = (more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-5',
  content: [
    { type: 'thinking', thinking: 'abc', signature: 'S1' },
    { type: 'redacted_thinking', data: 'S2' },
    { type: 'text', text: 'x' },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
  ...more,
})

const asEvents = (wire: ReturnType<typeof response>) => [
  { type: 'message_start', message: { ...wire, content: [], stop_reason: null } },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'S1' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'redacted_thinking', data: 'S2' },
  },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]

/** Every signature that a text holds in an envelope. */
const sealed = (text: string) =>
  [...text.matchAll(/xs1\.[\w-]+/g)].map(([one]) => unwrapSignature(one)?.signature)

describe('a signature', () => {
  const whole = () =>
    JSON.stringify(
      translateResponse(response(), { from: 'messages', to: 'responses', now: 1 }).body,
    )
  const streamed = () => {
    const translator = createStreamTranslator({ from: 'messages', to: 'responses', now: 1 })
    return asEvents(response())
      .map(event => translator.push(`data: ${JSON.stringify(event)}\n\n`))
      .join('')
  }
  test.each([
    ['whole', whole],
    ['streamed', streamed],
  ])('names its model in a %s response for callers that store it', (_, text) => {
    expect(sealed(text())).toEqual(
      expect.arrayContaining([
        { value: 'S1', issuer: 'messages', model: 'claude-opus-5-5', form: 'thinking' },
        { value: 'S2', issuer: 'messages', model: 'claude-opus-5-5', form: 'redacted' },
      ]),
    )
  })

  test.each<[string, string, string[]]>([
    ['the same model', 'claude-opus-5-5', []],
    ['another of the family', 'claude-opus-5', []],
    ['another family', 'claude-sonnet-5-5', ['reasoning.other-model', 'reasoning.other-model']],
    ['an unknown model', 'brand-new', []],
  ])('comes back to %s', (_, model, expected) => {
    const { body } = translateResponse(response(), { from: 'messages', to: 'responses', now: 1 })
    const { output } = body as { output: unknown[] }
    const input = [{ role: 'user', content: 'q' }, ...output, { role: 'user', content: 'r' }]
    const { body: wire, notes } = translateRequest(
      { model, input },
      { from: 'responses', to: 'messages' },
    )
    expect(wire).toMatchObject({
      messages: [{}, { content: [{ signature: 'S1' }, { data: 'S2' }, { text: 'x' }] }, {}],
    })
    expect(notes.map(({ code }) => code).filter(code => code.startsWith('reasoning.'))).toEqual(
      expected,
    )
  })
})

describe('changes of the provider to thinking in the request', () => {
  const transformations = [
    { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' },
    {
      type: 'thinking_mismatch_allowed',
      path: 'messages.3.content.0',
      reason: 'model_binding_mismatch',
    },
  ]
  const expected = [
    'reasoning.dropped-upstream /input_transformations/0',
    'reasoning.prefix-mismatch /input_transformations/1',
  ]
  const reported = (notes: readonly { code: string; path: string }[]) =>
    notes
      .map(({ code, path }) => `${code} ${path}`)
      .filter(note => note.includes('transformations'))

  test('is in the notes of a complete response', () => {
    const body = response({ input_transformations: transformations })
    expect(
      reported(translateResponse(body, { from: 'messages', to: 'responses', now: 1 }).notes),
    ).toEqual(expected)
    expect(messages.encodeResponse(messages.decodeResponse(body).value).wire).toEqual(body)
  })

  test.each<[string, (events: Record<string, unknown>[]) => void]>([
    [
      'start',
      events =>
        Object.assign(events[0]?.['message'] as object, { input_transformations: transformations }),
    ],
    [
      'end',
      events => Object.assign(events.at(-2) as object, { input_transformations: transformations }),
    ],
  ])('is in the notes of a stream that sends it at its %s', (_, add) => {
    const events = structuredClone(asEvents(response())) as Record<string, unknown>[]
    add(events)
    const translator = createStreamTranslator({ from: 'messages', to: 'chat-completions' })
    for (const event of events) translator.push(`data: ${JSON.stringify(event)}\n\n`)
    expect(reported(translator.notes)).toEqual(expected)
  })

  test('is still there when a response becomes a stream, and a response again', async () => {
    const stream = explodeResponse(response({ input_transformations: transformations }), {
      protocol: 'messages',
    })
    const { body, notes } = await collectStream([stream], { protocol: 'messages' })
    expect(reported(notes)).toEqual(expected)
    expect(body).toMatchObject({ input_transformations: transformations })
  })

  test.each<[string, unknown]>([
    ['nothing', null],
    ['an empty list', []],
  ])('is no note when it is %s', (_, list) => {
    const body = response({ input_transformations: list })
    const { value, notes } = messages.decodeResponse(body)
    expect(notes).toEqual([])
    expect(messages.encodeResponse(value)).toMatchObject({ wire: body, notes: [] })
  })
})

describe('a current response', () => {
  test('makes no note for empty keys', () => {
    const nothing = {
      container: null,
      diagnostics: null,
      context_management: null,
      input_transformations: null,
    }
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      inference_geo: null,
      speed: null,
      iterations: null,
      fallback_credit: null,
    }
    const body = response({ ...nothing, usage })
    expect(translateResponse(body, { from: 'messages', to: 'responses', now: 1 }).notes).toEqual([])
    expect(messages.encodeResponse(messages.decodeResponse(body).value)).toMatchObject({
      wire: body,
      notes: [],
    })
  })
})

describe('how thinking is requested', () => {
  const ask = (thinking: object, options: object = {}) => {
    const body = {
      model: 'claude-opus-5-5',
      max_tokens: 9000,
      messages: [{ role: 'user', content: 'x' }],
      thinking,
    }
    const { value } = messages.decodeRequest(body)
    return messages.encodeRequest(withoutWire(value), options).wire as { thinking: object }
  }
  test('an unknown way to display it is kept, and noted elsewhere', () => {
    const body = {
      model: 'm',
      max_tokens: 9000,
      messages: [{ role: 'user', content: 'x' }],
      thinking: { type: 'adaptive', display: 'tomorrow' },
    }
    expect(ask(body.thinking).thinking).toEqual(body.thinking)
    const { notes } = translateRequest(body, { from: 'messages', to: 'responses' })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'field.unknown /thinking/display',
    )
  })

  test.each(['chat-completions', 'responses', 'generate-content'] as const)(
    'keeps reasoning hidden in %s with a note when only updates are shown',
    to => {
      const body = {
        model: 'm',
        max_tokens: 9000,
        messages: [{ role: 'user', content: 'x' }],
        thinking: { type: 'adaptive', display: 'updates' },
      }
      const { body: wire, notes } = translateRequest(body, { from: 'messages', to })
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
        'field.unsupported /thinking/display',
      )
      expect(JSON.stringify(wire)).not.toMatch(/includeThoughts|summary/)
    },
  )
})
