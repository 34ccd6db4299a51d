import type { Message } from '../../../canonical/message.ts'
import {
  type CanonicalRequest,
  type ReasoningSpec,
  reasoningModes,
} from '../../../canonical/request.ts'
import { isUnsignedLoop } from '../../../kit/conversation/unsigned-loop.ts'
import { encodeEffort, nearestEffort, noteOff } from '../../../kit/fields/effort.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import {
  budgetOf,
  displayFor,
  effortOf,
  fieldOf,
  knownEffort,
  leastBudget,
  noteHidden,
  offField,
} from '../../../kit/fields/thinking.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { alwaysThinks, onlyManualThinking, thinksBetweenTools } from '../../../models/claude.ts'
import { issuerOf } from '../content/reasoning.ts'
import type { RequestWriting } from '../content/writing.ts'
import type { ConverseReport } from '../own.ts'
import type { ConverseFamily } from '../vocabulary.ts'

/**
 * The reasoning settings of a request. `fields`: of the model's own API. `thinks`: the model
 * reasons and therefore refuses sampling fields.
 */
export type EncodedReasoning = {
  fields?: JsonObject
  maxTokens?: number | undefined
  thinks: boolean
}

/** Where each family has its effort, and the words that it knows. */
const words: Partial<
  Record<ConverseFamily, { known: readonly string[]; fields(effort: string): JsonObject }>
> = {
  'gpt-oss': { known: ['low', 'medium', 'high'], fields: effort => ({ reasoning_effort: effort }) },
  gpt: {
    known: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
    fields: effort => ({ reasoning: { effort } }),
  },
  nova2: {
    known: ['none', 'low', 'medium', 'high'],
    fields: effort => ({
      reasoningConfig:
        effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: effort },
    }),
  },
  qwen: { known: ['low', 'high'], fields: effort => ({ reasoning_config: effort }) },
}

export function encodeReasoningSpec(
  { reasoning: spec, maxOutputTokens: maxTokens, messages }: CanonicalRequest,
  writing: RequestWriting,
): EncodedReasoning {
  const { report, family, native } = writing
  if (!spec) return { maxTokens, thinks: false }
  const { effort, budgetTokens, mode, summary, display } = spec
  // The body names the model's own fields, so it is written as that of the family that has all of
  // them.
  if (native) return asRead(spec, maxTokens)
  if (family === 'claude') return encodeThinking(spec, { maxTokens, messages }, writing)
  report.rest(
    omitUndefined({ display, summary: summary === 'none' ? undefined : summary }),
    undefined,
    'reasoning.',
  )
  const own = words[family]
  if (!own) {
    for (const key in omitUndefined({ effort, budgetTokens, mode }))
      report.add('reasoning.no-effort', undefined, `reasoning.${key}`)
    return { maxTokens, thinks: false }
  }
  const wanted = encodeEffort(spec, report) ?? (mode === undefined ? undefined : 'medium')
  if (wanted === undefined) return { maxTokens, thinks: false }
  const word = nearestWord(wanted, own.known)
  if (word === undefined) return { maxTokens, thinks: false }
  if (word !== wanted) report.add('reasoning.effort', undefined, fieldOf(spec))
  return { fields: own.fields(word), maxTokens, thinks: false }
}

function nearestWord(wanted: string, known: readonly string[]): string | undefined {
  if (known.includes(wanted)) return wanted
  return wanted === 'none' ? (known[0] ?? wanted) : nearestEffort(wanted, known)
}

