import type * as z from 'zod/mini'
import type { CanonicalEvent, PartDelta } from '../../../canonical/event.ts'
import type { Part, Place } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject, type JsonObject, parseObject } from '../../../kit/json/json.ts'
import { below, pointerOf, step } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import type { Schema } from '../../../kit/schema/guard.ts'
import {
  type BlockReading,
  beforeBlocks,
  createBlockReader,
} from '../../../kit/stream/block-reader.ts'
import type { EmitEvent, Shortcut, StreamMachine } from '../../../protocol.ts'
import { decodeBlock } from '../content/content.ts'
import { carrierOf, decodeReasoning, decodeTransformations } from '../content/reasoning.ts'
import { decodeError } from '../errors.ts'
import type { MessagesOptions, Options } from '../options.ts'
import { createMessagesReport, fault, keep, protocolName } from '../own.ts'
import { allowedNames } from '../request/tool-choice.ts'
import { decodeFinish, decodeTier, noteNotAllowed, responseKeys } from '../response/response.ts'
import { MessagesBlock, type MessagesRawBlock, type MessagesResponse } from '../schema.ts'
import { decodeUsage } from '../usage.ts'
import {
  deltaKeys,
  eventKeys,
  noteUnknown,
  type OpenBlock,
  readDelta,
  reportOf,
  unknownOfDelta,
} from './deltas.ts'

export type DecoderState = BlockReading<OpenBlock> & {
  id: string | undefined
  /** Names of the tools that may be called. Undefined: any. */
  allowed: string[] | undefined
}

const reader = createBlockReader<DecoderState>({
  protocol: protocolName,
  reportOf,
  issuer: () => protocolName,
})
const { begin, flushClosing } = reader

/**
 * Wire events → canonical events:
 *
 *     message_start { content_block_start { content_block_delta } content_block_stop } { message_delta } message_stop
 *
 * A stream without `message_stop` was cut off, unless it has a stop reason and no open block: some
 * servers leave `message_stop` out.
 *
 * @throws TranslationError `malformed` for an event that cannot be read, `out-of-order` for a delta
 * before the response begins and for another message inside it
 */
export const streamDecoder: StreamMachine<unknown, CanonicalEvent, DecoderState, MessagesOptions> =
  {
    initial: (options: Options = {}) => ({
      id: undefined,
      allowed: allowedNames(options.context),
      // Last: an object that grows after a spread is slow.
      ...beforeBlocks<OpenBlock>(undefined),
    }),

    step: reader.stepOf(take),

    end(state, emit) {
      if (state.phase === 'ended') return
      begin(state, emit)
      flushClosing(state, emit)
      const isWhole = state.finish !== undefined && state.open.size === 0
      if (isWhole) reader.closeMessage(state, emit)
      reader.end(state, isWhole, emit)
    },
  }

function take(state: DecoderState, wire: unknown, emit: EmitEvent): void {
  if (!isObject(wire)) throw fault('', 'expected an event')
  const { type } = wire
  noteUnknown(state, wire, { path: '', known: eventKeys.get(type) })
  if (type === 'content_block_delta') takeDelta(state, wire, emit)
  else if (type === 'content_block_start') startBlock(state, wire, emit)
  else if (type === 'content_block_stop') stopBlock(state, wire, emit)
  else if (type === 'message_start') startMessage(state, wire, emit)
  else if (type === 'message_delta') endingOf(state, wire, emit)
  else if (type === 'message_stop') stopMessage(state, wire, emit)
  else if (type === 'message' && state.phase === 'before') takeWhole(state, wire, emit)
  // A ping before `message_start` is left out: it would begin the response before its id and model
  // are known.
  else if (type === 'ping') {
    if (state.phase !== 'before') emit({ type: 'ping' })
  } else if (type === 'error' || (type === undefined && wire['error'] !== undefined))
    reader.fail(state, decodeError({ status: 0, headers: {}, body: wire }).value, emit)
  // Noted here, not by encoders of other protocols: a stream that is collected has none.
  else if (typeof type === 'string') reportOf(state).once('event.unknown', undefined)
  else throw fault('/type', 'expected the type of an event')
}

/** Servers that cannot stream send the complete message. */
function takeWhole(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const { content, stop_reason, stop_sequence, stop_details, usage } = wire
  const blocks: unknown[] = Array.isArray(content) ? content : []
  take(state, { type: 'message_start', message: { ...wire, content: [], stop_reason: null } }, emit)
  for (const [index, content_block] of blocks.entries()) {
    take(state, { type: 'content_block_start', index, content_block }, emit)
    take(state, { type: 'content_block_stop', index }, emit)
  }
  take(
    state,
    { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details }, usage },
    emit,
  )
  take(state, { type: 'message_stop' }, emit)
}

