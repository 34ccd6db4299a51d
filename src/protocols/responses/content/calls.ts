import type {
  Message,
  Part,
  Place,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { bookOf, keysOf } from '../../../kit/fields/keys.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { readInput } from '../../../kit/tools/object-input.ts'
import { fieldsOf, protocolName, type ResponsesReport, wireOf } from '../own.ts'
import type {
  ResponsesContent,
  ResponsesCustomCall,
  ResponsesFunctionCall,
  ResponsesFunctionOutput,
} from '../schema.ts'
import type {
  ResponsesClientCall,
  ResponsesItemOf,
  ResponsesWrittenContent,
  ResponsesWrittenItem,
} from '../written.ts'
import { encodeClientCall, encodeClientResult } from './client-tools.ts'
import { decodeContent, encodeContent, encodeText, isContent } from './content.ts'
import { itemOf, opensEnvelopes, statusOf, type Writing, withHead } from './writing.ts'

/** The schema does not check it. */
type Called = { caller?: unknown }

const callKeys = [
  'type',
  'id',
  'call_id',
  'name',
  'namespace',
  'async',
  'caller',
  'status',
] as const
const functionKeys = keysOf<ResponsesFunctionCall & Called>()(...callKeys, 'arguments')
const customKeys = keysOf<ResponsesCustomCall & Called>()(...callKeys, 'input')
const outputKeys = keysOf<ResponsesFunctionOutput & Called>()(
  'type id call_id name namespace caller status output',
)

/** Makes the note for arguments that are no text. */
export function noteArguments(wire: JsonObject, at: Place, report: ResponsesReport): void {
  if (isObject(wire['arguments'])) report.once('tool-call.input-object', below(at, 'arguments'))
}

/** A `function_call` or `custom_tool_call`. */
export function decodeCall(
  wire: JsonObject,
  isFreeform: boolean,
  at: Place,
  report?: ResponsesReport,
): Message {
  const { call_id: callId, name, namespace, async, caller } = wire
  const input = isFreeform ? wire['input'] : wire['arguments']
  if (report && !isFreeform) noteArguments(wire, at, report)
  const part: ToolCallPart = {
    type: 'tool-call',
    id: String(callId ?? ''),
    idOrigin: 'wire',
    name: String(name ?? ''),
    kind: isFreeform ? 'freeform' : 'function',
    input: readInput(input),
    at,
  }
  if (typeof namespace === 'string') part.namespace = namespace
  if (caller != null) part.caller = caller
  if (typeof async === 'boolean') part.async = async
  return withHead(itemOf('assistant', part, at), wire, isFreeform ? customKeys : functionKeys)
}

/** The result of a call. Notes: an output that is neither text nor parts. */
export function decodeResult(
  wire: JsonObject,
  isFreeform: boolean,
  at: Place,
  report?: ResponsesReport,
): Message {
  const { call_id: callId, name, namespace, caller, output } = wire
  const part: ToolResultPart = {
    type: 'tool-result',
    callId: typeof callId === 'string' ? callId : '',
    kind: isFreeform ? 'freeform' : 'function',
    content: decodeOutput(output, below(at, 'output'), report),
    at,
  }
  if (typeof name === 'string') part.name = name
  if (typeof namespace === 'string') part.namespace = namespace
  if (caller != null) part.caller = caller
  return withHead(itemOf('tool', part, at), wire, outputKeys)
}

function decodeOutput(output: unknown, at: Place, report: ResponsesReport | undefined): Part[] {
  if (typeof output === 'string') return output === '' ? [] : [{ type: 'text', text: output, at }]
  if (Array.isArray(output))
    return output.map((part, index) =>
      decodeContent(part as ResponsesContent, below(at, index), 'tool'),
    )
  if (!isObject(output)) return []
  report?.add('tool-result.stringified', at)
  return [{ type: 'text', text: writeExact(output), at }]
}

export const validCallId = /^[\x21-\x7e]{1,64}$/

/** In a request, the passes over the conversation have set a valid id. */
const wireCallId = (id: string, { native, target }: Writing) =>
  native || target === 'input' ? id : mapCallId(id, validCallId)

const handledOfCall = bookOf<ToolCallPart>()(
  { 'cache.unsupported': 'cache' },
  'type id idOrigin itemId name namespace kind input caller async status cut at ext signature',
)

/** In a request, only an id of this protocol is written. */
function writtenId(
  wanted: string | undefined,
  prefix: string,
  writing: Writing,
): string | undefined {
  if (writing.target === 'output') return writing.itemId?.(wanted, prefix)
  return writing.native ? wanted : undefined
}

type CallItem = ResponsesItemOf<'function_call' | 'custom_tool_call'> | ResponsesClientCall

/** A call as an item. `message`: has its id and status. */
export function encodeCall(part: ToolCallPart, message: Message, writing: Writing): CallItem {
  const { id, name, namespace, input, caller, async, at, signature } = part
  const { report, native } = writing
  report.node(part, handledOfCall)
  if (signature && !opensEnvelopes(writing))
    report.add('reasoning.foreign-signature', at, 'signature')
  const isFreeform = part.kind === 'freeform'
  const wanted = message.id ?? part.itemId
  const callId = wireCallId(id, writing)
  if (callId !== id) report.add('tool-call.id', at, 'id')
  const status = statusOf(message, writing, part.status)
  if (!isFreeform && writing.expanded.has(name)) {
    const client = encodeClientCall(part)
    if (client) {
      const itemId = writing.itemId ? writing.itemId(wanted, client.prefix) : wanted
      return wireOf<ResponsesClientCall>(
        { id: itemId, call_id: callId, ...client.fields, status },
        message.ext,
      )
    }
    report.add('client-call.as-function', at, 'input')
  }
  const isEmpty = !native && !isFreeform && !part.cut && !/\S/.test(input)
  if (!native && caller !== undefined && !isDirect(caller)) report.rest({ caller }, at)
  const head = {
    id: writtenId(wanted, isFreeform ? 'ctc_' : 'fc_', writing),
    status,
    call_id: callId,
    name,
    namespace,
  }
  const tail = { caller: native ? caller : undefined, async }
  if (isFreeform)
    return wireOf<ResponsesItemOf<'custom_tool_call'>>(
      { type: 'custom_tool_call', ...head, input, ...tail },
      message.ext,
    )
  const wire = wireOf<ResponsesItemOf<'function_call'>>(
    { type: 'function_call', ...head, arguments: isEmpty ? '{}' : input, ...tail },
    message.ext,
  )
  if (isEmpty) report.addMade('tool-call.empty-input', wire, '/arguments')
  return wire
}

/** Is it the default caller, the model? */
const isDirect = (caller: unknown) => isObject(caller) && caller['type'] === 'direct'

const handledOfResult = bookOf<ToolResultPart>()(
  { 'cache.unsupported': 'cache', 'reasoning.foreign-signature': 'signature' },
  'type callId name namespace kind content structured isError itemId caller status synthesized',
  'at ext',
)

/** The result of a call as an item. */
export function encodeResult(
  part: ToolResultPart,
  message: Message,
  writing: Writing,
): ResponsesWrittenItem {
  const { callId, name, content, isError, caller, synthesized, at } = part
  const { report, options, native } = writing
  report.node(part, handledOfResult)
  const status = statusOf(message, writing, part.status)
  if (native && name !== undefined && writing.expanded.has(name))
    return wireOf<ReturnType<typeof encodeClientResult>>(
      { id: message.id, ...encodeClientResult(part, name), status },
      message.ext,
    )
  if (isError && !synthesized) report.add('tool-result.error-flag', at, 'isError')
  if (!native) report.rest({ name }, at)
  if (!native && caller !== undefined && !isDirect(caller)) report.rest({ caller }, at)
  const wire = wireOf<ResponsesItemOf<'function_call_output' | 'custom_tool_call_output'>>(
    {
      type: part.kind === 'freeform' ? 'custom_tool_call_output' : 'function_call_output',
      id: writtenId(message.id, 'fco_', writing),
      call_id: wireCallId(callId, writing),
      name: native ? name : undefined,
      namespace: native ? part.namespace : undefined,
      output: encodeOutput(content, (isError && options.errorPrefix) || '', writing),
      status,
      caller: native ? caller : undefined,
    },
    message.ext,
  )
  if (synthesized) report.addMade('tool-result.synthesized', wire)
  return wire
}

function textFor(part: Part): string {
  if ('raw' in part) return JSON.stringify(part.raw)
  if (part.type !== 'reasoning') return ''
  return part.segments.map(segment => segment.text).join('\n\n')
}

function encodeOutput(
  content: Part[],
  prefix: string,
  writing: Writing,
): string | ResponsesWrittenContent[] {
  const [only] = content
  const isPlain =
    content.length === 0 ||
    (content.length === 1 &&
      only?.type === 'text' &&
      !only.cache &&
      !only.citations &&
      !fieldsOf(only.ext))
  if (isPlain) {
    if (only) writing.report.ext(only.ext, only.at)
    return prefix + (only?.type === 'text' ? only.text : '')
  }
  const wire = content.flatMap<ResponsesWrittenContent>(part => {
    if (part.type === 'refusal' && !writing.native)
      return encodeText({ ...part, type: 'text' }, 'tool', writing)
    if (isContent(part) || (part.type === 'opaque' && part.protocol === protocolName))
      return encodeContent(part, 'tool', writing)
    // Parts of other kinds become text: a tool result is for the model to read.
    const text = textFor(part)
    writing.report.add(text ? 'tool-result.flattened' : 'part.unsupported', part.at)
    return text ? { type: 'input_text', text } : []
  })
  const [first] = wire
  if (prefix && first && 'text' in first) wire[0] = { ...first, text: prefix + first.text }
  else if (prefix) wire.unshift({ type: 'input_text', text: prefix })
  return wire
}
