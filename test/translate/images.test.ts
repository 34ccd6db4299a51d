import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import { wrapSignature } from '../../src/kit/signatures/envelope.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { responses } from '../../src/protocols/responses/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf } from '../support/clients/index.ts'
import {
  collectStream,
  explodeResponse,
  translateRequest,
  translateResponse,
} from '../support/untyped.ts'

const forms = [
  { form: 'whole', streamed: false },
  { form: 'streamed', streamed: true },
]

describe.each(forms)('an image of the model, $form', ({ streamed }) => {
  const through = (
    body: unknown,
    settings: { from: 'generate-content' | 'responses'; to: 'generate-content' | 'responses' },
  ) => {
    if (!streamed) return { body: translateResponse(body, settings).body }
    const translator = createStreamTranslator(settings)
    return {
      text: translator.push(explodeResponse(body, { protocol: settings.from })) + translator.end(),
    }
  }

  test('comes back from a client of responses at its position, with its signature', async () => {
    const parts = [
      { text: 'Look: ' },
      {
        inlineData: { mimeType: 'image/webp', data: 'iVBORw0KGgo=' },
        thoughtSignature: 'c2lnbmVk',
      },
      { text: 'Nice?' },
    ]
    const response = {
      responseId: 'r',
      modelVersion: 'm',
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    }
    const { open, receive, continueWith } = clientOf('responses')
    const received = await receive(through(response, { from: 'generate-content', to: 'responses' }))
    const next = continueWith(open({ model: 'm', ask: 'Draw it.' }), received, {
      runTool: () => '',
      ask: 'Redder.',
    })
    const { body } = translateRequest(next, { from: 'responses', to: 'generate-content' })
    expect(strictOf('generate-content').checkRequest(body)).toEqual([])
    expect(body).toMatchObject({
      contents: [{}, { role: 'model', parts }, { role: 'user', parts: [{ text: 'Redder.' }] }],
    })
  })

  test('keeps its signature in a response that is read and written again', async () => {
    const parts = [
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thoughtSignature: 'c2lnbmVk' },
    ]
    const response = {
      responseId: 'r',
      modelVersion: 'm',
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    }
    const reported = through(response, { from: 'generate-content', to: 'responses' })
    const first =
      'text' in reported
        ? (await collectStream([reported.text ?? ''], { protocol: 'responses' })).body
        : reported.body
    const { value } = responses.decodeResponse(first)
    const again = responses.encodeResponse(value).wire as { output: Record<string, unknown>[] }
    const streamed = (
      await collectStream([explodeResponse(first, { protocol: 'responses' })], {
        protocol: 'responses',
      })
    ).body as typeof again
    for (const { output } of [first as typeof again, again, streamed])
      expect(output).toMatchObject([
        { type: 'image_generation_call' },
        { type: 'reasoning', encrypted_content: expect.stringMatching(/^xs1\./) },
      ])
    expect(again).toEqual(first)
  })

  test('keeps its signature from another server of responses, with a note', async () => {
    const drawn = {
      id: 'ig_1',
      type: 'image_generation_call',
      status: 'completed',
      result: 'iVBORw0KGgo=',
    }
    const sealed = wrapSignature({
      signature: { value: 'c2lnbmVk', issuer: 'generate-content' },
      attach: 'prev',
    })
    const input = [
      drawn,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed },
      { role: 'user', content: 'Redder.' },
    ]
    const { body, notes } = translateRequest(
      { model: 'm', input, store: false },
      { from: 'responses', to: 'responses' },
    )
    expect(body).toMatchObject({ input: [drawn, { role: 'user' }] })
    expect(notes).toContainEqual(expect.objectContaining({ code: 'reasoning.foreign-signature' }))
  })

  test.each([
    [{ output_format: 'jpeg' }, 'image/jpeg'],
    [{ output_format: 'svg' }, 'image/svg+xml'],
    [{}, 'image/png'],
  ])(
    'by a tool of responses (%j) is content of a client of generate-content',
    async (format, mimeType) => {
      const drawn = {
        id: 'ig_1',
        type: 'image_generation_call',
        status: 'completed',
        result: 'iVBORw0KGgo=',
        ...format,
      }
      const response = {
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        status: 'completed',
        model: 'm',
        output: [drawn],
      }
      const reported = JSON.stringify(
        through(response, { from: 'responses', to: 'generate-content' }),
      )
      expect(reported).toContain('iVBORw0KGgo=')
      expect(reported.replaceAll('\\', '')).toContain(`"${mimeType}"`)
    },
  )

  test.each([
    ['image/webp', 'webp'],
    ['image/svg+xml', 'svg'],
  ])('as %s has a format of responses: %s', (mimeType, format) => {
    const content = { role: 'model', parts: [{ inlineData: { mimeType, data: 'iVBORw0KGgo=' } }] }
    const response = {
      responseId: 'r',
      modelVersion: 'm',
      candidates: [{ index: 0, content, finishReason: 'STOP' }],
    }
    const reported = JSON.stringify(
      through(response, { from: 'generate-content', to: 'responses' }),
    )
    expect(reported.replaceAll('\\', '')).toContain(`"output_format":"${format}"`)
  })
})

