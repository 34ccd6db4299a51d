import { isNeutral } from '../../canonical/neutral.ts'
import type { CacheSpec, CanonicalRequest, OutputFormat, OutputSpec, StateSpec } from '../../canonical/request.ts'
import { defined, present, some, someOf } from '../../kit/defined.ts'
import { hashHex } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { keysOf, unknownOf } from '../../kit/keys.ts'
import { wrapRoot } from '../../kit/wrapped-output.ts'
import type { FieldNames } from '../../protocol.ts'
import type { ResponsesReport } from './notes.ts'
import { protocolName } from './own.ts'
import type { ResponsesRequest, ResponsesTextConfig } from './schema.ts'
import { withoutAnnotations } from './tools.ts'
import { tiers } from './vocabulary.ts'
import { unresolvable, type Writing } from './writing.ts'

const logprobsInclude = 'message.output_text.logprobs'
const encryptedInclude = 'reasoning.encrypted_content'

/** What the decoders of a request's fields add to, beside the values that they return. */
export type Reading = {
  /** Unknown keys, by the field that they are in. */
  fields: JsonObject
  /** Where canonical fields were, if not in their usual place. */
  places: FieldNames
  report: ResponsesReport
}

const textKeys = keysOf<ResponsesTextConfig>()('format', 'verbosity')

/** `text` → output format and verbosity. */
export function decodeOutput(text: ResponsesRequest['text'], { fields, report }: Reading): OutputSpec | undefined {
  if (!text) return undefined
  const decoded = text.format ? decodeFormat(text.format) : undefined
  const left = some({ ...unknownOf(text, textKeys), format: decoded && someOf(decoded.rest) })
  if (left) fields['text'] = left
  const format = decoded?.format
  if (format?.type === 'schema') {
    const plain = withoutAnnotations(format.schema)
    if (plain !== format.schema) report.add('tool.annotation', '/text/format/schema')
    format.schema = plain
  }
  return someOf({ format, verbosity: text.verbosity })
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

export function encodeOutput(output: OutputSpec | undefined, writing: Writing): JsonObject | undefined {
  if (!output) return undefined
  const { report } = writing
  const { format, verbosity, modalities, audio, ...rest } = output
  if (modalities?.some(one => one !== 'text')) report.rest({ modalities }, '', 'output.')
  if (audio !== undefined) report.rest({ audio }, '', 'output.')
  report.rest(rest, '', 'output.')
  return some({ format: format && encodeFormat(format, writing), verbosity })
}

function encodeFormat(format: OutputFormat, writing: Writing): JsonObject | undefined {
  const { report, native } = writing
  switch (format.type) {
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { schema, name, description, strict } = format
      if (name === undefined) report.add('schema.name', '/text/format/name')
      const wrapped = native || writing.target === 'output' ? undefined : wrapRoot(schema)
      if (wrapped) {
        writing.output ??= 'value'
        report.add('output.wrapped', '', 'output.format.schema')
      }
      return defined({ type: 'json_schema', name: name ?? 'response', description, schema: wrapped ?? schema, strict })
    }
    case 'enum':
      report.add('output.enum', '', 'output.format')
      if (wrapRoot(format.schema)) writing.output = 'word'
      return encodeFormat({ type: 'schema', schema: format.schema }, writing)
    case 'opaque':
      if (format.protocol === protocolName && isObject(format.raw)) return format.raw
      report.rest({ format }, '', 'output.')
      return undefined
    default:
      return format satisfies never
  }
}

/** `prompt_cache_options`. */
export function decodeCaching(wire: ResponsesRequest['prompt_cache_options'], { fields }: Reading): CacheSpec {
  if (!wire) return {}
  const { mode, ttl, comparison_response_id: diagnostics, ...rest } = wire
  const left = someOf(rest)
  if (left) fields['prompt_cache_options'] = left
  return present({ mode, ttl, diagnostics })
}

/** `stream` and `stream_options`. */
export function decodeStream(
  enabled: boolean | null | undefined,
  options: ResponsesRequest['stream_options'],
  { fields }: Reading,
): CanonicalRequest['stream'] {
  const { include_obfuscation: obfuscation, ...rest } = options ?? {}
  const left = someOf(rest)
  if (left) fields['stream_options'] = left
  return enabled == null && obfuscation == null ? undefined : present({ enabled: enabled ?? false, obfuscation })
}

