import { isNeutral } from '../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest, OutputFormat, OutputSpec, StateSpec } from '../../canonical/request.ts'
import { defined, some } from '../../kit/defined.ts'
import { hashHex } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { wrapRoot } from '../../kit/wrapped-output.ts'
import type { FieldNames } from '../../protocol.ts'
import type { ResponsesReport } from './notes.ts'
import { nulls, ownForm, ownUnder, protocolName, splitNulls, words } from './own.ts'
import type { ResponsesRequest } from './schema.ts'
import { withAnnotations, withoutAnnotations } from './tools.ts'
import { tiers } from './vocabulary.ts'
import { unresolvable, type Writing } from './writing.ts'

const logprobsInclude = 'message.output_text.logprobs'
const encryptedInclude = 'reasoning.encrypted_content'

/** What the decoders of a request's fields add to, beside the values that they return. */
export type Reading = {
  /** Unknown keys, by the field that they stand in. */
  fields: JsonObject
  /** Likewise, keys that are null. */
  nothing: JsonObject
  /** Which of several equivalent spellings was used. */
  form: JsonObject
  /** Where canonical fields stood, if not in their usual place. */
  places: FieldNames
  report: ResponsesReport
}

/** `text` → output format and verbosity. */
export function decodeOutput(text: ResponsesRequest['text'], { fields, nothing, form, report }: Reading): OutputSpec | undefined {
  if (!text) return undefined
  const { format, verbosity, ...rest } = text
  const decoded = format ? decodeFormat(format) : undefined
  const left = { ...rest, ...(decoded && Object.keys(decoded.rest).length > 0 && { format: decoded.rest }) }
  if (Object.keys(left).length > 0) fields['text'] = left
  nothing['text'] = { ...nulls(text), ...(format && { format: nulls(format) }) }
  if (decoded?.format.type === 'schema') {
    const { schema } = decoded.format
    const plain = withoutAnnotations(schema)
    if (plain !== schema) {
      report.add('tool.annotation', '/text/format/schema')
      form['annotated'] = schema
      decoded.format = { ...decoded.format, schema: plain }
    }
  }
  const spec = defined({ format: decoded?.format, verbosity: verbosity ?? undefined })
  return Object.keys(spec).length > 0 ? spec : undefined
}

function decodeFormat(wire: JsonObject & { type: string }): { format: OutputFormat; rest: JsonObject } {
  const { type, name, schema, description, strict, ...rest } = wire
  const bare = name === undefined && schema === undefined && description === undefined && strict === undefined
  if (type === 'text' && bare) return { format: { type: 'text' }, rest }
  if (type === 'json_object' && bare) return { format: { type: 'json' }, rest }
  if (type !== 'json_schema' || !isObject(schema)) return { format: { type: 'opaque', protocol: protocolName, raw: wire }, rest: {} }
  const format: OutputFormat = {
    type: 'schema',
    schema,
    ...defined({
      name: typeof name === 'string' ? name : undefined,
      description: typeof description === 'string' ? description : undefined,
      strict: typeof strict === 'boolean' || strict === null ? strict : undefined,
    }),
  }
  return { format, rest }
}

export function encodeOutput(output: OutputSpec | undefined, request: CanonicalRequest, writing: Writing): JsonObject | undefined {
  if (!output) return undefined
  const { report } = writing
  const { format, verbosity, modalities, audio, ...rest } = output
  if (modalities?.some(one => one !== 'text')) report.rest({ modalities }, '', 'output.')
  if (audio !== undefined) report.rest({ audio }, '', 'output.')
  report.rest(rest, '', 'output.')
  const isOwn = isObject(ownUnder(request.ext, 'text')?.['format'])
  return some({ format: format && encodeFormat(annotated(format, request), isOwn, writing), verbosity })
}

function annotated(format: OutputFormat, { ext }: CanonicalRequest): OutputFormat {
  return format.type === 'schema' ? { ...format, schema: withAnnotations(format.schema, ownForm(ext)?.['annotated']) } : format
}