test.each([
  ['that failed', { status: 'failed', result: null }],
  ['whose result was shortened', { status: 'completed', result: 'iVBORw0K...gg==' }],
])('an image generation %s is no image', (_, more) => {
  const input = [
    { id: 'ig_1', type: 'image_generation_call', ...more },
    { role: 'user', content: 'hi' },
  ]
  const { body, notes } = translateRequest(
    { model: 'm', input },
    { from: 'responses', to: 'generate-content' },
  )
  expect(body).toMatchObject({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
  expect(notes).toContainEqual(
    expect.objectContaining({ code: 'server-tool.dropped', path: '/input/0' }),
  )
})

describe('an image of the model reaches the client', () => {
  const data = 'iVBORw0KGgo='
  const upstreams: Partial<Record<ProtocolName, object>> = {
    'chat-completions': {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: 'Here.',
            images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
          },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
    responses: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: [{ id: 'ig_1', type: 'image_generation_call', status: 'completed', result: data }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
    'generate-content': {
      responseId: 'r',
      modelVersion: 'm',
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] },
          finishReason: 'STOP',
        },
      ],
    },
    converse: {
      output: {
        message: {
          role: 'assistant',
          content: [{ image: { format: 'png', source: { bytes: data } } }],
        },
      },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
  }
  // Responses of messages have no images.
  const names = Object.keys(upstreams) as ProtocolName[]

  test.each(names.flatMap(from => names.filter(to => to !== from).map(to => [from, to] as const)))(
    'from %s to %s, whole and streamed',
    (from, to) => {
      const response = upstreams[from]
      const whole = translateResponse(response, { from, to })
      expect(JSON.stringify(whole.body)).toContain(data)
      expect(strictOf(to).checkResponse(whole.body)).toEqual([])
      const translator = createStreamTranslator({ from, to })
      const stream =
        translator.push(explodeResponse(response, { protocol: from })) + translator.end()
      expect(stream).toContain(data)
    },
  )

  test('of chat-completions in a list with numbers', () => {
    const inlineData = { mimeType: 'image/png', data }
    const parts = [{ inlineData }, { text: 'Nice?' }, { inlineData }]
    const response = {
      responseId: 'r',
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    }
    const way = { from: 'generate-content', to: 'chat-completions' } as const
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
    expect(translateResponse(response, way).body).toMatchObject({
      choices: [
        {
          message: {
            content: 'Nice?',
            images: [
              { ...image, index: 0 },
              { ...image, index: 1 },
            ],
          },
        },
      ],
    })
    const translator = createStreamTranslator(way)
    const stream =
      translator.push(explodeResponse(response, { protocol: way.from })) + translator.end()
    expect(stream.match(/"images":\[.*?\]/g)).toEqual([
      `"images":[${JSON.stringify({ ...image, index: 0 })}]`,
      `"images":[${JSON.stringify({ ...image, index: 1 })}]`,
    ])
  })
})
