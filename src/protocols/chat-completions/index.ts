import { nestedError } from '../../kit/errors/serializers.generated.ts'
import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { remembered } from './content/calls.ts'
import { protocolName } from './content/own.ts'
import { proofKeys } from './content/stored-proofs.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './errors.ts'
import { notes } from './notes.ts'
import { type ChatCompletionsOptions, options } from './options.ts'
import { demands } from './request/demands.ts'
import { controlNames } from './request/effort.ts'
import { fieldNames, olderNames } from './request/field-names.ts'
import { fitRequest } from './request/fitting.ts'
import { decodeRequest, encodeRequest } from './request/request.ts'
import { decodeResponse, encodeResponse, outcome } from './response/response.ts'
import type { ChatWire } from './schema.ts'
import { streamDecoder } from './stream/decoder.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames } from './stream/frames.ts'
import { shortcut } from './stream/shortcut.ts'
import { streamUsage } from './stream/usage.ts'

export type { ChatCompletionsOptions } from './options.ts'

/** The protocol of `POST /v1/chat/completions`, which many servers have copied. */
export const chatCompletions: Protocol<ChatCompletionsOptions, ChatWire> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address,
  notes,
  optionsKey: 'chatCompletions',
  options,
  fieldNames,
  olderNames: { ...olderNames, ...controlNames },
  detect,
  // An error body has no `model`.
  withModel: (wire, model) => (isObject(wire) && ('model' in wire || wire['error'] == null) ? { ...wire, model } : wire),
  wantsStream: wire => isObject(wire) && wire['stream'] === true,
  fitRequest,
  streamUsage,
  keptProofs: { keysOf: proofKeys, reading: proof => ({ storedSignatures: proof }), writing: { signatures: 'store' } },
  demands,
  ...keepingSource<ChatCompletionsOptions, ChatWire>(protocolName, { decodeRequest, encodeRequest, decodeResponse, encodeResponse }),
  remembered,
  outcome,
  decodeError,
  encodeError,
  errorJson: nestedError,
  streamDecoder,
  streamEncoder,
  streamParts: () => 'one-per-kind',
  takesLateSignatures: true,
  frames,
  shortcut,
}
