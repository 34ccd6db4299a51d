import { describe, expect, test } from 'vitest'
import { withoutWire } from '../../../src/kit/fields/source.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'

type Body = Record<string, unknown>

const user = (...parts: Body[]) => ({ role: 'user', parts })
const model = (...parts: Body[]) => ({ role: 'model', parts })
const anew = (body: Body, options = {}) =>
  generateContent.encodeRequest(
    withoutWire(generateContent.decodeRequest(body, options).value),
    options,
  )
const responded = (body: Body, options = {}) =>
  generateContent.encodeResponse(
    withoutWire(generateContent.decodeResponse(body, options).value),
    options,
  )

describe('a request written without its original', () => {
  const contents = [user({ text: 'x' })]

  test.each<[what: string, body: Body, written: Body]>([
    [
      'to count its tokens',
      { generateContentRequest: { model: 'models/m', contents } },
      { generateContentRequest: { model: 'models/m', contents } },
    ],
    ['with its model', { model: 'm', contents }, { model: 'models/m', contents }],
    [
      'in camelCase',
      { contents, generation_config: { top_k: 3 } },
      { contents, generationConfig: { topK: 3 } },
    ],
    [
      'without what says nothing',
      {
        contents: [{ parts: [{ text: 'x', thought: false }], role: null }],
        tools: null,
        toolConfig: {},
      },
      { contents },
    ],
    [
      'without ids that it did not have',
      {
        contents: [
          model({ functionCall: { name: 'f' } }),
          user({ functionResponse: { name: 'f', response: { ok: 1 } } }),
        ],
      },
      {
        contents: [
          model({
            functionCall: { name: 'f', args: {} },
            thoughtSignature: 'skip_thought_signature_validator',
          }),
          user({ functionResponse: { name: 'f', response: { ok: 1 } } }),
        ],
      },
    ],
    [
      'with each result of a call',
      {
        contents: [
          model({ functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'QQ==' }),
          user({
            functionResponse: {
              id: 'a',
              name: 'f',
              willContinue: true,
              response: { output: 'one' },
            },
          }),
          user({ functionResponse: { id: 'a', name: 'f', response: { output: 'two' } } }),
        ],
      },
      {
        contents: [
          model({ functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'QQ==' }),
          user({
            functionResponse: {
              id: 'a',
              name: 'f',
              willContinue: true,
              response: { output: 'one' },
            },
          }),
          user({ functionResponse: { id: 'a', name: 'f', response: { output: 'two' } } }),
        ],
      },
    ],
  ])('%s', (_, body, written) => {
    expect(anew(body)).toMatchObject({ wire: written, notes: [] })
    expect(anew(body).wire).toEqual(written)
  })

  test('has its model in the path', () => {
    const path = '/v1beta/models/m:generateContent'
    expect(anew({ contents }, { path })).toMatchObject({ wire: { contents }, context: { path } })
    expect(anew({ contents }, { path }).wire).toEqual({ contents })
  })
})

describe('an edited request', () => {
  test('gets its new model in the same field', () => {
    const body = {
      model: 'models/a',
      contents: [user({ text: 'x' })],
      generation_config: { top_k: 3 },
    }
    const { value } = generateContent.decodeRequest(body)
    expect(generateContent.encodeRequest({ ...value, model: 'b' }).wire).toEqual({
      ...body,
      model: 'models/b',
    })
  })

  test('keeps a response in the frames of a stream when a message is added', () => {
    const contents = [user({ text: 'x' }), model({ text: 'He' }), model({ text: 'llo' })]
    const { value } = generateContent.decodeRequest({ contents })
    value.messages.push({
      role: 'user',
      origin: 'message',
      parts: [{ type: 'text', text: 'more' }],
    })
    expect(generateContent.encodeRequest(value).wire).toEqual({
      contents: [...contents, user({ text: 'more' })],
    })
  })
})

describe('a response written without its original', () => {
  const response = (candidate: Body) => ({
    candidates: [{ index: 0, content: model({ text: 'x' }), finishReason: 'STOP', ...candidate }],
    modelVersion: 'm',
  })
  const web = (uri: string, more = {}) => ({ web: { uri, title: 't', ...more } })
  const segment = { endIndex: 1, text: 'x' }

  test.each<[what: string, body: Body]>([
    ['without an end', { candidates: [{ index: 0, content: model({ text: 'x' }) }] }],
    ['without content', { candidates: [{ index: 0, finishReason: 'SAFETY' }] }],
    [
      'with a total that is no sum',
      {
        ...response({}),
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 5 },
      },
    ],
    [
      'with its logprobs and their unknown keys',
      response({
        logprobsResult: {
          chosenCandidates: [{ token: 'x', logProbability: -1, tokenId: 3 }],
          topCandidates: [{ candidates: [{ token: 'y', logProbability: -2, tokenId: 4 }], odd: 1 }],
          logProbabilitySum: -1,
        },
      }),
    ],
    [
      'with uncited sources',
      response({
        groundingMetadata: {
          webSearchQueries: ['q'],
          groundingChunks: [web('u', { domain: 'd' }), web('v')],
          groundingSupports: [{ segment, groundingChunkIndices: [0], confidenceScores: [0.5] }],
        },
      }),
    ],
  ])('%s', (_, body) => {
    const { wire, notes } = responded(body)
    expect(wire).toEqual(body)
    expect(notes).toEqual([])
  })

  test('drops fields of removed citations with a note', () => {
    const groundingSupports = [{ segment, groundingChunkIndices: [0], confidenceScores: [0.5] }]
    const body = response({
      groundingMetadata: {
        webSearchQueries: ['q'],
        groundingChunks: [web('u'), web('v')],
        groundingSupports,
      },
    })
    const { value } = generateContent.decodeResponse(body)
    for (const { messages } of value.candidates)
      for (const part of messages[0]?.parts ?? []) if (part.type === 'text') delete part.citations
    const { wire, notes } = generateContent.encodeResponse(withoutWire(value))
    expect(wire).toEqual(response({ groundingMetadata: { webSearchQueries: ['q'] } }))
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'field.unknown /candidates/0/groundingMetadata/groundingChunks',
      'field.unknown /candidates/0/groundingMetadata/groundingSupports',
    ])
  })
})
