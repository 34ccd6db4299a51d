import type { Tool } from '../canonical/tool.ts'
import { isObject } from '../kit/json/json.ts'
import type { Capabilities } from '../models/capabilities.ts'
import type { Bridge } from '../translate/bridge.ts'
import type { Tools } from './leaks/calls.ts'
import { passesLeaks, startLeaks, stepLeaks } from './leaks/events.ts'
import { recoverCalls } from './leaks/response.ts'
import { withPlaceholders } from './media.ts'
import { bridgeReport } from './notes.ts'
import { startOutput, stepOutput, withJsonAlone, withPromptedOutput } from './prompted-output.ts'
import { withPromptedTools } from './prompted-tools.ts'

/** Of a request, for its response. Plain JSON. */
type Memory = { tools?: Tools['schemas']; json?: true }

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
      return isJson(memory) ? withJsonAlone(called, report) : called
    },
    events(memory) {
      const state = startLeaks()
      const tools = toolsOf(memory)
      const report = bridgeReport([])
      if (!isJson(memory))
        return {
          notes: report.notes,
          step: (event, emit) => stepLeaks(state, event, { tools, report, emit }),
          passes: delta => passesLeaks(state, delta),
        }
      const output = startOutput()
      return {
        notes: report.notes,
        step: (event, emit) =>
          stepLeaks(state, event, {
            tools,
            report,
            emit: one => stepOutput(output, one, report, emit),
          }),
        passes: () => false,
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

const isJson = (memory: unknown): boolean => isObject(memory) && memory['json'] === true

function toolsOf(memory: unknown): Tools {
  const tools = isObject(memory) && isObject(memory['tools']) ? memory['tools'] : {}
  return { names: Object.keys(tools), schemas: tools as Tools['schemas'] }
}
