import type { Message, Part } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../../canonical/tool.ts'
import { TranslationError } from '../../../errors.ts'
import { holdsNoTurn } from '../../../kit/conversation/turns.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge, same } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { OpenCalls } from '../../../kit/tools/open-calls.ts'
import { refuseUnlinked } from '../../../kit/tools/unlinked-calls.ts'
import type { Decoded, Encoded } from '../../../protocol.ts'
import { expandChoice, expandedIn, expandTools } from '../content/client-tools.ts'
import { decodeItems, encodeMessage } from '../content/items.ts'
import { decodeTools, encodeTools } from '../content/tools.ts'
import {
  limitMarks,
  opensEnvelopes,
  startWriting,
  type Writing,
  withMarksInside,
} from '../content/writing.ts'
import type { Options } from '../options.ts'
import { keep, protocolName, type ResponsesReport, wireOf } from '../own.ts'
import { ResponsesRequest } from '../schema.ts'
import type { ResponsesBody, ResponsesItemOf, ResponsesWrittenItem } from '../written.ts'
import { fields } from './fields.ts'
import {
  decodeInclude,
  decodeOlderSummary,
  decodeOutput,
  decodeToolChoice,
  encodeOutput,
  encodeReasoningSpec,
  encodeState,
  encodeToolChoice,
  type Reading,
  refuseReferences,
} from './settings.ts'

/** @throws TranslationError `malformed` with the path, when the body is not a responses request */
export function decodeRequest(wire: unknown, options?: Options): Decoded<CanonicalRequest> {
  const { report } = startWriting('input', true, options)
  const body = check(protocolName, ResponsesRequest, wire)
  refuseOtherProtocols(body)
  const { instructions, tools, tool_choice: toolChoice } = body
  const unknown: JsonObject = {}
  const reading: Reading = { unknown, places: {}, report }
  const messages = decodeInput(body.input ?? [], report, options?.expandClientTools)
  const declared = tools ? decodeTools(tools, '/tools', report) : undefined
  const offered = declared && expandTools(declared, report, options?.expandClientTools)
  const choice = toolChoice == null ? undefined : decodeToolChoice(toolChoice, unknown)
  if (instructions != null)
    messages.unshift({
      role: 'system',
      parts: [{ type: 'text', text: instructions, at: '/instructions' }],
      origin: 'instructions',
      at: '/instructions',
    })
  const value: CanonicalRequest = omitUndefined({
    messages,
    tools: offered && [...offered],
    toolChoice: choice && offered && offered !== declared ? expandChoice(choice, offered) : choice,
    output: decodeOutput(body, reading),
    reasoning: decodeOlderSummary(body, reading),
    ...decodeInclude(body, reading),
  })
  const unread = fields.read(body, value)
  // Their other fields do not turn them on.
  if (value.logprobs) value.logprobs.enabled ??= false
  if (value.stream) value.stream.enabled ??= false
  keep(value, omitUndefinedOrNone(unread ? merge(unread, unknown) : unknown))
  return {
    value,
    notes: report.notes,
    ...(Object.keys(reading.places).length > 0 && { fieldNames: reading.places }),
  }
}

/**
 * The conversation has other keys in other protocols. Without `input`, the whole of it would be
 * lost.
 */
function refuseOtherProtocols(body: ResponsesRequest): void {
  for (const key of ['messages', 'contents'])
    if (body.input === undefined && Object.hasOwn(body, key))
      throw new TranslationError(
        { code: 'malformed', protocol: protocolName, path: `/${key}` },
        `a request of this protocol has input, not ${key}; it was sent to the path of another protocol`,
      )
}

function decodeInput(
  input: NonNullable<ResponsesRequest['input']>,
  report: ResponsesReport,
  expandsAll: boolean | undefined,
): Message[] {
  if (typeof input === 'string')
    return [
      {
        role: 'user',
        parts: [{ type: 'text', text: input, at: '/input' }],
        origin: 'message',
        at: '/input',
      },
    ]
  for (const [i, item] of input.entries())
    if (isObject(item) && (item['type'] === 'function_call' || item['type'] === 'custom_tool_call'))
      refuseUnlinked(item, 'call_id', below('/input', i), protocolName)
  const messages = decodeItems(input, '/input', report, undefined, expandsAll ? 'all' : 'search')
  pairByName(messages, report)
  return messages
}

