import type { CanonicalEvent } from '../../../canonical/event.ts'
import type { Note } from '../../../canonical/note.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { step } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import type { EmitEvent, StreamMachine } from '../../../protocol.ts'
import { readEvent, readFailure } from '../errors.ts'
import type { ResponsesOptions } from '../options.ts'
import { protocolName } from '../own.ts'
import { awaitsClient, decodeHead, readEnding } from '../response/response.ts'
import { ResponsesResponse } from '../schema.ts'
import { decodeUsage } from '../usage.ts'
import { decodeFinish, forwardable } from '../vocabulary.ts'
import { type DecoderState, malformed, orphan, patient, reportOf } from './decoder-state.ts'
import { addItem, closeItems, completeListed, finishItem, messageOf } from './item-reader.ts'
import {
  addAnnotation,
  addContent,
  beginReasoning,
  finishContent,
  inputDelta,
  inputDone,
  reasoningDelta,
  reasoningDone,
  textDelta,
  textDone,
} from './part-reader.ts'

/**
 * Events → canonical events. Items are identified by `output_index`, because some servers change
 * ids within a stream. A `done` event overrides the deltas before it, and replaces those that never
 * came.
 *
 * @throws TranslationError `malformed` for a known event without a required field, `out-of-order`
 * for the start of another response
 */
export const streamDecoder: StreamMachine<unknown, CanonicalEvent, DecoderState, ResponsesOptions> =
  {
    initial: () => ({
      notes: [] as Note[],
      phase: 'before',
      items: {},
      next: 0,
      waiting: new Set(),
      thoughts: [],
      named: new Map(),
      open: new Map(),
      moved: {},
      messages: 0,
      parts: 0,
      id: undefined,
      model: undefined,
      latest: undefined,
      error: undefined,
      ending: [],
      endings: new Map(),
      carried: undefined,
    }),

    step(state, wire, emitWire) {
      if (state.phase === 'ended') return
      const emit = patient(state, emitWire)
      if (wire === '[DONE]') return breakOff(state, emit)
      const event = eventOf(wire)
      const type = typeIn(event)
      const act = known.get(type)
      if (state.phase === 'before') {
        // Pings and unknown events do not begin a stream: the start must have the id and model of
        // the response.
        if (act === ping) return
        if (!act) return reportOf(state).once('event.unknown', undefined)
        begin(state, event, type, emit)
      }
      if (act) {
        if (act !== takeError) noteUnknown(state, event)
        act(state, event, emit)
      } else if (forwardable.has(type)) emit({ type: 'opaque', protocol: protocolName, raw: wire })
      // Noted here, not only by encoders of other protocols: a stream that is collected has none.
      else reportOf(state).once('event.unknown', undefined)
    },

    end(state, emitWire) {
      if (state.phase !== 'ended') breakOff(state, patient(state, emitWire))
    },
  }

/** Servers that cannot stream send the complete response, which is what a last event has. */
function eventOf(wire: unknown): JsonObject {
  if (!isObject(wire)) return {}
  const { object, type, status } = wire
  return object === 'response' && type === undefined
    ? { type: `response.${String(status)}`, response: wire }
    : wire
}

/** Some servers write an error without a type. */
function typeIn({ type, error }: JsonObject): string {
  if (typeof type === 'string') return type
  return error != null ? 'error' : ''
}

/** The keys of all known events. */
const eventKeys = new Set(
  'type sequence_number obfuscation response item part delta text refusal arguments name input logprobs annotation status item_id output_index content_index summary_index annotation_index'.split(
    ' ',
  ),
)

/** Keys of an event have no place in a response. */
function noteUnknown(state: DecoderState, event: JsonObject): void {
  for (const key in event)
    if (!eventKeys.has(key) && event[key] !== null) reportOf(state).once('field.unknown', step(key))
}

/** Ends a stream that has no last event, or a failed one. `isLast`: this is the last event. */
function breakOff(state: DecoderState, emit: EmitEvent, isLast = false): void {
  if (state.phase === 'before') emit({ type: 'start' })
  state.phase = 'ended'
  if (state.error && !isLast) state.lacksFailure = true
  if (state.error) emit({ type: 'error', error: state.error })
  emit({ type: 'end', clean: false })
}

type Act = (state: DecoderState, event: JsonObject, emit: EmitEvent) => void

const nothing: Act = () => {}

/** `response.created` after the start: ignored for the same response, refused for another one. */
const beginAgain: Act = ({ id }, event) => {
  const { response } = event
  if (
    id === undefined ||
    !isObject(response) ||
    typeof response['id'] !== 'string' ||
    response['id'] === id
  )
    return
  throw malformed('/response/id', 'another response begins inside this one', 'out-of-order')
}

const ping: Act = (_state, _event, emit) => emit({ type: 'ping' })

