import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { AllowedTool, Tool, ToolChoice } from '../../../canonical/tool.ts'
import { holdsNoTurn } from '../../../kit/conversation/turns.ts'
import { omitNullish, omitNullishOrNone, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { leaveState } from '../../../kit/signatures/state.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import type { Decoded, Encoded, FieldNames } from '../../../protocol.ts'
import { carriedIssuer, pathIn, readCarried } from '../content/signatures.ts'
import { decodeTools, encodeTools, lostIn } from '../content/tools.ts'
import { limitMarks, type RequestWriting, takeMark, type Writing } from '../content/writing.ts'
import { defaults, type Options } from '../options.ts'
import { createChatReport, keep, protocolName, wireOf } from '../own.ts'
import { ChatCompletionsRequest } from '../schema.ts'
import type {
  ChatCompletionsBody,
  ChatCompletionsChosen,
  ChatCompletionsToolChoice,
} from '../written.ts'
import { decodeMessages, encodeMessages } from './conversation.ts'
import { fields } from './fields.ts'
import {
  controlsIn,
  decodeControls,
  decodeFormat,
  decodePrediction,
  encodeAuto,
  encodeControls,
  encodeFormat,
  encodePrediction,
  isText,
  type Put,
} from './settings.ts'

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
 * Notes: all of `own.ts` that concern requests. The returned context holds the changed tool
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

/**
 * Field names for this request where the general table does not fit: proxies and their clients use
 * other fields for cache marks and signatures. `body`: as the client sent it.
 */
function placesOf(
  messages: readonly Message[],
  tools: readonly Tool[] = [],
  body: JsonObject,
): FieldNames {
  const places: FieldNames = {}
  for (const tool of tools) if (tool.type === 'function') placeMark(tool, body, places)
  for (const { parts, at: messageAt } of messages) {
    for (const part of parts) {
      placeFields(part, body, places)
      if (part.type === 'tool-result')
        for (const inner of part.content) placeFields(inner, body, places)
      if (part.signature) placeSignature(part, messageAt, { body, places })
    }
    const last = parts.at(-1)
    if (
      !last?.cache ||
      nodeAt(body, messageAt)['cache_control'] === undefined ||
      isMarked(nodeAt(body, last.at))
    )
      continue
    placeCache(last.at, last.at === messageAt ? 'cache_control' : '../cache_control', places)
  }
  return places
}

/** The object at a place. An empty one if there is none. */
function nodeAt(body: JsonObject, at: Place | undefined): JsonObject {
  let node: unknown = body
  for (const key of pointerOf(at ?? '')
    .split('/')
    .slice(1))
    node = isObject(node) || Array.isArray(node) ? node[key as never] : undefined
  return isObject(node) ? node : {}
}

const isMarked = ({ prompt_cache_breakpoint: breakpoint, cache_control: control }: JsonObject) =>
  isObject(breakpoint ?? control)

function placeFields(part: Part, body: JsonObject, places: FieldNames): void {
  placeMark(part, body, places)
  if (part.type !== 'media') return
  const { type } = nodeAt(body, part.at)
  if (type === 'input_image' || type === 'input_file')
    for (const field of ['detail', 'filename'])
      places[`${pointerOf(part.at ?? '')}:${field}`] = field
}

function placeMark(
  { at, cache }: Pick<Part, 'at' | 'cache'>,
  body: JsonObject,
  places: FieldNames,
): void {
  if (!cache) return
  const {
    prompt_cache_breakpoint: breakpoint,
    cache_control: control,
    function: fn,
  } = nodeAt(body, at)
  const inner = control === undefined && isObject(fn) ? 'function/cache_control' : 'cache_control'
  placeCache(at, isObject(breakpoint) ? 'prompt_cache_breakpoint' : inner, places)
}

function placeCache(at: Place | undefined, name: string, places: FieldNames): void {
  places[`${pointerOf(at ?? '')}:cache`] = name
  places[`${pointerOf(at ?? '')}:cache.ttl`] = `${name}/ttl`
}

function placeSignature(
  { at, type }: Part,
  messageAt: Place | undefined,
  { body, places }: { body: JsonObject; places: FieldNames },
): void {
  const carriedAt = (place: Place | undefined) =>
    readCarried(nodeAt(body, place), carriedIssuer.client).original
  if (type === 'tool-call')
    places[`${pointerOf(at ?? '')}:signature`] = pathIn(carriedAt(at)) || 'id'
  else if (type === 'text') {
    const { extra_content } = carriedAt(messageAt)
    if (isObject(extra_content))
      places[`${pointerOf(at ?? '')}:signature`] = `../${pathIn({ extra_content })}`
  }
}

const words = new Map<unknown, ToolChoice>([
  ['auto', { mode: 'auto' }],
  ['none', { mode: 'none' }],
  ['required', { mode: 'required' }],
  ['any', { mode: 'required' }],
])

/** `tool_choice`, or the older `function_call`. */
function decodeToolChoice(wire: unknown): ToolChoice | undefined {
  if (wire === undefined || wire === null) return undefined
  const word = words.get(wire)
  if (word) return word
  if (isObject(wire)) {
    const { type, function: fn, custom, allowed_tools: allowed, name } = wire
    if (type === 'function' && isObject(fn) && typeof fn['name'] === 'string')
      return { mode: 'tool', kind: 'function', name: fn['name'] }
    if (type === 'custom' && isObject(custom) && typeof custom['name'] === 'string')
      return { mode: 'tool', kind: 'freeform', name: custom['name'] }
    if (type === undefined && typeof name === 'string')
      return { mode: 'tool', kind: 'function', name }
    if (
      type === 'allowed_tools' &&
      isObject(allowed) &&
      Array.isArray(allowed['tools']) &&
      isAllowedMode(allowed['mode'])
    ) {
      const tools = allowed['tools'].map((tool: unknown, index) =>
        decodeAllowed(tool, below('/tool_choice/allowed_tools/tools', index)),
      )
      if (tools.every(tool => tool !== undefined))
        return { mode: 'allowed', require: allowed['mode'] === 'required', tools }
    }
  }
  return { mode: 'opaque', protocol: protocolName, raw: wire }
}

/**
 * The keys of a tool choice that have no canonical field. Choices of an unknown type have none:
 * they are kept whole as `opaque`.
 */
function unknownOfToolChoice(wire: unknown): JsonObject {
  const choice = decodeToolChoice(wire)
  if (!isObject(wire) || !choice || choice.mode === 'opaque') return {}
  // The type is also the key of the object that names the tool; the older field has no type.
  const known = wire['type'] === undefined ? 'name' : String(wire['type'])
  const { type: _, [known]: named, ...outer } = wire
  if (!isObject(named)) return outer
  const { name: _name, mode: _mode, tools, ...rest } = named
  const unknown = Array.isArray(tools) ? tools.map(unknownOfToolChoice) : []
  const inner = unknown.some(entry => Object.keys(entry).length > 0)
    ? { ...rest, tools: unknown }
    : rest
  return Object.keys(inner).length > 0 ? { ...outer, [known]: inner } : outer
}

const isAllowedMode = (mode: unknown) =>
  mode === undefined || mode === null || mode === 'auto' || mode === 'required'

function decodeAllowed(wire: unknown, at: Place): AllowedTool | undefined {
  if (!isObject(wire)) return undefined
  const { type, function: fn, custom, name } = wire
  if (type !== 'function' && type !== 'custom') return undefined
  const inner = type === 'function' ? fn : custom
  const called = isObject(inner) ? inner['name'] : name
  if (typeof called !== 'string') return undefined
  return { kind: type === 'custom' ? 'freeform' : 'function', name: called, at }
}

/** @throws TranslationError `inexpressible` when the forced tool exists only at another provider */
function encodeToolChoice(
  choice: ToolChoice | undefined,
  writing: Writing,
): ChatCompletionsToolChoice | undefined {
  if (!choice) return undefined
  const { report } = writing
  switch (choice.mode) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.mode
    case 'tool': {
      if (choice.kind === 'server' || writing.isLost?.(choice.name)) {
        refuseForeignTools(
          'forced tool',
          { protocol: protocolName, path: '/tool_choice' },
          writing.options,
        )
        report.add('tool-choice.unsupported', '', 'toolChoice')
        return undefined
      }
      return encodeNamed(choice.kind, choice.name)
    }
    case 'allowed': {
      const isLost = ({ kind, name }: AllowedTool) => kind === 'server' || writing.isLost?.(name)
      const lost = choice.tools.filter(isLost)
      const callable = choice.tools.filter(tool => !isLost(tool))
      const tools = callable.map(tool =>
        encodeNamed(tool.kind === 'freeform' ? tool.kind : 'function', tool.name),
      )
      if (tools.length === 0 && lost.length > 0)
        report.add('tool-choice.unsupported', '', 'toolChoice')
      else
        for (const { at } of lost)
          report.add('tool-choice.unsupported', at ?? report.placeOf('toolChoice'))
      return tools.length === 0
        ? undefined
        : {
            type: 'allowed_tools',
            allowed_tools: { mode: choice.require ? 'required' : 'auto', tools },
          }
    }
    case 'validated':
      // The passes before the encoder have made it another choice.
      report.add('tool-choice.unsupported', '', 'toolChoice')
      return undefined
    case 'opaque':
      if (choice.protocol === protocolName) return asRead(choice.raw)
      report.add('tool-choice.unsupported', '', 'toolChoice.raw')
      return undefined
    default:
      return choice satisfies never
  }
}

function encodeNamed(kind: 'function' | 'freeform', name: string): ChatCompletionsChosen {
  return kind === 'function'
    ? { type: 'function', function: { name } }
    : { type: 'custom', custom: { name } }
}
