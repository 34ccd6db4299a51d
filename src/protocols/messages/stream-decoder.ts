import type { z } from 'zod'
import type { CanonicalEvent, Delta } from '../../canonical/event.ts'
import { takeApart } from '../../canonical/explode.ts'
import type { Part, Signature } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import type { Finish } from '../../canonical/response.ts'
import { TranslationError } from '../../errors.ts'
import { check } from '../../kit/check.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject, parseObject } from '../../kit/json.ts'
import { step } from '../../kit/path.ts'
import { createReport } from '../../kit/report.ts'
import type { Emit, MachineState, StreamMachine } from '../../protocol.ts'
import { decodeCitation } from './citations.ts'
import { decodeBlock } from './content.ts'
import { decodeError } from './error.ts'
import { notes } from './notes.ts'
import type { MessagesOptions } from './options.ts'
import { keep, nulls } from './own.ts'
import { decodeFinish, decodeTier } from './response.ts'
import { MessagesBlock, type MessagesRawBlock } from './schema.ts'
import { carrierOf, decodeReasoning } from './thinking.ts'
import { decodeUsage } from './usage.ts'
import { name } from './vocabulary.ts'

type OpenBlock = {
  part: number
  type: string
  /** The block as it was started, for kinds whose whole is known only at the end. */
  raw: MessagesRawBlock
  /** Streamed JSON text. */
  json: string
  thinking: string
  signature: string
}

export type DecoderState = MachineState & {
  phase: 'before' | 'started' | 'inside' | 'ended'
  id: string | undefined
  open: Record<string, OpenBlock>
  nextPart: number
  /** Stopped on the wire, but a carrier block may still bring its signature. */
  closing: { part: number; final?: Part } | undefined
  /** From a carrier block, for the part after it. */
  waiting: Signature | undefined
  finish: Finish | undefined
  usage: JsonObject
}

type Emitting = Emit<CanonicalEvent>

/**
 * Wire events → canonical events:
 *
 *     message_start { content_block_start { content_block_delta } content_block_stop } { message_delta } message_stop
 *
 * Without its last event the stream was cut off, whatever else it has said.
 *
 * @throws TranslationError `malformed` for an event of a known type that cannot be read, `out-of-order` for a delta of no block
 */
export const streamDecoder: StreamMachine<unknown, CanonicalEvent, DecoderState, MessagesOptions> = {
  initial: () => ({ notes: [], phase: 'before', id: undefined, open: {}, nextPart: 0, closing: undefined, waiting: undefined, finish: undefined, usage: {} }),

  step(state, wire, emit) {
    if (state.phase === 'ended' || wire === '[DONE]') return
    try {
      take(state, wire, emit)
    } catch (error) {
      // Whoever reports the fault does it inside a stream that has begun.
      begin(state, {}, emit)
      throw error
    }
  },

  end(state, emit) {
    if (state.phase === 'ended') return
    begin(state, {}, emit)
    flushClosing(state, emit)
    state.phase = 'ended'
    emit({ type: 'end', clean: false })
  },
}

function take(state: DecoderState, wire: unknown, emit: Emitting): void {
  if (!isObject(wire)) throw fault('', 'expected an event')
  const { type } = wire
  noteUnknown(state, wire, { path: '', known: eventKeys.get(type) })
  if (type === 'content_block_delta') takeDelta(state, wire, emit)
  else if (type === 'content_block_start') startBlock(state, wire, emit)
  else if (type === 'content_block_stop') stopBlock(state, wire, emit)
  else if (type === 'message_start') startMessage(state, wire, emit)
  else if (type === 'message_delta') endingOf(state, wire, emit)
  else if (type === 'message_stop') stopMessage(state, wire, emit)
  else if (type === 'ping') {
    begin(state, {}, emit)
    emit({ type: 'ping' })
  } else if (type === 'error' || (type === undefined && wire['error'] !== undefined)) fail(state, wire, emit)
  else if (typeof type === 'string') {
    begin(state, {}, emit)
    emit({ type: 'opaque', protocol: name, raw: wire })
  } else throw fault('/type', 'expected the type of an event')
}

