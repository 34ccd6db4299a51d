import type { Usage } from '../../canonical/response.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { lostOf } from '../../kit/response/usage.ts'
import { type Counts, createUsageTable } from '../../kit/response/usage-table.ts'
import type { StreamUsage } from '../../protocol.ts'
import { type ChatCompletionsReport, keep, wireOf } from './own.ts'
import type { ChatCompletionsWrittenUsage } from './written.ts'

export const usageTable = createUsageTable<ChatCompletionsWrittenUsage>('usage', {
  prompt_tokens: 'input',
  completion_tokens: 'output',
  total_tokens: 'total',
  prompt_tokens_details: {
    cached_tokens: 'cacheRead',
    cache_write_tokens: 'cacheWrite',
    audio_tokens: 'inputAudio',
    image_tokens: 'inputImage',
  },
  completion_tokens_details: {
    reasoning_tokens: 'reasoning',
    audio_tokens: 'outputAudio',
    accepted_prediction_tokens: 'acceptedPrediction',
    rejected_prediction_tokens: 'rejectedPrediction',
  },
  service_tier: { field: 'serviceTier', read: word => (typeof word === 'string' ? word : null) },
  // Other places of the same counts.
  prompt_cache_hit_tokens: { field: 'cacheRead', write: false },
  cached_tokens: { field: 'cacheRead', write: false },
  cache_read_input_tokens: { field: 'cacheRead', write: false },
  num_cached_tokens: { field: 'cacheRead', write: false },
  cache_creation_input_tokens: { field: 'cacheWrite', write: false },
  prompt_cache_write_tokens: { field: 'cacheWrite', write: false },
})

/**
 * `usage` of a response or a chunk; undefined when there is none. On this wire the counts of input
 * and output include their details. Servers differ in where they put cached tokens, and some leave
 * audio out of `prompt_tokens` or reasoning out of `completion_tokens`: then the total exceeds the
 * sum. Makes a note if counts were text, fractions or invalid, or if they did not add up and the
 * total was trusted. `tier`: that of the response; another one is kept as an unknown key.
 */
export function decodeUsage(
  raw: unknown,
  tier: unknown,
  report?: ChatCompletionsReport,
): Usage | undefined {
  if (!isObject(raw)) return undefined
  const counter: Counter = { repaired: false }
  const count = (value: unknown) => countIn(counter, value)
  const counts: Counts = {}
  // Relays write 0 in the fields that they do not fill.
  const left = usageTable.read(raw, counts, (value, before) => largest(count(value), before))
  const {
    prompt_tokens_details: inputRest,
    completion_tokens_details: outputRest,
    prompt_cache_miss_tokens: missed,
    reasoning_tokens,
    ...unknown
  } = left ?? {}
  if ([inputRest, outputRest].some(details => details !== undefined && !isObject(details)))
    counter.repaired = true
  const { total, ...usage } = counts
  const reasoning = usage.reasoning ?? count(reasoning_tokens)
  const { input, output, missing, isExplained } = addUp(counts, reasoning)
  if (!isExplained) counter.repaired = true
  Object.assign(usage, omitUndefined({ input, output, reasoning }))
  const { serviceTier } = usage
  const isOther = serviceTier && typeof tier === 'string' && tier !== serviceTier
  if (isOther) delete usage.serviceTier

  // Cache misses equal to the input minus the hits are not kept.
  const hit = count(raw['prompt_cache_hit_tokens'])
  const isMissed = hit !== undefined && input !== undefined && count(missed) === input - hit
  const isRest = (text: unknown, whole: number | undefined, ...parts: (number | undefined)[]) =>
    count(text) === parts.reduce<number>((rest, part) => rest - (part ?? 0), whole ?? 0)
  const fields: JsonObject = {
    // A total that is less than the sum is not used.
    ...telling({
      ...unknown,
      ...(!isMissed && { prompt_cache_miss_tokens: missed }),
      ...(missing < 0 && { total_tokens: raw['total_tokens'] }),
      ...(isOther && { service_tier: serviceTier }),
    }),
    // Counts of text that are the total minus the other modalities say nothing new.
    ...group('prompt_tokens_details', inputRest, text =>
      isRest(text, input, usage.inputAudio, usage.inputImage),
    ),
    ...group(
      'completion_tokens_details',
      outputRest,
      text =>
        isRest(text, output, usage.outputAudio) ||
        isRest(text, output, usage.outputAudio, reasoning),
    ),
  }
  if (counter.repaired) report?.once('usage.repaired', '/usage')
  return keep(usage, omitUndefinedOrNone(fields))
}

