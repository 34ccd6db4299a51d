import type { CanonicalEvent, Delta } from '../../../canonical/event.ts'
import type { Part, Place } from '../../../canonical/message.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { carriedIn } from '../../../kit/signatures/carried.ts'
import {
  type BlockReading,
  beforeBlocks,
  createBlockReader,
  emitDelta,
} from '../../../kit/stream/block-reader.ts'
import type { EmitEvent, StreamMachine } from '../../../protocol.ts'
import { decodeCitation, unknownOfCitation } from '../content/citations.ts'
import { decodeBlock } from '../content/content.ts'
import { decodeReasoning, decodeRedacted, issuerOf, kindOf } from '../content/reasoning.ts'
import type { Reading } from '../content/writing.ts'
import { decodeError } from '../errors.ts'
import { familyOf } from '../models.ts'
import type { ConverseOptions, Options } from '../options.ts'
import { keep, protocolName } from '../own.ts'
import {
  decodeFinish,
  decodeTier,
  modelOf,
  unknownAround,
  unknownFields,
} from '../response/response.ts'
import { ConverseBlock, ConverseCitation } from '../schema.ts'
import { decodeUsage } from '../usage.ts'
import { type ConverseFamily, isServerType } from '../vocabulary.ts'
import type { ConverseMetadata } from '../written.ts'
import {
  addToWhole,
  eventIn,
  eventKeys,
  exceptionIn,
  fault,
  frameKeys,
  joinedBase64,
  noteUnknown,
  type OpenBlock,
  openBlock,
  reportOf,
  wholeBlock,
} from './blocks.ts'

export type DecoderState = BlockReading<OpenBlock> & {
  family: ConverseFamily
  /** `metadata` has come. */
  hasMetadata: boolean
}

const reader = createBlockReader<DecoderState>({
  protocol: protocolName,
  at: '/output/message',
  reportOf,
  issuer: ({ family }) => issuerOf(family),
})
const { begin, enter, flushClosing, wholePart } = reader

/**
 * Wire events → canonical events:
 *
 *     messageStart { [contentBlockStart] { contentBlockDelta } contentBlockStop } messageStop metadata
 *
 * Blocks of text and reasoning have no start. A stream that stops after `messageStop` is complete,
 * one that stops before it was cut off.
 *
 * @throws TranslationError `malformed` for an event that cannot be read
 */
export const streamDecoder: StreamMachine<unknown, CanonicalEvent, DecoderState, ConverseOptions> =
  {
    // A response does not name its model, but the request does.
    initial: (options: Options = {}) => ({
      family: familyOf(modelOf(options), options),
      hasMetadata: false,
      ...beforeBlocks<OpenBlock>(modelOf(options)),
    }),

    step: reader.stepOf(take),

    end(state, emit) {
      if (state.phase === 'ended') return
      begin(state, emit)
      flushClosing(state, emit)
      reader.end(state, state.phase === 'finished', emit)
    },
  }

function take(state: DecoderState, wire: unknown, emit: EmitEvent): void {
  if (!isObject(wire)) throw fault('', 'expected an event')
  const event = eventIn(wire)
  if (!event) {
    takeOther(state, wire, emit)
    return
  }
  const { name, payload } = event
  if (!isObject(payload)) throw fault(below('', name), 'expected the payload of an event')
  noteUnknown(state, wire, { path: '', known: frameKeys[name] })
  noteUnknown(state, payload, { path: `/${name}`, known: eventKeys[name] })
  if (name === 'contentBlockDelta') takeDelta(state, payload, emit)
  else if (name === 'contentBlockStart') startBlock(state, payload, emit)
  else if (name === 'contentBlockStop') stopBlock(state, indexOf(payload), emit)
  else if (name === 'messageStart') startMessage(state, emit)
  else if (name === 'messageStop') stopMessage(state, payload, emit)
  else if (name === 'metadata') takeMetadata(state, payload, emit)
  // A ping before the response is left out: it would begin it.
  else if (name === 'ping') {
    if (state.phase !== 'before') emit({ type: 'ping' })
  } else name satisfies never
}

/** An error, or an event of an unknown type. */
function takeOther(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const name = exceptionIn(wire)
  if (name !== undefined) fail(state, name, wire[name], emit)
  else if (isObject(wire['error']))
    fail(state, typeof wire['error']['code'] === 'string' ? wire['error']['code'] : '', wire, emit)
  // Servers that fail with a plain body.
  else if (typeof wire['message'] === 'string') fail(state, '', wire, emit)
  // Noted here, not by encoders of other protocols: a stream that is collected has none.
  else reportOf(state).once('event.unknown', undefined)
}

function startMessage(state: DecoderState, emit: EmitEvent): void {
  if (state.phase !== 'before') reportOf(state).once('stream.repeated-start', '/messageStart')
  begin(state, emit)
}