function asRead(
  { effort, budgetTokens, mode, display }: ReasoningSpec,
  maxTokens: number | undefined,
): EncodedReasoning {
  const thinking = omitUndefined({ type: mode, budget_tokens: budgetTokens, display })
  const isThinking = Object.keys(thinking).length > 0
  return {
    fields: {
      ...(isThinking && { thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
    },
    maxTokens,
    thinks: false,
  }
}

/** For Claude. */
function encodeThinking(
  spec: ReasoningSpec,
  { maxTokens, messages }: { maxTokens: number | undefined; messages: readonly Message[] },
  { report, model, opens, family }: RequestWriting,
): EncodedReasoning {
  const { effort, budgetTokens, mode } = spec
  const isManual = onlyManualThinking(model)
  if (mode !== undefined && !reasoningModes.has(mode))
    report.add('field.unsupported', undefined, 'reasoning.mode')
  if (effort === 'none' || budgetTokens === 0 || mode === 'disabled')
    return encodeOff(spec, { isManual, maxTokens, model }, report)
  const isWanted =
    effort !== undefined ||
    budgetTokens !== undefined ||
    (mode !== undefined && reasoningModes.has(mode))
  if (!isWanted) {
    noteHidden(spec, report)
    return { maxTokens, thinks: false }
  }
  if (!isManual) return encodeAdaptive(spec, maxTokens, report)
  if (
    !isUnsignedLoop(
      messages,
      signature => signature === undefined || (!opens && signature.issuer !== issuerOf(family)),
    )
  )
    return encodeBudget(spec, maxTokens, report)
  noteHidden(spec, report)
  report.add('reasoning.disabled-unsigned-loop', undefined, fieldOf(spec))
  return { maxTokens, thinks: false }
}

function encodeOff(
  spec: ReasoningSpec,
  {
    isManual,
    maxTokens,
    model,
  }: { isManual: boolean; maxTokens: number | undefined; model: string | undefined },
  report: ConverseReport,
): EncodedReasoning {
  const { effort, budgetTokens } = spec
  noteHidden(spec, report)
  // The effort applies to the whole response, so it is written without thinking too; models with
  // manual thinking take no effort.
  noteOff({ budgetTokens, effort: isManual ? effort : undefined }, undefined, report)
  const effortFields =
    isManual || effort === 'none' || effort === undefined
      ? {}
      : { output_config: { effort: knownEffort(effort, report) } }
  if (!alwaysThinks(model))
    return { fields: { thinking: { type: 'disabled' }, ...effortFields }, maxTokens, thinks: false }
  report.add('reasoning.always-on', undefined, offField(spec))
  const least = thinksBetweenTools(model) ? { thinking: { type: 'between_tools' } } : {}
  return { fields: { ...least, ...effortFields }, maxTokens, thinks: true }
}

/** With a budget of tokens, for models that take no effort. */
function encodeBudget(
  spec: ReasoningSpec,
  maxTokens: number | undefined,
  report: ConverseReport,
): EncodedReasoning {
  const { effort, budgetTokens } = spec
  noteHidden(spec, report)
  const isGiven = budgetTokens !== undefined && budgetTokens > 0
  const budget = isGiven ? Math.max(leastBudget, budgetTokens) : budgetOf(effort)
  if (isGiven && budget !== budgetTokens)
    report.add('reasoning.budget-raised', undefined, 'reasoning.budgetTokens')
  if (!isGiven || effort !== undefined)
    report.add(
      'reasoning.effort-as-budget',
      undefined,
      effort === undefined ? fieldOf(spec) : 'reasoning.effort',
    )
  const isTight = maxTokens !== undefined && budget >= maxTokens
  if (isTight) report.add('reasoning.budget-room', undefined, 'maxOutputTokens')
  return {
    fields: { thinking: { type: 'enabled', budget_tokens: budget } },
    maxTokens: isTight ? budget + leastBudget : maxTokens,
    thinks: true,
  }
}

/** With an effort, for models that choose the amount themselves. */
function encodeAdaptive(
  spec: ReasoningSpec,
  maxTokens: number | undefined,
  report: ConverseReport,
): EncodedReasoning {
  const { effort, budgetTokens, mode, summary, display } = spec
  const hasBudget = budgetTokens !== undefined && budgetTokens > 0
  if (hasBudget) report.add('reasoning.budget-as-effort', undefined, 'reasoning.budgetTokens')
  const byBudget = hasBudget ? effortOf(budgetTokens) : undefined
  const named = effort === undefined ? byBudget : knownEffort(effort, report)
  const isBetween = mode === 'between_tools'
  if (isBetween) noteHidden(spec, report)
  else if (summary !== undefined && display === undefined && summary !== 'none')
    report.add('reasoning.summary', undefined, 'reasoning.summary')
  const shown = isBetween ? undefined : (display ?? displayFor(summary))
  const thinking = omitUndefined({ type: isBetween ? mode : 'adaptive', display: shown })
  return {
    fields: { thinking, ...(named !== undefined && { output_config: { effort: named } }) },
    maxTokens,
    thinks: true,
  }
}
