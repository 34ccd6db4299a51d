import type { ControlPart, Message, Part, Role, ServerToolPart, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'
import { defined } from '../../kit/defined.ts'
import { mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { decodeContent, encodeMedia, encodeText, plainText, textOf } from './content.ts'
import { imageItem } from './media.ts'
import { keep, type OwnForm, ownForm, protocol, spelling, wireOf } from './own.ts'
import { type Attachment, carrierItem, decodeReasoning, encodeReasoning } from './reasoning.ts'
import type { ResponsesContent, ResponsesItem, ResponsesReasoning } from './schema.ts'
import { decodeTools, encodeName, encodeTools } from './tools.ts'
import { builtInItem } from './vocabulary.ts'
import type { ResponsesReport, Writing } from './writing.ts'

type DecodedItem = { message: Message; attach?: Attachment }

/** One item → one message. `model`: who made it, where that is known. */
export function decodeItem(item: ResponsesItem, at: string, report?: ResponsesReport, model?: string): DecodedItem {
  const wire: JsonObject = item
  const type = typeof wire['type'] === 'string' ? wire['type'] : typeof wire['role'] === 'string' ? 'message' : 'item_reference'
  switch (type) {
    case 'message':
      return { message: decodeMessage(wire, at, report) }
    case 'reasoning': {
      const decoded = decodeReasoning(wire as ResponsesReasoning, at, model)
      if (!decoded) return { message: rawMessage('assistant', { type: 'opaque', protocol, raw: wire, at }, type) }
      const { part, fields, form, attach } = decoded
      return {
        message: { role: 'assistant', parts: [part], origin: 'item', ...statusOf(wire), at, ...keep(fields, { item: type, ...form, ...strangeStatus(wire) }) },
        ...(attach && { attach }),
      }
    }
    case 'function_call':
    case 'custom_tool_call':
      return { message: decodeCall(wire, type, at) }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { message: decodeResult(wire, type, at, report) }
    default:
      return { message: decodeOther(wire, type, at, report) }
  }
}

const roles = new Set<unknown>(['user', 'assistant', 'system', 'developer'])

function decodeMessage(wire: JsonObject, at: string, report?: ResponsesReport): Message {
  const { type, role: said, content, id, status: _status, phase, ...fields } = wire
  const role = (roles.has(said) ? said : 'assistant') as Role
  const whole = typeof content === 'string'
  const parts: Part[] = whole
    ? [{ type: 'text', text: content, at: `${at}/content` }]
    : Array.isArray(content)
      ? content.map((part, index) => decodeContent(part as ResponsesContent, `${at}/content/${index}`, role, report))
      : []
  const form: OwnForm = { item: 'message', ...spelling(wire, ['type', 'content', 'role']), ...(whole && { content: 'string' }), ...strangeStatus(wire) }
  if (type === null) form['type'] = null
  const known = phase === 'commentary' || phase === 'final_answer'
  return {
    role,
    parts,
    origin: 'item',
    ...(typeof id === 'string' && { id }),
    ...statusOf(wire),
    ...(known ? { phase } : phase === null ? { phase } : {}),
    at,
    ...keep(typeof phase === 'string' && !known ? { ...fields, phase } : fields, form),
  }
}

function decodeCall(wire: JsonObject, item: string, at: string): Message {
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
  const others = freeform ? (args === undefined ? fields : { ...fields, arguments: args }) : input === undefined ? fields : { ...fields, input }
  return {
    role: 'assistant',
    parts: [part],
    origin: 'item',
    ...idOf(id),
    ...statusOf(wire),
    at,
    ...keep(others, { item, ...spelling(wire), ...strangeStatus(wire) }),
  }
}

function decodeResult(wire: JsonObject, item: string, at: string, report?: ResponsesReport): Message {
  const { type: _, id, call_id: callId, name, namespace, status: _status, caller, output, ...fields } = wire
  const form: OwnForm = { item, ...spelling(wire, ['output', 'call_id']), ...strangeStatus(wire) }
  let content: Part[] = []
  if (typeof output === 'string') {
    form['output'] = 'string'
    if (output !== '') content = [{ type: 'text', text: output, at: `${at}/output` }]
  } else if (Array.isArray(output)) content = output.map((part, index) => decodeContent(part as ResponsesContent, `${at}/output/${index}`, 'tool'))
  else if (isObject(output)) {
    report?.add('tool-result.stringified', `${at}/output`)
    form['output'] = output
    content = [{ type: 'text', text: JSON.stringify(output), at: `${at}/output` }]
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
  return { role: 'tool', parts: [part], origin: 'item', ...idOf(id), ...statusOf(wire), at, ...keep(fields, form) }
}

const controls = new Map<string, { control: ControlPart['control']; role: Role }>([
  ['item_reference', { control: 'item-reference', role: 'user' }],
  ['compaction', { control: 'compaction', role: 'assistant' }],
  ['compaction_trigger', { control: 'compaction-trigger', role: 'user' }],
  ['additional_tools', { control: 'tool-addition', role: 'developer' }],
  ['configuration_update', { control: 'configuration', role: 'developer' }],
])

function decodeOther(wire: JsonObject, type: string, at: string, report?: ResponsesReport): Message {
  const control = controls.get(type)
  if (control) {
    const tools = type === 'additional_tools' && Array.isArray(wire['tools']) ? decodeTools(wire['tools'].filter(isTyped), `${at}/tools`, report) : undefined
    return rawMessage(control.role, { type: 'control', control: control.control, protocol, raw: wire, ...(tools && { tools }), at }, type)
  }
  const known = builtInItem(type)
  if (!known) return rawMessage('assistant', { type: 'opaque', protocol, raw: wire, at }, type)
  const id = [wire['call_id'], wire['id'], wire['approval_request_id']].find(one => typeof one === 'string')
  const part: ServerToolPart = {
    type: 'server-tool',
    ...known,
    id: typeof id === 'string' ? id : '',
    protocol,
    raw: wire,
    ...(awaitsClient(wire, type) && { awaitsClient: true }),
    at,
  }
  return rawMessage(type.endsWith('_output') && known.phase === 'result' && type !== 'program_output' ? 'tool' : 'assistant', part, type)
}

const isTyped = (tool: unknown): tool is JsonObject & { type: string } => isObject(tool) && typeof tool['type'] === 'string'

/** Does the client have to answer this item before the model goes on? */
function awaitsClient(wire: JsonObject, type: string): boolean {
  switch (type) {
    case 'computer_call':
    case 'local_shell_call':
    case 'apply_patch_call':
    case 'mcp_approval_request':
      return true
    case 'shell_call':
      return !isObject(wire['environment']) || wire['environment']['type'] === 'local'
    case 'tool_search_call':
      return wire['execution'] === 'client'
    default:
      return false
  }
}

/** An item that is kept whole. Its id stands in `raw` and nowhere else. */
function rawMessage(role: Role, part: Part, item: string): Message {
  return { role, parts: [part], origin: 'item', ...(part.at !== undefined && { at: part.at }), ...keep({}, { item }) }
}

const idOf = (id: unknown) => (typeof id === 'string' ? { id } : {})

function statusOf(wire: JsonObject): { status?: NonNullable<Message['status']> } {
  const { status } = wire
  return status === 'completed' || status === 'in_progress' || status === 'incomplete' ? { status } : {}
}

function strangeStatus(wire: JsonObject): OwnForm {
  return wire['status'] !== undefined && !statusOf(wire).status ? { status: wire['status'] } : {}
}

/** One message → its items, in order; neighbouring texts are one item. */
export function encodeMessage(message: Message, w: Writing): JsonObject[] {
  const { report } = w
  report.ext(message.ext, message.at)
  if (message.name !== undefined) report.rest({ name: message.name }, message.at)
  const items: JsonObject[] = []
  let texts: Part[] = []
  const flush = () => {
    if (texts.length > 0) items.push(...encodeTexts(message, texts, w))
    texts = []
  }
  if (ownForm(message)?.['item'] === 'message' && message.parts.length === 0) items.push(encodeContainer(message, [], w))
  const own = ownForm(message)?.['item'] === 'message'
  for (const part of message.parts) {
    const picture = part.type === 'media' && w.target === 'output' && !own ? imageItem(part, w) : undefined
    if (picture) {
      flush()
      items.push(picture)
      continue
    }
    if (isContent(part)) {
      texts.push(part)
      if (part.signature && w.target === 'output') {
        flush()
        items.push(carrierItem(part.signature, 'prev', w))
      }
      continue
    }
    if (part.type === 'opaque' && own) {
      texts.push(part)
      continue
    }
    flush()
    items.push(...encodeItem(part, message, w))
  }
  flush()
  return items
}

const isContent = (part: Part) => part.type === 'text' || part.type === 'refusal' || part.type === 'media' || part.type === 'search-result'

function encodeTexts(message: Message, parts: Part[], w: Writing): JsonObject[] {
  const own = ownForm(message)?.['item'] === 'message'
  const content = parts.flatMap<JsonObject>(part => {
    if (own || part.type !== 'text' || part.text !== '' || w.target !== 'input') return encodeContentPart(part, message.role, w) ?? []
    w.report.ext(part.ext, part.at)
    w.report.rest({ citations: part.citations }, part.at)
    return []
  })
  return content.length > 0 || own ? [encodeContainer(message, content, w)] : []
}

/** A part of a message's content. Undefined: it cannot be said there, which is noted. */
export function encodeContentPart(part: Part, role: Role, w: Writing): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part, role, w)
    case 'refusal':
      w.report.ext(part.ext, part.at)
      if (part.logprobs) w.report.rest({ logprobs: part.logprobs }, part.at)
      return wireOf({ type: 'refusal', refusal: part.text }, part)
    case 'media':
      if (part.source.type === 'parts') return asText(part, role, w)
      if (role === 'assistant' && part.transcript !== undefined) {
        w.report.add('media.transcript', part.at)
        return encodeText({ type: 'text', text: part.transcript }, role, w)
      }
      return encodeMedia(part, w)
    case 'search-result':
      return asText(part, role, w)
    case 'opaque':
      if (part.protocol === protocol && isObject(part.raw)) return part.raw
      w.report.add('part.unknown', part.at)
      return undefined
    default:
      w.report.add('part.unsupported', part.at)
      return undefined
  }
}

