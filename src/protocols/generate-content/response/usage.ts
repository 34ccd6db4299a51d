import type { Usage } from '../../../canonical/response.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { countOf } from '../../../kit/response/usage.ts'
import type { GenerateContentReport } from '../notes.ts'
import { extOf, ownFields } from '../own.ts'
import type { GenerateContentCount, GenerateContentWrittenUsage } from '../schema.ts'
import { tierWords } from '../vocabulary.ts'

const counters = [
  'promptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
] as const
type Counts = Partial<Record<(typeof counters)[number], number>>

/** Lists that split a count by modality, and that count. */
const modalities = {
  promptTokensDetails: 'promptTokenCount',
  candidatesTokensDetails: 'candidatesTokenCount',
  cacheTokensDetails: 'cachedContentTokenCount',
  toolUsePromptTokensDetails: 'toolUsePromptTokenCount',
} as const
/**
 * The modalities of each list that canonical usage has fields for, in the order of writing. The
 * rest of a list is text.
 */
const counted = {
  promptTokensDetails: ['AUDIO', 'IMAGE'],
  candidatesTokensDetails: ['AUDIO'],
  cacheTokensDetails: [],
  toolUsePromptTokensDetails: [],
} as const
type CountsByModality = Partial<Record<string, number>>

/**
 * `promptTokenCount` excludes `toolUsePromptTokenCount`, `candidatesTokenCount` excludes
 * `thoughtsTokenCount`; `input` and `output` include them. Servers omit counts of 0, so if one of
 * the four is present, the absent ones are 0. The service tier belongs to the response and is not
 * read here. Never throws: unreadable counts must not break a response.
 */
export function decodeUsage(wire: JsonObject): Usage {
  // Known keys are set to undefined, because `delete` is slow.
  const unknown: JsonObject = { ...wire }
  const counts: Counts = {}
  for (const key of counters) {
    const count = countOf(wire[key])
    if (count === undefined) continue
    counts[key] = count
    unknown[key] = undefined
  }
  const {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: reasoning,
    toolUsePromptTokenCount: toolPrompt,
  } = counts
  const hasCounts =
    prompt !== undefined ||
    candidates !== undefined ||
    reasoning !== undefined ||
    toolPrompt !== undefined
  const byModality: Partial<Record<keyof typeof modalities, CountsByModality>> = {}
  for (const key of Object.keys(modalities) as (keyof typeof modalities)[]) {
    const found = countsIn(wire[key], counts[modalities[key]], counted[key])
    if (!found) continue
    unknown[key] = undefined
    byModality[key] = found
  }
  const input = hasCounts ? (prompt ?? 0) + (toolPrompt ?? 0) : undefined
  const output = hasCounts ? (candidates ?? 0) + (reasoning ?? 0) : undefined
  // A total that is not the sum is kept as an unknown key.
  if (hasCounts && wire['totalTokenCount'] === (input ?? 0) + (output ?? 0))
    unknown['totalTokenCount'] = undefined
  if (typeof wire['serviceTier'] === 'string') unknown['serviceTier'] = undefined
  return omitUndefined({
    input,
    output,
    cacheRead: counts.cachedContentTokenCount,
    reasoning: reasoning,
    toolPrompt,
    inputAudio: byModality.promptTokensDetails?.['AUDIO'],
    outputAudio: byModality.candidatesTokensDetails?.['AUDIO'],
    inputImage: byModality.promptTokensDetails?.['IMAGE'],
    ext: extOf(unknown),
  })
}

/**
 * The tokens of a list by modality, without text. Undefined: the list holds something else, or its
 * sum is not `count`.
 */
function countsIn(
  list: unknown,
  count: number | undefined,
  known: readonly string[],
): CountsByModality | undefined {
  if (!Array.isArray(list)) return undefined
  const counts: CountsByModality = {}
  let sum = 0
  const seen = new Set<unknown>()
  for (const entry of list as unknown[]) {
    if (!isObject(entry)) return undefined
    const { modality, tokenCount = 0, ...more } = entry
    const tokens = countOf(tokenCount)
    if (
      tokens === undefined ||
      typeof modality !== 'string' ||
      seen.has(modality) ||
      Object.keys(more).length > 0
    )
      return undefined
    if (modality !== 'TEXT' && !known.includes(modality) && (modality !== 'AUDIO' || tokens > 0))
      return undefined
    seen.add(modality)
    sum += tokens
    if (modality !== 'TEXT' && tokens > 0) counts[modality] = tokens
  }
  return sum === (count ?? 0) ? counts : undefined
}

