/** How much to think, as canonical requests say it; any of these may be absent. */
export type Amount = { effort?: string | undefined; budgetTokens?: number | undefined; mode?: string | undefined }

type OffReport = { add(code: 'reasoning.off', at: string | undefined, field: string): void }
type EffortReport = OffReport & { add(code: 'reasoning.mode-as-effort' | 'reasoning.budget-as-effort' | 'field.unsupported', at: string, field: string): void }

/** Notes the amounts that mean nothing because thinking is off. `at`: JSON pointer of the node that holds them. */
export function noteOff({ effort, budgetTokens }: Amount, at: string | undefined, report: OffReport): void {
  if (effort !== undefined && effort !== 'none') report.add('reasoning.off', at, 'reasoning.effort')
  if (budgetTokens !== undefined && budgetTokens !== 0) report.add('reasoning.off', at, 'reasoning.budgetTokens')
}

/** Absolute steps: the same budget means the same whatever the output limit is. */
const budgets: [limit: number, effort: string][] = [
  [0, 'none'],
  [1024, 'minimal'],
  [4096, 'low'],
  [12_288, 'medium'],
  [24_576, 'high'],
]

/**
 * The one word for how much to think, for wires that have no budget and no modes. The mode wins over the effort, the effort over
 * the budget; a negative budget says nothing. Undefined: nothing was asked for.
 */
export function encodeEffort({ effort, budgetTokens, mode }: Amount, report: EffortReport): string | undefined {
  if (mode === 'disabled' || mode === 'between_tools') {
    if (mode === 'between_tools') report.add('reasoning.mode-as-effort', '', 'reasoning.mode')
    noteOff({ effort, budgetTokens }, '', report)
    return 'none'
  }
  if (mode !== undefined && mode !== 'adaptive' && mode !== 'enabled') report.add('field.unsupported', '', 'reasoning.mode')
  if (budgetTokens === undefined || budgetTokens < 0) return effort
  if (budgetTokens > 0 || effort !== undefined) report.add('reasoning.budget-as-effort', '', 'reasoning.budgetTokens')
  return effort ?? budgets.find(([limit]) => budgetTokens <= limit)?.[1] ?? 'xhigh'
}
