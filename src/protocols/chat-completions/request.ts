import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { check } from '../../kit/check.ts'
import { defined, some } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { gatherTools } from '../../kit/late-tools.ts'
import { leaveState } from '../../kit/state.ts'
import { type PlainRequest, withStrictTools } from '../../kit/strict-tools.ts'
import { holdsNoTurn } from '../../kit/turns.ts'
import type { Decoded, Encoded, FieldNames } from '../../protocol.ts'
import { limitMarks } from './cache.ts'
import { decodeContent } from './content.ts'
import { decodeControls, encodeControls, splitControls } from './effort.ts'
import { decodeOutput, encodeOutput } from './format.ts'
import { decodeMessages, encodeMessages } from './messages.ts'
import { createChatReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, ownForm, ownOf, protocolName, splitNulls, wireOf } from './own.ts'
import { placesOf } from './proxy-places.ts'
import { ChatRequest } from './schema.ts'
import {
  type Body,
  decodeCache,
  decodeLogprobSpec,
  decodeMetadata,
  decodeSampling,
  decodeStream,
  encodeCache,
  encodeLimit,
  encodeLogprobSpec,
  encodeOptional,
  encodePrediction,
  encodeSampling,
  encodeStop,
  encodeStream,
  encodeTier,
  encodeUser,
  type Put,
} from './settings.ts'
import { decodeToolChoice, encodeToolChoice, unknownOfToolChoice } from './tool-choice.ts'
import { createNames, decodeTools, encodeTools, isLost } from './tools.ts'
import type { Writing } from './writing.ts'

/** @throws TranslationError `malformed` when the body is not a chat request */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createChatReport(options.fieldNames)
  const { present: body, nothing } = splitNulls(check(protocolName, ChatRequest, wire))
  const { controls, unknown } = splitControls(body)
  const { spec: reasoning, left, places } = decodeControls(controls)
  const fields: JsonObject = { ...unknown, ...left }
  const put: Put = (key, rest, spelled) => {
    if (Object.keys(rest).length > 0) fields[key] = rest
    if (spelled) nothing[key] = spelled
  }
  const choice = body.tool_choice ?? body.function_call
  put(body.tool_choice === undefined ? 'function_call' : 'tool_choice', unknownOfToolChoice(choice))
  const given = defined({
    model: body.model,
    messages: decodeMessages(body.messages, report, options),
    tools: decodeTools(body),
    toolChoice: decodeToolChoice(choice),
    parallelToolCalls: body.parallel_tool_calls,
    output: decodeOutput(body, put),
    reasoning,
    sampling: decodeSampling(body),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stop: typeof body.stop === 'string' ? [body.stop] : body.stop,
    candidateCount: body.n,
    logprobs: decodeLogprobSpec(body),
    cache: decodeCache(body, fields, put),
    serviceTier: some({ tier: body.service_tier }),
    user: some({ safetyId: body.safety_identifier, user: body.user }),
    metadata: decodeMetadata(body.metadata, put),
    state: some({ store: body.store }),
    safety: some({ moderation: body.moderation }),
    prediction: body.prediction && { parts: decodeContent(body.prediction.content, '/prediction', report) },
    stream: decodeStream(body, put),
  })
  if (body.tools?.length && body.functions?.length) report.add('tools.two-lists', '/functions')
  // Where the older field is set beside the newer one, the newer one counts; the older one is kept only for encoding to this protocol.
  if (body.max_completion_tokens !== undefined && body.max_tokens !== undefined) fields['max_tokens'] = body.max_tokens
  if (body.tool_choice !== undefined && body.function_call !== undefined) fields['function_call'] = body.function_call
  const value = Object.assign(given, keep(fields, nothing, formOf(body, controls)))
  const fieldNames: FieldNames = { ...places, ...placesOf(given.messages, given.tools), ...olderNames(body) }
  return { value, notes: report.notes, ...(Object.keys(fieldNames).length > 0 && { fieldNames }) }
}

