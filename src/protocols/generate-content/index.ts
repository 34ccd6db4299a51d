import { statusError } from '../../kit/errors/serializers.generated.ts'
import { keepingSource } from '../../kit/fields/source.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { protocolName } from './content/own.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './errors.ts'
import { notes } from './notes.ts'
import { type GeminiOptions, options } from './options.ts'
import { demands } from './request/demands.ts'
import { fieldNames } from './request/field-names.ts'
import { fitRequest } from './request/fitting.ts'
import { decodeRequest, encodeRequest } from './request/request.ts'
import { within } from './request/wrapper.ts'
import { decodeResponse, encodeResponse, outcome } from './response/response.ts'
import type { GeminiWire } from './schema.ts'
import { streamDecoder } from './stream/decoder.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames } from './stream/frames.ts'
import { shortcut } from './stream/shortcut.ts'

export type { GeminiLevel, GeminiOptions } from './options.ts'

/** POST /v1beta/models/{model}:generateContent and :streamGenerateContent. */
export const generateContent: Protocol<GeminiOptions, GeminiWire> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address,
  notes,
  optionsKey: 'generateContent',
  options,
  fieldNames,
  detect,
  withModel,
  // Only the path shows whether to stream.
  wantsStream: () => undefined,
  demands,
  fitRequest,
  ...keepingSource<GeminiOptions, GeminiWire>(protocolName, { decodeRequest, encodeRequest, decodeResponse, encodeResponse, withModel }),
  outcome,
  decodeError,
  encodeError,
  errorJson: statusError,
  streamDecoder,
  streamEncoder,
  streamParts: () => 'sequential',
  frames,
  shortcut,
}

/** Sets the model: in a reply always, in a request only if its body has one, because the path names it. */
function withModel(wire: unknown, model: string): unknown {
  return within(wire, body => {
    const version = 'model_version' in body ? 'model_version' : 'modelVersion'
    if (version in body || 'candidates' in body) return { ...body, [version]: model }
    const named = body['model']
    return typeof named === 'string' ? { ...body, model: named.startsWith('models/') ? `models/${model}` : model } : body
  })
}
