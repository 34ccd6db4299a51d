import type { Usage } from '../../../canonical/response.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { keep, wireOf } from '../own.ts'
import type { ChatCompletionsWrittenUsage } from '../schema.ts'

/**
 * `usage` of a response or a chunk; undefined when there is none. On this wire the counts of input
 * and output include their details. Servers differ in where they put cached tokens, and some leave
 * audio out of `prompt_tokens` or reasoning out of `completion_tokens`: then the total exceeds the
 * sum. Makes a note if counts were text, fractions or invalid, or if they did not add up and the
 * total was trusted.
 */
export function decodeUsage(raw: unknown, report?: ChatCompletionsReport): Usage | undefined {
  if (!isObject(raw)) return undefined
  const counter: Counter = { repaired: false }
  const count = (value: unknown) => countIn(counter, value)
  const {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details,
    completion_tokens_details,
    prompt_cache_hit_tokens,
    prompt_cache_miss_tokens: missed,
    prompt_cache_write_tokens,
    cached_tokens,
    num_cached_tokens,
    cache_read_input_tokens,
    cache_creation_input_tokens,
    reasoning_tokens,
    service_tier,
    ...unknown
  } = raw
  if (
    [prompt_tokens_details, completion_tokens_details].some(
      details => details != null && !isObject(details),
    )
  )
    counter.repaired = true
  const {
    cached_tokens: cached,
    cache_write_tokens,
    audio_tokens: inputAudio,
    image_tokens: inputImage,
    text_tokens: inputText,
    ...inputRest
  } = isObject(prompt_tokens_details) ? prompt_tokens_details : {}
  const {
    reasoning_tokens: reasoned,
    audio_tokens: outputAudio,
    text_tokens: outputText,
    accepted_prediction_tokens,
    rejected_prediction_tokens,
    ...outputRest
  } = isObject(completion_tokens_details) ? completion_tokens_details : {}

  const reasoning = count(reasoned) ?? count(reasoning_tokens)
  const messageParts = {
    prompt: count(prompt_tokens),
    completion: count(completion_tokens),
    total: count(total_tokens),
  }
  const { input, output, missing, isExplained } = addUp(messageParts, {
    reasoning,
    audio: count(inputAudio),
  })
  if (!isExplained) counter.repaired = true

  // Cache misses equal to the input minus the hits are not kept.
  const hit = count(prompt_cache_hit_tokens)
  const other =
    hit !== undefined && input !== undefined && count(missed) === input - hit
      ? {}
      : { prompt_cache_miss_tokens: missed }
  const usage: Usage = omitUndefined({
    input,
    output,
    // Relays write 0 in the fields that they do not fill.
    cacheRead: largest([
      count(cached),
      hit,
      count(cached_tokens),
      count(cache_read_input_tokens),
      count(num_cached_tokens),
    ]),
    cacheWrite: largest([
      count(cache_write_tokens),
      count(cache_creation_input_tokens),
      count(prompt_cache_write_tokens),
    ]),
    reasoning,
    inputAudio: count(inputAudio),
    outputAudio: count(outputAudio),
    inputImage: count(inputImage),
    acceptedPrediction: count(accepted_prediction_tokens),
    rejectedPrediction: count(rejected_prediction_tokens),
    serviceTier: typeof service_tier === 'string' ? service_tier : undefined,
  })
  const texts = unexplainedTexts(usage, { input: inputText, output: outputText }, count)
  Object.assign(inputRest, texts.input)
  Object.assign(outputRest, texts.output)
  const fields: JsonObject = {
    // A total that is less than the sum is not used.
    ...telling(omitUndefined({ ...unknown, ...other, ...(missing < 0 && { total_tokens }) })),
    ...group(
      'prompt_tokens_details',
      isObject(prompt_tokens_details) ? inputRest : prompt_tokens_details,
    ),
    ...group(
      'completion_tokens_details',
      isObject(completion_tokens_details) ? outputRest : completion_tokens_details,
    ),
  }
  if (counter.repaired) report?.once('usage.repaired', '/usage')
  return keep(usage, omitUndefinedOrNone(fields))
}

