import type { ReasoningSpec } from '../../canonical/request.ts'
import { some, someOf } from '../../kit/defined.ts'
import { encodeEffort } from '../../kit/effort.ts'
import type { JsonObject } from '../../kit/json.ts'
import { keysOf, unknownOf } from '../../kit/keys.ts'
import type { ResponsesReasoningConfig, ResponsesRequest } from './schema.ts'
import type { Reading } from './settings.ts'
import type { Writing } from './writing.ts'

const known = keysOf<ResponsesReasoningConfig>()('effort', 'summary', 'generate_summary', 'context', 'mode')

export function decodeReasoningSpec(wire: ResponsesRequest['reasoning'], { fields, places, report }: Reading): ReasoningSpec | undefined {
  if (!wire) return undefined
  const { summary, generate_summary: older } = wire
  if (older != null && summary == null) {
    report.add('reasoning.older-summary', '/reasoning/generate_summary')
    places['reasoning.summary'] = 'reasoning/generate_summary'
  }
  const left = some({ ...unknownOf(wire, known), generate_summary: summary == null ? undefined : (older ?? undefined) })
  if (left) fields['reasoning'] = left
  return someOf({ effort: wire.effort, summary: summary ?? older, context: wire.context, execution: wire.mode })
}

export function encodeReasoningSpec(spec: ReasoningSpec | undefined, { report, native }: Writing): JsonObject | undefined {
  if (!spec) return undefined
  const { effort, budgetTokens, mode, summary, display, context, execution, ...rest } = spec
  report.rest(rest, '', 'reasoning.')
  const shown = summary === 'none' && !native ? undefined : (summary ?? encodeDisplay(spec, report))
  return some({
    effort: encodeEffort({ effort, budgetTokens, mode }, report),
    summary: shown,
    context,
    mode: execution,
  })
}

function encodeDisplay({ display, mode, budgetTokens }: ReasoningSpec, report: Writing['report']): string | undefined {
  // Reasoning with a budget is shown unless the request says otherwise.
  if (mode === 'enabled' && display === undefined && budgetTokens !== 0) {
    report.add('reasoning.shown', '', 'reasoning.mode')
    return 'auto'
  }
  if (display !== undefined && display !== 'summarized' && display !== 'omitted') report.add('field.unsupported', '', 'reasoning.display')
  if (display !== 'summarized') return undefined
  report.add('reasoning.display-as-summary', '', 'reasoning.display')
  return 'auto'
}
