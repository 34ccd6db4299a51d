import type { ReasoningSpec } from '../../canonical/request.ts'
import type { Amount } from './effort.ts'

/** The thinking of Claude, which several protocols request with the same words. */

type ThinkingReport = {
  add(
    code: 'field.unsupported' | 'reasoning.effort',
    at: undefined,
    field: 'reasoning.summary' | 'reasoning.display' | 'reasoning.effort',
  ): void
}

/**
 * The thinking budget of each effort, in tokens. Absolute, because lowering the output limit must
 * not change the meaning of an effort.
 */
const budgets = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 24_576],
  ['max', 32_768],
])

export const leastBudget = 1024

export function effortOf(budget: number): string {
  if (budget <= 4096) return 'low'
  if (budget <= 12_288) return 'medium'
  return budget <= 24_576 ? 'high' : 'xhigh'
}

/** The tokens of an effort. */
export const budgetOf = (effort: string | undefined): number =>
  budgets.get(effort ?? 'medium') ?? 8192

/** The field that requested reasoning, for notes. */
export const fieldOf = ({ effort, budgetTokens }: Amount) => {
  if (effort !== undefined) return 'reasoning.effort'
  if (budgetTokens !== undefined) return 'reasoning.budgetTokens'
  return 'reasoning.mode'
}

/** The field that turns reasoning off. */
export function offField({ effort, mode }: ReasoningSpec) {
  if (effort === 'none') return 'reasoning.effort'
  return mode === 'disabled' ? 'reasoning.mode' : 'reasoning.budgetTokens'
}

/** The display that a summary asks for. */
export function displayFor(summary: ReasoningSpec['summary']) {
  if (summary === undefined) return undefined
  return summary === 'none' ? 'omitted' : 'summarized'
}

/** What was requested to be shown of thinking that is not shown. */
export function noteHidden({ summary, display }: ReasoningSpec, report: ThinkingReport): void {
  if (summary !== undefined && summary !== 'none')
    report.add('field.unsupported', undefined, 'reasoning.summary')
  if (display !== undefined && display !== 'omitted')
    report.add('field.unsupported', undefined, 'reasoning.display')
}

/** The lowest effort of Claude is `low`. */
export function knownEffort<Effort extends string | undefined>(
  effort: Effort,
  report: ThinkingReport,
): Effort | 'low' {
  if (effort !== 'minimal') return effort
  report.add('reasoning.effort', undefined, 'reasoning.effort')
  return 'low'
}
