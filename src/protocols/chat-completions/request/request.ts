import type { CanonicalRequest } from '../../../canonical/request.ts'
import { holdsNoTurn } from '../../../kit/conversation/turns.ts'
import { omitNullish, omitNullishOrNone, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { check } from '../../../kit/schema/check.ts'
import { leaveState } from '../../../kit/signatures/state.ts'
import type { Decoded, Encoded, FieldNames } from '../../../protocol.ts'
import { limitMarks, takeMark } from '../content/cache.ts'
import { placesOf } from '../content/proxy-places.ts'
import { decodeTools, encodeTools, lostIn } from '../content/tools.ts'
import type { RequestWriting, Writing } from '../content/writing.ts'
import { createChatReport } from '../notes.ts'
import { defaults, type Options } from '../options.ts'
import { keep, protocolName, wireOf } from '../own.ts'
import { type ChatCompletionsBody, ChatCompletionsRequest } from '../schema.ts'
import { decodeMessages, encodeMessages } from './conversation.ts'
import { controlsIn, decodeControls, encodeControls } from './effort.ts'
import { fields } from './fields.ts'
import { decodeFormat, encodeFormat } from './format.ts'
import { decodePrediction, encodeAuto, encodePrediction, isText, type Put } from './settings.ts'
import { decodeToolChoice, encodeToolChoice, unknownOfToolChoice } from './tool-choice.ts'

/** @throws TranslationError `malformed` when the body is not a chat request */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createChatReport(options.fieldNames)
  const body = check(protocolName, ChatCompletionsRequest, wire)
  const { spec: reasoning, left, places } = decodeControls(controlsIn(body))
  const choice = body.tool_choice ?? body.function_call
  const kept: JsonObject = {}
  const put: Put = (key, rest) => {
    if (rest) kept[key] = rest
  }
  put('tool_choice', omitUndefinedOrNone(unknownOfToolChoice(choice)))
  // Values that are no text have no canonical field.
  if (body.metadata)
    put(
      'metadata',
      omitNullishOrNone(
        Object.fromEntries(Object.entries(body.metadata).filter(([, value]) => !isText(value))),
      ),
    )
  const value: CanonicalRequest = omitNullish({
    messages: decodeMessages(body.messages, report, options),
    tools: decodeTools(body),
    toolChoice: decodeToolChoice(choice),
    output: omitNullishOrNone({ format: decodeFormat(body.response_format, put) }),
    reasoning,
    prediction: decodePrediction(body.prediction, report, put),
  })
  const unknown = fields.read(body, value)
  const { cache: auto, left: others } = takeMark({ ...unknown, ...left })
  if (auto) value.cache = { auto, ...value.cache }
  Object.assign(kept, others)
  for (const group of [value.logprobs, value.stream]) if (group) group.enabled ??= false
  if (body.tools?.length && body.functions?.length) report.add('tools.two-lists', '/functions')
  // Where the older field is set next to the newer one, the newer one counts; the older one is kept
  // only for encoding to this protocol.
  if (body.max_completion_tokens != null && body.max_tokens != null)
    kept['max_tokens'] = body.max_tokens
  if (body.tool_choice != null && body.function_call != null)
    kept['function_call'] = body.function_call
  keep(value, omitUndefinedOrNone(kept))
  const fieldNames: FieldNames = {
    ...places,
    ...placesOf(value.messages, value.tools, body),
    ...olderNames(body),
  }
  return { value, notes: report.notes, ...(Object.keys(fieldNames).length > 0 && { fieldNames }) }
}

/** The names of fields whose older spelling a request uses. */
function olderNames(body: ChatCompletionsRequest): FieldNames {
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

const isOlderLimit = (body: ChatCompletionsRequest) =>
  body.max_completion_tokens == null && body.max_tokens != null
const isOlderChoice = (body: ChatCompletionsRequest) =>
  body.tool_choice == null && body.function_call != null

/**
 * Notes: all of `notes.ts` that concern requests. The returned context holds the changed tool
 * names.
 * @throws TranslationError `inexpressible` for references that only another provider can resolve,
 * unless `onUnresolvable` is `note`
 */
export function encodeRequest(
  value: CanonicalRequest,
  options: Options = {},
): Encoded<ChatCompletionsBody> {
  const report = createChatReport(options.fieldNames)
  const { ext } = value
  const native = value.source?.protocol === protocolName
  const given = value.tools ?? []
  const writing: RequestWriting = {
    request: value,
    report,
    isLost: lostIn(value.tools, options),
    options,
    native,
  }
  const { messages, output, reasoning, cache, prediction } = value
  fields.leave(value, report)
  report.ext(ext, '')
  const { store: _, ...memory } = value.state ?? {}
  leaveState(memory, options, report)
  if (cache?.contentRef !== undefined) report.unresolvable(undefined, 'cache.contentRef', options)
  const conversation =
    native || (options.cacheMarks ?? defaults.cacheMarks) === 'drop'
      ? messages
      : limitMarks(messages, report)
  const definitions = encodeTools(given, writing)
  const choice = encodeChoice(value, 'tools' in definitions, writing)
  const encoded = encodeMessages(conversation, writing)
  const begun: ChatCompletionsBody = {
    model: value.model,
    messages: encoded,
    ...definitions,
    ...choice,
    response_format: encodeFormat(output?.format, writing),
    ...encodeControls(reasoning, writing),
    ...encodeAuto(cache?.auto, writing),
    prediction: prediction && encodePrediction(prediction.parts, writing),
  }
  fields.write(value, writing, begun)
  const wire = wireOf<ChatCompletionsBody>(begun, ext)
  report.resolvePending(wire)
  const context = omitUndefinedOrNone({ output: writing.output })
  const isEmpty = !native && holdsNoTurn(encoded, messages)
  return { wire, notes: report.notes, ...(context && { context }), ...(isEmpty && { isEmpty }) }
}

/** Servers refuse a tool choice in a request without tools. */
function encodeChoice(
  { toolChoice, parallelToolCalls }: CanonicalRequest,
  hasTools: boolean,
  writing: Writing,
): Pick<ChatCompletionsBody, 'tool_choice' | 'parallel_tool_calls'> {
  if (hasTools || writing.native)
    return {
      tool_choice: encodeToolChoice(toolChoice, writing),
      parallel_tool_calls: parallelToolCalls,
    }
  if (toolChoice && toolChoice.mode !== 'auto' && toolChoice.mode !== 'none')
    writing.report.add('tool-choice.without-tools', '', 'toolChoice')
  if (parallelToolCalls === false)
    writing.report.add('tool-choice.without-tools', '', 'parallelToolCalls')
  return {}
}
