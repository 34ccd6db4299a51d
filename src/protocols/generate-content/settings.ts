import { isNeutral } from '../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest, OutputFormat, OutputSpec, Sampling, StateSpec } from '../../canonical/request.ts'
import { defined, present, some } from '../../kit/defined.ts'
import { isObject, type JsonObject, merge } from '../../kit/json.ts'
import { leaveState } from '../../kit/state.ts'
import { decodeSchema } from './json-schema.ts'
import type { GeminiReport } from './notes.ts'
import { under } from './own.ts'
import type { GeminiGenerationConfig } from './schema.ts'
import { modality, tierWords } from './vocabulary.ts'
import type { RequestWriting } from './writing.ts'

// ---- the format of an answer

const json = 'application/json'
const words = 'text/x.enum'

type Format = { format?: OutputFormat; left?: JsonObject; schemaAt?: string }

/** `left`: the fields that `format` does not hold. `schemaAt`: path of its schema in `generationConfig`. */
export function decodeFormat(config: GeminiGenerationConfig): Format {
  const { responseMimeType: mime, responseSchema, responseJsonSchema, _responseJsonSchema, responseFormat } = config
  const left = present({ responseJsonSchema, _responseJsonSchema, responseSchema, responseFormat }) as JsonObject
  const places = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema'].filter(place => left[place] !== undefined)
  const schemaAt = places.find(place => isObject(left[place]))
  const schema = schemaAt === undefined ? undefined : left[schemaAt]
  if (schemaAt !== undefined && isObject(schema)) {
    delete left[schemaAt]
    if (mime != null && mime !== json && mime !== words) left['responseMimeType'] = mime
    return { format: { type: mime === words ? 'enum' : 'schema', schema: decodeSchema(schema) }, left, schemaAt }
  }
  const newer = mime == null && places.length === 0 ? decodeNewer(responseFormat) : undefined
  if (newer) return { format: newer, schemaAt: `responseFormat${Array.isArray(responseFormat) ? '/0' : ''}/text/schema` }
  if (mime === json) return { format: { type: 'json' }, left }
  if (mime === 'text/plain') return { format: { type: 'text' }, left }
  if (mime != null) left['responseMimeType'] = mime
  return { left }
}

/** The newer field `responseFormat`. Undefined: it asks for something other than text or JSON. */
function decodeNewer(responseFormat: unknown): OutputFormat | undefined {
  const only: unknown = Array.isArray(responseFormat) && responseFormat.length === 1 ? responseFormat[0] : responseFormat
  const text = isObject(only) && Object.keys(only).length === 1 ? only['text'] : undefined
  if (!isObject(text)) return undefined
  const { mimeType, schema, ...rest } = text
  if (Object.keys(rest).length > 0) return undefined
  // Both are seen: the names of the reference, and media types, which the SDK's documentation names.
  const type = String(mimeType).toLowerCase().replace('_', '/')
  if (type === 'text/plain' && schema === undefined) return { type: 'text' }
  if (type !== json) return undefined
  return isObject(schema) ? { type: 'schema', schema: decodeSchema(schema) } : schema === undefined ? { type: 'json' } : undefined
}

