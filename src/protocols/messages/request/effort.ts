import {
  type CanonicalRequest,
  type ReasoningSpec,
  reasoningModes,
} from '../../../canonical/request.ts'
import { isUnsignedLoop } from '../../../kit/conversation/unsigned-loop.ts'
import { noteOff } from '../../../kit/fields/effort.ts'
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
import {
  alwaysThinks,
  bindsThinking,
  onlyManualThinking,
  thinksAdaptively,
  thinksBetweenTools,
} from '../../../models/claude.ts'
import type { RequestWriting } from '../content/writing.ts'
import { type MessagesReport, protocolName } from '../own.ts'
import type { MessagesWrittenThinking } from '../written.ts'

export type Thought = { thinking?: MessagesWrittenThinking; effort?: string; maxTokens: number }

/**
 * `forced`: the request forces a tool. `unsignedLoop`: it continues a tool loop whose earlier
 * thinking was lost, see `isUnsignedLoop`.
 */
type Around = { maxTokens: number; forced: boolean; unsignedLoop: boolean }

/** Encodes the reasoning settings of another protocol. */
export function encodeReasoningSpec(
  spec: ReasoningSpec,
  around: Around,
  writing: RequestWriting,
): Thought {
  const { effort, budgetTokens, mode } = spec
  const { report, options, model } = writing
  if (mode !== undefined && !reasoningModes.has(mode))
    report.add('field.unsupported', undefined, 'reasoning.mode')
  const isManual =
    options.thinking === 'enabled' || (options.thinking !== 'adaptive' && onlyManualThinking(model))
  if (effort === 'none' || budgetTokens === 0 || mode === 'disabled')
    return encodeOff(spec, { isManual, maxTokens: around.maxTokens }, writing)
  const isWanted =
    effort !== undefined ||
    budgetTokens !== undefined ||
    (mode !== undefined && reasoningModes.has(mode))
  if (!isWanted) {
    noteHidden(spec, report)
    return { maxTokens: around.maxTokens }
  }
  return isManual ? encodeManual(spec, around, writing) : encodeAdaptive(spec, around, writing)
}

function encodeOff(
  spec: ReasoningSpec,
  { isManual, maxTokens }: { isManual: boolean; maxTokens: number },
  { report, model }: RequestWriting,
): Thought {
  const { effort, budgetTokens } = spec
  noteHidden(spec, report)
  // The effort applies to the whole response, so it is written without thinking too; models with
  // manual thinking take no effort.
  noteOff({ budgetTokens, effort: isManual ? effort : undefined }, undefined, report)
  const beside = {
    ...omitUndefined({
      effort: isManual || effort === 'none' ? undefined : knownEffort(effort, report),
    }),
    maxTokens,
  }
  if (!alwaysThinks(model)) return { thinking: { type: 'disabled' }, ...beside }
  report.add('reasoning.always-on', undefined, offField(spec))
  return thinksBetweenTools(model) ? { thinking: { type: 'between_tools' }, ...beside } : beside
}

/** With a budget of tokens, for models that take no effort. */
function encodeManual(
  spec: ReasoningSpec,
  { maxTokens, forced, unsignedLoop }: Around,
  { report }: RequestWriting,
): Thought {
  const { effort, budgetTokens } = spec
  if (forced || unsignedLoop) {
    noteHidden(spec, report)
    report.add(
      forced ? 'reasoning.forced-tool' : 'reasoning.disabled-unsigned-loop',
      undefined,
      fieldOf({ effort, budgetTokens }),
    )
    return { maxTokens }
  }
  return withBudget(omitUndefined({ effort, budgetTokens }), maxTokens, {
    report,
    show: thinking => shown(thinking, spec, report),
  })
}

