import type {
  ControlPart,
  Message,
  Part,
  Place,
  Role,
  ServerToolPart,
} from '../../../canonical/message.ts'
import { rawOf, withoutPlace } from '../../../kit/conversation/without-place.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { protocolName, type ResponsesReport } from '../own.ts'
import type { ResponsesItem, ResponsesReasoning } from '../schema.ts'
import { builtInItem } from '../vocabulary.ts'
import type { ResponsesWrittenContent, ResponsesWrittenItem } from '../written.ts'
import { decodeCall, decodeResult, encodeCall, encodeResult } from './calls.ts'
import { clientCallIds, expandItem, isWithTools } from './client-tools.ts'
import { decodeMessage, encodeContainer, encodeContent, isContent } from './content.ts'
import { imageItem, imageOf, isInlineImage } from './media.ts'
import {
  attachCarriers,
  type Carrier,
  carrierItem,
  type DecodedItem,
  decodeReasoning,
  encodeReasoning,
  forgetMadeUpId,
} from './reasoning.ts'
import { decodeAddedTools, encodeTools } from './tools.ts'
import { itemOf, opensEnvelopes, typeOf, unresolvable, type Writing } from './writing.ts'

/**
 * Items → one message each, except items that only carry a neighbour's signature. `model`: which
 * made them, if known. `expands`: which calls of built-in tools that the client runs become calls
 * of functions.
 */
export function decodeItems(
  items: readonly ResponsesItem[],
  at: Place,
  report: ResponsesReport,
  model?: string,
  expands: 'none' | 'search' | 'all' = 'none',
): Message[] {
  const ids = expands === 'none' ? undefined : clientCallIds(items, expands === 'all')
  const messages: Message[] = []
  const carriers: (Carrier & { index: number })[] = []
  items.forEach((item, index) => {
    const place = below(at, index)
    const expanded = ids?.size
      ? expandItem(item, typeOf(item), { at: place, ids, report })
      : undefined
    const { message, attach, proven }: DecodedItem = expanded
      ? { message: expanded }
      : decodeItem(item, place, report, model)
    const [part] = message.parts
    if (attach !== undefined && part?.type === 'reasoning' && part.signature)
      carriers.push({
        attach,
        signature: part.signature,
        proven,
        index: messages.length,
        at: place,
      })
    else {
      forgetMadeUpId(message, item)
      messages.push(message)
    }
  })
  attachCarriers(messages, carriers, report)
  return messages
}

/** One item → one message. `model`: which made it, if known. */
export function decodeItem(
  item: ResponsesItem,
  at: Place,
  report?: ResponsesReport,
  model?: string,
): DecodedItem {
  const wire: JsonObject = item
  const type = typeOf(wire)
  switch (type) {
    case 'message':
      return { message: decodeMessage(wire, at, report) }
    case 'reasoning':
      return (
        decodeReasoning(wire as ResponsesReasoning, at, model) ?? {
          message: itemOf(
            'assistant',
            { type: 'opaque', protocol: protocolName, raw: wire, at },
            at,
          ),
        }
      )
    case 'function_call':
    case 'custom_tool_call':
      return { message: decodeCall(wire, type === 'custom_tool_call', at, report) }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { message: decodeResult(wire, type === 'custom_tool_call_output', at, report) }
    default:
      return { message: decodeRaw(wire, type, at, report) }
  }
}

/** One message → its items, in order. Adjacent texts share an item. */
export function encodeMessage(message: Message, writing: Writing): ResponsesWrittenItem[] {
  const { report } = writing
  report.ext(message.ext, message.at)
  if (message.name !== undefined) report.rest({ name: message.name }, message.at)
  const items: ResponsesWrittenItem[] = []
  let texts: Part[] = []
  const flush = () => {
    if (texts.length > 0) append(items, encodeTexts(message, texts, writing))
    texts = []
  }
  const isOwn = writing.native && message.origin === 'message'
  if (isOwn && message.parts.length === 0) items.push(encodeContainer(message, [], writing))
  for (const part of message.parts) {
    if (
      part.type === 'media' &&
      !isOwn &&
      (writing.target === 'output' || message.role === 'assistant') &&
      isInlineImage(part)
    ) {
      flush()
      items.push(imageItem(part, writing))
      if (part.signature && opensEnvelopes(writing))
        items.push(carrierItem(part.signature, 'prev', writing))
      else if (part.signature) writing.report.add('field.unsupported', part.at, 'signature')
      continue
    }
    if (isContent(part)) {
      if (texts.length > 0 && phaseOf(part) !== phaseOf(texts[0])) flush()
      texts.push(part)
      const isMedia = part.type === 'media' && writing.target === 'output'
      if (part.signature && !isMedia && opensEnvelopes(writing)) {
        flush()
        items.push(carrierItem(part.signature, 'prev', writing))
      }
      continue
    }
    if (part.type === 'opaque' && isOwn) {
      texts.push(part)
      continue
    }
    // A part that writes no item does not separate two texts.
    if (leavesItem(part, writing)) flush()
    append(items, encodeItem(part, message, writing))
  }
  flush()
  return items
}

function leavesItem(part: Part, { target }: Writing): boolean {
  if (part.type === 'opaque') return part.protocol === protocolName
  return (
    target !== 'output' ||
    (part.type !== 'server-tool' && part.type !== 'control') ||
    part.protocol === protocolName
  )
}

