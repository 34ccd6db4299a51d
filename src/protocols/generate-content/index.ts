import { isObject } from '../../kit/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './error.ts'
import { frames } from './frames.ts'
import { fieldNames, notes } from './notes.ts'
import { type GeminiOptions, options } from './options.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse } from './response.ts'
import { shortcut } from './shortcut.ts'
import { streamDecoder } from './stream-decoder.ts'
import { streamEncoder } from './stream-encoder.ts'
import { name } from './vocabulary.ts'

export type { GeminiOptions } from './options.ts'

/** POST /v1beta/models/{model}:generateContent and :streamGenerateContent. */
export const generateContent: Protocol<GeminiOptions> = {
  name,
  address,
  notes,
  options,
  fieldNames,
  detect,
  withModel,
  // The path says it.
  wantsStream: () => undefined,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  decodeError,
  encodeError,
  streamDecoder,
  streamEncoder,
  frames,
  shortcut,
}

/** Requests name their model in the path, and need not do so in the body. */
function withModel(wire: unknown, model: string): unknown {
  if (!isObject(wire)) return wire
  // What is to be counted stands one level deeper, and with some hosts all does.
  const counted = wire['generateContentRequest']
  if (isObject(counted)) return { ...wire, generateContentRequest: withModel(counted, model) }
  if (isObject(wire['request']) && 'contents' in wire['request']) return typeof wire['model'] === 'string' ? { ...wire, model } : wire
  if (isObject(wire['response']) && 'candidates' in wire['response']) return { ...wire, response: withModel(wire['response'], model) }
  if ('contents' in wire) return typeof wire['model'] === 'string' ? { ...wire, model: wire['model'].startsWith('models/') ? `models/${model}` : model } : wire
  return 'modelVersion' in wire || 'candidates' in wire ? { ...wire, modelVersion: model } : wire
}