/** Keys of the events whose other keys no part of a reply can hold. */
const eventKeys = new Map<unknown, ReadonlySet<string>>([
  ['content_block_delta', new Set(['type', 'index', 'delta'])],
  ['content_block_start', new Set(['type', 'index', 'content_block'])],
  ['content_block_stop', new Set(['type', 'index'])],
  ['message_start', new Set(['type', 'message'])],
  ['ping', new Set(['type'])],
])

const deltaKeys = new Map<unknown, ReadonlySet<string>>([
  ['text_delta', new Set(['type', 'text'])],
  ['input_json_delta', new Set(['type', 'partial_json'])],
  ['thinking_delta', new Set(['type', 'thinking'])],
  ['signature_delta', new Set(['type', 'signature'])],
  ['citations_delta', new Set(['type', 'citation'])],
])

/** One note for each place, however many events have it. */
function noteUnknown({ notes: into }: DecoderState, wire: JsonObject, { path, known }: { path: string; known: ReadonlySet<string> | undefined }): void {
  if (!known) return
  for (const key in wire) {
    if (known.has(key) || wire[key] === null) continue
    const place = path + step(key)
    if (!into.some(note => note.path === place)) report(into).add('field.unknown', place)
  }
}

const report = (into: Note[]) => createReport(name, notes, {}, into)

function fault(path: string, message: string, code: 'malformed' | 'out-of-order' = 'malformed'): TranslationError {
  return new TranslationError({ code, protocol: name, path }, message)
}

function begin(state: DecoderState, head: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>, emit: Emitting): void {
  if (state.phase !== 'before') return
  state.phase = 'started'
  emit({ type: 'start', ...head })
}

/** The message itself begins with its first block, so that a reply that fails at once has said nothing. */
function enter(state: DecoderState, emit: Emitting): void {
  begin(state, {}, emit)
  if (state.phase !== 'started') return
  state.phase = 'inside'
  emit({ type: 'message.start', candidate: 0, message: 0, role: 'assistant' })
}

function startMessage(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  const { message } = wire
  if (!isObject(message)) throw fault('/message', 'expected the message that begins')
  if (state.phase !== 'before') {
    // Two replies in one stream: whatever follows belongs to another message than what was already said.
    if (state.phase === 'inside' && asString(message['id']) !== state.id) throw fault('/message/id', 'another message begins inside this one', 'out-of-order')
    report(state.notes).once('stream.repeated-start', '/message')
    return
  }
  state.id = asString(message['id'])
  const { id, type: _, role: __, model, content, stop_reason, stop_sequence, stop_details, usage, ...fields } = message
  const serviceTier = isObject(usage) && typeof usage['service_tier'] === 'string' ? decodeTier(usage['service_tier']) : undefined
  const unknown = keep(withoutNulls(fields), nulls(fields))
  begin(state, { ...defined({ id: asString(id), model: asString(model), serviceTier }), ...unknown }, emit)
  takeUsage(state, usage, '/message/usage', emit)
  takeFinish(state, { stop_reason, stop_sequence, stop_details })
  // A reply that was ready at once stands whole in its start.
  if (Array.isArray(content))
    content.forEach((block, index) => {
      const path = `/message/content/${index}`
      openBlock(state, String(index), checkBlock(block, path), path, emit)
      stopBlock(state, { index }, emit)
    })
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)

function checkBlock(block: unknown, path: string): MessagesRawBlock {
  return checked(MessagesBlock, block, path) as MessagesRawBlock
}

/** As `check`, for a value that stands inside an event. */
function checked<S extends z.ZodType>(schema: S, value: unknown, path: string): z.output<S> {
  try {
    return check(name, schema, value)
  } catch (error) {
    if (TranslationError.is(error)) throw fault(path + error.path, 'not what the protocol says')
    throw error
  }
}

function indexOf({ index }: JsonObject): string {
  if (typeof index !== 'number') throw fault('/index', 'expected the index of a content block')
  return String(index)
}

function startBlock(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  const index = indexOf(wire)
  const block = checkBlock(wire['content_block'], '/content_block')
  begin(state, {}, emit)
  if (Object.hasOwn(state.open, index)) stopBlock(state, wire, emit)
  openBlock(state, index, block, '/content_block', emit)
}

