import type { CanonicalError } from '../../../canonical/error.ts'
import type { EncoderEvent } from '../../../canonical/event.ts'
import type { ExtMap, Place } from '../../../canonical/message.ts'
import { noteFinish } from '../../../kit/errors/failed-response.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { tierIn } from '../../../kit/response/usage.ts'
import {
  type BlockEncoderState,
  createBlockEncoder,
  startBlocks,
} from '../../../kit/stream/block-encoder.ts'
import type { Emit, StreamMachine } from '../../../protocol.ts'
import { noteCache } from '../content/cache.ts'
import { validCallId } from '../content/calls.ts'
import { encodeCitation, isApproximated } from '../content/citations.ts'
import { encodeParts } from '../content/content.ts'
import { encodeCarrier, phaseBlock } from '../content/reasoning.ts'
import type { Writing } from '../content/writing.ts'
import { encodeBareError, exceptionOf } from '../errors.ts'
import { familyOf } from '../models.ts'
import type { ConverseOptions, Options } from '../options.ts'
import {
  blockOf,
  type ConverseReport,
  createConverseReport,
  ownOf,
  protocolName,
  wireOf,
} from '../own.ts'
import {
  encodeFinish,
  encodeTier,
  noteNames,
  refusalText,
  responseWriting,
  tierOf,
  wordOf,
} from '../response/response.ts'
import { encodeUsage } from '../usage.ts'
import type { ConverseFamily } from '../vocabulary.ts'
import type {
  ConverseDelta,
  ConverseStart,
  ConverseStop,
  ConverseWrittenBlock,
  ConverseWrittenEvent,
} from '../written.ts'

/**
 * Canonical events → wire events. `messageStop` waits for the end of the source; the last event of
 * a failed response is an exception.
 */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  ConverseWrittenEvent,
  EncoderState,
  ConverseOptions
> = {
  initial: (options: Options = {}) => ({
    family: familyOf(options.context?.request?.model, options),
    start: {},
    ...startBlocks(options),
  }),

  ...createBlockEncoder<EncoderState, ConverseWrittenEvent, ConverseWrittenBlock, ConverseDelta>({
    reportOf,
    ping: { ping: {} },

    start(state, { type: _, id, model, serviceTier, ext, ...rest }) {
      state.start = omitUndefined({ serviceTier })
      noteNames({ id, model }, reportOf(state))
      reportOf(state).rest(rest, undefined)
      reportOf(state).ext(ext, '')
      if (ext) state.ext = ext
    },

    update(state, { serviceTier }) {
      if (serviceTier !== undefined) state.start = { serviceTier }
    },

    noteMessage: (state, { ext, at }) => noteOwn(state, ext, at),
    begin: (_, emit) => emit({ messageStart: { role: 'assistant' } }),

    finish(state, emit) {
      const { finish, finishAt: at, promptBlocked, seen } = state
      const refusal = refusalText({ finish, promptBlocked }, seen.text)
      // A call that was cut off stays open, and only the end follows.
      const explained = refusal !== undefined && !state.open
      if (explained) writeBlock(state, { text: refusal }, emit)
      finishMessage(
        state,
        encodeFinish(
          { finish, at, promptBlocked, calls: seen.calls, explained, streamed: true },
          {},
          reportOf(state),
        ),
        emit,
      )
    },

    finishCut: (state, emit) => finishMessage(state, { stopReason: 'max_tokens' }, emit),
    fail,
    endsTurn: finish => wordOf(finish).word === 'end_turn',

    encode(state, part) {
      const writing = writingOf(state)
      const blocks = encodeParts([part], writing, 'assistant')
      for (const block of blocks) writing.report.resolvePending(block)
      return blocks
    },

    writeWhole: writeBlock,

    /** Only calls have an event for it: of others, the first delta opens the block. */
    open(state, block, emit, call) {
      block.index = state.nextIndex++
      if (!call?.toolUse) return
      const { input: _, ...toolUse } = call.toolUse
      const start = blockOf<ConverseStart, 'toolUse'>('toolUse', toolUse, block.head.ext)
      emit({ contentBlockStart: { contentBlockIndex: block.index, start } })
    },

    writeDelta: (contentBlockIndex, delta, emit, source) =>
      emit({
        contentBlockDelta: {
          contentBlockIndex,
          delta: wireOf<ConverseDelta>(delta, source?.ext),
        },
      }),

    stop: (contentBlockIndex, emit) => emit({ contentBlockStop: { contentBlockIndex } }),

    deltas: {
      text: text => ({ text }),
      reasoning: text => ({ reasoningContent: { text } }),
      input: input => ({ toolUse: { input } }),
      signature: (signature, ext) => ({ reasoningContent: { ...ownOf(ext), signature } }),
      citation(state, citation, at) {
        const [wire] = encodeCitation(citation)
        if (
          wire &&
          !isApproximated(citation, [wire], at, reportOf(state)) &&
          citation.protocol !== protocolName &&
          (citation.start !== undefined || citation.end !== undefined)
        )
          reportOf(state).once('citation.span', at, 'citations')
        return wire && { citation: wire }
      },
    },
    // As from the service: a call without arguments has one empty delta.
    noInput: '',

    noteHead(state, { head }) {
      noteCache(head, reportOf(state))
      noteOwn(state, head.ext, head.at)
    },
    sealed: block => block.reasoningContent?.reasoningText,
    carrier: encodeCarrier,
    phase: phaseBlock,
    validCallId,
  }),
}