/** `isOwn`: the request had one. */
function encodeFormat(format: OutputFormat, isOwn: boolean, writing: Writing): JsonObject | undefined {
  const { report } = writing
  switch (format.type) {
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { schema, name, description, strict } = format
      if (name === undefined && !isOwn) report.add('schema.name', '/text/format/name')
      const wrapped = isOwn || writing.native || writing.target === 'output' ? undefined : wrapRoot(schema)
      if (wrapped) {
        writing.output ??= 'value'
        report.add('output.wrapped', '', 'output.format.schema')
      }
      return defined({ type: 'json_schema', name: name ?? (isOwn ? undefined : 'response'), description, schema: wrapped ?? schema, strict })
    }
    case 'enum':
      report.add('output.enum', '', 'output.format')
      if (wrapRoot(format.schema)) writing.output = 'word'
      return encodeFormat({ type: 'schema', schema: format.schema }, isOwn, writing)
    case 'opaque':
      if (format.protocol === protocolName && isObject(format.raw)) return format.raw
      report.rest({ format }, '', 'output.')
      return undefined
    default:
      return format satisfies never
  }
}

/** `prompt_cache_options`. */
export function decodeCaching(wire: ResponsesRequest['prompt_cache_options'], { fields, nothing }: Reading): CacheSpec {
  if (!wire) return {}
  const { mode, ttl, comparison_response_id: diagnostics, ...rest } = splitNulls(wire).present
  if (Object.keys(rest).length > 0) fields['prompt_cache_options'] = rest
  nothing['prompt_cache_options'] = nulls(wire)
  return defined({ mode, ttl, diagnostics })
}

/** `stream` and `stream_options`. */
export function decodeStream(enabled: boolean | undefined, options: ResponsesRequest['stream_options'], reading: Reading): CanonicalRequest['stream'] {
  if (enabled === undefined) reading.form['streamUnsaid'] = true
  const { include_obfuscation: obfuscation, ...rest } = splitNulls(options ?? {}).present
  if (Object.keys(rest).length > 0) reading.fields['stream_options'] = rest
  if (options) reading.nothing['stream_options'] = nulls(options)
  return enabled === undefined && obfuscation === undefined ? undefined : defined({ enabled: enabled ?? false, obfuscation })
}

/** `include` → does it ask for log probabilities, and what else that has no field of its own here? */
export function decodeInclude(wire: readonly string[] | undefined, { form, places }: Reading): { asked?: boolean; include?: string[] } {
  if (!wire) return {}
  form['include'] = wire
  const include: string[] = []
  for (const [index, one] of wire.entries()) {
    if (one === logprobsInclude) places['logprobs.enabled'] ??= `include/${index}`
    else if (one !== encryptedInclude) places[`state.include.${include.push(one) - 1}`] = `include/${index}`
  }
  return { asked: wire.includes(logprobsInclude), ...(include.length > 0 && { include }) }
}

type Told = 'sampling' | 'maxOutputTokens' | 'cache' | 'serviceTier' | 'user' | 'safety' | 'stream' | 'logprobs'
type Settings = { [K in Told]: CanonicalRequest[K] | undefined }

/** Sampling, limits, caching, tier, user and the flags of the stream. */
export function encodeSettings(settings: Settings, request: CanonicalRequest, writing: Writing): JsonObject {
  const { report } = writing
  const { serviceTier, user, safety, logprobs } = settings
  const sampling = encodeSampling(settings.sampling, writing)
  const max_output_tokens = encodeLimit(settings.maxOutputTokens, writing)
  const cache = encodeCache(settings.cache, writing)
  const { moderation, ...safetyRest } = safety ?? {}
  report.rest(safetyRest, '', 'safety.')
  const stream = encodeStream(settings.stream, request, writing)
  return defined({
    max_output_tokens,
    ...sampling,
    top_logprobs: logprobs?.top,
    ...cache,
    service_tier: encodeTier(serviceTier, writing),
    safety_identifier: encodeSafetyId(user?.safetyId, writing),
    user: user?.user,
    moderation,
    ...stream,
  })
}

function encodeSampling(sampling: CanonicalRequest['sampling'], { native, options, report }: Writing): JsonObject {
  if (!sampling) return {}
  const { temperature, topP, presencePenalty, frequencyPenalty, ...rest } = sampling
  report.rest(rest, '', 'sampling.')
  const plain = { temperature, top_p: topP }
  if (native || options.openResponses) return { ...plain, presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty }
  // A penalty of 0 has no effect, so it is left out without a note.
  if (presencePenalty) report.rest({ presencePenalty }, '', 'sampling.')
  if (frequencyPenalty) report.rest({ frequencyPenalty }, '', 'sampling.')
  return plain
}

/** The server refuses a lower token limit. */
const leastLimit = 16

function encodeLimit(limit: number | undefined, { native, report }: Writing): number | undefined {
  if (limit === undefined || limit >= leastLimit || native) return limit
  if (isNeutral('maxOutputTokens', limit)) return undefined
  report.add('limit.raised', '', 'maxOutputTokens')
  return leastLimit
}

