import type { Part } from '../../canonical/message.ts'
import { isNeutral } from '../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest } from '../../canonical/request.ts'
import { present, some, someOf } from '../../kit/defined.ts'
import { hashHex } from '../../kit/ids.ts'
import type { JsonObject } from '../../kit/json.ts'
import { keysOf, unknownOf } from '../../kit/keys.ts'
import { controlMark } from './cache.ts'
import { decodeContent, encodeParts, plainly } from './content.ts'
import type { ChatReport } from './notes.ts'
import type { ChatRequest } from './schema.ts'
import { serviceTiers } from './vocabulary.ts'
import type { Writing } from './writing.ts'

/** Keeps the unknown keys of an object under a key of the body. */
export type Put = (key: string, unknown: JsonObject | undefined) => void

export function decodeSampling(body: ChatRequest): CanonicalRequest['sampling'] {
  return someOf({
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    seed: body.seed,
    logitBias: body.logit_bias,
  })
}

export function encodeSampling(sampling: CanonicalRequest['sampling'], { report, options, native }: Writing): JsonObject {
  if (!sampling) return {}
  const { temperature, topP, topK, minP, repetitionPenalty, frequencyPenalty, presencePenalty, seed, logitBias, ...rest } = sampling
  const written = native || options.ccTopK === 'write'
  report.rest(written ? rest : { ...rest, topK, minP, repetitionPenalty }, '', 'sampling.')
  return {
    temperature,
    top_p: topP,
    ...(written && { top_k: topK, min_p: minP, repetition_penalty: repetitionPenalty }),
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
    seed,
    logit_bias: logitBias,
  }
}

export function decodeLogprobSpec({ logprobs, top_logprobs: top }: ChatRequest): CanonicalRequest['logprobs'] {
  const hasTop = top !== undefined && top !== null
  if (!hasTop && (logprobs === undefined || logprobs === null)) return undefined
  return hasTop ? { enabled: logprobs ?? false, top } : { enabled: logprobs ?? false }
}

/** Servers accept `top_logprobs` only together with `logprobs: true`. */
export function encodeLogprobSpec(spec: CanonicalRequest['logprobs'], { report, native }: Writing): JsonObject {
  if (!spec) return {}
  const { enabled, top } = spec
  if (native || enabled) return { logprobs: enabled, top_logprobs: top }
  report.rest({ top }, '', 'logprobs.')
  return {}
}

export function encodeLimit(limit: number | undefined, { report, native }: Writing): number | undefined {
  if (limit === undefined || limit >= 1 || native) return limit
  if (isNeutral('maxOutputTokens', limit)) return undefined
  report.add('limit.raised', '', 'maxOutputTokens')
  return 1
}

export function encodeStop(stop: readonly string[] | undefined, { report, native }: Writing): readonly string[] | undefined {
  // An empty list has no effect, and servers refuse it.
  if (!stop || stop.length === 0) return undefined
  if (stop.length <= 4 || native) return stop
  report.add('stop.too-many', '', 'stop')
  return stop.slice(0, 4)
}

const knownOfCache = keysOf<NonNullable<ChatRequest['prompt_cache_options']>>()('mode', 'ttl')

/** `auto`: the body's `cache_control`, with which the server chooses what to cache. */
export function decodeCache(
  { prompt_cache_key: key, prompt_cache_options: options, prompt_cache_retention: retention }: ChatRequest,
  auto: CacheSpec['auto'],
  put: Put,
): CanonicalRequest['cache'] {
  if (options) put('prompt_cache_options', unknownOf(options, knownOfCache))
  return someOf({ key, mode: options?.mode, ttl: options?.ttl, retention, auto })
}

export function encodeCache(cache: CanonicalRequest['cache'], writing: Writing): JsonObject {
  if (!cache) return {}
  const { report, options, native } = writing
  // `auto` (mark the last part that can be cached) needs no field for OpenAI, which does it anyway.
  const { key, mode, ttl: lifetime, retention, auto, contentRef, ...rest } = cache
  if (contentRef !== undefined) report.unresolvable(undefined, 'cache.contentRef', options)
  report.rest(rest, '', 'cache.')
  const control = auto && encodeAuto(auto, writing)
  // In this field `30m` is the only lifetime; a mark on a part can also have `12h`.
  const ttl = native || lifetime === '30m' ? lifetime : undefined
  if (ttl !== lifetime) report.add('cache.ttl', '', 'cache.ttl')
  const wire = { prompt_cache_key: key, prompt_cache_options: some({ mode, ttl }), prompt_cache_retention: retention }
  const written = encodeOptional(wire, { 'cache.key': key, 'cache.mode': mode, 'cache.ttl': ttl, 'cache.retention': retention }, writing)
  return control ? { ...written, ...control } : written
}