function finishMessage(state: EncoderState, stop: ConverseStop, emit: EmitWire): void {
  const { additionalModelResponseFields, output, metrics, serviceTier, ...own } =
    ownOf(state.ext) ?? {}
  const report = reportOf(state)
  emit({
    messageStop: {
      ...stop,
      ...(additionalModelResponseFields !== undefined && { additionalModelResponseFields }),
    },
  })
  if (output !== undefined) noteOwn(state, { [protocolName]: { fields: { output } } }, '')
  const tier = tierOf(encodeTier(tierIn(state.start.serviceTier, state.usage), report), serviceTier)
  const usage = omitUndefined(encodeUsage(state.usage, report))
  emit({
    metadata: omitUndefined({
      ...own,
      usage,
      metrics: { ...(isObject(metrics) && metrics), latencyMs: 0 },
      serviceTier: tier,
    }),
  })
}

/** Writes a block that is complete. Blocks of kinds that no event can hold are left out. */
function writeBlock(
  state: EncoderState,
  block: ConverseWrittenBlock,
  emit: EmitWire,
  at?: Place,
): void {
  const events = eventsOf(block)
  if (!events) {
    reportOf(state).add('part.unsupported', at)
    return
  }
  // A start or delta holds only the kind of the block.
  for (const key in block)
    if (!Object.hasOwn(kinds, key)) reportOf(state).add('field.unknown', below(at ?? '', key))
  const contentBlockIndex = state.nextIndex++
  if (events.start) emit({ contentBlockStart: { contentBlockIndex, start: events.start } })
  for (const delta of events.deltas) emit({ contentBlockDelta: { contentBlockIndex, delta } })
  emit({ contentBlockStop: { contentBlockIndex } })
  if (block.text !== undefined || block.citationsContent?.content) state.seen.text = true
}

const kinds = {
  text: true,
  citationsContent: true,
  reasoningContent: true,
  toolUse: true,
  toolResult: true,
  image: true,
}

/** The start and the deltas of a block. Undefined: streams have no blocks of this kind. */
function eventsOf({
  text,
  citationsContent,
  reasoningContent,
  toolUse,
  toolResult,
  image,
}: ConverseWrittenBlock): { start?: ConverseStart; deltas: ConverseDelta[] } | undefined {
  if (text !== undefined) return { deltas: [{ text }] }
  if (citationsContent) {
    const { citations = [], content = [] } = citationsContent
    return {
      deltas: [
        ...citations.map(citation => ({ citation })),
        ...content.map(one => ({ text: one.text })),
      ],
    }
  }
  if (reasoningContent) {
    const { reasoningText, redactedContent } = reasoningContent
    if (redactedContent !== undefined)
      return { deltas: [{ reasoningContent: { redactedContent } }] }
    const { text = '', signature } = reasoningText ?? {}
    return {
      deltas: [
        { reasoningContent: { text } },
        ...(signature === undefined ? [] : [{ reasoningContent: { signature } }]),
      ],
    }
  }
  if (toolUse) {
    const { input, ...start } = toolUse
    return {
      start: { toolUse: start },
      deltas: [{ toolUse: { input: isObject(input) ? writeExact(input) : '' } }],
    }
  }
  if (toolResult) {
    const { content, ...start } = toolResult
    return { start: { toolResult: start }, deltas: [{ toolResult: content }] }
  }
  if (!image) return undefined
  const { format = 'png', source, ...more } = image
  return {
    start: { image: { format } },
    deltas: [{ image: { ...more, ...(source && { source }) } }],
  }
}

/** What the files of the stream encoder share: its state, and functions of it. */

type EmitWire = Emit<ConverseWrittenEvent>

type EncoderState = BlockEncoderState & {
  /** Of the model that the client requested. */
  family: ConverseFamily
  start: Pick<Extract<EncoderEvent, { type: 'start' }>, 'serviceTier'>
}

function reportOf({ notes, fieldNames }: EncoderState): ConverseReport {
  return createConverseReport(fieldNames, notes)
}

/**
 * Notes the unknown keys that only a whole response of this protocol has a place for: its streams
 * have no event for such a node.
 */
function noteOwn(state: EncoderState, ext: ExtMap | undefined, at: Place | undefined): void {
  const own = ext?.[protocolName]?.fields
  if (!own) return
  // Citations are written unchanged.
  const { citations: _, ...fields } = own
  reportOf(state).unknown(fields, at)
}

/** How parts are written that are written whole. */
const writingOf = (state: EncoderState): Writing => ({
  ...responseWriting(reportOf(state), noOptions),
  family: state.family,
})

const noOptions: Options = {}

/** An exception may come at any point of a stream. */
function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const report = reportOf(state)
  const { usage, promptBlocked, start } = state
  report.rest({ promptBlocked, usage, serviceTier: start.serviceTier }, '')
  noteFinish(state.finish, state.finishAt, report)
  const name = exceptionOf(error.kind)
  emit({ [name]: encodeBareError(error, report, name) })
}
