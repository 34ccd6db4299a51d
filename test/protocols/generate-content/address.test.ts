import { describe, expect, test } from 'vitest'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'

const { address, detect, withModel } = generateContent
const none = new URLSearchParams()

describe('the path has the model and the operation', () => {
  test.each<[path: string, wanted: object | undefined]>([
    [
      '/v1beta/models/gemini-3-pro:generateContent',
      { operation: 'generate', model: 'gemini-3-pro', stream: false },
    ],
    [
      '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
      { operation: 'generate', model: 'gemini-3-pro', stream: true },
    ],
    [
      '/v1beta/models/gemini-3-pro:streamGenerateContent',
      { operation: 'generate', model: 'gemini-3-pro', stream: true },
    ],
    ['/v1/models/m:generateContent', { operation: 'generate', model: 'm', stream: false }],
    ['/v1alpha/models/m:generateContent', { operation: 'generate', model: 'm', stream: false }],
    ['/v1beta/models/m:countTokens', { operation: 'count-tokens', model: 'm' }],
    [
      '/v1beta/tunedModels/mine:generateContent',
      { operation: 'generate', model: 'tunedModels/mine', stream: false },
    ],
    [
      '/v1/projects/p/locations/us/publishers/google/models/m:generateContent',
      { operation: 'generate', model: 'm', stream: false },
    ],
    [
      '/v1beta/models/llama3:8b:generateContent',
      { operation: 'generate', model: 'llama3:8b', stream: false },
    ],
    [
      '/v1beta/models/vendor%2Fmodel:generateContent',
      { operation: 'generate', model: 'vendor/model', stream: false },
    ],
    [
      '/v1beta/models/m%3AstreamGenerateContent?alt=sse',
      { operation: 'generate', model: 'm', stream: true },
    ],
    [
      '/v1beta/models/llama3%3a8b%3agenerateContent',
      { operation: 'generate', model: 'llama3:8b', stream: false },
    ],
    ['/v1beta/models/m:embedContent', undefined],
    ['/v1beta/models/m', undefined],
    ['/v1beta/models', undefined],
    ['/models/m:generateContent', undefined],
    ['/v1/messages', undefined],
  ])('%s', (path, wanted) => {
    expect(address.match(path)).toEqual(wanted)
  })

  test.each<[model: string, stream: boolean, path: string]>([
    ['m', false, '/v1beta/models/m:generateContent'],
    ['m', true, '/v1beta/models/m:streamGenerateContent?alt=sse'],
    ['models/m', false, '/v1beta/models/m:generateContent'],
    ['tunedModels/mine', false, '/v1beta/tunedModels/mine:generateContent'],
    ['odd name?', false, '/v1beta/models/odd%20name%3F:generateContent'],
  ])('a call of %s, streamed: %s, goes to %s', (model, stream, path) => {
    expect(address.target({ operation: 'generate', model, stream })).toBe(path)
    expect(address.target({ operation: 'count-tokens', model, stream: false })).toBe(
      path.replace(/:\w+(\?.*)?$/, ':countTokens'),
    )
  })

  test('decodes the path that the encoder wrote', () => {
    const { wire, context } = generateContent.encodeRequest({
      model: 'm',
      messages: [],
      stream: { enabled: true },
    })
    expect(wire).not.toHaveProperty('model')
    expect(
      generateContent.decodeRequest(wire, { path: String(context?.path) }).value,
    ).toMatchObject({ model: 'm', stream: { enabled: true } })
  })

  test('prefers the model in the path over the one in the body', () => {
    const body = { model: 'models/from-body', contents: [] }
    expect(generateContent.decodeRequest(body).value.model).toBe('from-body')
    expect(
      generateContent.decodeRequest(body, { path: '/v1beta/models/requested:generateContent' })
        .value.model,
    ).toBe('requested')
    expect(withModel(body, 'other')).toEqual({ model: 'models/other', contents: [] })
    expect(withModel({ contents: [] }, 'other')).toEqual({ contents: [] })
    for (const key of ['generateContentRequest', 'generate_content_request'])
      expect(withModel({ model: 'models/a', [key]: body }, 'other')).toEqual({
        model: 'models/other',
        [key]: { model: 'models/other', contents: [] },
      })
    expect(withModel({ text: 'a' }, 'other')).toEqual({ text: 'a' })
  })
})

describe('keys and listings', () => {
  test('accepts a key in its own header, the query or the common header', () => {
    expect(address.keyPlaces).toEqual({ headers: ['x-goog-api-key'], query: ['key'] })
    expect(address.upstreamHeaders('k', { 'x-goog-api-client': 'c', cookie: 'x' })).toEqual({
      'x-goog-api-key': 'k',
      'x-goog-api-client': 'c',
    })
  })

  test('claims a listing by its path or its key', () => {
    expect(address.listingClaim('/v1beta/models', {}, none)).toBe(3)
    expect(address.listingClaim('/v1/models', {}, none)).toBe(0)
    expect(address.listingClaim('/v1/models', { 'x-goog-api-key': 'k' }, none)).toBe(3)
    expect(address.listingClaim('/v1/models/m', {}, new URLSearchParams('key=k'))).toBe(3)
    expect(address.list([{ id: 'm', contextTokens: 9 }])).toMatchObject({
      models: [{ name: 'models/m', displayName: 'm', inputTokenLimit: 9 }],
    })
    expect(address.listed?.(address.list([{ id: 'm' }, { id: 'tunedModels/mine' }]))).toEqual([
      'm',
      'tunedModels/mine',
    ])
    expect(address.listed?.({ error: {} })).toEqual([])
  })
})

describe('detection of a body', () => {
  test.each<[string, unknown, 'request' | 'response' | undefined]>([
    ['a request', { contents: [{ parts: [{ text: 'a' }] }] }, 'request'],
    ['a request in the other spelling', { contents: [], system_instruction: {} }, 'request'],
    ['a response', { candidates: [] }, 'response'],
    ['a refused prompt', { promptFeedback: { blockReason: 'SAFETY' } }, 'response'],
    ['something else', { messages: [] }, undefined],
    ['nothing', null, undefined],
  ])('%s', (_, body, kind) => {
    const signs = detect(body)
    expect((['request', 'response'] as const).filter(one => signs[one].length > 0)).toEqual(
      kind ? [kind] : [],
    )
  })
})