function asText(part: Extract<Part, { type: 'search-result' | 'media' }>, role: Role, w: Writing): JsonObject {
  w.report.add('content.as-text', part.at)
  return encodeText({ type: 'text', text: textOf(part), ...(part.cache && { cache: part.cache }) }, role, w)
}

/** A `message` item around its content. */
export function encodeContainer(message: Message, content: JsonObject[], w: Writing): JsonObject {
  const form = ownForm(message)
  const role = message.role === 'tool' ? 'user' : message.role
  if (form?.['item'] === 'message') {
    const only = content[0]
    const short = form['content'] === 'string' && content.length === 1 && typeof only?.['text'] === 'string'
    const wire = wireOf(
      { type: 'message', id: idFor(message, w), status: itemStatus(message), role, content: short ? only['text'] : content, phase: message.phase },
      message,
    )
    if (Array.isArray(form['absent']) && form['absent'].includes('type')) delete wire['type']
    if (form['type'] === null) wire['type'] = null
    return wire
  }
  if (w.target === 'output')
    return defined({ type: 'message', id: idFor(message, w), status: message.status ?? 'completed', role, content, phase: message.phase })
  const [only] = content
  const bare = role === 'assistant' && content.length === 1 && only?.['type'] === 'output_text' && isEmptyList(only['annotations']) && !only['logprobs']
  return defined({ type: 'message', role, content: bare ? only['text'] : content, phase: message.phase ?? undefined })
}

