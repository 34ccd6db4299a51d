import { type ReasoningSpec, reasoningModes } from '../../canonical/request.ts'
import { defined, some } from '../../kit/defined.ts'
import { type Amount, noteOff } from '../../kit/effort.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { keysOf, unknownOf } from '../../kit/keys.ts'
import type { GeminiReport } from './notes.ts'
import type { GeminiThinkingConfig } from './schema.ts'
import { isBeforeGemini3, thinkingLevel } from './vocabulary.ts'
import type { RequestWriting } from './writing.ts'

/** How much to think, as a level or as a token budget: servers refuse both together. */

const knownThinking = keysOf<GeminiThinkingConfig>()('includeThoughts', 'thinkingBudget', 'thinkingLevel')

/** `left`: the unknown keys of the configuration, and a level that no effort stands for. */
export function decodeReasoningSpec(thinking: GeminiThinkingConfig): { reasoning: ReasoningSpec | undefined; left: JsonObject | undefined } {
  const { includeThoughts, thinkingBudget, thinkingLevel: level } = thinking
  const effort = level == null ? undefined : thinkingLevel.toOurs(level.toUpperCase())
  const unknown = unknownOf(thinking, knownThinking)
  return {
    reasoning: some({
      effort,
      budgetTokens: thinkingBudget ?? undefined,
      display: includeThoughts == null ? undefined : includeThoughts ? ('summarized' as const) : ('omitted' as const),
    }),
    left: level == null || effort !== undefined ? unknown : { ...unknown, thinkingLevel: level },
  }
}

/** The configuration of a request that came in this protocol. `left`: what `decodeReasoningSpec` left. */
export function encodeOwnReasoningSpec({ effort, budgetTokens, display, ...rest }: ReasoningSpec, left: unknown, report: GeminiReport): JsonObject | undefined {
  report.rest(rest, undefined, 'reasoning.')
  return some({
    ...(isObject(left) && left),
    ...defined({
      includeThoughts: display === undefined ? undefined : display === 'summarized',
      thinkingBudget: budgetTokens,
      thinkingLevel: effort === undefined ? undefined : (thinkingLevel.toWire(effort) ?? effort),
    }),
  })
}

/** Tokens for each effort. Absolute, because the same effort must not change when the caller lowers the output limit. */
const budgets = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
  ['xhigh', 24_576],
  ['max', 24_576],
])

/** The configuration for a request of another protocol. */
export function encodeReasoningSpec(
  { effort, budgetTokens, mode, summary, display, ...rest }: ReasoningSpec,
  { report, options, model }: RequestWriting,
): JsonObject | undefined {
  const { gcThinking = 'auto', gcLevels } = options
  report.rest(rest, undefined, 'reasoning.')
  if (mode !== undefined && !reasoningModes.has(mode)) report.add('field.unsupported', undefined, 'reasoning.mode')
  const takesLevel = gcThinking === 'auto' ? !isBeforeGemini3(model) : gcThinking === 'level'
  const levels = takesLevel ? (gcLevels?.(model) ?? allLevels) : undefined
  const config = {
    ...encodeAmount({ effort, budgetTokens, mode }, levels, report),
    ...encodeShown({ summary, display, isShown: mode === 'enabled' && effort !== 'none' && budgetTokens !== 0 }, report),
  }
  return Object.keys(config).length > 0 ? config : undefined
}

function encodeAmount({ effort: asked, budgetTokens, mode }: Amount, levels: readonly string[] | undefined, report: GeminiReport): JsonObject {
  const effort = asked === undefined || budgets.has(asked) ? asked : undefined
  if (effort !== asked) report.add('field.unsupported', undefined, 'reasoning.effort')
  const off = mode === 'disabled' || mode === 'between_tools'
  if (mode === 'between_tools') report.add('reasoning.mode', undefined, 'reasoning.mode')
  if (off) {
    noteOff({ effort, budgetTokens }, undefined, report)
    if (!levels) return { thinkingBudget: 0 }
    // On models that take levels, thinking cannot be turned off.
    if (mode === 'disabled') report.add('reasoning.effort', undefined, 'reasoning.mode')
    return defined({ thinkingLevel: nearestOf('MINIMAL', levels) })
  }
  if (effort !== undefined) {
    // A token budget is more exact than the effort beside it.
    if (budgetTokens !== undefined && !levels) {
      report.add('reasoning.effort-as-budget', undefined, 'reasoning.effort')
      return { thinkingBudget: budgetTokens }
    }
    if (budgetTokens !== undefined) report.add('reasoning.budget-as-effort', undefined, 'reasoning.budgetTokens')
    return levels ? levelOf(effort, levels, report) : budgetOf(effort, report)
  }
  if (budgetTokens !== undefined) return { thinkingBudget: budgetTokens }
  return mode === 'adaptive' ? { thinkingBudget: -1 } : {}
}

const allLevels: readonly string[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']

function levelOf(effort: string, levels: readonly string[], report: GeminiReport): JsonObject {
  const level = thinkingLevel.toWire(effort) ?? (effort === 'none' ? 'MINIMAL' : 'HIGH')
  const nearest = nearestOf(level, levels)
  if (nearest === undefined || thinkingLevel.toOurs(nearest) !== effort) report.add('reasoning.effort', undefined, 'reasoning.effort')
  return defined({ thinkingLevel: nearest })
}

/** Of two equally near levels the higher one: less thinking than was asked for is worse than more. */
function nearestOf(level: string, levels: readonly string[]): string | undefined {
  const wanted = allLevels.indexOf(level)
  const distance = (one: string) => Math.abs(allLevels.indexOf(one) - wanted)
  return allLevels
    .filter(one => levels.includes(one))
    .reduceRight<string | undefined>((best, one) => (best && distance(best) <= distance(one) ? best : one), undefined)
}

function budgetOf(effort: string, report: GeminiReport): JsonObject {
  const budget = budgets.get(effort)
  report.add('reasoning.effort-as-budget', undefined, 'reasoning.effort')
  return defined({ thinkingBudget: budget })
}

/** `isShown`: reasoning is enabled in a way that shows it by default. */
type Shown = { summary: string | undefined; display: string | undefined; isShown: boolean }

function encodeShown({ summary, display, isShown }: Shown, report: GeminiReport): JsonObject {
  if (display === 'summarized' || display === 'omitted') {
    if (summary !== undefined && summary !== 'none') report.add('reasoning.summary', undefined, 'reasoning.summary')
    return { includeThoughts: display === 'summarized' }
  }
  if (display !== undefined) report.add('field.unsupported', undefined, 'reasoning.display')
  if (summary === undefined && display === undefined && isShown) {
    report.add('reasoning.shown', undefined, 'reasoning.mode')
    return { includeThoughts: true }
  }
  if (summary === undefined) return {}
  if (summary !== 'none') report.add('reasoning.summary', undefined, 'reasoning.summary')
  return { includeThoughts: summary !== 'none' }
}