/** With an effort, for models that choose the amount themselves. */
function encodeAdaptive(
  spec: ReasoningSpec,
  { maxTokens, forced }: Around,
  { report, model }: RequestWriting,
): Thought {
  const { effort, budgetTokens, mode } = spec
  const hasBudget = budgetTokens !== undefined && budgetTokens > 0
  const named = knownEffort(effort, report) ?? (hasBudget ? effortOf(budgetTokens) : undefined)
  if (hasBudget) report.add('reasoning.budget-as-effort', undefined, 'reasoning.budgetTokens')
  if (forced && !thinksAdaptively(model)) {
    noteHidden(spec, report)
    report.add('reasoning.forced-tool', undefined, fieldOf({ effort, budgetTokens }))
    return { ...omitUndefined({ effort: named }), maxTokens }
  }
  if (mode === 'between_tools') noteHidden(spec, report)
  const thinking =
    mode === 'between_tools'
      ? { type: mode }
      : {
          ...shown({ type: 'adaptive' }, spec, report),
          // Else the server refuses thinking that does not fit the conversation before it.
          ...(bindsThinking(model) && {
            block_binding: { prefix_mismatch_behavior: 'drop_block' },
          }),
        }
  return { thinking, ...omitUndefined({ effort: named }), maxTokens }
}

/** Thinking with what of it the client gets to see. */
function shown(
  thinking: MessagesWrittenThinking,
  { summary, display }: ReasoningSpec,
  report: MessagesReport,
): MessagesWrittenThinking {
  if (summary !== undefined && display === undefined && summary !== 'none')
    report.add('reasoning.summary', undefined, 'reasoning.summary')
  return {
    ...thinking,
    ...omitUndefined({ display: display ?? displayFor(summary) }),
  }
}

function withBudget(
  { effort, budgetTokens }: Pick<ReasoningSpec, 'effort' | 'budgetTokens'>,
  maxTokens: number,
  {
    report,
    show,
  }: { report: MessagesReport; show(thinking: MessagesWrittenThinking): MessagesWrittenThinking },
): Thought {
  if (budgetTokens !== undefined && budgetTokens > 0) {
    const budget = Math.max(leastBudget, budgetTokens)
    if (budget !== budgetTokens)
      report.add('reasoning.budget-raised', undefined, 'reasoning.budgetTokens')
    if (effort !== undefined)
      report.add('reasoning.effort-as-budget', undefined, 'reasoning.effort')
    if (budget >= maxTokens) report.add('reasoning.budget-room', undefined, 'maxOutputTokens')
    return {
      thinking: show({ type: 'enabled', budget_tokens: budget }),
      maxTokens: budget >= maxTokens ? budget + leastBudget : maxTokens,
    }
  }
  const budget = Math.min(budgetOf(effort), maxTokens - 1)
  if (budget < leastBudget) {
    report.add('reasoning.no-room', undefined, fieldOf({ effort, budgetTokens }))
    return { maxTokens }
  }
  report.add('reasoning.effort-as-budget', undefined, fieldOf({ effort, budgetTokens }))
  return { thinking: show({ type: 'enabled', budget_tokens: budget }), maxTokens }
}

/** Encodes the reasoning settings of a request of this protocol. */
export function nativeReasoningSpec(
  request: CanonicalRequest,
  { options, report }: RequestWriting,
): Partial<Thought> {
  const { mode, budgetTokens, display, effort } = request.reasoning ?? {}
  // The conversation changed providers inside a tool loop: this provider would refuse the thinking
  // of the other one.
  if (
    mode === 'enabled' &&
    options.foreignSignatures !== 'wrap' &&
    isUnsignedLoop(
      request.messages,
      signature => signature !== undefined && signature.issuer !== protocolName,
    )
  ) {
    report.add('reasoning.disabled-unsigned-loop', undefined, 'reasoning.mode')
    return omitUndefined({ effort })
  }
  const thinking =
    mode === undefined
      ? undefined
      : { type: mode, ...omitUndefined({ budget_tokens: budgetTokens, display }) }
  return omitUndefined({ thinking, effort })
}

/** Is thinking requested? */
export function isThinking({ thinking }: Partial<Thought>): boolean {
  return thinking !== undefined && thinking.type !== 'disabled'
}
