import type { CanonicalRequest, ReasoningSpec } from '../../canonical/request.ts'
import { defined, some } from '../../kit/defined.ts'
import { encodeEffort } from '../../kit/effort.ts'
import type { JsonObject } from '../../kit/json.ts'
import { nulls, ownForm, ownUnder } from './own.ts'
import type { ResponsesRequest } from './schema.ts'
import type { Reading } from './settings.ts'
import type { Writing } from './writing.ts'

export function decodeReasoningSpec(wire: ResponsesRequest['reasoning'], { fields, nothing, form, places, report }: Reading): ReasoningSpec | undefined {
  if (!wire) return undefined
  const { effort, summary, generate_summary: older, context, mode, ...rest } = wire
  const renamed = older != null && summary == null
  if (renamed) report.add('reasoning.older-summary', '/reasoning/generate_summary')
  const left = older != null && !renamed ? { ...rest, generate_summary: older } : rest
  if (Object.keys(left).length > 0) fields['reasoning'] = left
  nothing['reasoning'] = nulls(wire)
  if (renamed) {
    form['olderSummary'] = older
    places['reasoning.summary'] = 'reasoning/generate_summary'
  }
  const spec = defined({ effort: effort ?? undefined, summary: summary ?? older ?? undefined, context: context ?? undefined, execution: mode ?? undefined })
  return Object.keys(spec).length > 0 ? spec : undefined
}

export function encodeReasoningSpec(spec: ReasoningSpec | undefined, request: CanonicalRequest, { report }: Writing): JsonObject | undefined {
  if (!spec) return undefined
  const { effort, budgetTokens, mode, summary, display, context, execution, ...rest } = spec
  report.rest(rest, '', 'reasoning.')
  const shown = summary === 'none' && !ownUnder(request.ext, 'reasoning') ? undefined : (summary ?? encodeDisplay(spec, report))
  const older = ownForm(request.ext)?.['olderSummary']
  return some({
    effort: encodeEffort({ effort, budgetTokens, mode }, report),
    [older !== undefined && shown === older ? 'generate_summary' : 'summary']: shown,
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