/** Which of several equivalent spellings a request uses. */
function formOf(body: Body, controls: JsonObject): JsonObject {
  const { stop, tools, functions, prediction } = body
  return {
    maxTokens: isOlderLimit(body) ? 'max_tokens' : undefined,
    stop: typeof stop === 'string' ? 'string' : undefined,
    toolChoice: body.tool_choice ?? body.function_call,
    toolChoiceKey: isOlderChoice(body) ? 'function_call' : undefined,
    tools: tools?.length === 0 ? [] : undefined,
    functions: functions?.length === 0 ? [] : undefined,
    streamAbsent: body.stream === undefined || undefined,
    logprobsAbsent: body.logprobs === undefined || undefined,
    prediction: prediction && { ...prediction, content: typeof prediction.content },
    format: body.response_format,
    controls: Object.keys(controls).length > 0 ? controls : undefined,
    cacheControl: (body as JsonObject)['cache_control'],
  }
}

/** The names of fields whose older spelling a request uses. */
function olderNames(body: Body): FieldNames {
  const choice = 'function_call'
  return {
    ...(typeof body.stop === 'string' && { 'stop.0': 'stop' }),
    ...(isOlderLimit(body) && { maxOutputTokens: 'max_tokens' }),
    ...(isOlderChoice(body) && { toolChoice: choice, 'toolChoice.raw': choice, 'toolChoice.mode': choice, 'toolChoice.name': choice }),
  }
}

const isOlderLimit = (body: Body) => body.max_completion_tokens === undefined && body.max_tokens !== undefined
const isOlderChoice = (body: Body) => body.tool_choice === undefined && body.function_call !== undefined

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
    state: _state,
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
  const { store: asked, ...memory } = value.state ?? {}
  // Not storing is the default of this protocol, and some servers refuse the field.
  const store = native ? asked : asked || undefined
  leaveState(memory, options, report)
  const conversation = native || (options.ccCacheMarks ?? 'drop') === 'drop' ? messages : limitMarks(messages, report)
  const maxField = (form['maxTokens'] as string | undefined) ?? options.ccMaxTokensField ?? 'max_completion_tokens'
  const definitions = encodeTools(given, writing)
  const choice = encodeChoice(value, 'tools' in definitions || 'functions' in definitions, writing)
  const encoded = encodeMessages(conversation, writing)
  const written = defined({
    model,
    messages: encoded,
    ...definitions,
    ...choice,
    ...encodeOutput(value, writing, form),
    ...encodeControls(reasoning, form['controls'], writing),
    ...encodeSampling(sampling, writing),
    [maxField]: encodeLimit(maxOutputTokens, writing),
    stop: encodeStop(stop, writing, form),
    n: candidateCount,
    ...encodeLogprobSpec(logprobs, writing, form),
    ...encodeCache(cache, writing, form['cacheControl']),
    service_tier: encodeTier(serviceTier, writing),
    ...encodeUser(user, writing),
    ...encodeOptional(
      { metadata, store, moderation: safety?.moderation },
      { metadata, 'state.store': store, 'safety.moderation': safety?.moderation },
      writing,
    ),
    prediction: prediction && encodePrediction(prediction.parts, form['prediction'], writing),
    ...encodeStream(stream, form, writing),
  })
  if (safety?.settings !== undefined) report.add('field.unsupported', '', 'safety.settings')
  for (const key of ['tools', 'functions'] as const) if (Array.isArray(form[key]) && !(key in written)) Object.assign(written, { [key]: [] })
  const wire = wireOf(written, ext)
  report.settle(wire)
  const context = some({ tools: Object.keys(renamed).length > 0 ? { ...renamed } : undefined, output: writing.output })
  const isEmpty = !native && holdsNoTurn(encoded, messages)
  return { wire, notes: report.notes, ...(context && { context }), ...(isEmpty && { isEmpty }) }
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
