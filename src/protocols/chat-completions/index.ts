import { isObject } from '../../kit/json.ts'
import { openaiError } from '../../kit/serializers.generated.ts'
import { keepingSource } from '../../kit/source.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { remembered } from './calls.ts'
import { detect } from './detect.ts'
import { controlNames } from './effort.ts'
import { decodeError, encodeError } from './error.ts'
import { fieldNames, olderNames } from './field-names.ts'
import { frames } from './frames.ts'
import { notes } from './notes.ts'
import { type ChatCompletionsOptions, options } from './options.ts'
import { protocolName } from './own.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, outcome } from './response.ts'
import { shortcut } from './shortcut.ts'
import { proofKeys } from './stored-proofs.ts'
import { streamDecoder } from './stream-decoder.ts'
import { streamEncoder } from './stream-encoder.ts'
import { streamUsage } from './stream-usage.ts'

export type { ChatCompletionsOptions } from './options.ts'

/** The protocol of `POST /v1/chat/completions`, which many servers have copied. */
export const chatCompletions: Protocol<ChatCompletionsOptions> = {
  name: protocolName,
  address,
  notes,
  options,
  fieldNames,
  olderNames: { ...olderNames, ...controlNames },
  detect,
  // An error body has no `model`.
  withModel: (wire, model) => (isObject(wire) && ('model' in wire || wire['error'] == null) ? { ...wire, model } : wire),
  wantsStream: wire => isObject(wire) && wire['stream'] === true,
  streamUsage,
  keptProofs: { keysOf: proofKeys, reading: proof => ({ ccStored: proof }), writing: { ccSignature: 'store' } },
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
