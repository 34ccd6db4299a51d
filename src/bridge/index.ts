/**
 * Makes weak models usable by clients that assume strong ones.
 * @module wireglot/bridge
 */
import type { Capabilities } from '../models/capabilities.ts'
import type { ProtocolName } from '../protocols/index.ts'
import type { Bridge } from '../translate/bridge.ts'
import type { VendorName } from '../vendors/index.ts'
import { bridgeFor } from './bridge.ts'
import { capabilitiesOf } from './capabilities.ts'

export type { Capabilities } from '../models/capabilities.ts'
export type { Modality } from '../models/model.ts'
export type { Bridge, BridgedEvents, BridgedRequest } from '../translate/bridge.ts'

/** What a bridge is for. */
export type BridgeOptions = {
  /** The vendor or server that runs the model. Absent: only what is known of the model counts. */
  vendor?: VendorName
  /** The protocol that is spoken with it. Absent: facts about each of its protocols count. */
  protocol?: ProtocolName
  /** What you know of the model and its server. Takes precedence over what wireglot knows. */
  capabilities?: Capabilities
}

/**
 * A bridge for the option `bridge` of the pure functions. Pass the same to the translation of the
 * request and to that of its response. The model is that of the request.
 * @example
 * import { translateRequest, translateResponse } from 'wireglot'
 * import { createBridge } from 'wireglot/bridge'
 *
 * const bridge = createBridge({ capabilities: { leaksToolCalls: true } })
 * const tools = [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }] as const
 * const request = { model: 'm', messages: [{ role: 'user', content: 'What time is it?' }], tools } as const
 * const pair = { from: 'chat-completions', to: 'chat-completions', bridge } as const
 * const { context } = translateRequest(request, pair)
 * const message = { role: 'assistant', content: '<tool_call>{"name": "now", "arguments": {}}</tool_call>' } as const
 * const response = { choices: [{ index: 0, message, finish_reason: 'stop' }] } as const
 * const { body, notes } = translateResponse(response, { ...pair, context })
 * console.log(body.choices[0]?.message.tool_calls?.length, notes[0]?.kind) // 1 emulated
 */
export function createBridge({ vendor, protocol, capabilities }: BridgeOptions = {}): Bridge {
  return bridgeFor(model => capabilitiesOf({ vendor, protocol, model, own: capabilities }))
}
