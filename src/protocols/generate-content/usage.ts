import type { Usage } from '../../canonical/response.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { countOf, sameCounts } from '../../kit/usage.ts'
import type { GeminiReport } from './notes.ts'
import { keep, ownForm, ownKeys } from './own.ts'
import { tierWords } from './vocabulary.ts'

const counters = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'toolUsePromptTokenCount', 'cachedContentTokenCount'] as const
type Counts = Partial<Record<(typeof counters)[number], number>>

/** Lists that tell a counter by modality. */
const modalities = {
  promptTokensDetails: 'promptTokenCount',
  candidatesTokensDetails: 'candidatesTokenCount',
  cacheTokensDetails: 'cachedContentTokenCount',
  toolUsePromptTokensDetails: 'toolUsePromptTokenCount',
} as const
const hasAudio = new Set<string>(['promptTokensDetails', 'candidatesTokensDetails'])

/**
 * `prompt` excludes what tools brought in, `candidates` excludes thoughts: the model includes both. Servers leave out a
 * counter that is 0, so one that is told makes those of its total told. The tier is the reply's, not counted here.
 * Total: counts that cannot be read never break a reply.
 */
export function decodeUsage(wire: JsonObject): Usage {
  // What is taken is undefined here: to delete a key is dear.
  const unknown: JsonObject = { ...wire }
  const counts: Counts = {}
  for (const key of counters) {
    const count = countOf(wire[key])
    if (count === undefined) continue
    counts[key] = count
    unknown[key] = undefined
  }
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, thoughtsTokenCount: thoughts, toolUsePromptTokenCount: toolPrompt } = counts
  const isTold = prompt !== undefined || candidates !== undefined || thoughts !== undefined || toolPrompt !== undefined
  const audio: Partial<Record<keyof typeof modalities, number>> = {}
  for (const key of Object.keys(modalities) as (keyof typeof modalities)[]) {
    const told = audioIn(wire[key], counts[modalities[key]])
    if (told === undefined || (told > 0 && !hasAudio.has(key))) continue
    unknown[key] = undefined
    if (told > 0) audio[key] = told
  }
  const input = isTold ? (prompt ?? 0) + (toolPrompt ?? 0) : undefined
  const output = isTold ? (candidates ?? 0) + (thoughts ?? 0) : undefined
  // A total that is no sum is kept, but trusted by nobody.
  if (isTold && wire['totalTokenCount'] === (input ?? 0) + (output ?? 0)) unknown['totalTokenCount'] = undefined
  if (typeof wire['serviceTier'] === 'string') unknown['serviceTier'] = undefined
  return defined({
    input,
    output,
    cacheRead: counts.cachedContentTokenCount,
    reasoning: thoughts,
    toolPrompt,
    inputAudio: audio.promptTokensDetails,
    outputAudio: audio.candidatesTokensDetails,
    ...keep(defined(unknown), {}, { wire }),
  })
}

/** Tokens of sound in a list by modality. Undefined: the list tells more than sound and the rest of the count, which is text. */
function audioIn(list: unknown, count: number | undefined): number | undefined {
  if (!Array.isArray(list)) return undefined
  let audio = 0
  let sum = 0
  const seen = new Set<unknown>()
  for (const entry of list as unknown[]) {
    if (!isObject(entry)) return undefined
    const { modality, tokenCount = 0, ...more } = entry
    const tokens = countOf(tokenCount)
    if (tokens === undefined || seen.has(modality) || Object.keys(more).length > 0 || (modality !== 'TEXT' && modality !== 'AUDIO')) return undefined
    seen.add(modality)
    sum += tokens
    if (modality === 'AUDIO') audio = tokens
  }
  return sum === (count ?? 0) ? audio : undefined
}

/** `usage` absent: nothing is known but, maybe, the tier. Undefined: there is nothing to say. */
export function encodeUsage(usage: Usage | undefined, serviceTier: string | undefined, report: GeminiReport): JsonObject | undefined {
  const { input, output, cacheRead, reasoning, toolPrompt, inputAudio, outputAudio, serviceTier: counting, serverTools, ext, ...merged } = usage ?? {}
  const tier = serviceTier ?? counting
  const raw = ownForm(ext)?.['wire']
  if (isObject(raw) && usage && decodeTier(raw) === tier && sameCounts(decodeUsage(raw), usage)) return raw
  report.ext(ext, report.placeOf('usage'))
  // Losing a count of 0 loses nothing.
  for (const count of Object.values(merged)) if (count !== undefined && count !== 0) report.once('usage.merged', undefined, 'usage')
  report.rest(defined({ serverTools }), undefined, 'usage.')
  if (output !== undefined && (reasoning ?? 0) > output) report.once('usage.overlap', undefined, 'usage.output')
  if (input !== undefined && (toolPrompt ?? 0) > input) report.once('usage.overlap', undefined, 'usage.input')
  const prompt = input === undefined ? undefined : Math.max(0, input - (toolPrompt ?? 0))
  const candidates = output === undefined ? undefined : Math.max(0, output - (reasoning ?? 0))
  const wire = {
    ...ownKeys(ext),
    ...defined({
      promptTokenCount: prompt,
      candidatesTokenCount: candidates,
      thoughtsTokenCount: reasoning,
      toolUsePromptTokenCount: toolPrompt,
      cachedContentTokenCount: cacheRead,
      // The sum of the counts that are written, which for overlapping counts is not `input + output`.
      totalTokenCount: prompt === undefined || candidates === undefined ? undefined : prompt + candidates + (reasoning ?? 0) + (toolPrompt ?? 0),
      promptTokensDetails: detailsOf(inputAudio, prompt),
      candidatesTokensDetails: detailsOf(outputAudio, candidates),
    }),
    ...encodeTier(tier, report),
  }
  return Object.keys(wire).length > 0 ? wire : undefined
}

function encodeTier(tier: string | undefined, report: GeminiReport): { serviceTier?: string } {
  if (!tier) return {}
  const word = tierWords.toWire(tier) ?? (tierWords.toOurs(tier) === undefined ? tier : undefined)
  if (word === undefined) report.add('tier.nearest', undefined, 'serviceTier')
  return { serviceTier: word ?? 'standard' }
}

function detailsOf(audio: number | undefined, count: number | undefined): JsonObject[] | undefined {
  if (!audio) return undefined
  const text = (count ?? 0) - audio
  return [...(text > 0 ? [{ modality: 'TEXT', tokenCount: text }] : []), { modality: 'AUDIO', tokenCount: audio }]
}

/** The tier of a reply. */
export function decodeTier(usage: unknown): string | undefined {
  const word = isObject(usage) ? usage['serviceTier'] : undefined
  return typeof word === 'string' ? (tierWords.toOurs(word) ?? word) : undefined
}