function indexOf({ contentBlockIndex: index }: JsonObject): string {
  if (typeof index !== 'number')
    throw fault('/contentBlockIndex', 'expected the index of a content block')
  return String(index)
}

const placeOf = (index: string): Place => below('/output/message/content', index)

// ---- blocks

function startBlock(state: DecoderState, payload: JsonObject, emit: EmitEvent): void {
  const index = indexOf(payload)
  const { start } = payload
  if (start != null && !isObject(start))
    throw fault('/contentBlockStart/start', 'expected what a block begins with')
  if (isAfter(state)) return
  if (state.open.get(index)) stopBlock(state, index, emit)
  const { toolUse, text, ...others } = start ?? {}
  const kind = Object.keys(others).find(key => others[key] != null)
  if (isObject(toolUse) && !isServerType(toolUse['type']))
    startCall(state, index, omitNullish(start ?? {}), emit)
  else if (toolUse != null || kind !== undefined) {
    enter(state, emit)
    state.open.set(index, { ...openBlock('whole'), raw: omitNullish(start ?? {}) })
  }
  // Some servers also begin texts.
  else {
    state.open.set(index, openBlock('pending'))
    if (typeof text === 'string' && text) takeText(state, index, text, emit)
  }
}

/** Nothing belongs to the response after its end. */
function isAfter(state: DecoderState): boolean {
  if (state.phase !== 'finished') return false
  reportOf(state).once('stream.stray-delta', '/contentBlockDelta')
  return true
}

function startCall(
  state: DecoderState,
  index: string,
  block: ConverseBlock,
  emit: EmitEvent,
): void {
  const open = openBlock('call')
  const head = decodeBlock(checkBlock(block), placeOf(index), readingOf(state))
  startPart(state, { index, open, head }, emit)
}

const readingOf = (state: DecoderState): Reading => ({
  report: reportOf(state),
  family: state.family,
  names: {},
  isResponse: true,
})

const checkBlock = (block: unknown): ConverseBlock =>
  check(
    protocolName,
    ConverseBlock,
    block,
    path => `/contentBlockStart/start${path}`,
  ) as ConverseBlock

/** Begins the part of a block. `head`: as known now. */
function startPart(
  state: DecoderState,
  { index, open, head }: { index: string; open: OpenBlock; head: Part },
  emit: EmitEvent,
): void {
  const part = reader.startPart(state, head, emit)
  if (part !== undefined) state.open.set(index, Object.assign(open, { part }))
}

// ---- deltas

const reasoningKeys = ['text', 'signature', 'redactedContent', 'data'] as const
const deltaKinds = [
  'text',
  'toolUse',
  'reasoningContent',
  'citation',
  'toolResult',
  'image',
] as const

function takeDelta(state: DecoderState, payload: JsonObject, emit: EmitEvent): void {
  const index = indexOf(payload)
  const { delta } = payload
  if (!isObject(delta)) throw fault('/contentBlockDelta/delta', 'expected a delta')
  if (isAfter(state)) return
  const kind = deltaKinds.find(known => delta[known] !== undefined && delta[known] !== null)
  const content = kind && delta[kind]
  if (kind === 'text') takeText(state, index, textAt(content, 'text'), emit)
  else if (kind === 'reasoningContent' && isObject(content))
    takeReasoning(state, index, content, emit)
  else if (kind === 'citation' && isObject(content)) takeCitation(state, index, content, emit)
  else if (kind === 'toolUse' && isObject(content) && state.open.get(index)?.kind === 'call')
    takeInput(state, index, textAt(content['input'], 'toolUse/input'), emit)
  else takeRest(state, index, delta, emit)
  for (const key in delta)
    if (key !== kind && delta[key] !== null && (deltaKinds as readonly string[]).includes(key))
      stray(state)
  noteUnknown(state, delta, { path: '/contentBlockDelta/delta', known: knownDeltas })
  if (isObject(content) && (kind === 'toolUse' || kind === 'reasoningContent'))
    noteInside(state, kind, content)
}

const knownInside = {
  toolUse: keysOf<{ input: string }>()('input'),
  reasoningContent: keysOf<Record<(typeof reasoningKeys)[number], string>>()(...reasoningKeys),
}

/** Notes what is inside a delta and is not read: unknown keys, and reasoning that is no text. */
function noteInside(
  state: DecoderState,
  kind: keyof typeof knownInside,
  content: JsonObject,
): void {
  const path = `/contentBlockDelta/delta/${kind}`
  noteUnknown(state, content, { path, known: knownInside[kind] })
  if (kind === 'toolUse') return
  for (const key of reasoningKeys)
    if (content[key] != null && typeof content[key] !== 'string')
      reportOf(state).once('field.unknown', `${path}/${key}`)
}

