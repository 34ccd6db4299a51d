import { anthropic } from './anthropic.ts'
import type { Model } from './model.ts'
import { isAlwaysThinking, modelOf } from './names.ts'

/** What a server of Claude takes, judged by the name of the model. */

const claude = (model: string | undefined): Model => modelOf(model, anthropic) ?? unknown

const unknown: Model = { names: [], sources: [] }

const formsOf = (model: string | undefined) => claude(model).thinking ?? []

/** The most tokens of one response. Infinite: not known. */
export const mostTokens = (model: string | undefined): number =>
  claude(model).outputTokens ?? Infinity

/** Are both known, and of different families? */
export function isOtherFamily(one: string | undefined, other: string | undefined): boolean {
  const [family, otherFamily] = [one, other].map(
    model => /claude-[\d.-]*(opus|sonnet|haiku|fable|mythos)/.exec(model ?? '')?.[1],
  )
  return family !== undefined && otherFamily !== undefined && family !== otherFamily
}

/** Role `system` inside the conversation. */
export const takesMidSystem = (model: string | undefined): boolean =>
  claude(model).systemAnywhere === true

/** A conversation must not end with the assistant. */
export const refusesPrefill = (model: string | undefined): boolean =>
  claude(model).prefill === false

/** It is known to go on with the beginning of its answer. */
export const takesPrefill = (model: string | undefined): boolean =>
  modelOf(model, anthropic) !== undefined && !refusesPrefill(model)

/** Unknown and future models think adaptively. */
export const onlyManualThinking = (model: string | undefined): boolean => {
  const { thinking } = claude(model)
  return thinking !== undefined && !thinking.includes('adaptive')
}

/**
 * Adaptive thinking can be combined with a forced tool. An unknown name: false, because its server
 * may have manual thinking only.
 */
export const thinksAdaptively = (model: string | undefined): boolean =>
  formsOf(model).includes('adaptive')

/** Thinking cannot be turned off, but limited to the time between calls. */
export const thinksBetweenTools = (model: string | undefined): boolean =>
  formsOf(model).includes('between_tools')

/** Servers refuse to turn thinking off. */
export const alwaysThinks = (model: string | undefined): boolean => isAlwaysThinking(claude(model))

/** A request may have `temperature` or `top_p`, not both. */
export const takesOneSampling = (model: string | undefined): boolean =>
  claude(model).sampling === 'one'

/** Servers refuse all sampling values but the defaults. */
export const takesNoSampling = (model: string | undefined): boolean =>
  claude(model).sampling === 'none'

/** No tool can be forced. */
export const takesNoForcedTool = (model: string | undefined): boolean =>
  claude(model).toolChoice === 'auto'

/** Calls can be limited to one at a time. */
export const takesSerialCalls = (model: string | undefined): boolean =>
  claude(model).serialCalls !== false

/** Thinking is bound to the conversation before it. */
export const bindsThinking = (model: string | undefined): boolean =>
  claude(model).preservedThinking === true

/**
 * How much a server enforces in one request: strict functions, properties that are not required,
 * and schemas of several types, those of the response included.
 * Sources: https://platform.claude.com/docs/en/build-with-claude/structured-outputs (2026-11-30),
 * https://github.com/elie222/inbox-zero/issues/2323 (2026-04-20)
 */
export const grammarLimits = { functions: 20, optional: 24, unions: 16 } as const

/** Converse takes neither strict tools nor a schema for the response. */
export const refusesSchemas = (model: string | undefined): boolean =>
  claude(model).converseSchemas === false