type Included = { asked?: boolean; include?: string[] | undefined; encrypted?: true | undefined }

/** `include` → does it ask for log probabilities, for encrypted reasoning, and what else that has no field of its own here? */
export function decodeInclude(wire: readonly string[] | null | undefined, { places }: Reading): Included {
  if (!wire) return {}
  const include: string[] = []
  for (const [index, one] of wire.entries()) {
    if (one === logprobsInclude) places['logprobs.enabled'] ??= `include/${index}`
    else if (one !== encryptedInclude) places[`state.include.${include.push(one) - 1}`] = `include/${index}`
  }
  return {
    asked: wire.includes(logprobsInclude),
    include: include.length > 0 ? include : undefined,
    encrypted: wire.includes(encryptedInclude) || undefined,
  }
}

/** Sampling, limits, caching, tier, user and the flags of the stream. */
export function encodeSettings(request: CanonicalRequest, writing: Writing): JsonObject {
  const { report } = writing
  const { moderation, ...safetyRest } = request.safety ?? {}
  report.rest(safetyRest, '', 'safety.')
  return {
    max_output_tokens: encodeLimit(request.maxOutputTokens, writing),
    ...encodeSampling(request.sampling, writing),
    top_logprobs: request.logprobs?.top,
    ...encodeCache(request.cache, writing),
    service_tier: encodeTier(request.serviceTier, writing),
    safety_identifier: encodeSafetyId(request.user?.safetyId, writing),
    user: request.user?.user,
    moderation,
    ...encodeStream(request.stream, writing),
  }
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

function encodeStream(stream: CanonicalRequest['stream'], { report }: Writing): JsonObject {
  if (!stream) return {}
  // Every stream has usage here.
  const { enabled, obfuscation, includeUsage: _, ...rest } = stream
  report.rest(rest, '', 'stream.')
  return { stream: enabled, stream_options: some({ include_obfuscation: obfuscation }) }
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

const handledOfState = keysOf<StateSpec>()(
  'store',
  'previousId',
  'conversation',
  'background',
  'prompt',
  'include',
  'encryptedReasoning',
  'truncation',
  'contextManagement',
  'maxToolCalls',
  'thread',
  'compaction',
  'continuationToken',
)

/** The fields about state that the provider keeps, and `include`. */
export function encodeState({ state = {}, logprobs }: CanonicalRequest, writing: Writing): JsonObject {
  const { report, native } = writing
  const { contextManagement } = state
  report.unwritten(state, handledOfState, '', 'state.')
  if (state.thread !== undefined) unresolvable(undefined, 'state.thread', writing)
  if (state.compaction !== undefined) unresolvable(undefined, 'state.compaction', writing)
  if (state.continuationToken !== undefined) unresolvable(undefined, 'state.continuationToken', writing)
  const isReadable = native || contextManagement === undefined || Array.isArray(contextManagement)
  if (!isReadable) report.rest({ contextManagement }, '', 'state.')
  if (state.store === undefined && !native) report.add('store.default', '/store')
  const store = state.store ?? (native ? undefined : false)
  return {
    store,
    previous_response_id: state.previousId,
    conversation: state.conversation,
    background: state.background,
    prompt: state.prompt,
    truncation: state.truncation,
    context_management: isReadable ? contextManagement : undefined,
    max_tool_calls: state.maxToolCalls,
    include: encodeInclude(state, logprobs?.enabled, store, writing),
  }
}

function encodeInclude(
  { include = [], encryptedReasoning }: StateSpec,
  hasLogprobs: boolean | undefined,
  store: boolean | undefined,
  { native, report }: Writing,
): string[] | undefined {
  const wanted = new Set(include)
  if (hasLogprobs) wanted.add(logprobsInclude)
  if (encryptedReasoning) wanted.add(encryptedInclude)
  else if (!native && store === false && !wanted.has(encryptedInclude)) {
    wanted.add(encryptedInclude)
    report.add('reasoning.include-encrypted', '/include')
  }
  return wanted.size > 0 ? [...wanted] : undefined
}
