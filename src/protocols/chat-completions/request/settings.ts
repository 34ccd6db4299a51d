import type { Part } from '../../../canonical/message.ts'
import { isNeutral } from '../../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest } from '../../../canonical/request.ts'
import { hashHex } from '../../../kit/conversation/ids.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { controlMark } from '../content/cache.ts'
import { decodeContent, encodeParts, plainly } from '../content/content.ts'
import type { Writing } from '../content/writing.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import type {
  ChatCompletionsBody,
  ChatCompletionsControlMark,
  ChatCompletionsRequest,
} from '../schema.ts'
import { serviceTiers } from '../vocabulary.ts'

/** Keeps the unknown keys of an object under a key of the body. */
export type Put = (key: string, unknown: JsonObject | undefined) => void

export function encodeLimit(limit: number, { report, native }: Writing): number | undefined {
  if (limit >= 1 || native) return limit
  if (isNeutral('maxOutputTokens', limit)) return undefined
  report.add('max-tokens.raised', '', 'maxOutputTokens')
  return 1
}

export function encodeStop(
  stop: readonly string[],
  { report, native }: Writing,
): readonly string[] | undefined {
  // An empty list has no effect, and servers refuse it.
  if (stop.length === 0) return undefined
  if (stop.length <= 4 || native) return stop
  report.add('stop.too-many', '', 'stop')
  return stop.slice(0, 4)
}

/** In this field `30m` is the only lifetime; a mark on a part can also have `12h`. */
export function encodeTtl(ttl: string, writing: Writing, field: string): string | undefined {
  if (ttl === '30m' || writing.native) return writeOptional(ttl, writing, field)
  writing.report.add('cache.ttl', '', field)
  return undefined
}

/** Marking the last part that can be cached needs no field for OpenAI, which does it anyway. */
export function encodeAuto(
  auto: CacheSpec['auto'],
  { report, options, native }: Writing,
): ChatCompletionsControlMark | undefined {
  if (!auto) return undefined
  const approximate = () => report.add('cache.ttl', '', 'cache.auto.ttl')
  if (native || options.cacheMarks === 'cache_control') return controlMark(auto, approximate)
  if (auto.ttl !== undefined) approximate()
  return undefined
}

export function encodeTier(
  tier: string,
  { report, native }: Writing,
  field: string,
): string | undefined {
  if (native || serviceTiers.has(tier)) return tier
  report.add('tier.unsupported', '', field)
  return undefined
}

export const isText = (value: unknown): value is string => typeof value === 'string'

const longestUser = 64

export function encodeSafetyId(id: string, writing: Writing, field: string): string | undefined {
  const written = writeOptional(id, writing, field)
  if (written === undefined || writing.native || id.length <= longestUser) return written
  writing.report.add('user.hashed', '', field)
  return hashHex(id, longestUser)
}

/**
 * For fields that many servers refuse as unknown: left out, with a note, unless `optionalFields`
 * says that this server accepts them. `field`: the canonical path.
 */
export function writeOptional<T>(
  value: T,
  { report, options, native }: Writing,
  field: string,
): T | undefined {
  if (native || options.optionalFields === 'write') return value
  if (!isNeutral(field, value)) report.add('field.optional', '', field)
  return undefined
}

/** Writes nothing, with a note if the value means anything. */
export function lose(value: unknown, { report }: Writing, field: string): undefined {
  report.rest({ [field]: value }, '')
}

const knownOfPrediction =
  keysOf<NonNullable<ChatCompletionsRequest['prediction']>>()('type content')

export function decodePrediction(
  prediction: ChatCompletionsRequest['prediction'],
  report: ChatCompletionsReport,
  put: Put,
): CanonicalRequest['prediction'] {
  if (!prediction) return undefined
  put('prediction', unknownOf(prediction, knownOfPrediction))
  return { parts: decodeContent(prediction.content, '/prediction', report) }
}

export function encodePrediction(
  parts: readonly Part[],
  writing: Writing,
): ChatCompletionsBody['prediction'] {
  return { type: 'content', content: plainly(encodeParts(parts, writing)) }
}
