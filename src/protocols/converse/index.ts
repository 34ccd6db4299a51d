import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { converse as client } from './client.ts'
import type { ConverseOptions } from './options.ts'
import { notes, protocolName } from './own.ts'
import { outcome } from './response/response.ts'
import { converse as upstream } from './upstream.ts'
import type { ConverseWire } from './written.ts'

export type { ConverseOptions } from './options.ts'
export type { ConverseFamily } from './vocabulary.ts'

/** POST /model/{modelId}/converse and /converse-stream, of Amazon Bedrock. */
export const converse: Protocol<ConverseOptions, ConverseWire> & {
  readonly name: typeof protocolName
} = {
  ...client,
  ...upstream,
  address,
  notes,
  withModel,
  // Only the path shows whether to stream.
  wantsStream: () => undefined,
  ...keepingSource<ConverseOptions, ConverseWire>(protocolName, {
    ...client,
    ...upstream,
    withModel,
  }),
  agentDefaults: { autoCache: true },
  outcome,
}

/** Sets the model in a body that has one: the input of an SDK. In others only the path names it. */
function withModel(wire: unknown, model: string): unknown {
  return isObject(wire) && typeof wire['modelId'] === 'string' ? { ...wire, modelId: model } : wire
}