/**
 * Gives results without a call id the id of the oldest open call of their name. With no call open,
 * a result stays as it is.
 */
function pairByName(messages: readonly Message[], report: ResponsesReport): void {
  if (
    !messages.some(({ parts }) =>
      parts.some(part => part.type === 'tool-result' && part.callId === ''),
    )
  )
    return
  const parts = flatMap(messages, message => message.parts)
  const open = new OpenCalls()
  for (const part of parts) {
    if (part.type === 'tool-call') open.add(part)
    if (part.type !== 'tool-result') continue
    const { callId, name } = part
    const unlinkedCall = () => (name === undefined ? open.oldest() : open.named(name, false))
    const call = callId === '' ? unlinkedCall() : open.withId(callId)
    if (call) open.close(call)
    if (callId !== '') continue
    if (!call && !open.oldest()) continue
    // The name was needed only to find the call. If it matched no open call, the result stays
    // without an id.
    delete part.name
    if (call) part.callId = call.id
    report.add('tool-result.call-id', part.at)
  }
}

/**
 * @throws TranslationError `inexpressible` for references that only another provider can resolve,
 * and for forced tools that do not exist here
 */
export function encodeRequest(value: CanonicalRequest, options?: Options): Encoded<ResponsesBody> {
  const writing = startWriting('input', value.source?.protocol === protocolName, options)
  writing.expanded = writing.native ? expandedIn(value.tools) : new Set()
  const wire = encodeBody(value, writing)
  writing.report.resolvePending(wire)
  const { output } = writing
  const context = omitUndefinedOrNone({ output })
  const { input } = wire
  const isEmpty = !writing.native && holdsNoTurn(input, value.messages)
  return {
    wire,
    notes: writing.report.notes,
    ...(context && { context }),
    ...(isEmpty && { isEmpty }),
  }
}

/**
 * The body of a request. `writing.target` `output`: for the echo in a response, where nothing is
 * refused.
 */
export function encodeBody(value: CanonicalRequest, writing: Writing): ResponsesBody {
  const { report, native } = writing
  const { messages, tools, toolChoice, ext } = value
  report.ext(ext, '')
  fields.leave(value, report)
  writing.loads = lacksSearch(tools, writing)
  const inner = tools && encodeTools(tools, writing)
  report.resolvePending(inner, '/tools')
  const callable = inner?.filter(isObject)
  if (tools?.length && callable?.length === 0 && writing.target === 'input')
    refuseForeignTools(
      'tools of the request',
      { protocol: protocolName, path: '/tools', notes: report.notes },
      writing.options,
    )
  const instructions = encodeInstructions(messages, writing)
  const items = encodeItems(instructions === undefined ? messages : messages.slice(1), writing)
  const isOffered = callable?.length || native
  refuseReferences(value, writing)
  const wire: ResponsesBody = {
    model: value.model,
    instructions,
    input: items,
    tools: inner?.length || native ? inner : undefined,
    tool_choice:
      toolChoice &&
      (isOffered || !forces(toolChoice) || hasAdded(messages)
        ? encodeToolChoice(toolChoice, tools ?? [], writing)
        : noChoice(toolChoice, writing)),
    text: encodeOutput(value.output, writing),
    reasoning: encodeReasoningSpec(value.reasoning, writing),
    ...encodeState(value, writing),
  }
  fields.write(value, writing, wire)
  return wireOf<ResponsesBody>(wire, ext)
}

/** Is no tool search written? */
function lacksSearch(tools: readonly Tool[] = [], { native, options }: Writing): boolean {
  if (native) return false
  return !tools.some(
    tool =>
      tool.type === 'server' &&
      tool.tool === 'tool_search' &&
      (options.serverTools === 'map' || tool.protocol === protocolName),
  )
}

/** Does the choice force or restrict tools? Without tools it cannot be written. */
const forces = ({ mode }: ToolChoice) =>
  mode === 'required' || mode === 'tool' || mode === 'allowed'