/** Null: neither is a count. */
const largest = (count: number | undefined, before: unknown): number | null =>
  count === undefined && before === undefined ? null : Math.max(count ?? 0, Number(before ?? 0))

/** `repaired`: a count was text, a fraction or invalid. */
type Counter = { repaired: boolean }

function countIn(counter: Counter, value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
  const number = isText || typeof value === 'number' ? Number(value) : Number.NaN
  const isRead = Number.isFinite(number) && number >= 0
  if (isText || (value != null && !(isRead && Number.isInteger(number)))) counter.repaired = true
  return isRead ? Math.floor(number) : undefined
}

/**
 * Input and output with what only the total counts: audio belongs to the input, anything else to
 * the output. `missing`: how much that is, or less than 0; `isExplained`: the other counts say what
 * it is.
 */
function addUp({ input, output, total, inputAudio }: Counts, reasoning: number | undefined) {
  const missing = total !== undefined && input !== undefined ? total - input - (output ?? 0) : 0
  if (input === undefined || missing <= 0) return { input, output, missing, isExplained: true }
  if (missing === inputAudio && missing !== reasoning)
    return { input: input + missing, output, missing, isExplained: true }
  const isExplained = missing === reasoning
  return { input, output: (output ?? 0) + missing, missing, isExplained }
}

/** Without counts that are null or 0, whose loss needs no note. */
function telling(counts: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(counts).filter(([, value]) => value != null && value !== 0),
  )
}

/** `isImplied`: does this count of text tokens say nothing new? */
function group(key: string, counts: unknown, isImplied: (text: unknown) => boolean): JsonObject {
  if (!isObject(counts)) return isEmptyValue(counts) ? {} : { [key]: counts }
  const { text_tokens: text, ...rest } = telling(counts)
  if (text !== undefined && !isImplied(text)) rest['text_tokens'] = text
  return Object.keys(rest).length > 0 ? { [key]: rest } : {}
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

/**
 * Notes: counts that have no place here. `native`: clients of other servers expect some counts,
 * which are 0 if they are unknown.
 */
export function encodeUsage(
  usage: Usage,
  report: ChatCompletionsReport,
  native: boolean,
): ChatCompletionsWrittenUsage {
  const { input, output, serviceTier, ext } = usage
  for (const name of lostOf(usage, usageTable))
    if (name === 'toolPrompt') report.once('usage.merged', undefined, 'usage')
    else report.add('usage.unsupported', '', `usage.${name}`)
  if (serviceTier && !native) report.add('usage.unsupported', '', 'usage.serviceTier')
  report.ext(ext, report.placeOf('usage'))
  // Clients add them up, so a missing count is written as 0, with a note.
  if (input === undefined || output === undefined) report.once('usage.missing', '/usage')
  const none = native ? undefined : 0
  const written = usageTable.write(
    Object.assign({}, usage, {
      input: input ?? 0,
      output: output ?? 0,
      total: (input ?? 0) + (output ?? 0),
      cacheRead: usage.cacheRead ?? none,
      reasoning: usage.reasoning ?? none,
      serviceTier: native ? serviceTier : undefined,
    }),
  )
  return wireOf<ChatCompletionsWrittenUsage>(written, ext)
}

/** Usage comes in a last chunk without choices, if the request asks for it. */
export const streamUsage: StreamUsage = {
  isRequested: wire =>
    isObject(wire) &&
    isObject(wire['stream_options']) &&
    wire['stream_options']['include_usage'] === true,
  ask(wire) {
    if (!isObject(wire)) return { wire }
    const { stream_options: streamOptions } = wire
    const options = {
      stream_options: { ...(isObject(streamOptions) && streamOptions), include_usage: true },
    }
    return {
      wire: { ...wire, ...options },
      ...(!Object.hasOwn(wire, 'stream_options') && { added: options }),
    }
  },
  isOnlyCounts: event =>
    isObject(event) &&
    isObject(event['usage']) &&
    Array.isArray(event['choices']) &&
    event['choices'].length === 0,
}
