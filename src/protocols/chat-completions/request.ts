import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { check } from '../../kit/check.ts'
import { defined, present, some, someOf } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { gatherTools } from '../../kit/late-tools.ts'
import { leaveState } from '../../kit/state.ts'
import { type PlainRequest, withStrictTools } from '../../kit/strict-tools.ts'
import { holdsNoTurn } from '../../kit/turns.ts'
import type { Decoded, Encoded, FieldNames } from '../../protocol.ts'
import { limitMarks, takeMark } from './cache.ts'
import { decodeControls, encodeControls, splitControls } from './effort.ts'
import { decodeOutput, encodeOutput } from './format.ts'
import { decodeMessages, encodeMessages } from './messages.ts'
import { createChatReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, protocolName, wireOf } from './own.ts'
import { placesOf } from './proxy-places.ts'
import { ChatRequest } from './schema.ts'
import {
  decodeCache,
  decodeLogprobSpec,
  decodeMetadata,
  decodePrediction,
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
  const body = check(protocolName, ChatRequest, wire)
  const { controls, unknown } = splitControls(body)
  const { spec: reasoning, left, places } = decodeControls(controls)
  const { cache: auto, left: fields = {} } = takeMark({ ...unknown, ...left })
  const put: Put = (key, rest) => {
    if (rest) fields[key] = rest
  }
  const choice = body.tool_choice ?? body.function_call
  put('tool_choice', some(unknownOfToolChoice(choice)))
  const value: CanonicalRequest = present({
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
    cache: decodeCache(body, auto, put),
    serviceTier: someOf({ tier: body.service_tier }),
    user: someOf({ safetyId: body.safety_identifier, user: body.user }),
    metadata: decodeMetadata(body.metadata, put),
    state: someOf({ store: body.store }),
    safety: someOf({ moderation: body.moderation }),
    prediction: decodePrediction(body.prediction, report, put),
    stream: decodeStream(body, put),
  })
  if (body.tools?.length && body.functions?.length) report.add('tools.two-lists', '/functions')
  // Where the older field is set beside the newer one, the newer one counts; the older one is kept only for encoding to this protocol.
  if (body.max_completion_tokens != null && body.max_tokens != null) fields['max_tokens'] = body.max_tokens
  if (body.tool_choice != null && body.function_call != null) fields['function_call'] = body.function_call
  keep(value, some(fields))
  const fieldNames: FieldNames = { ...places, ...placesOf(value.messages, value.tools, body), ...olderNames(body) }
  return { value, notes: report.notes, ...(Object.keys(fieldNames).length > 0 && { fieldNames }) }
}

/** The names of fields whose older spelling a request uses. */
function olderNames(body: ChatRequest): FieldNames {
  const choice = 'function_call'
  return {
    ...(typeof body.stop === 'string' && { 'stop.0': 'stop' }),
    ...(isOlderLimit(body) && { maxOutputTokens: 'max_tokens' }),
    ...(isOlderChoice(body) && {
      toolChoice: choice,
      'toolChoice.raw': choice,
      'toolChoice.mode': choice,
      'toolChoice.name': choice,
      'tool_choice/*': choice,
    }),
  }
}

const isOlderLimit = (body: ChatRequest) => body.max_completion_tokens == null && body.max_tokens != null
const isOlderChoice = (body: ChatRequest) => body.tool_choice == null && body.function_call != null

/**
 * Notes: all of `notes.ts` that concern requests. The returned context holds the changed tool names.
 * @throws TranslationError `inexpressible` for references that only another provider can resolve, unless `onUnresolvable` is `note`
 */
export function encodeRequest(request: CanonicalRequest, options: Options = {}): Encoded<unknown> {
  const report = createChatReport(options.fieldNames)
  const value = withStrictTools(request, report)
  const { ext } = value
  const native = value.source?.protocol === protocolName
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
    source: _source,
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
  const maxField = options.ccMaxTokensField ?? 'max_completion_tokens'
  const definitions = encodeTools(given, writing)
  const choice = encodeChoice(value, 'tools' in definitions, writing)
  const encoded = encodeMessages(conversation, writing)
  const written = defined({
    model,
    messages: encoded,
    ...definitions,
    ...choice,
    ...encodeOutput(value, writing),
    ...encodeControls(reasoning, writing),
    ...encodeSampling(sampling, writing),
    [maxField]: encodeLimit(maxOutputTokens, writing),
    stop: encodeStop(stop, writing),
    n: candidateCount,
    ...encodeLogprobSpec(logprobs, writing),
    ...encodeCache(cache, writing),
    service_tier: encodeTier(serviceTier, writing),
    ...encodeUser(user, writing),
    ...encodeOptional(
      { metadata, store, moderation: safety?.moderation },
      { metadata, 'state.store': store, 'safety.moderation': safety?.moderation },
      writing,
    ),
    prediction: prediction && encodePrediction(prediction.parts, writing),
    ...encodeStream(stream, writing),
  })
  if (safety?.settings !== undefined) report.add('field.unsupported', '', 'safety.settings')
  const wire = wireOf(written, ext)
  report.settle(wire)
  const context = some({ tools: Object.keys(renamed).length > 0 ? { ...renamed } : undefined, output: writing.output })
  const isEmpty = !native && holdsNoTurn(encoded, messages)
  return { wire, notes: report.notes, ...(context && { context }), ...(isEmpty && { isEmpty }) }
}

/** Servers refuse a tool choice in a request without tools. */
function encodeChoice({ toolChoice, parallelToolCalls }: PlainRequest, hasTools: boolean, writing: Writing): JsonObject {
  if (hasTools || writing.native) return { tool_choice: encodeToolChoice(toolChoice, writing), parallel_tool_calls: parallelToolCalls }
  if (toolChoice && toolChoice.mode !== 'auto' && toolChoice.mode !== 'none') writing.report.add('tool_choice.without-tools', '', 'toolChoice')
  if (parallelToolCalls === false) writing.report.add('tool_choice.without-tools', '', 'parallelToolCalls')
  return {}
}

function spaceOf(name: string, tools: readonly Tool[] | undefined): string | undefined {
  const owner = tools?.find(tool => (tool.type === 'function' || tool.type === 'freeform') && tool.name === name)
  return owner && 'namespace' in owner ? owner.namespace : undefined
}
