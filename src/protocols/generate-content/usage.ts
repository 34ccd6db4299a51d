import type { Usage } from '../../canonical/response.ts'
import { omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { countOf, lostOf, type PlacedTier, tierIn } from '../../kit/response/usage.ts'
import { type Counts, createUsageTable, withoutTotal } from '../../kit/response/usage-table.ts'
import { extOf, type GenerateContentReport, ownFields } from './own.ts'
import { tierWords } from './vocabulary.ts'
import type { GenerateContentCount, GenerateContentWrittenUsage } from './written.ts'

export const usageTable = createUsageTable<GenerateContentWrittenUsage>('usageMetadata', {
  promptTokenCount: 'input',
  candidatesTokenCount: 'output',
  thoughtsTokenCount: 'reasoning',
  toolUsePromptTokenCount: 'toolPrompt',
  cachedContentTokenCount: 'cacheRead',
  totalTokenCount: 'total',
  // A list is read only if its sum is the count that it splits.
  promptTokensDetails: ['inputAudio', 'inputImage'],
  candidatesTokensDetails: ['outputAudio'],
  // It belongs to the response.
  serviceTier: ['serviceTier'],
})

type Modalities = { readonly [modality: string]: 'inputAudio' | 'inputImage' | 'outputAudio' }

/**
 * Lists that split a count by modality: that count, and the modalities that canonical usage has
 * fields for, in the order of writing. The rest of a list is text.
 */
const lists = {
  promptTokensDetails: ['input', { AUDIO: 'inputAudio', IMAGE: 'inputImage' }],
  candidatesTokensDetails: ['output', { AUDIO: 'outputAudio' }],
  cacheTokensDetails: ['cacheRead', {}],
  toolUsePromptTokensDetails: ['toolPrompt', {}],
} as const satisfies { [key: string]: readonly [count: keyof Usage, Modalities] }

/**
 * `promptTokenCount` excludes `toolUsePromptTokenCount`, `candidatesTokenCount` excludes
 * `thoughtsTokenCount`; `input` and `output` include them. Servers omit counts of 0, so if one of
 * the four is present, the absent ones are 0. The service tier belongs to the response and is not
 * read here. Never throws: unreadable counts must not break a response.
 */
export function decodeUsage(wire: JsonObject): Usage {
  const counts: Counts = {}
  const unknown = usageTable.read(wire, counts) ?? {}
  for (const [key, [of, modalities]] of Object.entries(lists)) {
    const found = countsIn(wire[key], counts[of], modalities)
    if (!found) continue
    unknown[key] = undefined
    Object.assign(counts, found)
  }
  if (typeof wire['serviceTier'] === 'string') unknown['serviceTier'] = undefined
  const { input, output, reasoning, toolPrompt } = counts
  if ([input, output, reasoning, toolPrompt].some(count => count !== undefined)) {
    counts.input = (input ?? 0) + (toolPrompt ?? 0)
    counts.output = (output ?? 0) + (reasoning ?? 0)
  }
  const usage = withoutTotal(counts, unknown, 'totalTokenCount')
  const ext = extOf(unknown)
  if (ext) usage.ext = ext
  return usage
}

/**
 * The tokens of a list by modality, without text. Undefined: the list holds something else, or its
 * sum is not `count`.
 */
function countsIn(list: unknown, count: number | undefined, known: Modalities): Usage | undefined {
  if (!Array.isArray(list)) return undefined
  const counts: Usage = {}
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
    const name = Object.hasOwn(known, modality) ? known[modality] : undefined
    if (modality !== 'TEXT' && !name && (modality !== 'AUDIO' || tokens > 0)) return undefined
    seen.add(modality)
    sum += tokens
    if (name && tokens > 0) counts[name] = tokens
  }
  return sum === (count ?? 0) ? counts : undefined
}

/** Undefined: there is nothing to write. */
export function encodeUsage(
  usage: Usage = {},
  serviceTier: string | undefined,
  report: GenerateContentReport,
): GenerateContentWrittenUsage | undefined {
  const { input, output, reasoning, toolPrompt, inputAudio, outputAudio, inputImage, ext } = usage
  report.ext(ext, report.placeOf('usage'))
  for (const name of lostOf(usage, usageTable))
    if (name === 'serverTools') report.add('field.unsupported', '', 'usage.serverTools')
    else report.once('usage.merged', undefined, 'usage')
  if (output !== undefined && (reasoning ?? 0) + (outputAudio ?? 0) > output)
    report.once('usage.overlap', undefined, 'usage.output')
  if (input !== undefined && (toolPrompt ?? 0) + (inputAudio ?? 0) + (inputImage ?? 0) > input)
    report.once('usage.overlap', undefined, 'usage.input')
  const prompt = input === undefined ? undefined : Math.max(0, input - (toolPrompt ?? 0))
  const candidates = output === undefined ? undefined : Math.max(0, output - (reasoning ?? 0))
  return omitUndefinedOrNone<GenerateContentWrittenUsage>(
    Object.assign(
      usageTable.write(
        Object.assign({}, usage, {
          input: prompt,
          output: candidates,
          // The sum of the counts that are written, which for overlapping counts is not the sum of both.
          total:
            prompt === undefined || candidates === undefined
              ? undefined
              : prompt + candidates + (reasoning ?? 0) + (toolPrompt ?? 0),
        }),
      ),
      {
        promptTokensDetails: detailsOf(usage, lists.promptTokensDetails[1], prompt),
        candidatesTokensDetails: detailsOf(usage, lists.candidatesTokensDetails[1], candidates),
      },
      encodeTier(tierIn(serviceTier, usage), report),
      // A total that is another one is among them.
      ownFields(ext),
    ),
  )
}

function encodeTier(
  { tier, field }: PlacedTier,
  report: GenerateContentReport,
): { serviceTier?: string } {
  if (!tier) return {}
  // Words that are not known are written as they are, if they look like those of this wire.
  const word =
    tierWords.toWire(tier) ??
    (tierWords.toOurs(tier) === undefined && /^[a-z_]+$/.test(tier) ? tier : undefined)
  if (word === undefined) report.add('tier.nearest', undefined, field)
  return { serviceTier: word ?? 'standard' }
}

function detailsOf(
  usage: Usage,
  modalities: Modalities,
  count: number | undefined,
): GenerateContentCount[] | undefined {
  const list = Object.entries(modalities).flatMap(([modality, name]) => {
    const tokenCount = usage[name]
    return tokenCount ? [{ modality, tokenCount }] : []
  })
  if (list.length === 0) return undefined
  const text = list.reduce((left, { tokenCount }) => left - tokenCount, count ?? 0)
  return text > 0 ? [{ modality: 'TEXT', tokenCount: text }, ...list] : list
}

/** The service tier of a response. */
export function decodeTier(usage: unknown): string | undefined {
  const word = isObject(usage) ? usage['serviceTier'] : undefined
  return typeof word === 'string' ? (tierWords.toOurs(word) ?? word) : undefined
}
