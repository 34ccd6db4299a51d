import { isObject } from '../../kit/json.ts'
import { openaiError } from '../../kit/serializers.generated.ts'
import { keepingSource } from '../../kit/source.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { detect } from './detect.ts'
import { remembered } from './echo.ts'
import { decodeError, encodeError } from './error.ts'
import { fieldNames } from './field-names.ts'
import { frames } from './frames.ts'
import { notes } from './notes.ts'
import { options, type ResponsesOptions } from './options.ts'
import { protocolName } from './own.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, outcome } from './response.ts'
import { shortcut } from './shortcut.ts'
import { streamDecoder } from './stream-decoder.ts'
import { streamEncoder } from './stream-encoder.ts'

export type { ResponsesOptions } from './options.ts'

/** `POST /v1/responses`, of OpenAI and of Open Responses. */
export const responses: Protocol<ResponsesOptions> = {
  name: protocolName,
  address,
  notes: notes,
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
  ...keepingSource(protocolName, { decodeRequest, encodeRequest, decodeResponse, encodeResponse }),
  remembered,
  outcome,
  decodeError,
  encodeError,
  errorJson: openaiError,
  streamDecoder,
  streamEncoder,
  frames,
  shortcut,
}