const idFor = (message: Message, w: Writing) => (w.target === 'output' ? w.itemId?.(message.id, 'msg_', ownItem(message, 'message')) : message.id)

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/** The message, when what it was decoded from is an item of this kind: only then its spelling fits. */
function ownItem(message: Message, item: string): Message | undefined {
  return ownForm(message)?.['item'] === item ? message : undefined
}

function itemStatus(message: Message): unknown {
  return ownForm(message)?.['status'] ?? message.status
}

function encodeItem(part: Exclude<Part, { type: 'text' | 'refusal' | 'media' | 'search-result' }>, message: Message, w: Writing): JsonObject[] {
  switch (part.type) {
    case 'reasoning': {
      const item = encodeReasoning(part, message, w)
      return item ? [item] : []
    }
    case 'tool-call':
      return part.signature && w.target === 'output' ? [carrierItem(part.signature, 'next', w), encodeCall(part, message, w)] : [encodeCall(part, message, w)]
    case 'tool-result':
      return [encodeResult(part, message, w)]
    case 'server-tool':
    case 'control':
    case 'opaque':
      return encodeRaw(part, w)
    default:
      return part satisfies never
  }
}

const validCallId = /^[\x21-\x7e]{1,64}$/

function encodeCallId(id: string, at: string | undefined, w: Writing): string {
  const wire = wireCallId(id, w)
  if (wire !== id) w.report.add('tool-call.id', at, 'id')
  return wire
}