function encodeTexts(message: Message, parts: Part[], writing: Writing): ResponsesWrittenItem[] {
  const isOwn = writing.native && message.origin === 'message'
  const content = flatMap(parts, (part): ResponsesWrittenContent[] => {
    if (
      isOwn ||
      part.type !== 'text' ||
      part.text !== '' ||
      (opensEnvelopes(writing) && part.signature) ||
      (writing.target === 'output' && (part.logprobs || part.citations?.length))
    )
      return encodeContent(part, message.role, writing)
    writing.report.ext(part.ext, part.at)
    writing.report.rest({ logprobs: part.logprobs }, part.at)
    if (part.citations?.length) writing.report.add('citation.unsupported', part.at, 'citations')
    if (part.signature) writing.report.add('reasoning.foreign-signature', part.at, 'signature')
    if (part.cache) writing.report.add('cache.unsupported', part.at, 'cache')
    return []
  })
  const phase = message.phase ?? phaseOf(parts[0])
  return content.length > 0 || isOwn
    ? [encodeContainer(phase ? { ...message, phase } : message, content, writing)]
    : []
}

/** Where several messages were merged into one, each text has its own phase. */
const phaseOf = (part: Part | undefined) => (part?.type === 'text' ? part.phase : undefined)

function encodeItem(
  part: Exclude<Part, { type: 'text' | 'refusal' | 'media' | 'search-result' }>,
  message: Message,
  writing: Writing,
): ResponsesWrittenItem[] {
  switch (part.type) {
    case 'reasoning': {
      const item = encodeReasoning(part, message, writing)
      if (item && !writing.native) writing.reasoning.set(item, part)
      return item ? [item] : []
    }
    case 'tool-call':
      return part.signature && opensEnvelopes(writing)
        ? [carrierItem(part.signature, 'next', writing), encodeCall(part, message, writing)]
        : [encodeCall(part, message, writing)]
    case 'tool-result':
      return writing.native && isWithTools(message) ? [] : [encodeResult(part, message, writing)]
    case 'server-tool': {
      const items = encodeRaw(part, writing)
      if (!part.signature || items.length === 0) return items
      if (opensEnvelopes(writing)) return [...items, carrierItem(part.signature, 'prev', writing)]
      writing.report.add('reasoning.foreign-signature', part.at, 'signature')
      return items
    }
    case 'control':
    case 'opaque':
      return encodeRaw(part, writing)
    default:
      return part satisfies never
  }
}

const controls = new Map<string, { control: ControlPart['control']; role: Role }>([
  ['item_reference', { control: 'item-reference', role: 'user' }],
  ['compaction', { control: 'compaction', role: 'assistant' }],
  ['compaction_trigger', { control: 'compaction-trigger', role: 'user' }],
  ['additional_tools', { control: 'tool-addition', role: 'developer' }],
  ['configuration_update', { control: 'configuration', role: 'developer' }],
])

/**
 * An item without an equivalent in other protocols: kept whole, with its id, in a part that has its
 * meaning.
 */
function decodeRaw(wire: JsonObject, type: string, at: Place, report?: ResponsesReport): Message {
  const control = controls.get(type)
  if (control) {
    const tools = type === 'additional_tools' ? decodeAddedTools(wire, at, report) : undefined
    const effort = control.control === 'configuration' ? effortOf(wire) : undefined
    const part: ControlPart = {
      type: 'control',
      control: control.control,
      protocol: protocolName,
      raw: wire,
      at,
    }
    if (tools) part.tools = tools
    if (effort) part.effort = effort
    return itemOf(control.role, part, at)
  }
  const known = builtInItem(type)
  if (!known)
    return itemOf('assistant', { type: 'opaque', protocol: protocolName, raw: wire, at }, at)
  const tools = type === 'tool_search_output' ? decodeAddedTools(wire, at, report) : undefined
  const id = [wire['call_id'], wire['id'], wire['approval_request_id']].find(
    one => typeof one === 'string',
  )
  const part: ServerToolPart = {
    type: 'server-tool',
    ...known,
    id: typeof id === 'string' ? id : '',
    protocol: protocolName,
    raw: wire,
    ...(awaitsClient(wire, type) && { awaitsClient: true }),
    ...(tools && { tools }),
    ...(type === 'image_generation_call' && imageOf(wire, at)),
    at,
  }
  return itemOf(
    type.endsWith('_output') && known.phase === 'result' && type !== 'program_output'
      ? 'tool'
      : 'assistant',
    part,
    at,
  )
}

/** The effort, if an update changes nothing else. */
function effortOf({ type: _, id: __, reasoning, ...rest }: JsonObject): string | undefined {
  if (!isObject(reasoning) || Object.keys(rest).length > 0) return undefined
  const { effort, ...others } = reasoning
  return typeof effort === 'string' && Object.keys(others).length === 0 ? effort : undefined
}

/** Must the client give a result for this item before the model continues? */
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

/**
 * Items that only their own protocol can express.
 * @throws TranslationError `inexpressible` where leaving one out would change the request's meaning
 */
export function encodeRaw(
  part: ServerToolPart | ControlPart | Extract<Part, { type: 'opaque' }>,
  writing: Writing,
): ResponsesWrittenItem[] {
  const { report, target } = writing
  const raw = rawOf(part, protocolName)
  if (raw) {
    const { id } = raw
    // No other item gets its id.
    if (typeof id === 'string') writing.itemId?.(id, '')
    return [asRead(raw)]
  }
  if (part.type === 'control') {
    if (part.control === 'tool-addition' && part.tools?.length) {
      report.add('tool.addition', part.at)
      return [
        { type: 'additional_tools', role: 'developer', tools: encodeTools(part.tools, writing) },
      ]
    }
    if (part.control === 'configuration' && part.effort !== undefined)
      return [{ type: 'configuration_update', reasoning: { effort: part.effort } }]
  }
  withoutPlace(part, {
    report,
    to: target === 'input' ? 'provider' : 'client',
    unresolvable: control => unresolvable(control.at, undefined, writing),
  })
  return []
}
