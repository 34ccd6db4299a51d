import { isNeutral } from '../../../canonical/neutral.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import type { Decoded, Encoded, EncodingContext, FieldNames } from '../../../protocol.ts'
import { match, target } from '../address.ts'
import { addPoint, caches, limitPoints, type Mark } from '../content/cache.ts'
import { decodeTools, encodeTools } from '../content/tools.ts'
import { type Reading, type RequestWriting, startWriting } from '../content/writing.ts'
import { familyOf } from '../models.ts'
import type { Options } from '../options.ts'
import { type ConverseReport, createConverseReport, keep, protocolName, wireOf } from '../own.ts'
import { ConverseRequest } from '../schema.ts'
import type { ConverseBody } from '../written.ts'
import {
  type Conversation,
  decodeMessage,
  decodeSystem,
  encodeConversation,
} from './conversation.ts'
import { encodeReasoningSpec } from './effort.ts'
import { fields, places } from './fields.ts'
import {
  decodeFormat,
  encodeFormat,
  encodeSampling,
  encodeState,
  encodeTier,
  leaveCaching,
} from './settings.ts'
import { decodeClaudeChoice, decodeToolChoice, encodeToolChoice } from './tool-choice.ts'

/**
 * Body and path → request. The model and whether to stream are in the path, `options.path`.
 * @throws TranslationError `malformed` when the body is not a request of this protocol
 */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createConverseReport()
  const body = check(protocolName, ConverseRequest, unwrapCounted(wire))
  const called = options.path === undefined ? undefined : match(options.path)
  const model = called?.model ?? body.modelId ?? undefined
  const names: FieldNames = {}
  const reading: Reading = { report, family: familyOf(model, options), names, isResponse: false }
  const { messages, system, toolConfig, outputConfig } = body
  const formatted = outputConfig?.textFormat ? decodeFormat(outputConfig.textFormat) : undefined
  const more = isObject(body.additionalModelRequestFields)
    ? body.additionalModelRequestFields
    : undefined
  const claude =
    more && toolConfig?.toolChoice == null ? decodeClaudeChoice(more['tool_choice']) : undefined
  if (claude) names['toolChoice'] = 'additionalModelRequestFields/tool_choice'
  const request: CanonicalRequest = omitNullish({
    messages: [
      ...(system ? decodeSystem(system, reading) : []),
      ...(messages ?? []).map((message, index) =>
        decodeMessage(message, below('/messages', index), reading),
      ),
    ],
    tools: toolConfig?.tools ? decodeTools(toolConfig.tools, reading) : undefined,
    toolChoice: toolConfig?.toolChoice ? decodeToolChoice(toolConfig.toolChoice) : claude?.choice,
    parallelToolCalls: claude?.parallel,
    output: omitUndefinedOrNone({ format: formatted?.format }),
  })
  const unread = fields.read(body, request)
  if (more) nameFields(body, more, names)
  if (model !== undefined) request.model = model
  if (called?.stream !== undefined) request.stream = { enabled: called.stream }
  const unknown: JsonObject | undefined = formatted?.unknown
    ? merge(unread ?? {}, { outputConfig: { textFormat: formatted.unknown } })
    : unread
  const others = unknown?.[moreFields]
  if (claude && isObject(others)) delete others['tool_choice']
  keep(request, omitUndefinedOrNone(unknown ?? {}))
  return {
    value: request,
    notes: report.notes,
    ...(Object.keys(names).length > 0 && { fieldNames: names }),
  }
}

/** The request inside a body of `count-tokens`. */
function unwrapCounted(wire: unknown): unknown {
  const input = isObject(wire) && !('messages' in wire) ? wire['input'] : undefined
  return isObject(input) && isObject(input['converse']) ? input['converse'] : wire
}

/** Where this body has the fields that have several places. */
function nameFields({ outputConfig }: ConverseRequest, more: JsonObject, names: FieldNames): void {
  for (const field in places) {
    if (field === 'reasoning.effort' && outputConfig?.effort != null) continue
    const found = places[field]?.findLast(place => valueAt(more, place) != null)
    if (found !== undefined) names[field] = `additionalModelRequestFields/${found}`
  }
}

function valueAt(from: JsonObject, place: string): unknown {
  let value: unknown = from
  for (const key of place.split('/')) value = isObject(value) ? value[key] : undefined
  return typeof value === 'object' ? undefined : value
}

const moreFields = 'additionalModelRequestFields'

/**
 * Request → body. The model and whether to stream are in `context.path`.
 * @throws TranslationError `inexpressible` for references to state that another provider stores,
 * unless the options ask for a note instead
 */
