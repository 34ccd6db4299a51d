import type { EncoderEvent } from '../../../canonical/event.ts'
import type { Place } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject } from '../../../kit/json/json.ts'
import { createBlockEncoder, type EventOf, startBlocks } from '../../../kit/stream/block-encoder.ts'
import type { Block } from '../../../kit/stream/blocks.ts'
import type { StreamMachine } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { encodeCitation, isSpanned } from '../content/citations.ts'
import { encodeParts } from '../content/content.ts'
import { encodeCarrier, phaseBlock } from '../content/reasoning.ts'
import { marked } from '../content/writing.ts'
import { defaults, type MessagesOptions, type Options } from '../options.ts'
import { ownOf, wireOf } from '../own.ts'
import {
  encodeFinish,
  fallbacks,
  namesOf,
  noteUnsigned,
  responseWriting,
  wordOf,
} from '../response/response.ts'
import { encodeUsage } from '../usage.ts'
import type {
  MessagesDelta,
  MessagesStop,
  MessagesWrittenBlock,
  MessagesWrittenBlockOf,
  MessagesWrittenEvent,
} from '../written.ts'
import { type EmitWire, type EncoderState, fail, reportOf } from './encoder-state.ts'

/**
 * Canonical events → wire events. `message_delta` waits for the token counts; the last event of a
 * failed response is an error event.
 */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  MessagesWrittenEvent,
  EncoderState,
  MessagesOptions
> = {
  initial: (options: Options = {}) => ({
    fallback: fallbacks(options),
    start: {},
    lastSignature: options.lastSignature ?? defaults.lastSignature,
    carriers: [],
    unsigned: false,
    early: undefined,
    sentUsage: undefined,
    ...startBlocks(options),
  }),

  ...createBlockEncoder<EncoderState, MessagesWrittenEvent, MessagesWrittenBlock, MessagesDelta>({
    reportOf,
    ping: { type: 'ping' },

    start(state, { type: _, ...start }) {
      state.start = start
      reportOf(state).rest({ createdAt: start.createdAt }, undefined)
      reportOf(state).ext(start.ext, '')
    },

    update,

    takeUsage(state, { usage }) {
      if (state.phase === 'held') state.early ??= usage
    },

    begin,

    finish(state, emit) {
      const { finish, finishAt: at, promptBlocked, seen } = state
      finishMessage(
        state,
        encodeFinish({ finish, at, promptBlocked, seen }, {}, reportOf(state)),
        emit,
      )
    },

    finishCut(state, emit) {
      finishMessage(
        state,
        { stop_reason: 'max_tokens', stop_sequence: null, stop_details: null },
        emit,
      )
    },

    fail,
    endsTurn: finish => wordOf(finish) === 'end_turn',

    encode(state, part) {
      const writing = responseWriting(reportOf(state))
      const blocks = encodeParts([part], writing, 'assistant')
      for (const block of blocks) writing.report.resolvePending(block, '/content_block')
      return blocks
    },

    writeWhole,
    open: openBlock,

    writeDelta(index, delta, emit, source) {
      emit({ type: 'content_block_delta', index, delta: wireOf<MessagesDelta>(delta, source?.ext) })
    },

    stop: (index, emit) => emit({ type: 'content_block_stop', index }),

    deltas: {
      text: text => ({ type: 'text_delta', text }),
      reasoning: thinking => ({ type: 'thinking_delta', thinking }),
      input: json => ({ type: 'input_json_delta', partial_json: json }),
      signature: (signature, ext) => ({ ...ownOf(ext), type: 'signature_delta', signature }),
      citation(state, citation, at) {
        const report = reportOf(state)
        const [wire] = encodeCitation(citation, report)
        if (wire && isSpanned(citation)) report.once('citation.span', at, 'citations')
        return wire && { type: 'citations_delta', citation: wire }
      },
    },
    noInput: '{}',

    markUnsigned(state) {
      state.unsigned = true
    },

    sealed: block => (block.type === 'thinking' ? block : undefined),
    carrier: encodeCarrier,
    phase: phaseBlock,
    validCallId,
  }),
}

function update(state: EncoderState, { serviceTier }: EventOf<'update'>): void {
  // `message_start` has the tier, and no later event has it. If it has none, the default applies.
  if (
    state.phase !== 'held' &&
    serviceTier !== 'default' &&
    serviceTier !== state.start.serviceTier
  )
    reportOf(state).rest({ serviceTier }, undefined)
  if (serviceTier !== undefined) state.start = { ...state.start, serviceTier }
}

