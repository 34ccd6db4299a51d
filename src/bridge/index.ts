/**
 * Makes weak models usable by clients that assume strong ones.
 * @module wireglot/bridge
 */
import type { Tool } from '../canonical/tool.ts'
import { isObject } from '../kit/json/json.ts'
import type { Capabilities } from '../models/capabilities.ts'
import type { ProtocolName } from '../protocols/index.ts'
import type { Bridge } from '../translate/bridge.ts'
import type { VendorName } from '../vendors/index.ts'
import { capabilitiesOf } from './capabilities.ts'
import type { Tools } from './leaks/calls.ts'
import { passesLeaks, startLeaks, stepLeaks } from './leaks/events.ts'
import { recoverCalls } from './leaks/response.ts'
import { withPlaceholders } from './media.ts'
import { bridgeReport } from './notes.ts'
import { withJsonAlone, withPromptedOutput } from './prompted-output.ts'
import { withPromptedTools } from './prompted-tools.ts'

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

/** Of a request, for its response. Plain JSON. */
type Memory = { tools?: Tools['schemas']; json?: true }

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

/** A bridge for models whose capabilities are known from elsewhere. */
export function bridgeFor(capable: (model: string | undefined) => Capabilities): Bridge {
  return {
    request(request, fieldNames) {
      const { leaksToolCalls, input, tools: way, structuredOutput } = capable(request.model)
      const report = bridgeReport([], fieldNames)
      const tools = offered(request.tools ?? [])
      const hasTools = Object.keys(tools).length > 0 && request.toolChoice?.mode !== 'none'
      const readable = input ? withPlaceholders(request, input, report) : request
      const called = way === 'prompt' ? withPromptedTools(readable, report) : readable
      const given = structuredOutput === 'prompt' ? withPromptedOutput(called, report) : called
      const memory: Memory = {
        ...((leaksToolCalls || way === 'prompt') && hasTools && { tools }),
        ...(given !== called && { json: true }),
      }
      return {
        request: given,
        notes: report.notes,
        ...(Object.keys(memory).length > 0 && { memory }),
      }
    },
    response(response, memory, notes) {
      const report = bridgeReport(notes)
      const called = recoverCalls(response, toolsOf(memory), report)
      return isObject(memory) && memory['json'] ? withJsonAlone(called, report) : called
    },
    events(memory) {
      const state = startLeaks()
      const tools = toolsOf(memory)
      const report = bridgeReport([])
      return {
        notes: report.notes,
        step: (event, emit) => stepLeaks(state, event, { tools, report, emit }),
        passes: delta => passesLeaks(state, delta),
      }
    },
  }
}

/** The functions of a request, with what they take. */
function offered(tools: readonly Tool[]): Tools['schemas'] {
  return Object.fromEntries(
    tools.flatMap(tool => (tool.type === 'function' ? [[tool.name, tool.parameters ?? null]] : [])),
  )
}

function toolsOf(memory: unknown): Tools {
  const tools = isObject(memory) && isObject(memory['tools']) ? memory['tools'] : {}
  return { names: Object.keys(tools), schemas: tools as Tools['schemas'] }
}
