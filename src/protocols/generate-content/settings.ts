import { isNeutral } from '../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest, OutputFormat, OutputSpec, Sampling, StateSpec } from '../../canonical/request.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { leaveState } from '../../kit/state.ts'
import { decodeSchema } from './json-schema.ts'
import type { GeminiReport } from './notes.ts'
import { ownForm, ownUnder, under } from './own.ts'
import type { GeminiGenerationConfig } from './schema.ts'
import { modality, modalityOf, tierWords } from './vocabulary.ts'
import type { RequestWriting } from './writing.ts'

// ---- the format of an answer

const json = 'application/json'
const words = 'text/x.enum'

type Format = { format?: OutputFormat; came: JsonObject; fields: JsonObject; schemaAt?: string }

/** `came`: the fields for the format, as they were. `fields`: those that `format` does not hold. `schemaAt`: path of its schema in `generationConfig`. */
export function decodeFormat(config: GeminiGenerationConfig): Format {
  const { responseMimeType: mime, responseSchema, responseJsonSchema, _responseJsonSchema, responseFormat } = config
  const came = some({ responseMimeType: mime, responseSchema, responseJsonSchema, _responseJsonSchema, responseFormat }) as JsonObject | undefined
  if (!came) return { came: {}, fields: {} }
  const places = [
    ['responseJsonSchema', responseJsonSchema] as const,
    ['_responseJsonSchema', _responseJsonSchema] as const,
    ['responseSchema', responseSchema] as const,
  ]
  const given = places.filter(([, value]) => value != null)
  const schema = given.find(([, value]) => isObject(value)) ?? given[0]
  const others = given.filter(one => one !== schema)
  const newer = mime == null && !schema ? decodeNewer(responseFormat) : undefined
  if (newer) return { format: newer, came, fields: {}, schemaAt: `responseFormat${Array.isArray(responseFormat) ? '/0' : ''}/text/schema` }
  const left: JsonObject = { ...Object.fromEntries(others), ...(responseFormat != null && { responseFormat }) }
  if (schema && isObject(schema[1])) {
    const spelled = mime == null || mime === json || mime === words ? {} : { responseMimeType: mime }
    return { format: { type: mime === words ? 'enum' : 'schema', schema: decodeSchema(schema[1]) }, came, fields: { ...left, ...spelled }, schemaAt: schema[0] }
  }
  if (schema) left[schema[0]] = schema[1]
  if (mime === json) return { format: { type: 'json' }, came, fields: left }
  if (mime === 'text/plain') return { format: { type: 'text' }, came, fields: left }
  return { came, fields: { ...left, ...(mime != null && { responseMimeType: mime }) } }
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

function encodeFormat(format: OutputFormat | undefined, request: CanonicalRequest, report: GeminiReport): JsonObject {
  const came = ownForm(request.ext)?.['format']
  if (isObject(came) && JSON.stringify(decodeFormat(came as GeminiGenerationConfig).format) === JSON.stringify(format)) return came
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
      return { responseMimeType: json, responseJsonSchema: format.schema }
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

export function encodeOutput(output: OutputSpec | undefined, request: CanonicalRequest, writing: RequestWriting): JsonObject {
  const { report, native } = writing
  const { format, modalities, audio, ...rest } = output ?? {}
  report.rest(rest, undefined, 'output.')
  const spelled = ownForm(request.ext)?.['modalities']
  const spoken = modalities?.map(kind => modality.toWire(kind) ?? kind)
  const came = Array.isArray(spelled) && JSON.stringify(spelled.map(word => modalityOf(String(word)))) === JSON.stringify(modalities) ? spelled : undefined
  const asked = came ?? (spoken && (native || spoken.some(word => word !== 'TEXT')) ? spoken : undefined)
  return { ...encodeFormat(format, request, report), ...defined({ responseModalities: asked }), ...encodeVoice(audio, request, writing) }
}

const inside = (holder: unknown, key: string): JsonObject => (isObject(holder) && isObject(holder[key]) ? holder[key] : {})

/** The voice of an answer. `fields`: the rest of `speechConfig`. */
export function decodeVoice({ speechConfig }: GeminiGenerationConfig): { audio?: { voice: string }; fields: JsonObject } {
  if (speechConfig === undefined) return { fields: {} }
  const { voiceConfig: _, ...speech } = speechConfig ?? {}
  const { prebuiltVoiceConfig: __, ...config } = inside(speechConfig, 'voiceConfig')
  const { voiceName: voice, ...prebuilt } = inside(inside(speechConfig, 'voiceConfig'), 'prebuiltVoiceConfig')
  if (typeof voice !== 'string' || !voice) return { fields: { speechConfig } }
  const voiceConfig = { ...config, ...under('prebuiltVoiceConfig', prebuilt) }
  return { audio: { voice }, fields: under('speechConfig', { ...speech, ...under('voiceConfig', voiceConfig) }) }
}

function encodeVoice(audio: unknown, request: CanonicalRequest, { native, report }: RequestWriting): JsonObject {
  if (audio === undefined) return {}
  const voiceName = isObject(audio) ? audio['voice'] : undefined
  if (typeof voiceName !== 'string') {
    report.add('field.unsupported', undefined, 'output.audio')
    return {}
  }
  if (!native) report.add('output.voice', undefined, 'output.audio')
  const speech = inside(ownUnder(request.ext, 'generationConfig'), 'speechConfig')
  const config = inside(speech, 'voiceConfig')
  return { speechConfig: { ...speech, voiceConfig: { ...config, prebuiltVoiceConfig: { ...inside(config, 'prebuiltVoiceConfig'), voiceName } } } }
}

// ---- sampling and limits

const largestSeed = 2 ** 31

/** Penalties have to be below 2 here; in other protocols 2 is allowed. */
const largestPenalty = 1.99

export function encodeSampling(sampling: Sampling | undefined, { native, report }: RequestWriting): JsonObject {
  if (!sampling) return {}
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

/** The kept keys of `generationConfig` that none of these functions writes. */
export function keptConfig(request: CanonicalRequest): JsonObject | undefined {
  const own = ownUnder(request.ext, 'generationConfig')
  if (!own) return undefined
  const { thinkingConfig, ...rest } = own
  return thinkingConfig === null ? own : rest
}
