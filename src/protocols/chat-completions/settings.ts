import type { Part } from '../../canonical/message.ts'
import { isNeutral } from '../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest } from '../../canonical/request.ts'
import { defined, some } from '../../kit/defined.ts'
import { hashHex } from '../../kit/ids.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import type { Present } from '../../kit/own.ts'
import { cacheIn, controlMark, takeBodyMark } from './cache.ts'
import { encodeParts } from './content.ts'
import { splitNulls } from './own.ts'
import type { ChatRequest } from './schema.ts'
import { serviceTiers } from './vocabulary.ts'
import type { Writing } from './writing.ts'

/** The body of a request, without its nulls. */
export type Body = Present<ChatRequest>

/** Keeps the unknown keys of an object that stands under a key of the body, and its keys that are null. */
export type Put = (key: string, unknown: JsonObject, nothing?: JsonObject) => void

export function decodeSampling(body: Body): CanonicalRequest['sampling'] {
  return some({
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

export function decodeLogprobSpec({ logprobs, top_logprobs: top }: Body): CanonicalRequest['logprobs'] {
  return logprobs === undefined && top === undefined ? undefined : defined({ enabled: logprobs ?? false, top })
}

/** Servers accept `top_logprobs` only together with `logprobs: true`. */
export function encodeLogprobSpec(spec: CanonicalRequest['logprobs'], { report, native }: Writing, form: JsonObject): JsonObject {
  if (!spec) return {}
  const { enabled, top } = spec
  if (native) return { logprobs: form['logprobsAbsent'] && !enabled ? undefined : enabled, top_logprobs: top }
  if (enabled) return { logprobs: true, top_logprobs: top }
  report.rest({ top }, '', 'logprobs.')
  return {}
}

export function encodeLimit(limit: number | undefined, { report, native }: Writing): number | undefined {
  if (limit === undefined || limit >= 1 || native) return limit
  if (isNeutral('maxOutputTokens', limit)) return undefined
  report.add('limit.raised', '', 'maxOutputTokens')
  return 1
}

export function encodeStop(stop: readonly string[] | undefined, { report, native }: Writing, form: JsonObject): unknown {
  // An empty list has no effect, and servers refuse it.
  if (!stop || (stop.length === 0 && !native)) return undefined
  if (form['stop'] === 'string' && stop.length === 1) return stop[0]
  if (stop.length <= 4 || native) return stop
  report.add('stop.too-many', '', 'stop')
  return stop.slice(0, 4)
}

export function decodeCache(
  { prompt_cache_key: key, prompt_cache_options: options, prompt_cache_retention: retention }: Body,
  fields: JsonObject,
  put: Put,
): CanonicalRequest['cache'] {
  const { present, nothing } = splitNulls(options ?? {})
  const { mode, ttl, ...unknown } = present
  put('prompt_cache_options', unknown, options && nothing)
  return some({ key, mode, ttl, retention, auto: takeBodyMark(fields) })
}

/** `came`: the body's `cache_control`. */
export function encodeCache(cache: CanonicalRequest['cache'], writing: Writing, came: unknown): JsonObject {
  if (!cache) return {}
  const { report, options, native } = writing
  // `auto` (mark the last part that can be cached) needs no field for OpenAI, which does it anyway.
  const { key, mode, ttl: lifetime, retention, auto, contentRef, ...rest } = cache
  if (contentRef !== undefined) report.unresolvable(undefined, 'cache.contentRef', options)
  report.rest(rest, '', 'cache.')
  const control = auto && encodeAuto(auto, writing, came)
  // In this field `30m` is the only lifetime; a mark on a part can also have `12h`.
  const ttl = native || lifetime === '30m' ? lifetime : undefined
  if (ttl !== lifetime) report.add('cache.ttl', '', 'cache.ttl')
  const wire = { prompt_cache_key: key, prompt_cache_options: some({ mode, ttl }), prompt_cache_retention: retention }
  const written = encodeOptional(wire, { 'cache.key': key, 'cache.mode': mode, 'cache.ttl': ttl, 'cache.retention': retention }, writing)
  return control ? { ...written, ...control } : written
}

function encodeAuto(auto: NonNullable<CacheSpec['auto']>, { report, options, native }: Writing, came: unknown): JsonObject | undefined {
  if (native && isObject(came) && same(cacheIn({ cache_control: came }), auto)) return { cache_control: came }
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
export function decodeMetadata(metadata: Body['metadata'], put: Put): CanonicalRequest['metadata'] {
  if (!metadata) return undefined
  const pairs = Object.entries(metadata)
  put('metadata', Object.fromEntries(pairs.filter(([, value]) => typeof value !== 'string')))
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

export function encodePrediction(parts: readonly Part[], came: unknown, writing: Writing): JsonObject {
  const { content, ...rest } = isObject(came) ? came : { type: 'content', content: 'object' }
  const [only] = parts
  const asText = content === 'string' && parts.length === 1 && only?.type === 'text'
  return { ...rest, content: asText ? only.text : encodeParts(parts, writing) }
}

export function decodeStream({ stream, stream_options: options }: Body, put: Put): CanonicalRequest['stream'] {
  const { present, nothing } = splitNulls(options ?? {})
  const { include_usage: includeUsage, include_obfuscation: obfuscation, ...unknown } = present
  put('stream_options', unknown, options && nothing)
  return stream === undefined && options === undefined ? undefined : defined({ enabled: stream ?? false, includeUsage, obfuscation })
}

/** Usage is always requested, because the caller may need it. The encoder of the reply leaves it out if the client did not ask for it. */
export function encodeStream(stream: CanonicalRequest['stream'], form: JsonObject, { native }: Writing): JsonObject {
  if (!stream) return {}
  const { enabled, includeUsage, obfuscation } = stream
  const options = some({ include_usage: enabled && !native ? true : includeUsage, include_obfuscation: obfuscation })
  return { stream: enabled || !form['streamAbsent'] ? enabled : undefined, stream_options: native || enabled ? options : undefined }
}
