import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { ResponsesReport } from '../notes.ts'
import { protocolName } from '../own.ts'
import type {
  ResponsesItem,
  ResponsesReasoning,
  ResponsesWrittenContent,
  ResponsesWrittenItem,
} from '../schema.ts'
import { decodeCall, decodeResult, encodeCall, encodeResult } from './calls.ts'
import { clientCallIds, expandItem, isWithTools } from './client-tools.ts'
import { itemOf, typeOf } from './item-head.ts'
import { imageItem, isInlineImage } from './media.ts'
import { decodeMessage, encodeContainer, encodeContent, isContent } from './message-item.ts'
import { decodeRaw, encodeRaw } from './raw-items.ts'
import {
  attachCarriers,
  type Carrier,
  carrierItem,
  type DecodedItem,
  decodeReasoning,
  encodeReasoning,
  forgetMadeUpId,
} from './reasoning.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

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
