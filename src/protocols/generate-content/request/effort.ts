import { type ReasoningSpec, reasoningModes } from '../../../canonical/request.ts'
import { type Amount, noteOff } from '../../../kit/fields/effort.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { takesLevels } from '../../../models/gemini.ts'
import type { RequestWriting } from '../content/writing.ts'
import type { GenerateContentReport } from '../notes.ts'
import { defaults } from '../options.ts'
import { thinkingLevel } from '../vocabulary.ts'

/** How much to think, as a level or as a token budget: servers refuse both together. */

/**
 * Tokens for each effort. Absolute, because the same effort must not change when the caller lowers
 * the output limit.
 */
export const budgets: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
  ['xhigh', 24_576],
  ['max', 24_576],
])

/** The reasoning of a request of another protocol, in the form of this protocol. */
export function reasoningHere(
  { effort, budgetTokens, mode, summary, display }: ReasoningSpec,
  { report, options, model }: RequestWriting,
): ReasoningSpec {
  const { thinking = defaults.thinking, efforts } = options
  if (mode !== undefined && !reasoningModes.has(mode))
    report.add('field.unsupported', undefined, 'reasoning.mode')
  const takesLevel = thinking === 'auto' ? takesLevels(model) : thinking === 'level'
  const known = efforts?.includes('xhigh') ? allLevels : usualLevels
  const levels = takesLevel ? known : undefined
  return {
    ...amountHere({ effort, budgetTokens, mode }, levels, report),
    ...shownHere(
      { summary, display, isShown: mode === 'enabled' && effort !== 'none' && budgetTokens !== 0 },
      report,
    ),
  }
}

function amountHere(
  { effort: requested, budgetTokens, mode }: Amount,
  levels: readonly string[] | undefined,
  report: GenerateContentReport,
): ReasoningSpec {
  const effort = requested === undefined || budgets.has(requested) ? requested : undefined
  if (effort !== requested) report.add('field.unsupported', undefined, 'reasoning.effort')
  const off = mode === 'disabled' || mode === 'between_tools'
  if (mode === 'between_tools') report.add('reasoning.mode', undefined, 'reasoning.mode')
  if (off) {
    noteOff({ effort, budgetTokens }, undefined, report)
    if (!levels) return { budgetTokens: 0 }
    // On models that take levels, thinking cannot be turned off.
    if (mode === 'disabled') report.add('reasoning.effort', undefined, 'reasoning.mode')
    return omitUndefined({ effort: nearestOf('minimal', levels) })
  }
  if (effort !== undefined) {
    // A token budget is more exact than the effort next to it.
    if (budgetTokens !== undefined && !levels) {
      report.add('reasoning.effort-as-budget', undefined, 'reasoning.effort')
      return { budgetTokens }
    }
    if (budgetTokens !== undefined)
      report.add('reasoning.budget-as-effort', undefined, 'reasoning.budgetTokens')
    return levels ? levelOf(effort, levels, report) : budgetOf(effort, report)
  }
  if (budgetTokens !== undefined) return { budgetTokens }
  return mode === 'adaptive' ? { budgetTokens: -1 } : {}
}

/** Few models take the one above these. */
const usualLevels: readonly string[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']
const allLevels: readonly string[] = [...usualLevels, 'XHIGH']

function levelOf(
  effort: string,
  levels: readonly string[],
  report: GenerateContentReport,
): ReasoningSpec {
  const extreme = effort === 'none' ? 'minimal' : 'xhigh'
  const level = thinkingLevel.toWire(effort) ? effort : extreme
  const nearest = nearestOf(level, levels)
  if (nearest !== effort) report.add('reasoning.effort', undefined, 'reasoning.effort')
  return omitUndefined({ effort: nearest })
}

/**
 * The effort whose level is nearest. Of two equally near levels the higher one: less thinking than
 * requested is worse than more.
 */
function nearestOf(effort: string, levels: readonly string[]): string | undefined {
  const wanted = allLevels.indexOf(thinkingLevel.toWire(effort) ?? '')
  const distance = (one: string) => Math.abs(allLevels.indexOf(one) - wanted)
  const nearest = allLevels
    .filter(one => levels.includes(one))
    .reduceRight<string | undefined>(
      (best, one) => (best && distance(best) <= distance(one) ? best : one),
      undefined,
    )
  return nearest && thinkingLevel.toOurs(nearest)
}

function budgetOf(effort: string, report: GenerateContentReport): ReasoningSpec {
  const budget = budgets.get(effort)
  report.add('reasoning.effort-as-budget', undefined, 'reasoning.effort')
  return omitUndefined({ budgetTokens: budget })
}

/** `isShown`: reasoning is enabled in a way that shows it by default. */
type Shown = { summary: string | undefined; display: string | undefined; isShown: boolean }

function shownHere(
  { summary, display, isShown }: Shown,
  report: GenerateContentReport,
): ReasoningSpec {
  if (display === 'summarized' || display === 'omitted') {
    if (summary !== undefined && summary !== 'none')
      report.add('reasoning.summary', undefined, 'reasoning.summary')
    return { display }
  }
  if (display !== undefined) report.add('field.unsupported', undefined, 'reasoning.display')
  if (summary === undefined && display === undefined && isShown) {
    report.add('reasoning.shown', undefined, 'reasoning.mode')
    return { display: 'summarized' }
  }
  if (summary === undefined) return {}
  if (summary !== 'none') report.add('reasoning.summary', undefined, 'reasoning.summary')
  return { display: summary === 'none' ? 'omitted' : 'summarized' }
}