const hasAdded = (messages: readonly Message[]) =>
  messages.some(({ parts }) => parts.some(part => part.type === 'control' && part.tools?.length))

/**
 * Notes mode and name, not the whole choice: some protocols keep the parallel call limit in the
 * same object, and it is still written.
 */
function noChoice({ mode }: ToolChoice, { report }: Writing): undefined {
  report.add('tool-choice.without-tools', '', 'toolChoice.mode')
  if (mode === 'tool' || mode === 'allowed')
    report.add('tool-choice.without-tools', '', 'toolChoice.name')
}

/**
 * The text of the `instructions` field. Undefined: there are no instructions, or more than the
 * field can hold.
 */
function encodeInstructions(
  messages: readonly Message[],
  { native, report }: Writing,
): string | undefined {
  const [first, second] = messages
  if (first?.origin !== 'instructions' || (second?.origin === 'instructions' && !native))
    return undefined
  const [part, more] = first.parts
  if (!isPlainText(part) || more || !(part.text || native)) return undefined
  report.ext(first.ext, first.at)
  report.ext(part.ext, part.at)
  if (part.signature) report.add('reasoning.foreign-signature', part.at, 'signature')
  return part.text
}

function isPlainText(part: Part | undefined): part is Extract<Part, { type: 'text' }> {
  return (
    part?.type === 'text' &&
    !part.cache &&
    !part.citations &&
    !part.logprobs &&
    !part.ext?.[protocolName]
  )
}

/** The items of a whole history. */
function encodeItems(messages: readonly Message[], writing: Writing): ResponsesWrittenItem[] {
  const marked = messages.map(message => withMarksInside(message, writing))
  if (!writing.native) limitMarks(marked, writing)
  const items: ResponsesWrittenItem[] = []
  for (const message of marked) append(items, encodeMessage(message, writing))
  const led =
    writing.native || opensEnvelopes(writing) || writing.reasoning.size === 0
      ? items
      : withoutRepeated(withoutLoose(items, writing), writing)
  writing.report.resolvePending(led, '/input')
  return led
}

/**
 * Leaves out reasoning that no item of its turn follows, which the server refuses: the turn was cut
 * off there, or its text is empty.
 */
function withoutLoose(
  items: ResponsesWrittenItem[],
  { reasoning, report }: Writing,
): ResponsesWrittenItem[] {
  const led: ResponsesWrittenItem[] = []
  let loose = true
  for (const item of items.toReversed()) {
    const thought = reasoning.get(item)
    if (thought && loose) report.leave('reasoning.loose', thought)
    else {
      led.push(item)
      loose =
        item.type === undefined ||
        item.type.endsWith('_output') ||
        (item.type === 'message' && item.role !== 'assistant')
    }
  }
  return led.reverse()
}

/**
 * Leaves out reasoning items that repeat an id, which the server refuses: clients repeat the
 * signature of a turn on several of its parts. Only the first item stays; one with another
 * signature stays too, but without the id.
 */
function withoutRepeated(
  items: ResponsesWrittenItem[],
  { reasoning, report }: Writing,
): ResponsesWrittenItem[] {
  const firsts = new Map<string, ResponsesItemOf<'reasoning'>>()
  return flatMap<ResponsesWrittenItem, ResponsesWrittenItem>(items, item => {
    const thought = reasoning.get(item)
    const { id } = item
    if (!thought || item.type !== 'reasoning' || id === undefined) return [item]
    const first = firsts.get(id)
    if (!first) {
      firsts.set(id, item)
      return [item]
    }
    if (item.encrypted_content !== first.encrypted_content) {
      report.add('reasoning.id-twice', thought.at)
      const { id: _, ...nameless } = item
      return [nameless]
    }
    const texts = segmentsIn(item)
    if (texts.length > 0 && !same(texts, segmentsIn(first)))
      report.leave('reasoning.repeated', thought)
    return []
  })
}

const segmentsIn = ({ summary, content }: JsonObject): unknown[] =>
  [summary, content].flatMap(list => (Array.isArray(list) ? (list as unknown[]) : []))