function encodeAuto(auto: NonNullable<CacheSpec['auto']>, { report, options, native }: Writing): JsonObject | undefined {
  const approximate = () => report.add('cache.ttl', '', 'cache.auto.ttl')
  if (native || options.ccCacheMarks === 'cache_control') return controlMark(auto, approximate)
  if (auto.ttl !== undefined) approximate()
  return undefined
}

export function encodeTier(tiers: CanonicalRequest['serviceTier'], { report, options, native }: Writing): string | undefined {
  if (!tiers) return undefined
  const { tier, ...rest } = tiers
  if (tier === undefined && rest.speed === 'fast' && options.fastIsSpeed) {
    report.add('tier.speed', '', 'serviceTier.speed')
    return rest.speed
  }
  report.rest(rest, '', 'serviceTier.')
  if (tier === undefined || native || serviceTiers.has(tier)) return tier
  report.add('tier.unsupported', '', 'serviceTier.tier')
  return undefined
}

/** Values that are no text have no canonical field. */
export function decodeMetadata(metadata: ChatRequest['metadata'], put: Put): CanonicalRequest['metadata'] {
  if (!metadata) return undefined
  const pairs = Object.entries(metadata)
  put('metadata', someOf(Object.fromEntries(pairs.filter(([, value]) => typeof value !== 'string'))))
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
}

const longestUser = 64

export function encodeUser(user: CanonicalRequest['user'], writing: Writing): JsonObject {
  if (!user) return {}
  const { report, native } = writing
  const { safetyId, user: name, ...rest } = user
  report.rest(rest, '', 'user.')
  const { safety_identifier: id } = encodeOptional({ safety_identifier: safetyId }, { 'user.safetyId': safetyId }, writing)
  if (id === undefined || safetyId === undefined || native || safetyId.length <= longestUser) return { safety_identifier: id, user: name }
  report.add('user.hashed', '', 'user.safetyId')
  return { safety_identifier: hashHex(safetyId, longestUser), user: name }
}

/**
 * Fields that many servers refuse as unknown: left out, with a note for each canonical field, unless `ccOptionalFields` says that this
 * server accepts them.
 */
export function encodeOptional(wire: JsonObject, fields: JsonObject, { report, options, native }: Writing): JsonObject {
  if (native || options.ccOptionalFields === 'write') return wire
  for (const field in fields) if (fields[field] !== undefined && !isNeutral(field, fields[field])) report.add('field.optional', '', field)
  return {}
}

const knownOfPrediction = keysOf<NonNullable<ChatRequest['prediction']>>()('type', 'content')

export function decodePrediction(prediction: ChatRequest['prediction'], report: ChatReport, put: Put): CanonicalRequest['prediction'] {
  if (!prediction) return undefined
  put('prediction', unknownOf(prediction, knownOfPrediction))
  return { parts: decodeContent(prediction.content, '/prediction', report) }
}

export function encodePrediction(parts: readonly Part[], writing: Writing): JsonObject {
  return { type: 'content', content: plainly(encodeParts(parts, writing)) }
}

const knownOfStream = keysOf<NonNullable<ChatRequest['stream_options']>>()('include_usage', 'include_obfuscation')

export function decodeStream({ stream, stream_options: options }: ChatRequest, put: Put): CanonicalRequest['stream'] {
  if (options) put('stream_options', unknownOf(options, knownOfStream))
  else if (stream === undefined || stream === null) return undefined
  return { enabled: stream ?? false, ...present({ includeUsage: options?.include_usage, obfuscation: options?.include_obfuscation }) }
}

/** Usage is always requested, because the caller may need it. The encoder of the reply leaves it out if the client did not ask for it. */
export function encodeStream(stream: CanonicalRequest['stream'], { native }: Writing): JsonObject {
  if (!stream) return {}
  const { enabled, includeUsage, obfuscation } = stream
  const options = some({ include_usage: enabled && !native ? true : includeUsage, include_obfuscation: obfuscation })
  return { stream: enabled, stream_options: native || enabled ? options : undefined }
}
