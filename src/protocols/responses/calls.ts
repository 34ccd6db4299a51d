import type { Message, Part, Place, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { encodeClientCall } from './client-tools.ts'
import { decodeContent, encodeText } from './content.ts'
import { idOf, itemStatus, ownItem, statusOf, strangeStatus, unknownStatus } from './item-head.ts'
import { encodeContent, isContent } from './message-item.ts'
import type { ResponsesReport } from './notes.ts'
import { absentOf, keep, nulls, ownForm, protocolName, wireOf } from './own.ts'
import type { ResponsesContent } from './schema.ts'
import { encodeName } from './tools.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

/** A `function_call` or `custom_tool_call`. */
export function decodeCall(wire: JsonObject, item: string, at: Place): Message {
  const { type: _, id, call_id: callId, name, namespace, async, caller, status: _status, arguments: args, input, ...fields } = wire
  const freeform = item === 'custom_tool_call'
  const part: ToolCallPart = {
    type: 'tool-call',
    id: String(callId ?? ''),
    idOrigin: 'wire',
    name: String(name ?? ''),
    ...(typeof namespace === 'string' && { namespace }),
    kind: freeform ? 'freeform' : 'function',
    input: String((freeform ? input : args) ?? ''),
    ...(caller != null && { caller }),
    ...(typeof async === 'boolean' && { async }),
    at,
  }
  const others = freeform ? (args == null ? fields : { ...fields, arguments: args }) : input == null ? fields : { ...fields, input }
  return {
    role: 'assistant',
    parts: [part],
    origin: 'item',
    ...idOf(id),
    ...statusOf(wire),
    at,
    ...keep({ ...others, ...unknownStatus(wire) }, nulls(wire), { item, ...absentOf(wire, [freeform ? 'input' : 'arguments']), ...strangeStatus(wire) }),
  }
}

/** The result of a call. Notes: an output that is neither text nor parts. */
export function decodeResult(wire: JsonObject, item: string, at: Place, report?: ResponsesReport): Message {
  const { type: _, id, call_id: callId, name, namespace, status: _status, caller, output, ...fields } = wire
  const form: JsonObject = { item, ...absentOf(wire, ['output', 'call_id']), ...strangeStatus(wire) }
  let content: Part[] = []
  if (typeof output === 'string') {
    form['output'] = 'string'
    if (output !== '') content = [{ type: 'text', text: output, at: below(at, 'output') }]
  } else if (Array.isArray(output)) content = output.map((part, index) => decodeContent(part as ResponsesContent, below(below(at, 'output'), index), 'tool'))
  else if (isObject(output)) {
    report?.add('tool-result.stringified', below(at, 'output'))
    form['output'] = output
    content = [{ type: 'text', text: JSON.stringify(output), at: below(at, 'output') }]
  }
  const part: ToolResultPart = {
    type: 'tool-result',
    callId: typeof callId === 'string' ? callId : '',
    ...(typeof name === 'string' && { name }),
    ...(typeof namespace === 'string' && { namespace }),
    kind: item === 'custom_tool_call_output' ? 'freeform' : 'function',
    content,
    ...(caller != null && { caller }),
    at,
  }
  return { role: 'tool', parts: [part], origin: 'item', ...idOf(id), ...statusOf(wire), at, ...keep({ ...fields, ...unknownStatus(wire) }, nulls(wire), form) }
}

const validCallId = /^[\x21-\x7e]{1,64}$/

function encodeCallId(id: string, at: Place | undefined, writing: Writing): string {
  const wire = wireCallId(id, writing)
  if (wire !== id) writing.report.add('tool-call.id', at, 'id')
  return wire
}

/** As `encodeCallId`, without its note: for the result of a call, where the call has it. */
const wireCallId = (id: string, { native }: Writing) => (native ? id : mapCallId(id, validCallId))

/** A call as an item. `message`: has its id and status. */
export function encodeCall(part: ToolCallPart, message: Message, writing: Writing): JsonObject {
  const { type: _, id, idOrigin: _origin, itemId, name, namespace, kind, input, caller, async, status, cut, at, ext, signature, cache, ...rest } = part
  const { report, target } = writing
  writing.calls.set(id, name)
  report.ext(ext, at)
  report.rest(rest, at)
  if (cache) report.add('cache.place', at, 'cache')
  if (signature && !opensEnvelopes(writing)) report.add('reasoning.foreign-signature', at, 'signature')
  const freeform = kind === 'freeform'
  const own = ownItem(message, freeform ? 'custom_tool_call' : 'function_call')
  const wanted = message.id ?? itemId
  if (!freeform && writing.expanded.includes(name)) {
    const client = encodeClientCall(part)
    if (client) {
      const callStatus = message.status ?? status ?? 'completed'
      return { id: writing.itemId?.(wanted, client.prefix, own), call_id: encodeCallId(id, at, writing), ...client.fields, status: callStatus }
    }
    report.add('client-call.as-function', at, 'input')
  }
  const empty = !freeform && !cut && input.trim() === '' && !own
  const known = {
    type: freeform ? 'custom_tool_call' : 'function_call',
    id: target === 'output' ? writing.itemId?.(wanted, freeform ? 'ctc_' : 'fc_', own) : own ? wanted : undefined,
    status: target === 'output' && !own ? (message.status ?? status ?? 'completed') : (itemStatus(message) ?? (own ? undefined : status)),
    call_id: encodeCallId(id, at, writing),
    name: encodeName(name, at, writing),
    namespace,
    [freeform ? 'input' : 'arguments']: empty ? '{}' : input,
    caller: own ? caller : undefined,
    async,
  }
  if (caller !== undefined && !own && !isDirect(caller)) report.rest({ caller }, at)
  const wire = wireOf(known, own?.ext)
  if (empty) report.addMade('tool-call.empty-input', wire, '/arguments')
  return wire
}

/** Is it the default caller, the model? */
const isDirect = (caller: unknown) => isObject(caller) && caller['type'] === 'direct'

/** The result of a call as an item. */
export function encodeResult(part: ToolResultPart, message: Message, writing: Writing): JsonObject {
  const {
    type: _,
    callId,
    name,
    namespace,
    kind,
    content,
    structured: _structured,
    isError,
    itemId: _itemId,
    caller,
    status,
    synthesized,
    at,
    ext,
    signature,
    cache,
    ...rest
  } = part
  const { report, options } = writing
  report.ext(ext, at)
  report.rest(rest, at)
  if (cache) report.add('cache.place', at, 'cache')
  if (signature) report.add('reasoning.foreign-signature', at, 'signature')
  const item = kind === 'freeform' ? 'custom_tool_call_output' : 'function_call_output'
  const own = ownItem(message, item)
  if (isError && !synthesized) report.add('tool-result.error-flag', at, 'isError')
  if (!writing.calls.has(callId) && wireCallId(callId, writing) !== callId) report.add('tool-call.id', at, 'callId')
  if (!own && name !== undefined && writing.calls.get(callId) !== name) report.rest({ name }, at)
  const prefix = isError && options.errorPrefix ? options.errorPrefix : ''
  const known = {
    type: item,
    id: writing.target === 'output' ? writing.itemId?.(message.id, 'fco_', own) : own ? message.id : undefined,
    call_id: own && ownForm(own?.ext)?.['paired'] ? ownForm(own?.ext)?.['said'] : wireCallId(callId, writing),
    name: own ? (name ?? ownForm(own?.ext)?.['name']) : undefined,
    namespace: own ? namespace : undefined,
    output: encodeOutput(content, own, prefix, writing),
    status: itemStatus(message) ?? (own ? undefined : status),
    caller: own ? caller : undefined,
  }
  if (caller !== undefined && !own && !isDirect(caller)) report.rest({ caller }, at)
  const wire = wireOf(known, own?.ext)
  if (synthesized) report.addMade('tool-result.synthesized', wire)
  return wire
}

function encodeOutput(content: Part[], own: Message | undefined, prefix: string, writing: Writing): unknown {
  const form = ownForm(own?.ext)
  const [only] = content
  const plain = content.length === 0 || (content.length === 1 && only?.type === 'text' && !only.cache && !only.citations)
  if (plain && (form ? form['output'] === 'string' : true)) {
    if (only) writing.report.ext(only.ext, only.at)
    return prefix + (only?.type === 'text' ? only.text : '')
  }
  const object = form?.['output']
  if (isObject(object) && only?.type === 'text' && only.text === JSON.stringify(object)) return object
  const wire = content.flatMap<JsonObject>(part => {
    if (part.type === 'refusal' && !own) return encodeText({ ...part, type: 'text' }, 'tool', writing)
    if (isContent(part) || (part.type === 'opaque' && part.protocol === protocolName)) return encodeContent(part, 'tool', writing)
    // Parts of other kinds become text: a tool result is for the model to read.
    const text = 'raw' in part ? JSON.stringify(part.raw) : part.type === 'reasoning' ? part.segments.map(segment => segment.text).join('\n\n') : ''
    writing.report.add(text ? 'tool-result.flattened' : 'part.unsupported', part.at)
    return text ? { type: 'input_text', text } : []
  })
  const [first] = wire
  if (prefix && typeof first?.['text'] === 'string') wire[0] = { ...first, text: prefix + first['text'] }
  else if (prefix) wire.unshift({ type: 'input_text', text: prefix })
  return wire
}