function largest(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter(count => count !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}

/** `repaired`: a count was text, a fraction or invalid. */
type Counter = { repaired: boolean }

function countIn(counter: Counter, value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
  const number = isText || typeof value === 'number' ? Number(value) : Number.NaN
  const isRead = Number.isFinite(number) && number >= 0
  if (isText || (value != null && !(isRead && Number.isInteger(number)))) counter.repaired = true
  return isRead ? Math.floor(number) : undefined
}

type Texts = Record<'input' | 'output', unknown>

/**
 * Counts of text tokens that are not the total minus the other modalities, with or without
 * reasoning. The others say nothing new.
 */
function unexplainedTexts(
  { input, output, inputAudio, inputImage, outputAudio, reasoning }: Usage,
  texts: Texts,
  count: (value: unknown) => number | undefined,
) {
  const isRest = (text: unknown, whole: number | undefined, ...parts: (number | undefined)[]) =>
    text === undefined ||
    count(text) === parts.reduce<number>((left, part) => left - (part ?? 0), whole ?? 0)
  const isOutputRest =
    isRest(texts.output, output, outputAudio) ||
    isRest(texts.output, output, outputAudio, reasoning)
  return {
    input: isRest(texts.input, input, inputAudio, inputImage) ? {} : { text_tokens: texts.input },
    output: isOutputRest ? {} : { text_tokens: texts.output },
  }
}

type Totals = Record<'prompt' | 'completion' | 'total', number | undefined>

/**
 * Input and output with what only the total counts: audio belongs to the input, anything else to
 * the output. `missing`: how much that is, or less than 0; `isExplained`: the other counts say what
 * it is.
 */
function addUp(
  { prompt, completion, total }: Totals,
  { reasoning, audio }: Record<'reasoning' | 'audio', number | undefined>,
) {
  const missing =
    total !== undefined && prompt !== undefined ? total - prompt - (completion ?? 0) : 0
  if (prompt === undefined || missing <= 0)
    return { input: prompt, output: completion, missing, isExplained: true }
  if (missing === audio && missing !== reasoning)
    return { input: prompt + missing, output: completion, missing, isExplained: true }
  return {
    input: prompt,
    output: (completion ?? 0) + missing,
    missing,
    isExplained: missing === reasoning,
  }
}

const isNothing = (counts: unknown): boolean =>
  counts === undefined ||
  counts === 0 ||
  (isObject(counts) && Object.values(counts).every(isNothing))

/** Without counts that are null or 0, whose loss needs no note. */
function telling(counts: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(counts).filter(([, value]) => value !== null && value !== 0),
  )
}

function group(key: string, counts: unknown): JsonObject {
  if (!isObject(counts)) return isEmptyValue(counts) ? {} : { [key]: counts }
  const nonZero = telling(counts)
  return Object.keys(nonZero).length > 0 ? { [key]: nonZero } : {}
}

/** Some languages write an empty list where an object belongs. */
export const isEmptyValue = (value: unknown): boolean =>
  !value || (Array.isArray(value) && value.length === 0)

/** Finds usage at the top level or where some servers put it. */
export function findUsage({ usage, x_groq, choices }: JsonObject): unknown {
  if (isObject(usage)) return usage
  if (isObject(x_groq) && isObject(x_groq['usage'])) return x_groq['usage']
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(first) ? first['usage'] : undefined
}

const handled = keysOf<Usage>()(
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'toolPrompt',
  'inputAudio',
  'outputAudio',
  'inputImage',
  'acceptedPrediction',
  'rejectedPrediction',
  'ext',
)

/**
 * Notes: counts that have no place here. `native`: clients of other servers expect some counts,
 * which are 0 if they are unknown.
 */
export function encodeUsage(
  usage: Usage,
  report: ChatCompletionsReport,
  native: boolean,
): ChatCompletionsWrittenUsage {
  const { input, output, ext } = usage
  if (usage.toolPrompt) report.once('usage.merged', undefined, 'usage')
  const tier = native ? usage.serviceTier : undefined
  for (const key in usage)
    if (!handled[key] && usage[key as never] !== tier && !isNothing(usage[key as never]))
      report.add('usage.unsupported', '', `usage.${key}`)
  report.ext(ext, report.placeOf('usage'))
  // Clients add them up, so a missing count is written as 0, with a note.
  if (input === undefined || output === undefined) report.once('usage.missing', '/usage')
  const none = native ? undefined : 0
  const written: ChatCompletionsWrittenUsage = {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: (input ?? 0) + (output ?? 0),
    prompt_tokens_details: omitUndefinedOrNone({
      cached_tokens: usage.cacheRead ?? none,
      cache_write_tokens: usage.cacheWrite,
      audio_tokens: usage.inputAudio,
      image_tokens: usage.inputImage,
    }),
    completion_tokens_details: omitUndefinedOrNone({
      reasoning_tokens: usage.reasoning ?? none,
      audio_tokens: usage.outputAudio,
      accepted_prediction_tokens: usage.acceptedPrediction,
      rejected_prediction_tokens: usage.rejectedPrediction,
    }),
    service_tier: tier,
  }
  return wireOf<ChatCompletionsWrittenUsage>(written, ext)
}