// ---- the frame around the blocks

function begin(state: EncoderState, emit: EmitWire): void {
  const { id, model, serviceTier, transformations, ext } = state.start
  const own = ownOf(ext)
  const early = state.early?.input !== undefined
  if (!early) reportOf(state).add('usage.late', '/message/usage')
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = early ? (state.early ?? {}) : {}
  if (early) state.sentUsage = { input, output, cacheRead, cacheWrite }
  emit({
    type: 'message_start',
    message: {
      container: null,
      diagnostics: null,
      ...own,
      ...namesOf({ id, model }, state.fallback, '/message', reportOf(state)),
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage({ input, output, cacheRead, cacheWrite }, serviceTier, reportOf(state)),
      ...omitUndefined({ input_transformations: transformations }),
    },
  })
}

/** Usage keys that `message_start` always has, and `message_delta` only if they are known. */
const ofStart: ReadonlySet<string> = new Set(['cache_creation', 'inference_geo', 'speed'])

function finishMessage(state: EncoderState, stop: MessagesStop, emit: EmitWire): void {
  const { container = null, ...beside } = ownOf(state.ext) ?? {}
  noteUnsigned(state.unsigned, state.finish, reportOf(state))
  for (const { at } of state.carriers)
    reportOf(state).add('reasoning.trailing-signature', at, 'signature')
  const usage = encodeUsage(state.usage, undefined, reportOf(state))
  const counts = Object.fromEntries(
    Object.entries(usage).filter(
      ([key, count]) => key !== 'service_tier' && (count !== null || !ofStart.has(key)),
    ),
  )
  emit({ ...beside, type: 'message_delta', delta: { container, ...stop }, usage: counts })
  emit({ type: 'message_stop' })
}

// ---- blocks

/** `call`: the block of a call, whose input comes in deltas. */
function openBlock(
  state: EncoderState,
  block: Block,
  emit: EmitWire,
  call?: MessagesWrittenBlock,
): void {
  writeCarriers(state, emit)
  block.index = state.nextIndex++
  const content = call ? { ...call, input: {} } : headOf(state, block)
  emit({ type: 'content_block_start', index: block.index, content_block: content })
}

function headOf(state: EncoderState, { kind, head }: Block): MessagesWrittenBlock {
  if (kind === 'reasoning')
    return wireOf<MessagesWrittenBlockOf<'thinking'>>(
      { type: 'thinking', thinking: '', signature: '' },
      head.ext,
    )
  const text: MessagesWrittenBlockOf<'text'> = { type: 'text', text: '' }
  return head.type === 'text'
    ? marked(wireOf<typeof text>(text, head.ext), head, responseWriting(reportOf(state)))
    : text
}

/**
 * Writes a whole block. `at`: path of its part. The input of a tool that the provider ran comes as
 * a delta, as for any tool. With `lastSignature: 'drop'` a carrier block after a text waits until
 * another block follows, because a response without calls must not end in it.
 */
function writeWhole(
  state: EncoderState,
  content: MessagesWrittenBlock,
  emit: EmitWire,
  at?: Place,
): void {
  const mayBeLast = state.lastSignature === 'drop' && state.seen.text && !state.seen.calls
  if (mayBeLast && content.type === 'redacted_thinking') {
    state.carriers.push({ raw: content, ...omitUndefined({ at }) })
    return
  }
  writeCarriers(state, emit)
  writeBlock(state, content, emit)
}

function writeCarriers(state: EncoderState, emit: EmitWire): void {
  for (const { raw } of state.carriers.splice(0)) writeBlock(state, raw, emit)
}

function writeBlock(state: EncoderState, content: MessagesWrittenBlock, emit: EmitWire): void {
  const index = state.nextIndex++
  const input = 'input' in content && content.type.endsWith('_use') ? content.input : undefined
  const json = isObject(input) && Object.keys(input).length > 0 ? writeExact(input) : undefined
  const begun = json === undefined ? content : { ...content, input: {} }
  emit({ type: 'content_block_start', index, content_block: begun })
  if (json !== undefined)
    emit({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: json },
    })
  emit({ type: 'content_block_stop', index })
}
