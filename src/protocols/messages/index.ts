import { isObject } from '../../kit/json.ts'
import { messagesError } from '../../kit/serializers.generated.ts'
import { keepingSource } from '../../kit/source.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './error.ts'
import { fieldNames } from './field-names.ts'
import { frames } from './frames.ts'
import { notes } from './notes.ts'
import { type MessagesOptions, options } from './options.ts'
import { protocolName } from './own.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, outcome } from './response.ts'
import { shortcut } from './shortcut.ts'
import { streamDecoder } from './stream-decoder.ts'
import { streamEncoder } from './stream-encoder.ts'

export type { MessagesOptions } from './options.ts'

/** POST /v1/messages. */
export const messages: Protocol<MessagesOptions> = {
  name: protocolName,
  address,
  notes,
  options,
  fieldNames,
  olderNames: { 'output.format': ['output_format'] },
  detect,
  withModel,
  wantsStream: wire => (isObject(wire) && typeof wire['stream'] === 'boolean' ? wire['stream'] : undefined),
  outputLimit: { demanded: { requireMaxTokens: true }, usual: tokens => ({ defaultMaxTokens: tokens }) },
  ...keepingSource(protocolName, { decodeRequest, encodeRequest, decodeResponse, encodeResponse }),
  outcome,
  decodeError,
  encodeError,
  errorJson: messagesError,
  streamDecoder,
  streamEncoder,
  frames,
  shortcut,
}

function withModel(wire: unknown, model: string): unknown {
  if (!isObject(wire)) return wire
  const { type, message } = wire
  if (type === 'message_start' && isObject(message)) return { ...wire, message: { ...message, model } }
  return 'messages' in wire || type === 'message' || 'model' in wire ? { ...wire, model } : wire
}
