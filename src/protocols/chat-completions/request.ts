import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { check } from '../../kit/check.ts'
import { defined, some } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { gatherTools } from '../../kit/late-tools.ts'
import { leaveState } from '../../kit/state.ts'
import { type PlainRequest, withStrictTools } from '../../kit/strict-tools.ts'
import type { Decoded, Encoded, FieldNames } from '../../protocol.ts'
import { limitMarks } from './cache.ts'
import { decodeContent } from './content.ts'
import { decodeControls, encodeControls, splitControls } from './effort.ts'
import { decodeFormat, encodeOutput } from './format.ts'
import { decodeMessages, encodeMessages } from './messages.ts'
import { createChatReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, ownForm, ownOf, protocolName, splitNulls, wireOf } from './own.ts'
import { placesOf } from './proxy-places.ts'
import { ChatRequest } from './schema.ts'
import { encodeCache, encodeLimit, encodeLogprobSpec, encodePrediction, encodeSampling, encodeStop, encodeStream, encodeTier, encodeUser } from './settings.ts'
import { decodeToolChoice, encodeToolChoice, unknownOfToolChoice } from './tool-choice.ts'
import { createNames, decodeTools, encodeTools, isLost } from './tools.ts'
import type { Writing } from './writing.ts'

/** @throws TranslationError `malformed` when the body is not a chat request */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createChatReport(options.fieldNames)
  const { present: body, nothing } = splitNulls(check(protocolName, ChatRequest, wire))
  // The most common keys come last, because V8 searches this list from its end.
  const {
    audio,
    frequency_penalty,
    presence_penalty,
    function_call,
    functions,
    logit_bias,
    logprobs,
    top_logprobs,
    metadata,
    modalities,
    moderation,
    n,
    parallel_tool_calls,
    prediction,
    prompt_cache_key,
    prompt_cache_options,
    prompt_cache_retention,
    response_format,
    safety_identifier,
    seed,
    service_tier,
    stop,
    store,
    top_p,
    top_k,
    min_p,
    repetition_penalty,
    user,
    verbosity,
    web_search_options,
    temperature,
    stream_options,
    stream,
    max_completion_tokens,
    max_tokens,
    tool_choice,
    tools,
    messages,
    model,
    ...unknown
  } = body
  const { came: controls, rest: others } = splitControls(unknown)
  const { spec: reasoning, left, places } = decodeControls(controls)
  const fields: JsonObject = { ...others, ...left }
  const put = (key: string, rest: JsonObject, spelled?: JsonObject) => {
    if (Object.keys(rest).length > 0) fields[key] = rest
    if (spelled) nothing[key] = spelled
  }
  const words = metadata && Object.entries(metadata)
  if (words) put('metadata', Object.fromEntries(words.filter(([, value]) => typeof value !== 'string')))
  const streaming = splitNulls(stream_options ?? {})
  const { include_usage, include_obfuscation, ...streamRest } = streaming.present
  put('stream_options', streamRest, stream_options && streaming.nothing)
  const caching = splitNulls(prompt_cache_options ?? {})
  const { mode, ttl, ...cacheRest } = caching.present
  put('prompt_cache_options', cacheRest, prompt_cache_options && caching.nothing)
  const format = decodeFormat(response_format, put)
  put(tool_choice === undefined ? 'function_call' : 'tool_choice', unknownOfToolChoice(tool_choice ?? function_call))
  const given = defined({
    model,
    messages: decodeMessages(messages, report, options),
    tools: decodeTools({ tools, functions, web_search_options }),
    toolChoice: decodeToolChoice(tool_choice ?? function_call),
    parallelToolCalls: parallel_tool_calls,
    output: some({ format, verbosity, modalities, audio }),
    reasoning,
    sampling: some({
      temperature,
      topP: top_p,
      topK: top_k,
      minP: min_p,
      repetitionPenalty: repetition_penalty,
      frequencyPenalty: frequency_penalty,
      presencePenalty: presence_penalty,
      seed,
      logitBias: logit_bias,
    }),
    maxOutputTokens: max_completion_tokens ?? max_tokens,
    stop: typeof stop === 'string' ? [stop] : stop,
    candidateCount: n,
    logprobs: logprobs === undefined && top_logprobs === undefined ? undefined : defined({ enabled: logprobs ?? false, top: top_logprobs }),
    cache: some({ key: prompt_cache_key, mode, ttl, retention: prompt_cache_retention }),
    serviceTier: some({ tier: service_tier }),
    user: some({ safetyId: safety_identifier, user }),
    metadata: words && Object.fromEntries(words.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    state: some({ store }),
    safety: some({ moderation }),
    prediction: prediction && { parts: decodeContent(prediction.content, '/prediction') },
    stream:
      stream === undefined && stream_options === undefined
        ? undefined
        : defined({ enabled: stream ?? false, includeUsage: include_usage, obfuscation: include_obfuscation }),
  })
  if (tools?.length && functions?.length) report.add('tools.two-lists', '/functions')
  // When both limit fields are set, the newer one wins; the older one is kept only for encoding to this protocol.
  if (max_completion_tokens !== undefined && max_tokens !== undefined) fields['max_tokens'] = max_tokens
  if (tool_choice !== undefined && function_call !== undefined) fields['function_call'] = function_call
  const form = {
    maxTokens: max_completion_tokens === undefined && max_tokens !== undefined ? 'max_tokens' : undefined,
    stop: typeof stop === 'string' ? 'string' : undefined,
    toolChoice: tool_choice ?? function_call,
    toolChoiceKey: tool_choice === undefined && function_call !== undefined ? 'function_call' : undefined,
    tools: tools?.length === 0 ? [] : undefined,
    functions: functions?.length === 0 ? [] : undefined,
    streamAbsent: stream === undefined || undefined,
    logprobsAbsent: logprobs === undefined || undefined,
    prediction: prediction && { ...prediction, content: typeof prediction.content },
    format: response_format,
    controls: Object.keys(controls).length > 0 ? controls : undefined,
  }
  const fieldNames: FieldNames = {
    ...places,
    ...placesOf(given.messages, given.tools),
    ...(typeof stop === 'string' && { 'stop.0': 'stop' }),
    ...(form.maxTokens && { maxOutputTokens: form.maxTokens }),
    ...(form.toolChoiceKey && Object.fromEntries(['', '.raw', '.mode', '.name'].map(of => [`toolChoice${of}`, form.toolChoiceKey]))),
  }
  return { value: Object.assign(given, keep(fields, nothing, form)), notes: report.notes, ...(Object.keys(fieldNames).length > 0 && { fieldNames }) }
}

