import { nestedError } from '../../kit/errors/serializers.generated.ts'
import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { protocolName } from './content/own.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './errors.ts'
import { notes } from './notes.ts'
import { options, type ResponsesOptions } from './options.ts'
import { demands } from './request/demands.ts'
import { fieldNames } from './request/field-names.ts'
import { fitRequest, toolTypes } from './request/fitting.ts'
import { decodeRequest, encodeRequest } from './request/request.ts'
import { remembered } from './response/echo.ts'
import { decodeResponse, encodeResponse, outcome } from './response/response.ts'
import type { ResponsesWire } from './schema.ts'
import { streamDecoder } from './stream/decoder.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames } from './stream/frames.ts'
import { shortcut } from './stream/shortcut.ts'

export type { ResponsesOptions } from './options.ts'

/** `POST /v1/responses`, of OpenAI and of Open Responses. */
export const responses: Protocol<ResponsesOptions, ResponsesWire> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address,
  notes: notes,
  optionsKey: 'responses',
  options,
  fieldNames,
  detect,
  withModel(wire, model) {
    if (!isObject(wire)) return wire
    const { response } = wire
    if (isObject(response) && typeof wire['type'] === 'string') return { ...wire, response: { ...response, model } }
    if (!('model' in wire) && (typeof wire['type'] === 'string' || wire['error'] != null)) return wire
    return { ...wire, model }
  },
  wantsStream(wire) {
    const stream = isObject(wire) ? wire['stream'] : undefined
    return typeof stream === 'boolean' ? stream : undefined
  },
  demands,
  toolTypes,
  fitRequest,
  ...keepingSource<ResponsesOptions, ResponsesWire>(protocolName, { decodeRequest, encodeRequest, decodeResponse, encodeResponse }),
  remembered,
  outcome,
  decodeError,
  encodeError,
  errorJson: nestedError,
  streamDecoder,
  streamEncoder,
  streamParts: ({ sequential }) => (sequential ? 'sequential' : 'any'),
  oneCandidate: true,
  frames,
  shortcut,
}
