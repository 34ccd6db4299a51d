import * as api from '../../src/index.ts'

// The functions of the root for bodies of any type, and with results of no known type: what tests
// give may be wrong on purpose.

type Translated<Result> = Omit<Result, 'body'> & { body: unknown }

export const translateRequest: (
  body: unknown,
  options: Parameters<typeof api.translateRequest>[1],
) => Translated<ReturnType<typeof api.translateRequest>> = api.translateRequest
export const translateResponse: (
  body: unknown,
  options: api.TranslateOptions,
) => Translated<api.TranslatedResponse> = api.translateResponse
export const translateError: (
  error: { status: number; headers?: Record<string, string>; body: unknown },
  options: api.TranslateOptions,
) => Translated<ReturnType<typeof api.translateError>> = api.translateError
export const collectStream: (
  source: api.ByteStream,
  options: api.OneProtocol,
) => Promise<{ body: unknown; notes: api.Note[] }> = api.collectStream
export const explodeResponse: (body: unknown, options: api.OneProtocol) => string =
  api.explodeResponse
export const normalizeResponse: (body: unknown, options: api.OneProtocol) => api.CanonicalResponse =
  api.normalizeResponse
export const referencesOf: (body: unknown, options: api.OneProtocol) => api.Reference[] =
  api.referencesOf
export const historyOf: (
  request: unknown,
  response: unknown,
  options: Parameters<typeof api.historyOf>[2],
) => api.History = api.historyOf