function encodeFormat(format: OutputFormat | undefined, own: JsonObject | undefined, report: GeminiReport): JsonObject {
  switch (format?.type) {
    case undefined:
    case 'text':
      return {}
    case 'json':
      return { responseMimeType: json }
    case 'schema': {
      // The name is only a label and needs no note; the description is read by the model.
      if (format.description !== undefined) report.add('field.unsupported', undefined, 'output.format.description')
      if (format.strict === false) report.add('output.strict', undefined, 'output.format.strict')
      return { responseMimeType: own?.['responseMimeType'] ?? json, responseJsonSchema: format.schema }
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

/** `own`: the unknown keys of `generationConfig`. */
export function encodeOutput(output: OutputSpec, own: JsonObject | undefined, { report, native }: RequestWriting): JsonObject {
  const { format, modalities, audio, ...rest } = output
  report.rest(rest, undefined, 'output.')
  const spoken = modalities?.map(kind => modality.toWire(kind) ?? kind)
  const asked = spoken && (native || spoken.some(word => word !== 'TEXT')) ? spoken : undefined
  return { ...encodeFormat(format, own, report), ...defined({ responseModalities: asked }), ...encodeVoice(audio, own, { report, native }) }
}

const inside = (holder: unknown, key: string): JsonObject => (isObject(holder) && isObject(holder[key]) ? holder[key] : {})

/** The voice of an answer. `left`: the rest of `speechConfig`. */
export function decodeVoice({ speechConfig }: GeminiGenerationConfig): { audio?: { voice: string }; left?: JsonObject | undefined } {
  if (!speechConfig) return {}
  const { voiceConfig: _, ...speech } = speechConfig
  const { prebuiltVoiceConfig: __, ...config } = inside(speechConfig, 'voiceConfig')
  const { voiceName: voice, ...prebuilt } = inside(inside(speechConfig, 'voiceConfig'), 'prebuiltVoiceConfig')
  if (typeof voice !== 'string' || !voice) return { left: speechConfig }
  const voiceConfig = { ...config, ...under('prebuiltVoiceConfig', prebuilt) }
  return { audio: { voice }, left: some({ ...speech, ...under('voiceConfig', voiceConfig) }) }
}

function encodeVoice(audio: unknown, own: JsonObject | undefined, { native, report }: Pick<RequestWriting, 'native' | 'report'>): JsonObject {
  if (audio === undefined) return {}
  const voiceName = isObject(audio) ? audio['voice'] : undefined
  if (typeof voiceName !== 'string') {
    report.add('field.unsupported', undefined, 'output.audio')
    return {}
  }
  if (!native) report.add('output.voice', undefined, 'output.audio')
  return { speechConfig: merge(inside(own, 'speechConfig'), { voiceConfig: { prebuiltVoiceConfig: { voiceName } } }) }
}

// ---- sampling and limits

const largestSeed = 2 ** 31

/** Penalties have to be below 2 here; in other protocols 2 is allowed. */
const largestPenalty = 1.99

export function encodeSampling(sampling: Sampling, { native, report }: RequestWriting): JsonObject {
  const { temperature, topP, topK, frequencyPenalty: _, presencePenalty: __, seed, ...rest } = sampling
  report.rest(rest, undefined, 'sampling.')
  const fits = seed === undefined || native || (Number.isInteger(seed) && seed >= -largestSeed && seed < largestSeed)
  if (!fits) report.add('sampling.seed', undefined, 'sampling.seed')
  const isOff = !native && isNeutral('sampling.topK', topK)
  const penalty = (field: 'frequencyPenalty' | 'presencePenalty') => {
    const given = sampling[field]
    if (native || given !== 2) return given
    report.add('sampling.penalty-clamped', undefined, `sampling.${field}`)
    return largestPenalty
  }
  const penalties = { frequencyPenalty: penalty('frequencyPenalty'), presencePenalty: penalty('presencePenalty') }
  return defined({ temperature, topP, topK: isOff ? undefined : topK, ...penalties, seed: fits ? seed : undefined })
}

const mostStops = 5

export function encodeLimits({ maxOutputTokens: limit, stop, candidateCount, logprobs }: CanonicalRequest, { native, report }: RequestWriting): JsonObject {
  const maxOutputTokens = !native && isNeutral('maxOutputTokens', limit) ? undefined : limit
  const tooLow = !native && maxOutputTokens !== undefined && maxOutputTokens < 1
  if (tooLow) report.add('max_tokens.least', undefined, 'maxOutputTokens')
  const tooMany = !native && stop !== undefined && stop.length > mostStops
  if (tooMany) report.add('stop.too-many', undefined, 'stop')
  const { enabled, top, ...rest } = logprobs ?? {}
  report.rest(rest, undefined, 'logprobs.')
  if (!native && top && !enabled) report.add('field.unsupported', undefined, 'logprobs.top')
  return defined({
    maxOutputTokens: tooLow ? 1 : maxOutputTokens,
    stopSequences: stop && (native || stop.length > 0) ? stop.slice(0, tooMany ? mostStops : undefined) : undefined,
    candidateCount,
    responseLogprobs: native ? enabled : enabled || undefined,
    logprobs: native || enabled ? top : undefined,
  })
}

// ---- beside the configuration

export function encodeTier(serviceTier: CanonicalRequest['serviceTier'], { native, report }: RequestWriting): string | undefined {
  if (!serviceTier) return undefined
  const { tier, ...rest } = serviceTier
  report.rest(rest, undefined, 'serviceTier.')
  if (tier === undefined) return undefined
  if (native) return tierWords.toWire(tier) ?? tier
  if (tier === 'auto') return undefined
  const word = tierWords.toWire(tier)
  if (word !== undefined) return word
  report.add(tier === 'fast' ? 'tier.nearest' : 'tier.unsupported', undefined, 'serviceTier.tier')
  return tier === 'fast' ? 'priority' : undefined
}

/** The reference to cached content, which only its own provider can resolve. */
export function encodeCaching(cache: CacheSpec | undefined, { native, options, report }: RequestWriting): string | undefined {
  if (!cache) return undefined
  const { contentRef, mode, ...rest } = cache
  report.rest(rest, undefined, 'cache.')
  // This provider caches prefixes without being asked, which is what `implicit` means.
  if (mode !== 'implicit') report.rest({ mode }, undefined, 'cache.')
  if (contentRef !== undefined && !native) report.unresolvable(undefined, 'cache.contentRef', options)
  return native ? contentRef : undefined
}

export function encodeState(state: StateSpec | undefined, { native, options, report }: RequestWriting): { store?: boolean; continuationToken?: string } {
  if (!state) return {}
  const { store, continuationToken, ...memory } = state
  leaveState(native ? memory : { ...memory, ...defined({ continuationToken }) }, options, report)
  return defined({ store, continuationToken: native ? continuationToken : undefined })
}