const knownDeltas = keysOf<Record<(typeof deltaKinds)[number] | 'type', unknown>>()(
  ...deltaKinds,
  'type',
)

/** What only belongs to blocks that are decoded at their end. */
function takeRest(state: DecoderState, index: string, delta: JsonObject, emit: EmitEvent): void {
  const open = state.open.get(index)
  // An image may come without a start.
  if ((!open || open.kind === 'pending') && delta['image'] != null) {
    enter(state, emit)
    state.open.set(index, { ...openBlock('whole'), raw: { image: delta['image'] } })
  } else if (open?.kind !== 'whole' || !addToWhole(open, delta)) stray(state)
}

const stray = (state: DecoderState) =>
  reportOf(state).once('stream.stray-delta', '/contentBlockDelta/delta')

function textAt(text: unknown, key: string): string {
  if (typeof text !== 'string') throw fault(`/contentBlockDelta/delta/${key}`, 'expected text')
  return text
}

function addTo({ part }: OpenBlock, delta: Delta, emit: EmitEvent): void {
  if (part !== undefined) emitDelta(part, delta, emit)
}

/**
 * The text block at this index, which the first delta opens. Undefined: another block is open
 * there.
 */
function textBlock(state: DecoderState, index: string, emit: EmitEvent): OpenBlock | undefined {
  const open = state.open.get(index)
  if (open?.kind === 'text') return open
  if (open && open.kind !== 'pending') return undefined
  const opened = openBlock('text')
  startPart(
    state,
    { index, open: opened, head: { type: 'text', text: '', at: placeOf(index) } },
    emit,
  )
  return opened
}

function takeText(state: DecoderState, index: string, text: string, emit: EmitEvent): void {
  const open = textBlock(state, index, emit)
  if (!open) stray(state)
  else if (text) addTo(open, { kind: 'text', text }, emit)
}

function takeCitation(
  state: DecoderState,
  index: string,
  citation: JsonObject,
  emit: EmitEvent,
): void {
  const cited = check(
    protocolName,
    ConverseCitation,
    citation,
    path => `/contentBlockDelta/delta/citation${path}`,
  )
  const open = textBlock(state, index, emit)
  const unknown = unknownOfCitation(cited)
  const delta: Delta = { kind: 'citation', citation: decodeCitation(cited) }
  if (!open) stray(state)
  else {
    const nth = open.citations++
    const at = below(placeOf(index), 'citationsContent')
    const isKept = unknown && nth < mostKept
    if (unknown && !isKept) reportOf(state).once('field.unknown', below(at, 'citations'))
    addTo(
      open,
      isKept ? keep({ ...delta, at }, { citations: [...emptyBefore(nth), unknown] }) : delta,
      emit,
    )
  }
}

/**
 * Unknown keys of a citation are kept with one entry for each citation before it, so only those of
 * the first ones are.
 */
const mostKept = 1000

const emptyBefore = (nth: number) => Array.from({ length: nth }, () => ({}))

function takeInput(state: DecoderState, index: string, text: string, emit: EmitEvent): void {
  const open = state.open.get(index)
  if (!open) return
  open.text ||= text.trim() && 'noted'
  if (text) addTo(open, { kind: 'input', text }, emit)
}

function takeReasoning(
  state: DecoderState,
  index: string,
  content: JsonObject,
  emit: EmitEvent,
): void {
  // `data` is an older name of the blob.
  const { text, signature, redactedContent = content['data'] } = content
  if (typeof redactedContent === 'string') takeBlob(state, index, redactedContent, emit)
  if (typeof text === 'string') {
    const before = state.open.get(index)
    // Text after a signature is another nth in the same block.
    if (before?.kind === 'reasoning' && before.signature && text) stopBlock(state, index, emit)
    const open = reasoningBlock(state, index, emit)
    if (!open) stray(state)
    else {
      open.text += text
      if (text) addTo(open, { kind: 'reasoning', segment: 0, of: kindOf(state.family), text }, emit)
    }
  }
  if (typeof signature === 'string') {
    const open = reasoningBlock(state, index, emit)
    if (!open) stray(state)
    else takeSignature(state, open, signature, emit)
  }
}

function reasoningBlock(
  state: DecoderState,
  index: string,
  emit: EmitEvent,
): OpenBlock | undefined {
  const open = state.open.get(index)
  if (open?.kind === 'reasoning') return open
  if (open && open.kind !== 'pending') return undefined
  const opened = openBlock('reasoning')
  startPart(
    state,
    {
      index,
      open: opened,
      head: { type: 'reasoning', segments: [], at: below(placeOf(index), 'reasoningContent') },
    },
    emit,
  )
  return opened
}

function takeSignature(
  state: DecoderState,
  open: OpenBlock,
  signature: string,
  emit: EmitEvent,
): void {
  open.signature += signature
  const { signature: placed } = decodeReasoning('', open.signature, state.family)
  if (placed) addTo(open, { kind: 'signature', signature: reader.signed(state, placed) }, emit)
}

