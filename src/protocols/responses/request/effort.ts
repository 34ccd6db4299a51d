import type { ReasoningSpec } from '../../../canonical/request.ts'
import { encodeEffort } from '../../../kit/fields/effort.ts'
import { omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import type { Writing } from '../content/writing.ts'
import type { ResponsesBody, ResponsesRequest } from '../schema.ts'
import { keepIn, type Reading } from './settings.ts'

/** The older name of `summary`. */
export function decodeOlderSummary(
  { reasoning }: ResponsesRequest,
  { unknown, places, report }: Reading,
): ReasoningSpec | undefined {
  const { summary, generate_summary: older } = reasoning ?? {}
  if (older == null) return undefined
  if (summary != null) {
    keepIn(unknown, 'reasoning', { generate_summary: older })
    return undefined
  }
  report.add('reasoning.older-summary', '/reasoning/generate_summary')
  places['reasoning.summary'] = 'reasoning/generate_summary'
  return { summary: older }
}

/** Effort and summary. */
export function encodeReasoningSpec(
  spec: ReasoningSpec | undefined,
  { report, native }: Writing,
): ResponsesBody['reasoning'] {
  if (!spec) return undefined
  const { summary } = spec
  const shown = summary === 'none' && !native ? undefined : (summary ?? encodeDisplay(spec, report))
  return omitUndefinedOrNone({ effort: encodeEffort(spec, report), summary: shown })
}

function encodeDisplay(
  { display, mode, budgetTokens }: ReasoningSpec,
  report: Writing['report'],
): string | undefined {
  // Reasoning with a budget is shown unless the request says otherwise.
  if (mode === 'enabled' && display === undefined && budgetTokens !== 0) {
    report.add('reasoning.shown', '', 'reasoning.mode')
    return 'auto'
  }
  if (display !== undefined && display !== 'summarized' && display !== 'omitted')
    report.add('field.unsupported', '', 'reasoning.display')
  if (display !== 'summarized') return undefined
  report.add('reasoning.display-as-summary', '', 'reasoning.display')
  return 'auto'
}
