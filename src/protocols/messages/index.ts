import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { messages as client } from './client.ts'
import type { MessagesOptions } from './options.ts'
import { notes, protocolName } from './own.ts'
import { outcome } from './response/response.ts'
import { messages as upstream } from './upstream.ts'
import type { MessagesWire } from './written.ts'

export type { MessagesOptions } from './options.ts'

/** POST /v1/messages. */
export const messages: Protocol<MessagesOptions, MessagesWire> & {
  readonly name: typeof protocolName
} = {
  ...client,
  ...upstream,
  address,
  notes,
  withModel,
  wantsStream: wire =>
    isObject(wire) && typeof wire['stream'] === 'boolean' ? wire['stream'] : undefined,
  outputLimit: {
    demanded: { requireMaxTokens: true },
    defaults: tokens => ({ defaultMaxTokens: tokens }),
  },
  // Other protocols cache by themselves, so their agents set no marks.
  agentDefaults: { autoCache: true },
  ...keepingSource<MessagesOptions, MessagesWire>(protocolName, { ...client, ...upstream }),
  outcome,
}

function withModel(wire: unknown, model: string): unknown {
  if (!isObject(wire)) return wire
  const { type, message } = wire
  if (type === 'message_start' && isObject(message))
    return { ...wire, message: { ...message, model } }
  return 'messages' in wire || type === 'message' || 'model' in wire ? { ...wire, model } : wire
}
