import type { Place } from '../../canonical/message.ts'
/** The amount of reasoning of a canonical request. */
export type Amount = {
  effort?: string | undefined
  budgetTokens?: number | undefined
  mode?: string | undefined
}

type OffReport = { add(code: 'reasoning.off', at: Place | undefined, field: string): void }
type EffortReport = OffReport & {
  add(
    code: 'reasoning.mode-as-effort' | 'reasoning.budget-as-effort' | 'field.unsupported',
    at: Place,
    field: string,
  ): void
}

/**
 * Notes amounts that have no effect because reasoning is off. `at`: JSON pointer of the node that
 * has them.
 */
export function noteOff(
  { effort, budgetTokens }: Amount,
  at: Place | undefined,
  report: OffReport,
): void {
  if (effort !== undefined && effort !== 'none') report.add('reasoning.off', at, 'reasoning.effort')
  if (budgetTokens !== undefined && budgetTokens !== 0)
    report.add('reasoning.off', at, 'reasoning.budgetTokens')
}

/** Absolute numbers of tokens, independent of the output limit. */
const budgets: [limit: number, effort: string][] = [
  [0, 'none'],
  [1024, 'minimal'],
  [4096, 'low'],
  [12_288, 'medium'],
  [24_576, 'high'],
]

/**
 * The amount as one effort word, for wires without budgets and modes. The mode wins over the
 * effort, the effort over the budget; a negative budget is ignored. Undefined: the request does not
 * ask for an amount.
 */
export function encodeEffort(
  { effort, budgetTokens, mode }: Amount,
  report: EffortReport,
): string | undefined {
  if (mode === 'disabled' || mode === 'between_tools') {
    if (mode === 'between_tools') report.add('reasoning.mode-as-effort', '', 'reasoning.mode')
    noteOff({ effort, budgetTokens }, '', report)
    return 'none'
  }
  if (mode !== undefined && mode !== 'adaptive' && mode !== 'enabled')
    report.add('field.unsupported', '', 'reasoning.mode')
  if (budgetTokens === undefined || budgetTokens < 0) return effort
  if (budgetTokens > 0 || effort !== undefined)
    report.add('reasoning.budget-as-effort', '', 'reasoning.budgetTokens')
  return effort ?? budgets.find(([limit]) => budgetTokens <= limit)?.[1] ?? 'xhigh'
}

const order = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/**
 * The word among those that a server knows which is nearest to an effort that is not `none`, the
 * higher one of two. A word without a rank matches any effort. Undefined: the server knows none.
 */
export function nearestEffort(effort: string, known: readonly string[]): string | undefined {
  if (known.includes(effort)) return effort
  const words = known.filter(word => word !== 'none')
  const ranked = words
    .filter(word => order.includes(word))
    .toSorted((a, b) => order.indexOf(b) - order.indexOf(a))
  const rank = order.includes(effort) ? order.indexOf(effort) : order.indexOf('medium')
  const distance = (word: string) => Math.abs(order.indexOf(word) - rank)
  const [best, ...others] = ranked
  if (best === undefined) return words[0]
  return others.reduce(
    (nearest, word) => (distance(word) < distance(nearest) ? word : nearest),
    best,
  )
}
