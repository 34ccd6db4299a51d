import { isNeutral } from '../../../canonical/neutral.ts'
import {
  type OutputFormat,
  type ReasoningSpec,
  reasoningModes,
} from '../../../canonical/request.ts'
import { type Amount, noteOff } from '../../../kit/fields/effort.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { takesLevels } from '../../../models/gemini.ts'
import { decodeSchema } from '../content/tools.ts'
import type { RequestWriting } from '../content/writing.ts'
import { defaults } from '../options.ts'
import type { GenerateContentReport } from '../own.ts'
import type { GenerateContentGenerationConfig } from '../schema.ts'
import { modality, thinkingLevel, tierWords } from '../vocabulary.ts'
import type { GenerateContentWrittenConfig } from '../written.ts'

// ---- the format of a response

const json = 'application/json'
const words = 'text/x.enum'

export type Format = { format?: OutputFormat; left?: JsonObject; schemaAt?: string }

/**
 * `left`: the fields that `format` does not hold. `schemaAt`: path of its schema in
 * `generationConfig`.
 */
export function decodeFormat(config: GenerateContentGenerationConfig): Format {
  const {
    responseMimeType: mime,
    responseSchema,
    responseJsonSchema,
    _responseJsonSchema,
    responseFormat,
  } = config
  const left = omitNullish({
    responseJsonSchema,
    _responseJsonSchema,
    responseSchema,
    responseFormat,
  }) as JsonObject
  const places = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema'].filter(
    place => left[place] !== undefined,
  )
  const schemaAt = places.find(place => isObject(left[place]))
  const schema = schemaAt === undefined ? undefined : left[schemaAt]
  if (schemaAt !== undefined && isObject(schema)) {
    delete left[schemaAt]
    if (mime != null && mime !== json && mime !== words) left['responseMimeType'] = mime
    return {
      format: { type: mime === words ? 'enum' : 'schema', schema: decodeSchema(schema) },
      left,
      schemaAt,
    }
  }
  const newer = mime == null && places.length === 0 ? decodeNewer(responseFormat) : undefined
  if (newer)
    return {
      format: newer,
      schemaAt: `responseFormat${Array.isArray(responseFormat) ? '/0' : ''}/text/schema`,
    }
  if (mime === json) return { format: { type: 'json' }, left }
  if (mime === 'text/plain') return { format: { type: 'text' }, left }
  if (mime != null) left['responseMimeType'] = mime
  return { left }
}

/** The newer field `responseFormat`. Undefined: it asks for something other than text or JSON. */
function decodeNewer(responseFormat: unknown): OutputFormat | undefined {
  const only: unknown =
    Array.isArray(responseFormat) && responseFormat.length === 1
      ? responseFormat[0]
      : responseFormat
  const text = isObject(only) && Object.keys(only).length === 1 ? only['text'] : undefined
  if (!isObject(text)) return undefined
  const { mimeType, schema, ...rest } = text
  if (Object.keys(rest).length > 0) return undefined
  // Both are seen: the names of the reference, and media types, which the SDK's documentation
  // names.
  const type = String(mimeType).toLowerCase().replace('_', '/')
  if (type === 'text/plain' && schema === undefined) return { type: 'text' }
  if (type !== json) return undefined
  if (isObject(schema)) return { type: 'schema', schema: decodeSchema(schema) }
  if (schema === undefined) return { type: 'json' }
  return undefined
}

/** `own`: the unknown keys of `generationConfig`. */
export function encodeFormat(
  format: OutputFormat | undefined,
  own: { responseMimeType?: string } | undefined,
  report: GenerateContentReport,
): Pick<GenerateContentWrittenConfig, 'responseMimeType' | 'responseJsonSchema'> {
  switch (format?.type) {
    case undefined:
    case 'text':
      return {}
    case 'json':
      return { responseMimeType: json }
    case 'schema': {
      // The name is only a label and needs no note; the description is read by the model.
      if (format.description !== undefined)
        report.add('field.unsupported', undefined, 'output.format.description')
      if (format.strict === false) report.add('output.strict', undefined, 'output.format.strict')
      return { responseMimeType: own?.responseMimeType ?? json, responseJsonSchema: format.schema }
    }
    case 'enum':
      return { responseMimeType: words, responseJsonSchema: format.schema }
    case 'opaque':
      report.add('field.unsupported', undefined, 'output.format')
      return {}
    default:
      return format satisfies never
  }
}

// ---- fields of one value; `field`: the canonical path

export function onlyOwn(
  value: unknown,
  { native, report }: RequestWriting,
  field: string,
): unknown {
  if (native) return value
  report.rest({ [field]: value }, undefined)
  return undefined
}

/** To what only its own provider can resolve. */
export function reference(
  value: unknown,
  { native, options, report }: RequestWriting,
  field: string,
): unknown {
  return native ? value : report.unresolvable(undefined, field, options)
}

export function encodeVoice(
  audio: unknown,
  { native, report }: RequestWriting,
  field: string,
): string | undefined {
  const voice = isObject(audio) ? audio['voice'] : undefined
  const isVoice = typeof voice === 'string'
  if (!isVoice || !native)
    report.add(isVoice ? 'output.voice' : 'field.unsupported', undefined, field)
  return isVoice ? voice : undefined
}

export function encodeModalities(
  modalities: readonly string[],
  { native }: RequestWriting,
): string[] | undefined {
  const words = modalities.map(kind => modality.toWire(kind) ?? kind)
  return native || words.some(word => word !== 'TEXT') ? words : undefined
}

export const encodeTopK = (topK: number, { native }: RequestWriting, field: string) =>
  !native && isNeutral(field, topK) ? undefined : topK

const largestSeed = 2 ** 31

export function encodeSeed(
  seed: number,
  { native, report }: RequestWriting,
  field: string,
): number | undefined {
  if (native || (Number.isInteger(seed) && seed >= -largestSeed && seed < largestSeed)) return seed
  report.add('sampling.seed', undefined, field)
  return undefined
}

/** Penalties have to be below 2 here; in other protocols 2 is allowed. */
const largestPenalty = 1.99

export function encodePenalty(
  penalty: number,
  { native, report }: RequestWriting,
  field: string,
): number {
  if (native || penalty !== 2) return penalty
  report.add('sampling.penalty-clamped', undefined, field)
  return largestPenalty
}

export function encodeLimit(
  limit: number,
  { native, report }: RequestWriting,
  field: string,
): number | undefined {
  if (native || limit >= 1) return limit
  if (isNeutral(field, limit)) return undefined
  report.add('max-tokens.raised', undefined, field)
  return 1
}

const mostStops = 5

export function encodeStop(
  stop: readonly string[],
  { native, report }: RequestWriting,
  field: string,
): readonly string[] | undefined {
  if (native) return stop
  if (stop.length > mostStops) report.add('stop.too-many', undefined, field)
  return stop.length > 0 ? stop.slice(0, mostStops) : undefined
}

export function encodeTier(
  tier: string,
  { native, report }: RequestWriting,
  field: string,
): string | undefined {
  if (!native && tier === 'auto') return undefined
  const word = tierWords.toWire(tier)
  if (native || word !== undefined) return word ?? tier
  report.add(tier === 'fast' ? 'tier.nearest' : 'tier.unsupported', undefined, field)
  return tier === 'fast' ? 'priority' : undefined
}

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