export function encodeRequest(
  request: CanonicalRequest,
  options: Options = {},
): Encoded<ConverseBody> {
  const report = createConverseReport(options.fieldNames)
  const { model, messages, output, sampling, serviceTier, cache, state, stream, ext } = request
  const native = request.source?.protocol === protocolName
  const writing = startWriting(request, options, report, native)
  fields.leave(request, report)
  report.ext(ext, undefined)
  if (request.candidateCount !== undefined && request.candidateCount !== 1)
    report.add('candidates.first-only', undefined, 'candidateCount')

  const marks: Mark[] = []
  const tools = encodeTools(request, marks, writing)
  const chosen = encodeToolChoice(request, tools.length, writing)
  const conversation = encodeConversation(messages, marks, writing)
  if (cache?.auto) markEnd(cache.auto, conversation, marks, writing)
  else if (!native && options.autoCache && marks.length === 0 && caches(writing.family)) {
    const place = markEnd({}, conversation, marks, writing)
    if (place !== undefined) report.add('cache.auto', place)
  }
  if (!native)
    limitPoints(
      marks,
      [tools, conversation.system, ...conversation.messages.map(({ content }) => content)],
      report,
    )
  leaveCaching(cache, writing)
  encodeState(state, writing)

  const reasoning = encodeReasoningSpec(request, writing)
  const sampled = encodeSampling(sampling, reasoning, writing)
  const { format, output: wrapped } = encodeFormat(output, conversation.system, writing)
  const begun: JsonObject = {
    // Without a path the body of an SDK names the model itself.
    modelId: native && options.path === undefined ? model : undefined,
    messages: conversation.messages,
    system: conversation.system.length > 0 ? conversation.system : undefined,
    inferenceConfig: omitUndefinedOrNone({
      maxTokens: limitOf(reasoning.maxTokens, native),
      temperature: sampled.temperature,
      topP: sampled.topP,
    }),
    toolConfig:
      tools.length > 0 || chosen.toolChoice
        ? omitUndefined({ tools, toolChoice: chosen.toolChoice })
        : undefined,
    outputConfig: format && { textFormat: format },
    serviceTier: encodeTier(serviceTier, writing),
    additionalModelRequestFields: allFields(reasoning.fields, sampled.fields, chosen.fields),
  }
  const wire = wireOf<ConverseBody>(fields.write(request, writing, begun) as ConverseBody, ext)
  if (!model && stream?.enabled) report.add('field.unsupported', undefined, 'stream.enabled')
  const context: EncodingContext = {
    ...(model && {
      path: target({ operation: 'generate', model, stream: stream?.enabled ?? false }),
    }),
    ...(wrapped && { output: wrapped }),
  }
  return {
    wire,
    notes: report.notes,
    context,
    ...(!native && conversation.messages.length === 0 && { isEmpty: true }),
  }
}

const limitOf = (limit: number | undefined, native: boolean): number | undefined =>
  !native && isNeutral('maxOutputTokens', limit) ? undefined : limit

/**
 * The automatic cache mark of another protocol: a cache point behind the last user message. Its path,
 * if one was added.
 */
function markEnd(
  auto: NonNullable<NonNullable<CanonicalRequest['cache']>['auto']>,
  { messages }: Conversation,
  marks: Mark[],
  writing: RequestWriting,
): string | undefined {
  const last = messages.findLast(({ role }) => role === 'user')
  const before = marks.length
  if (last && !last.content.at(-1)?.cachePoint) {
    const silent: ConverseReport = createConverseReport()
    addPoint({ type: 'text', text: '', cache: auto }, last.content, 'conversation', {
      ...writing,
      report: silent,
      marks,
    })
    for (const { code } of silent.notes)
      if (code === 'cache.ttl') writing.report.add('cache.ttl', undefined, 'cache.auto.ttl')
  }
  if (marks.length === before && !last?.content.at(-1)?.cachePoint)
    writing.report.add('cache.unsupported', undefined, 'cache.auto')
  const made = marks[before]
  return last && made
    ? `/messages/${messages.indexOf(last)}/content/${last.content.findIndex(
        ({ cachePoint }) => cachePoint === made.wire,
      )}/cachePoint`
    : undefined
}

/** Fields of the model's own API; objects are joined. */
function allFields(...all: (JsonObject | undefined)[]): JsonObject | undefined {
  const joined = all.reduce<JsonObject>((sum, one) => (one ? merge(sum, one) : sum), {})
  return Object.keys(joined).length > 0 ? joined : undefined
}