/**
 * Notes: all of `notes.ts` that concern requests. The returned context holds the changed tool names.
 * @throws TranslationError `inexpressible` for references that only another provider can resolve, unless `onUnresolvable` is `note`
 */
export function encodeRequest(request: CanonicalRequest, options: Options = {}): Encoded<unknown> {
  const report = createChatReport(options.fieldNames)
  const value = withStrictTools(request, report)
  const { ext } = value
  const native = ownOf(ext) !== undefined
  const wraps = !native && options.ccCustomTools === 'wrap'
  const given = gatherTools(value, { protocol: protocolName, report })
  const { nameOf, renamed } = createNames(native, { tools: given, wraps })
  const writing: Writing = {
    report,
    wraps,
    isLost: name => isLost(name, value.tools, options),
    options,
    native,
    calls: new Map(),
    nameOf,
    spaceOf: name => spaceOf(name, value.tools),
    told: new Set(),
    invented: new Set(),
  }
  const form = ownForm(ext) ?? {}
  // The most common keys come last, because V8 searches this list from its end.
  const {
    parallelToolCalls: _parallel,
    output: _output,
    reasoning,
    sampling,
    stop,
    candidateCount,
    logprobs,
    cache,
    serviceTier,
    user,
    metadata,
    state,
    safety,
    prediction,
    ext: _,
    stream,
    maxOutputTokens,
    toolChoice: _choice,
    tools: _tools,
    messages,
    model,
    ...rest
  } = value
  report.rest(rest, '')
  report.ext(ext, '')
  const { store: _store, ...memory } = value.state ?? {}
  leaveState(memory, options, report)
  const conversation = native || options.ccCacheMarks === 'drop' ? messages : limitMarks(messages, report)
  const maxField = (form['maxTokens'] as string | undefined) ?? options.ccMaxTokensField ?? 'max_completion_tokens'
  const definitions = encodeTools(given, writing)
  const choice = encodeChoice(value, 'tools' in definitions || 'functions' in definitions, writing)
  const written = defined({
    model,
    messages: encodeMessages(conversation, writing),
    ...definitions,
    ...choice,
    ...encodeOutput(value, writing, form),
    ...encodeControls(reasoning, form['controls'], writing),
    ...encodeSampling(sampling, writing),
    [maxField]: encodeLimit(maxOutputTokens, writing),
    stop: encodeStop(stop, writing, form),
    n: candidateCount,
    ...encodeLogprobSpec(logprobs, writing, form),
    ...encodeCache(cache, writing),
    service_tier: encodeTier(serviceTier, writing),
    ...encodeUser(user, writing),
    metadata,
    store: state?.store,
    moderation: safety?.moderation,
    prediction: prediction && encodePrediction(prediction.parts, form['prediction'], writing),
    ...encodeStream(stream, form, writing),
  })
  if (safety?.settings !== undefined) report.add('field.unsupported', '', 'safety.settings')
  for (const key of ['tools', 'functions'] as const) if (Array.isArray(form[key]) && !(key in written)) Object.assign(written, { [key]: [] })
  const wire = wireOf(written, ext)
  report.settle(wire)
  const context = Object.keys(renamed).length > 0 ? { context: { tools: { ...renamed } } } : {}
  return { wire, notes: report.notes, ...context }
}

/** Servers refuse a tool choice in a request without tools. */
function encodeChoice({ toolChoice, parallelToolCalls, ext }: PlainRequest, hasTools: boolean, writing: Writing): JsonObject {
  const { toolChoice: came, toolChoiceKey } = ownForm(ext) ?? {}
  if (hasTools || writing.native)
    return {
      [(toolChoiceKey as string | undefined) ?? 'tool_choice']: encodeToolChoice(toolChoice, came, writing),
      parallel_tool_calls: parallelToolCalls,
    }
  if (toolChoice && toolChoice.mode !== 'auto' && toolChoice.mode !== 'none') writing.report.add('tool_choice.without-tools', '', 'toolChoice')
  if (parallelToolCalls === false) writing.report.add('tool_choice.without-tools', '', 'parallelToolCalls')
  return {}
}

function spaceOf(name: string, tools: readonly Tool[] | undefined): string | undefined {
  const owner = tools?.find(tool => (tool.type === 'function' || tool.type === 'freeform') && tool.name === name)
  return owner && 'namespace' in owner ? owner.namespace : undefined
}