const stopKeys = keysOf<MessagesResponse>()('stop_reason stop_sequence stop_details')
const endingKeys = keysOf<{
  type: string
  delta: object
  usage: object
  input_transformations: unknown
}>()('type delta usage input_transformations')
const typeKey = keysOf<{ type: string }>()('type')

function startMessage(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const { message } = wire
  if (!isObject(message)) throw fault('/message', 'expected the message that begins')
  if (state.phase !== 'before') {
    // A second response in the same stream: what follows is not part of the first.
    if (state.phase === 'inside' && asString(message['id']) !== state.id)
      throw fault('/message/id', 'another message begins inside this one', 'out-of-order')
    reportOf(state).once('stream.repeated-start', '/message')
    return
  }
  state.id = asString(message['id'])
  const {
    id,
    model,
    content,
    stop_reason,
    stop_sequence,
    stop_details,
    usage,
    input_transformations,
  } = message
  state.model = asString(model)
  const serviceTier =
    isObject(usage) && typeof usage['service_tier'] === 'string'
      ? decodeTier(usage['service_tier'])
      : undefined
  const { list: transformations, strange } = decodeTransformations(
    input_transformations,
    reportOf(state),
  )
  const fields = withInput(unknownOf(message, responseKeys), strange)
  begin(
    state,
    emit,
    keep(omitUndefined({ id: state.id, model: state.model, serviceTier, transformations }), fields),
  )
  takeUsage(state, usage, emit)
  takeFinish(state, { stop_reason, stop_sequence, stop_details })
  noteStrange(state, { id, model })
  if (content !== undefined && content !== null && !Array.isArray(content))
    reportOf(state).once('field.unknown', '/content')
  // A server that has the whole response at once puts its content into the start event.
  if (Array.isArray(content))
    content.forEach((block, index) => {
      const path = below('/message/content', index)
      openBlock(state, String(index), checkBlock(block, path), below('/content', index), emit)
      stopBlock(state, { index }, emit)
    })
}

/** Transformations of the input that are no such list are kept as unknown. */
function withInput(fields: JsonObject | undefined, strange: unknown): JsonObject | undefined {
  return strange === undefined ? fields : { ...fields, input_transformations: strange }
}

const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)

function checkBlock(block: unknown, path: Place): MessagesRawBlock {
  return checked(MessagesBlock, block, path) as MessagesRawBlock
}

/** Like `check`, for a value inside an event. */
function checked<S extends Schema>(schema: S, value: unknown, path: Place): z.output<S> {
  try {
    return check(protocolName, schema, value)
  } catch (error) {
    if (TranslationError.is(error))
      throw fault(pointerOf(path) + error.path, 'not what the protocol says')
    throw error
  }
}

function indexOf({ index }: JsonObject): string {
  if (typeof index !== 'number') throw fault('/index', 'expected the index of a content block')
  return String(index)
}

function startBlock(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const index = indexOf(wire)
  const block = checkBlock(wire['content_block'], '/content_block')
  begin(state, emit)
  if (state.open.has(index)) stopBlock(state, wire, emit)
  openBlock(state, index, block, below('/content', index), emit)
}

function openBlock(
  state: DecoderState,
  index: string,
  block: MessagesRawBlock,
  at: Place,
  emit: EmitEvent,
): void {
  const carrier = carrierOf(block)
  if (carrier) {
    reader.takeCarrier(state, carrier, at, emit)
    return
  }
  const whole = decodeBlock(block, at, reportOf(state))
  noteNotAllowed(whole, state.allowed, reportOf(state))
  // `input` of the start event counts only if no delta brings input text.
  const part = reader.startPart(
    state,
    whole.type === 'tool-call' ? { ...whole, input: '' } : whole,
    emit,
  )
  if (part === undefined) return
  const open: OpenBlock = {
    part,
    type: block.type,
    raw: block,
    json: '',
    thinking: '',
    signature: '',
  }
  state.open.set(index, open)
  if (block.type === 'thinking') {
    open.thinking = asString(block['thinking']) ?? ''
    open.signature = asString(block['signature']) ?? ''
  }
}

function takeDelta(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const { delta } = wire
  const index = indexOf(wire)
  if (!isObject(delta)) throw fault('/delta', 'expected a delta')
  const open = state.open.get(index)
  if (!open) {
    if (state.phase === 'before') throw fault('/index', 'no such block is open', 'out-of-order')
    reportOf(state).once('stream.stray-delta', '/delta')
    return
  }
  state.latest = open
  const made = readDelta(open, delta, state.model)
  const kept = made && unknownOfDelta(delta)
  // Unknown keys are kept on the delta that they came in; if none is emitted, they are noted.
  if (!kept) noteUnknown(state, delta, { path: '/delta', known: deltaKeys.get(delta['type']) })
  if (made)
    emit({
      type: 'part.delta',
      candidate: 0,
      part: open.part,
      delta: kept ? keep({ ...made, at: below('/content', index) }, kept) : made,
    })
  else if (made === null) reportOf(state).once('stream.stray-delta', '/delta')
}