/** As `encodeCallId`, for the result of a call that was noted. */
const wireCallId = (id: string, { own }: Writing) => (own ? id : mapCallId(id, validCallId))

export function encodeCall(part: ToolCallPart, message: Message, w: Writing): JsonObject {
  const { type: _, id, idOrigin: _origin, itemId, name, namespace, kind, input, caller, async, status, at, ext, signature, cache, ...rest } = part
  const { report, target } = w
  w.calls.set(id, name)
  report.ext(ext, at)
  report.rest(rest, at)
  if (cache) report.add('cache.place', at, 'cache')
  if (signature && target === 'input') report.add('reasoning.foreign-signature', at, 'signature')
  const freeform = kind === 'freeform'
  const own = ownItem(message, freeform ? 'custom_tool_call' : 'function_call')
  const wanted = message.id ?? itemId
  const empty = !freeform && input === '' && !own
  if (empty) report.add('tool-call.empty-input', at)
  const known = {
    type: freeform ? 'custom_tool_call' : 'function_call',
    id: target === 'output' ? w.itemId?.(wanted, freeform ? 'ctc_' : 'fc_', own) : own ? wanted : undefined,
    status: target === 'output' && !own ? (message.status ?? status ?? 'completed') : (itemStatus(message) ?? (own ? undefined : status)),
    call_id: encodeCallId(id, at, w),
    name: encodeName(name, at, w),
    namespace,
    [freeform ? 'input' : 'arguments']: empty ? '{}' : input,
    caller: own ? caller : undefined,
    async,
  }
  if (caller !== undefined && !own && !isDirect(caller)) report.rest({ caller }, at)
  return wireOf(known, own)
}

/** The caller that every call has unless something else is said. */
const isDirect = (caller: unknown) => isObject(caller) && caller['type'] === 'direct'