function encodeCache(cache: CanonicalRequest['cache'], writing: Writing): JsonObject {
  if (!cache) return {}
  const { native, report } = writing
  const { key, mode, ttl: lifetime, auto, retention, contentRef, diagnostics, ...rest } = cache
  report.rest(rest, '', 'cache.')
  // Only its own provider knows the id of a message or reply.
  if (!native) report.rest({ diagnostics }, '', 'cache.')
  if (auto?.ttl !== undefined) report.add('cache.ttl', '', 'cache.auto')
  if (contentRef !== undefined) unresolvable(undefined, 'cache.contentRef', writing)
  const ttl = !native && (lifetime === '5m' || lifetime === '1h') ? undefined : lifetime
  if (ttl !== lifetime) report.add('cache.ttl', '', 'cache.ttl')
  return {
    prompt_cache_key: key,
    prompt_cache_options: some({ mode, ttl, comparison_response_id: native ? diagnostics : undefined }),
    prompt_cache_retention: retention,
  }
}

function encodeStream(stream: CanonicalRequest['stream'], request: CanonicalRequest, { report }: Writing): JsonObject {
  if (!stream) return {}
  // Every stream has usage here.
  const { enabled, obfuscation, includeUsage: _, ...rest } = stream
  report.rest(rest, '', 'stream.')
  return {
    stream: ownForm(request.ext)?.['streamUnsaid'] && !enabled ? undefined : enabled,
    stream_options: some({ include_obfuscation: obfuscation }),
  }
}

function encodeTier(serviceTier: CanonicalRequest['serviceTier'], { native, options, report }: Writing): string | undefined {
  const { tier, ...rest } = serviceTier ?? {}
  report.rest(rest, '', 'serviceTier.')
  if (tier === undefined || native || tiers.has(tier) || !options.strictEnums) return tier
  report.add('tier.unsupported', '', 'serviceTier.tier')
  return undefined
}

function encodeSafetyId(id: string | undefined, { native, report }: Writing): string | undefined {
  if (id === undefined || native || id.length <= 64) return id
  report.add('user.hashed', '', 'user.safetyId')
  return hashHex(id, 64)
}

/** The fields about state that the provider keeps, and `include`. */
export function encodeState(state: StateSpec | undefined, logprobs: CanonicalRequest['logprobs'], request: CanonicalRequest, writing: Writing): JsonObject {
  const { report, native } = writing
  const {
    store,
    previousId,
    conversation,
    background,
    prompt,
    include,
    truncation,
    contextManagement,
    maxToolCalls,
    thread,
    compaction,
    continuationToken,
    ...rest
  } = state ?? {}
  report.rest(rest, '', 'state.')
  if (thread !== undefined) unresolvable(undefined, 'state.thread', writing)
  if (compaction !== undefined) unresolvable(undefined, 'state.compaction', writing)
  if (continuationToken !== undefined) unresolvable(undefined, 'state.continuationToken', writing)
  const readable = native || contextManagement === undefined || Array.isArray(contextManagement)
  if (!readable) report.rest({ contextManagement }, '', 'state.')
  if (store === undefined && !native) report.add('store.default', '/store')
  const stored = store ?? (native ? undefined : false)
  return defined({
    store: stored,
    previous_response_id: previousId ?? (ownForm(request.ext)?.['emptyPrevious'] ? '' : undefined),
    conversation,
    background,
    prompt,
    truncation,
    ...(readable && { context_management: contextManagement }),
    max_tool_calls: maxToolCalls,
    include: encodeInclude(include ?? [], logprobs, stored, request, writing),
  })
}

function encodeInclude(
  kept: string[],
  logprobs: CanonicalRequest['logprobs'],
  stored: boolean | undefined,
  request: CanonicalRequest,
  writing: Writing,
): string[] | undefined {
  const form = ownForm(request.ext)
  const before = form?.['include']
  const wanted = new Set([...kept, ...(logprobs?.enabled ? [logprobsInclude] : [])])
  if (form) {
    const list = words(before).filter(one => wanted.has(one) || one === encryptedInclude)
    for (const one of wanted) if (!list.includes(one)) list.push(one)
    return list.length > 0 || Array.isArray(before) ? list : undefined
  }
  if (stored === false && !wanted.has(encryptedInclude)) {
    wanted.add(encryptedInclude)
    writing.report.add('reasoning.include-encrypted', '/include')
  }
  return wanted.size > 0 ? [...wanted] : undefined
}
