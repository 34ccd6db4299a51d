import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { chatCompletions as client } from './client.ts'
import { storedSignatureKeys } from './content/stored-signatures.ts'
import { notes } from './notes.ts'
import type { ChatCompletionsOptions } from './options.ts'
import { protocolName } from './own.ts'
import { outcome } from './response/response.ts'
import type { ChatCompletionsWire } from './schema.ts'
import { streamUsage } from './stream/usage.ts'
import { chatCompletions as upstream } from './upstream.ts'

export type { ChatCompletionsOptions } from './options.ts'

/** The protocol of `POST /v1/chat/completions`, which many servers have copied. */
export const chatCompletions: Protocol<ChatCompletionsOptions, ChatCompletionsWire> & {
  readonly name: typeof protocolName
} = {
  ...client,
  ...upstream,
  address,
  notes,
  // An error body has no `model`.
  withModel: (wire, model) =>
    isObject(wire) && ('model' in wire || wire['error'] == null) ? { ...wire, model } : wire,
  wantsStream: wire => isObject(wire) && wire['stream'] === true,
  streamUsage,
  signatureStorage: {
    keysOf: storedSignatureKeys,
    reading: signatureOf => ({ storedSignatures: signatureOf }),
    writing: { signatures: 'store' },
  },
  ...keepingSource<ChatCompletionsOptions, ChatCompletionsWire>(protocolName, {
    ...client,
    ...upstream,
  }),
  outcome,
}