function encodeResult(part: ToolResultPart, message: Message, w: Writing): JsonObject {
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
    at,
    ext,
    signature,
    cache,
    ...rest
  } = part
  const { report, options } = w
  report.ext(ext, at)
  report.rest(rest, at)
  if (cache) report.add('cache.place', at, 'cache')
  if (signature) report.add('reasoning.foreign-signature', at, 'signature')
  const item = kind === 'freeform' ? 'custom_tool_call_output' : 'function_call_output'
  const own = ownItem(message, item)
  if (isError) report.add('tool-result.error-flag', at, 'isError')
  if (!w.calls.has(callId) && wireCallId(callId, w) !== callId) report.add('tool-call.id', at, 'callId')
  if (!own && name !== undefined && w.calls.get(callId) !== name) report.rest({ name }, at)
  const prefix = isError && options.errorPrefix ? options.errorPrefix : ''
  const known = {
    type: item,
    id: w.target === 'output' ? w.itemId?.(message.id, 'fco_', own) : own ? message.id : undefined,
    call_id: own && ownForm(own)?.['paired'] ? ownForm(own)?.['said'] : wireCallId(callId, w),
    name: own ? name : undefined,
    namespace: own ? namespace : undefined,
    output: encodeOutput(content, own, prefix, w),
    status: itemStatus(message) ?? (own ? undefined : status),
    caller: own ? caller : undefined,
  }
  if (caller !== undefined && !own && !isDirect(caller)) report.rest({ caller }, at)
  return wireOf(known, own)
}

function encodeOutput(content: Part[], own: Message | undefined, prefix: string, w: Writing): unknown {
  const form = ownForm(own)
  const [only] = content
  const plain = content.length === 0 || (content.length === 1 && only?.type === 'text' && !only.cache && !only.citations)
  if (plain && (form ? form['output'] === 'string' : true)) {
    if (only) w.report.ext(only.ext, only.at)
    return prefix + (only?.type === 'text' ? only.text : '')
  }
  const object = form?.['output']
  if (isObject(object) && only?.type === 'text' && only.text === JSON.stringify(object)) return object
  const wire = content.flatMap<JsonObject>(part => {
    if (part.type === 'refusal' && !own) return encodeText({ ...part, type: 'text' }, 'tool', w)
    if (isContent(part) || part.type === 'opaque') return encodeContentPart(part, 'tool', w) ?? []
    w.report.add('tool-result.flattened', part.at)
    const text = plainText(part)
    return text ? { type: 'input_text', text } : []
  })
  const [first] = wire
  if (prefix && typeof first?.['text'] === 'string') wire[0] = { ...first, text: prefix + first['text'] }
  else if (prefix) wire.unshift({ type: 'input_text', text: prefix })
  return wire
}

/** Items that only their own protocol can say. @throws TranslationError `inexpressible` where leaving one out would change the question */
export function encodeRaw(part: ServerToolPart | ControlPart | Extract<Part, { type: 'opaque' }>, w: Writing): JsonObject[] {
  const { report, options } = w
  if (part.protocol === protocol && isObject(part.raw)) return [part.raw]
  if (part.type === 'opaque') {
    report.add('part.unknown', part.at)
    return []
  }
  if (part.type === 'server-tool') {
    if (options.serverToolHistory !== 'text') {
      report.add('server-tool.dropped', part.at)
      return []
    }
    report.add('server-tool.as-text', part.at)
    return [encodeContainer({ role: 'assistant', origin: 'message', parts: [] }, [{ type: 'output_text', text: serverToolText(part), annotations: [] }], w)]
  }
  if (part.control === 'tool-addition' && part.tools?.length) {
    report.add('content.as-text', part.at)
    return [{ type: 'additional_tools', role: 'developer', tools: encodeTools(part.tools, w) }]
  }
  const replaces = part.control === 'compaction' || part.control === 'item-reference'
  if (replaces && options.onUnresolvable !== 'note' && w.target === 'input')
    throw new TranslationError({ code: 'inexpressible', protocol, path: part.at ?? '' }, 'this stands for history that only another provider can read')
  report.add(replaces ? 'state.unresolvable' : 'part.unsupported', part.at)
  return []
}

function serverToolText({ tool, phase, raw }: ServerToolPart): string {
  const input = isObject(raw) ? (raw['input'] ?? raw['args'] ?? raw['content']) : undefined
  return `[${tool} ${phase}${input === undefined ? '' : `: ${JSON.stringify(input)}`}]`
}