const known = new Map<string, Act>([
  ['response.created', beginAgain],
  ['response.queued', nothing],
  ['response.in_progress', nothing],
  ['keepalive', ping],
  ['ping', ping],
  ['response.output_item.added', addItem],
  ['response.output_item.done', finishItem],
  ['response.content_part.added', addContent],
  ['response.content_part.done', finishContent],
  [
    'response.output_text.delta',
    (state, event, emit) => textDelta(state, event, 'output_text', emit),
  ],
  [
    'response.output_text.done',
    (state, event, emit) => textDone(state, event, 'output_text', 'text', emit),
  ],
  ['response.output_text.annotation.added', addAnnotation],
  ['response.refusal.delta', (state, event, emit) => textDelta(state, event, 'refusal', emit)],
  [
    'response.refusal.done',
    (state, event, emit) => textDone(state, event, 'refusal', 'refusal', emit),
  ],
  [
    'response.function_call_arguments.delta',
    (state, event, emit) => inputDelta(state, event, 'function_call', emit),
  ],
  [
    'response.function_call_arguments.done',
    (state, event, emit) => inputDone(state, event, 'function_call', 'arguments', emit),
  ],
  [
    'response.custom_tool_call_input.delta',
    (state, event, emit) => inputDelta(state, event, 'custom_tool_call', emit),
  ],
  [
    'response.custom_tool_call_input.done',
    (state, event, emit) => inputDone(state, event, 'custom_tool_call', 'input', emit),
  ],
  ['response.reasoning_summary_part.added', beginReasoning],
  ['response.reasoning_summary_part.done', nothing],
  [
    'response.reasoning_summary_text.delta',
    (state, event, emit) => reasoningDelta(state, event, 'summary', emit),
  ],
  [
    'response.reasoning_summary_text.done',
    (state, event, emit) => reasoningDone(state, event, 'summary', emit),
  ],
  [
    'response.reasoning_text.delta',
    (state, event, emit) => reasoningDelta(state, event, 'raw', emit),
  ],
  [
    'response.reasoning_text.done',
    (state, event, emit) => reasoningDone(state, event, 'raw', emit),
  ],
  ['response.reasoning.delta', (state, event, emit) => reasoningDelta(state, event, 'raw', emit)],
  ['response.reasoning.done', (state, event, emit) => reasoningDone(state, event, 'raw', emit)],
  ['error', takeError],
  ['response.completed', (state, event, emit) => finish(state, event, 'completed', emit)],
  ['response.incomplete', (state, event, emit) => finish(state, event, 'incomplete', emit)],
  ['response.failed', (state, event, emit) => finish(state, event, 'failed', emit)],
  ['response.done', (state, event, emit) => finish(state, event, 'completed', emit)],
  ['response.cancelled', (state, event, emit) => finish(state, event, 'cancelled', emit)],
])

function begin(state: DecoderState, event: JsonObject, type: string, emit: EmitEvent): void {
  state.phase = 'inside'
  const lifecycle = known.has(type) && type.startsWith('response.') && 'response' in event
  let head: ReturnType<typeof decodeHead> = {}
  try {
    if (lifecycle) head = decodeHead(snapshotOf(event), reportOf(state))
  } finally {
    state.id = head.id
    state.model = head.model
    emit({ type: 'start', ...head, source: { protocol: protocolName } })
  }
}

function snapshotOf(event: JsonObject): ResponsesResponse {
  if (!isObject(event['response'])) throw malformed('/response', 'expected a response')
  return check(protocolName, ResponsesResponse, event['response'])
}

function takeError(state: DecoderState, event: JsonObject): void {
  state.error ??= readEvent(event)
}

/** The last event: emits what the snapshot has beyond the stream, then the ending. */
function finish(state: DecoderState, event: JsonObject, meant: string, emit: EmitEvent): void {
  const body = snapshotOf(event)
  const { status: wireStatus } = body
  const status =
    wireStatus === undefined ||
    wireStatus === null ||
    wireStatus === 'in_progress' ||
    wireStatus === 'queued'
      ? meant
      : wireStatus
  const usage = body.usage ? decodeUsage(body.usage) : undefined
  if (status === 'failed') {
    const {
      id: _id,
      model: _model,
      createdAt: _createdAt,
      ...head
    } = decodeHead(body, reportOf(state))
    emit({ type: 'update', ...head })
    if (usage) emit({ type: 'usage', usage })
    state.error ??= readFailure(body.error ?? {})
    breakOff(state, emit, true)
    return
  }
  completeListed(state, body.output ?? [], emit)
  closeItems(state, status === 'incomplete' ? 'incomplete' : undefined, emit)
  orphan(state, state.carried)
  if (state.error) {
    if (usage) emit({ type: 'usage', usage })
    breakOff(state, emit, true)
    return
  }
  const {
    id: _id,
    model: _model,
    createdAt: _createdAt,
    ...head
  } = decodeHead(body, reportOf(state))
  emit({ type: 'update', ...head })
  const messages = Object.values(state.items)
    .filter(({ carrier }) => !carrier)
    .map(messageOf)
  const ending = decodeFinish(
    status,
    body.incomplete_details?.reason ?? undefined,
    awaitsClient(messages),
  ) ?? {
    reason: 'other' as const,
    raw: status,
    protocol: protocolName,
  }
  emit(readEnding({ type: 'finish' as const, candidate: 0, finish: ending }, body))
  if (usage) emit({ type: 'usage', usage })
  state.phase = 'ended'
  emit({ type: 'end', clean: true })
}