const handled = keysOf<Usage>()(
  'input',
  'output',
  'cacheRead',
  'reasoning',
  'toolPrompt',
  'inputAudio',
  'outputAudio',
  'inputImage',
  'serviceTier',
  'serverTools',
  'ext',
)

/** Without `usage` only the tier is written. Returns undefined when there is nothing to write. */
export function encodeUsage(
  usage: Usage | undefined,
  serviceTier: string | undefined,
  report: GenerateContentReport,
): GenerateContentWrittenUsage | undefined {
  const {
    input,
    output,
    cacheRead,
    reasoning,
    toolPrompt,
    inputAudio,
    outputAudio,
    inputImage,
    serverTools,
    ext,
  } = usage ?? {}
  report.ext(ext, report.placeOf('usage'))
  // A lost count of 0 needs no note.
  for (const key in usage)
    if (!handled[key] && usage[key as keyof Usage]) report.once('usage.merged', undefined, 'usage')
  if (serverTools) report.rest({ serverTools }, undefined, 'usage.')
  if (output !== undefined && (reasoning ?? 0) + (outputAudio ?? 0) > output)
    report.once('usage.overlap', undefined, 'usage.output')
  if (input !== undefined && (toolPrompt ?? 0) + (inputAudio ?? 0) + (inputImage ?? 0) > input)
    report.once('usage.overlap', undefined, 'usage.input')
  const prompt = input === undefined ? undefined : Math.max(0, input - (toolPrompt ?? 0))
  const candidates = output === undefined ? undefined : Math.max(0, output - (reasoning ?? 0))
  return omitUndefinedOrNone<GenerateContentWrittenUsage>({
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: reasoning,
    toolUsePromptTokenCount: toolPrompt,
    cachedContentTokenCount: cacheRead,
    // The sum of the counts that are written, which for overlapping counts is not `input + output`.
    totalTokenCount:
      prompt === undefined || candidates === undefined
        ? undefined
        : prompt + candidates + (reasoning ?? 0) + (toolPrompt ?? 0),
    promptTokensDetails: detailsOf({ AUDIO: inputAudio, IMAGE: inputImage }, prompt),
    candidatesTokensDetails: detailsOf({ AUDIO: outputAudio }, candidates),
    ...encodeTier(serviceTier ?? usage?.serviceTier, report),
    // A total that is another one is among them.
    ...ownFields(ext),
  })
}

function encodeTier(
  tier: string | undefined,
  report: GenerateContentReport,
): { serviceTier?: string } {
  if (!tier) return {}
  // Words that are not known are written as they are, if they look like those of this wire.
  const word =
    tierWords.toWire(tier) ??
    (tierWords.toOurs(tier) === undefined && /^[a-z_]+$/.test(tier) ? tier : undefined)
  if (word === undefined) report.add('tier.nearest', undefined, 'serviceTier')
  return { serviceTier: word ?? 'standard' }
}

function detailsOf(
  counts: Record<string, number | undefined>,
  count: number | undefined,
): GenerateContentCount[] | undefined {
  const list = Object.entries(counts).flatMap(([modality, tokenCount]) =>
    tokenCount ? [{ modality, tokenCount }] : [],
  )
  if (list.length === 0) return undefined
  const text = list.reduce((left, { tokenCount }) => left - tokenCount, count ?? 0)
  return text > 0 ? [{ modality: 'TEXT', tokenCount: text }, ...list] : list
}

/** The service tier of a response. */
export function decodeTier(usage: unknown): string | undefined {
  const word = isObject(usage) ? usage['serviceTier'] : undefined
  return typeof word === 'string' ? (tierWords.toOurs(word) ?? word) : undefined
}