function openBlock(state: DecoderState, index: string, block: MessagesRawBlock, at: string, emit: Emitting): void {
  const carrier = carrierOf(block)
  if (carrier) {
    takeCarrier(state, carrier, at, emit)
    return
  }
  enter(state, emit)
  flushClosing(state, emit)
  const whole = decodeBlock(block, at, report(state.notes))
  if (state.waiting && !whole.signature) whole.signature = state.waiting
  state.waiting = undefined
  const part = state.nextPart++
  const open: OpenBlock = { part, type: block.type, raw: block, json: '', thinking: '', signature: '' }
  state.open[index] = open
  if (whole.type === 'tool-call') {
    // The input of the start is meant only when no text of it follows.
    emit({ type: 'part.start', candidate: 0, message: 0, part, head: { ...whole, input: '' } })
    return
  }
  const { head, deltas } = whole.type === 'text' || (whole.type === 'reasoning' && !whole.redacted) ? takeApart(whole) : { head: whole, deltas: [] }
  emit({ type: 'part.start', candidate: 0, message: 0, part, head })
  for (const delta of deltas) emit({ type: 'part.delta', candidate: 0, part, delta })
  if (block.type === 'thinking') {
    open.thinking = asString(block['thinking']) ?? ''
    open.signature = asString(block['signature']) ?? ''
  }
}

function takeCarrier(state: DecoderState, { signature, attach }: { signature: Signature; attach: string }, at: string, emit: Emitting): void {
  if (attach === 'text') {
    enter(state, emit)
    flushClosing(state, emit)
    const part = state.nextPart++
    emit({ type: 'part.start', candidate: 0, message: 0, part, head: { type: 'text', text: '', signature, at } })
    emit({ type: 'part.end', candidate: 0, part })
  } else if (attach === 'next') state.waiting = signature
  else if (attach === 'prev' && state.closing) emit({ type: 'part.delta', candidate: 0, part: state.closing.part, delta: { kind: 'signature', signature } })
  else report(state.notes).add('reasoning.carrier-lost', at)
}

function takeDelta(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  const { delta } = wire
  const index = indexOf(wire)
  if (!isObject(delta)) throw fault('/delta', 'expected a delta')
  const open = Object.hasOwn(state.open, index) ? state.open[index] : undefined
  if (!open) {
    if (state.phase === 'before') throw fault('/index', 'no such block is open', 'out-of-order')
    report(state.notes).once('stream.stray-delta', '/delta')
    return
  }
  noteUnknown(state, delta, { path: '/delta', known: deltaKeys.get(delta['type']) })
  const made = readDelta(open, delta)
  if (made) emit({ type: 'part.delta', candidate: 0, part: open.part, delta: made })
  else if (made === null) report(state.notes).once('stream.stray-delta', '/delta')
}

/** Undefined: nothing to tell yet. Null: does not fit the block. */
function readDelta(open: OpenBlock, delta: JsonObject): Delta | undefined | null {
  const { type } = open
  switch (delta['type']) {
    case 'text_delta': {
      const text = textIn(delta, 'text')
      if (type !== 'text') return null
      return text ? { kind: 'text', text } : undefined
    }
    case 'input_json_delta': {
      const text = textIn(delta, 'partial_json')
      if (type === 'tool_use') {
        open.json ||= text.trim() && 'told'
        return text ? { kind: 'input', text } : undefined
      }
      if (!type.endsWith('_use')) return null
      open.json += text
      return undefined
    }
    case 'thinking_delta': {
      const text = textIn(delta, 'thinking')
      if (type !== 'thinking') return null
      open.thinking += text
      return text ? { kind: 'reasoning', segment: 0, of: 'summary', text } : undefined
    }
    case 'signature_delta': {
      const value = textIn(delta, 'signature')
      if (type !== 'thinking') return null
      open.signature = value
      const { signature } = decodeReasoning('', value)
      return signature && { kind: 'signature', signature }
    }
    case 'citations_delta': {
      const { citation } = delta
      if (!isObject(citation) || typeof citation['type'] !== 'string') throw fault('/delta/citation', 'expected a citation')
      return type === 'text' ? { kind: 'citation', citation: decodeCitation(citation as MessagesRawBlock) } : null
    }
    case 'compaction_delta': {
      const { type: _, ...more } = delta
      if (type !== 'compaction') return null
      const earlier = open.raw['content']
      const content = typeof earlier === 'string' && typeof more['content'] === 'string' ? earlier + more['content'] : (more['content'] ?? earlier)
      open.raw = { ...open.raw, ...more, content }
      return undefined
    }
    default:
      return null
  }
}

