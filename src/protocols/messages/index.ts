import { messagesError } from '../../kit/errors/serializers.generated.ts'
import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { protocolName } from './content/own.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './errors.ts'
import { notes } from './notes.ts'
import { type MessagesOptions, options } from './options.ts'
import { demands } from './request/demands.ts'
import { fieldNames } from './request/field-names.ts'
import { fitRequest } from './request/fitting.ts'
import { decodeRequest, encodeRequest } from './request/request.ts'
import { decodeResponse, encodeResponse, outcome } from './response/response.ts'
import type { MessagesWire } from './schema.ts'
import { streamDecoder } from './stream/decoder.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames } from './stream/frames.ts'
import { shortcut } from './stream/shortcut.ts'

export type { MessagesOptions } from './options.ts'

/** POST /v1/messages. */
export const messages: Protocol<MessagesOptions, MessagesWire> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address,
  notes,
  optionsKey: 'messages',
  options,
  fieldNames,
  olderNames: { 'output.format': ['output_format'] },
  detect,
  withModel,
  wantsStream: wire => (isObject(wire) && typeof wire['stream'] === 'boolean' ? wire['stream'] : undefined),
  fitRequest,
  outputLimit: { demanded: { requireMaxTokens: true }, usual: tokens => ({ defaultMaxTokens: tokens }) },
  demands,
  ...keepingSource<MessagesOptions, MessagesWire>(protocolName, { decodeRequest, encodeRequest, decodeResponse, encodeResponse }),
  outcome,
  decodeError,
  encodeError,
  errorJson: messagesError,
  streamDecoder,
  streamEncoder,
  streamParts: () => 'sequential',
  oneCandidate: true,
  takesLateSignatures: true,
  frames,
  shortcut,
}

function withModel(wire: unknown, model: string): unknown {
  if (!isObject(wire)) return wire
  const { type, message } = wire
  if (type === 'message_start' && isObject(message)) return { ...wire, message: { ...message, model } }
  return 'messages' in wire || type === 'message' || 'model' in wire ? { ...wire, model } : wire
}