function stopBlock(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const index = indexOf(wire)
  const open = state.open.get(index)
  if (!open) return
  state.open.delete(index)
  if (state.latest === open) delete state.latest
  flushClosing(state, emit)
  const { input = {} } = open.raw
  const text = typeof input === 'string' ? input : writeExact(input)
  const isEmpty = open.type === 'tool_use' && !open.json && text === '{}'
  if (open.type === 'tool_use' && !open.json && !isEmpty)
    emit({ type: 'part.delta', candidate: 0, part: open.part, delta: { kind: 'input', text } })
  state.closing = { part: open.part, isEmpty, ...finalOf(open) }
}

/** The final part, for blocks that can be decoded in full only at their end. */
function finalOf({ type, raw, json, thinking, signature }: OpenBlock): { final?: Part } {
  if (type === 'thinking') {
    const whole = decodeReasoning(thinking, signature)
    return whole.segments.length > 1 || whole.segments[0]?.kind === 'raw' || whole.id !== undefined
      ? { final: whole }
      : {}
  }
  if (type === 'compaction') return { final: decodeBlock(raw, '', createMessagesReport()) }
  if (type === 'tool_use' || !json) return {}
  const input = parseObject(json)
  return input ? { final: decodeBlock({ ...raw, input }, '', createMessagesReport()) } : {}
}

const inputCounts = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

function takeUsage(state: DecoderState, wire: unknown, emit: EmitEvent): void {
  if (wire === undefined || wire === null) return
  if (!isObject(wire)) {
    reportOf(state).add('field.unknown', '/usage')
    return
  }
  const earlier: JsonObject = state.usage ?? {}
  const counts = omitNullish(wire) as JsonObject
  // Some relays repeat the counts of the input as 0.
  for (const key of inputCounts) if (counts[key] === 0 && earlier[key]) delete counts[key]
  state.usage = { ...earlier, ...counts }
  const usage = decodeUsage(state.usage)
  if (Object.keys(usage).length > 0) emit({ type: 'usage', usage })
}

/** Notes texts of the response that are not strings. */
function noteStrange(state: DecoderState, fields: JsonObject): void {
  for (const key in fields) {
    const value = fields[key]
    if (value !== undefined && value !== null && typeof value !== 'string')
      reportOf(state).once('field.unknown', step(key))
  }
}

function takeFinish(
  state: DecoderState,
  { stop_reason, stop_sequence, stop_details }: JsonObject,
): void {
  noteStrange(state, { stop_reason, stop_sequence })
  const raw = asString(stop_reason)
  if (raw === undefined) return
  state.finish = decodeFinish(
    raw,
    asString(stop_sequence),
    isObject(stop_details) ? stop_details : undefined,
  )
}

function endingOf(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const { delta, usage, input_transformations } = wire
  if (delta !== undefined && delta !== null && !isObject(delta))
    throw fault('/delta', 'expected how the message changes')
  begin(state, emit)
  const { stop_reason, stop_sequence, stop_details } = delta ?? {}
  takeFinish(state, { stop_reason, stop_sequence, stop_details })
  flushClosing(state, emit, state.open.size === 0)
  takeUsage(state, usage, emit)
  const inside = delta ? unknownOf(delta, stopKeys) : undefined
  const beside = unknownOf(wire, endingKeys)
  // After a change of models inside of the stream the transformations come here.
  const { strange } = decodeTransformations(input_transformations, reportOf(state))
  updateBy(withInput(inside || beside ? { ...inside, ...beside } : undefined, strange), emit)
}

function updateBy(fields: JsonObject | undefined, emit: EmitEvent): void {
  if (fields) emit(keep({ type: 'update' }, fields))
}

function stopMessage(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  begin(state, emit)
  for (const index of state.open.keys()) stopBlock(state, { index: Number(index) }, emit)
  flushClosing(state, emit, true)
  updateBy(unknownOf(wire, typeKey), emit)
  reader.closeMessage(state, emit)
  reader.end(state, true, emit)
}

/** See `UpstreamHalf`. */
export const shortcut: Shortcut = {
  text: new Set(['text', 'thinking', 'partial_json']),
  padding: new Set(),
  read: (state, delta) => takeAlike(state as DecoderState, delta),
}

function takeAlike(state: DecoderState, { part, delta }: PartDelta): boolean {
  const block = state.latest
  if (block?.part !== part) return false
  if (delta.kind === 'reasoning') block.thinking += delta.text
  return (
    delta.kind === 'text' ||
    delta.kind === 'reasoning' ||
    (delta.kind === 'input' && block.json !== '')
  )
}