function textIn(delta: JsonObject, key: string): string {
  const text = delta[key]
  if (typeof text !== 'string') throw fault(`/delta/${key}`, 'expected text')
  return text
}

function stopBlock(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  const index = indexOf(wire)
  const open = Object.hasOwn(state.open, index) ? state.open[index] : undefined
  if (!open) return
  delete state.open[index]
  flushClosing(state, emit)
  if (open.type === 'tool_use' && !open.json) {
    const { input = {} } = open.raw
    emit({ type: 'part.delta', candidate: 0, part: open.part, delta: { kind: 'input', text: typeof input === 'string' ? input : JSON.stringify(input) } })
  }
  state.closing = { part: open.part, ...finalOf(open) }
}

/** What the wire tells only at the end of a block. */
function finalOf({ type, raw, json, thinking, signature }: OpenBlock): { final?: Part } {
  if (type === 'thinking') {
    const whole = decodeReasoning(thinking, signature)
    return whole.segments.length > 1 || whole.id !== undefined ? { final: whole } : {}
  }
  if (type === 'compaction') return { final: decodeBlock(raw, '', report([])) }
  if (type === 'tool_use' || !json) return {}
  const input = parseObject(json)
  return input ? { final: decodeBlock({ ...raw, input }, '', report([])) } : {}
}

function flushClosing(state: DecoderState, emit: Emitting): void {
  const { closing } = state
  if (!closing) return
  state.closing = undefined
  emit({ type: 'part.end', candidate: 0, ...closing })
}

function takeUsage(state: DecoderState, wire: unknown, path: string, emit: Emitting): void {
  if (wire === undefined || wire === null) return
  if (!isObject(wire)) {
    report(state.notes).add('field.unknown', path.replace('/message', ''))
    return
  }
  const isFirst = Object.keys(state.usage).length === 0
  state.usage = { ...state.usage, ...(isFirst ? wire : withoutNulls(wire)) }
  const usage = decodeUsage(state.usage)
  if (Object.keys(usage).length > 0) emit({ type: 'usage', usage })
}

function takeFinish(state: DecoderState, { stop_reason, stop_sequence, stop_details }: JsonObject): void {
  const raw = asString(stop_reason)
  if (raw === undefined) return
  state.finish = decodeFinish(raw, asString(stop_sequence), isObject(stop_details) ? stop_details : undefined)
}

function endingOf(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  const { type: _, delta, usage, ...beside } = wire
  if (delta !== undefined && delta !== null && !isObject(delta)) throw fault('/delta', 'expected how the message changes')
  begin(state, {}, emit)
  flushClosing(state, emit)
  const { stop_reason, stop_sequence, stop_details, ...more } = delta ?? {}
  takeFinish(state, { stop_reason, stop_sequence, stop_details })
  takeUsage(state, usage, '/usage', emit)
  const { ext } = keep(withoutNulls({ ...more, ...beside }), {})
  if (ext) emit({ type: 'update', ext })
}

function stopMessage(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  const { type: _, ...beside } = wire
  begin(state, {}, emit)
  flushClosing(state, emit)
  for (const index of Object.keys(state.open)) {
    stopBlock(state, { index: Number(index) }, emit)
    flushClosing(state, emit)
  }
  const { ext } = keep(beside, {})
  if (ext) emit({ type: 'update', ext })
  closeMessage(state, emit)
  state.phase = 'ended'
  emit({ type: 'end', clean: true })
}

function closeMessage(state: DecoderState, emit: Emitting): void {
  enter(state, emit)
  if (state.waiting) report(state.notes).add('reasoning.carrier-lost', undefined)
  emit({ type: 'message.end', candidate: 0, message: 0 })
  emit({ type: 'finish', candidate: 0, finish: state.finish ?? { reason: 'other', protocol: name } })
}

function fail(state: DecoderState, wire: JsonObject, emit: Emitting): void {
  begin(state, {}, emit)
  flushClosing(state, emit)
  state.phase = 'ended'
  emit({ type: 'error', error: decodeError({ status: 0, headers: {}, body: wire }).value })
  emit({ type: 'end', clean: false })
}