function takeBlob(state: DecoderState, index: string, data: string, emit: EmitEvent): void {
  const open = state.open.get(index)
  if (open?.kind === 'redacted') open.chunks.push(data)
  else if (open && open.kind !== 'pending') stray(state)
  else {
    begin(state, emit)
    state.open.set(index, { ...openBlock('redacted'), chunks: [data] })
  }
}

function stopBlock(state: DecoderState, index: string, emit: EmitEvent): void {
  const open = state.open.get(index)
  if (!open) return
  state.open.delete(index)
  const { kind, part, text, signature, chunks } = open
  if (kind === 'redacted') {
    const data = joinedBase64(chunks)
    const at = below(placeOf(index), 'reasoningContent')
    const carried = carriedIn(data)
    if (carried) reader.takeCarrier(state, carried, placeOf(index), emit)
    else wholePart(state, { ...decodeRedacted(data, state.family), at }, emit)
  } else if (kind === 'whole')
    wholePart(
      state,
      decodeBlock(checkBlock(wholeBlock(open)), placeOf(index), readingOf(state)),
      emit,
    )
  else if (part !== undefined) {
    flushClosing(state, emit)
    const whole = kind === 'reasoning' ? decodeReasoning(text, signature, state.family) : undefined
    const isSplit =
      whole &&
      (whole.segments.length > 1 ||
        whole.segments[0]?.kind !== kindOf(state.family) ||
        whole.id !== undefined)
    if (whole?.signature) whole.signature = reader.signed(state, whole.signature)
    state.closing = omitUndefined({
      part,
      final: isSplit && (text || whole.id !== undefined) ? whole : undefined,
      isEmpty: kind === 'call' && !text,
    })
  }
}

// ---- the end

const stopKeys = keysOf<{
  stopReason: string
  additionalModelResponseFields: unknown
  p: string
}>()('stopReason additionalModelResponseFields p')

function stopMessage(state: DecoderState, payload: JsonObject, emit: EmitEvent): void {
  const { stopReason, additionalModelResponseFields: fields } = payload
  if (state.phase === 'finished') return
  begin(state, emit)
  if (stopReason != null && typeof stopReason !== 'string')
    reportOf(state).once('field.unknown', '/stopReason')
  state.finish = decodeFinish(typeof stopReason === 'string' ? stopReason : undefined, fields)
  for (const index of state.open.keys()) stopBlock(state, index, emit)
  flushClosing(state, emit, true)
  const more = unknownFields(fields)
  const unknown = unknownOf(payload, stopKeys)
  updateBy(more === undefined ? unknown : { ...unknown, additionalModelResponseFields: more }, emit)
  reader.closeMessage(state, emit)
  state.phase = 'finished'
  if (state.hasMetadata) reader.end(state, true, emit)
}

const metadataKeys = keysOf<ConverseMetadata & { p: string }>()('usage metrics serviceTier p')

function takeMetadata(state: DecoderState, payload: JsonObject, emit: EmitEvent): void {
  const { usage, metrics, serviceTier } = payload
  begin(state, emit)
  state.hasMetadata = true
  if (isObject(usage)) {
    state.usage = { ...state.usage, ...omitNullish(usage) }
    const counts = decodeUsage(state.usage)
    if (Object.keys(counts).length > 0) emit({ type: 'usage', usage: counts })
  } else if (usage != null) reportOf(state).once('field.unknown', '/usage')
  const { latencyMs = 0 } = isObject(metrics) ? metrics : {}
  if (metrics != null && !isObject(metrics)) reportOf(state).once('field.unknown', '/metrics')
  else if (latencyMs !== null && typeof latencyMs !== 'number')
    reportOf(state).once('field.unknown', '/metrics/latencyMs')
  const tier =
    isObject(serviceTier) && typeof serviceTier['type'] === 'string'
      ? decodeTier(serviceTier['type'])
      : undefined
  if (tier !== undefined) emit({ type: 'update', serviceTier: tier })
  updateBy(unknownAround(payload, unknownOf(payload, metadataKeys)), emit)
  if (state.phase === 'finished') reader.end(state, true, emit)
}

function updateBy(fields: JsonObject | undefined, emit: EmitEvent): void {
  if (fields) emit(keep({ type: 'update' }, fields))
}

/** `name`: of the exception. */
function fail(state: DecoderState, name: string, payload: unknown, emit: EmitEvent): void {
  const body = isObject(payload) ? payload : { message: typeof payload === 'string' ? payload : '' }
  const headers: Record<string, string> = name ? { 'x-amzn-errortype': name } : {}
  reader.fail(state, decodeError({ status: 0, headers, body }).value, emit)
}
