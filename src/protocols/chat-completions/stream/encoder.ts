import type { CanonicalError } from '../../../canonical/error.ts'
import type {
  EncodedPartEnd,
  EncoderEvent,
  MessageEnd,
  MessageStart,
} from '../../../canonical/event.ts'
import type { Place } from '../../../canonical/message.ts'
import { mergeUsage } from '../../../canonical/response.ts'
import { endedEarly } from '../../../kit/errors/failed-response.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { holdCutCalls } from '../../../kit/tools/cut-calls.ts'
import type { StreamMachine } from '../../../protocol.ts'
import { takesOneCall } from '../content/calls.ts'
import { unknownBeside } from '../content/carriers.ts'
import { encodeCitations, noteLostBoundaries } from '../content/content.ts'
import { encodeBareError } from '../errors.ts'
import type { ChatCompletionsOptions } from '../options.ts'
import { createChatReport, ownOf, protocolName, withUnknown } from '../own.ts'
import {
  encodeBlocked,
  encodeHead,
  failedBy,
  noteFinish,
  noteMessage,
  refusalOf,
  tierOf,
} from '../response/response.ts'
import { encodeUsage } from '../usage.ts'
import { encodeFinish } from '../vocabulary.ts'
import type {
  ChatCompletionsChunkChoice,
  ChatCompletionsDelta,
  ChatCompletionsHead,
  ChatCompletionsWire,
} from '../written.ts'
import {
  type Choice,
  choiceOf,
  chunkOf,
  type EmitWire,
  type EncoderState,
  reportOf,
  sendDelta,
  write,
} from './encoder-state.ts'
import {
  addToPart,
  closeCall,
  encodeReasoning,
  endPart,
  has,
  noteLostPhases,
  startPart,
  storeSignatures,
  writeLogprobs,
} from './part-writer.ts'

/**
 * Canonical events → chunks and the text `[DONE]`.
 *
 *     role ▸ deltas ▸ annotations, reasoning details ▸ finish reason      for each choice
 *     usage ▸ [DONE]                                                       once
 *
 * All chunks share one id. If the source failed or stopped early, the stream ends in an error frame
 * without `[DONE]`.
 */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  ChatCompletionsWire['event'],
  EncoderState,
  ChatCompletionsOptions
> = {
  initial: (options = {}) => {
    const { context, fieldNames, truncated, reasoningField, signatures, signedReasoning } = options
    const { id, created, model } = encodeHead({}, options, createChatReport())
    return {
      notes: [],
      phase: 'before',
      fieldNames,
      settings: omitUndefined({
        reasoningField,
        signatures,
        signedReasoning,
        truncated,
      }),
      writeUsage: context === undefined || context.request?.stream?.includeUsage === true,
      single: takesOneCall(context),
      spare: { id, created, model },
      head: { id, object: 'chat.completion.chunk', created, model },
      sentHead: {},
      owesHead: false,
      written: undefined,
      native: false,
      fields: {},
      usage: undefined,
      blocked: undefined,
      choices: new Map(),
      signatures: {},
      late: new Map(),
    }
  },

  step: holdCutCalls(hasNoInput, (state, event, emit) => {
    if (state.phase === 'over') return
    if ('candidate' in event && state.choices.get(event.candidate)?.finished) {
      fail(
        state,
        { status: 502, kind: 'internal', message: 'the upstream went on after its end' },
        emit,
      )
      return
    }
    switch (event.type) {
      case 'start':
        if (state.choices.size === 0) begin(state, event)
        return
      case 'update':
        if (event.promptBlocked) state.blocked = event.promptBlocked
        if (event.serviceTier !== undefined)
          state.head = {
            ...state.head,
            service_tier: tierOf(event.serviceTier, state.native, reportOf(state)),
          }
        reportOf(state).rest({ completedAt: event.completedAt }, '')
        takeFields(state, event.ext)
        return
      case 'message.start':
        startMessage(state, event)
        return
      case 'part.start':
        startPart(state, event, emit)
        return
      case 'part.delta':
        addToPart(state, event, emit)
        return
      case 'part.end':
        endPart(state, event, emit)
        return
      case 'message.end':
        endMessage(state, event)
        return
      case 'finish':
        finishChoice(state, event, emit)
        return
      case 'usage':
        state.usage = mergeUsage(state.usage, event.usage)
        return
      case 'error':
        fail(state, event.error, emit)
        return
      case 'ping':
        return
      case 'opaque':
        reportOf(state).once('event.progress', '')
        return
      case 'end':
        finish(state, event.clean, emit)
        return
      default:
        event satisfies never
    }
  }),

  end(state, emit) {
    if (state.phase !== 'over') finish(state, false, emit)
  },
}

/** Is it the end of a call without arguments? */
function hasNoInput(state: EncoderState, { candidate, part }: EncodedPartEnd): boolean {
  const out = state.choices.get(candidate)?.parts.get(part)
  return out?.kind === 'call' && out.input.trim() === ''
}

function begin(
  state: EncoderState,
  { id, model, createdAt, serviceTier, ext, source }: Extract<EncoderEvent, { type: 'start' }>,
): void {
  const { spare } = state
  state.native = source?.protocol === protocolName
  state.owesHead = !state.native
  state.phase = 'inside'
  state.sentHead = omitUndefined({ id, model, createdAt, serviceTier })
  state.head = omitUndefined<ChatCompletionsHead>({
    id: id || spare.id,
    object: 'chat.completion.chunk',
    created: createdAt === undefined ? spare.created : Math.floor(createdAt),
    model: model ?? spare.model,
    service_tier: tierOf(serviceTier, state.native, reportOf(state)),
  })
  takeFields(state, ext)
}

function takeFields(
  state: EncoderState,
  ext: Extract<EncoderEvent, { type: 'start' }>['ext'],
): void {
  if (!ext) return
  reportOf(state).ext(ext, '')
  state.fields = { ...state.fields, ...ownOf(ext) }
}

function startMessage(
  state: EncoderState,
  { candidate, message, role, id, name, phase, at, ext }: MessageStart,
): void {
  const choice = choiceOf(state, candidate)
  choice.name ??= name
  choice.roles[message] = omitUndefined({ role, at })
  noteMessage(omitUndefined({ id, at }), reportOf(state))
  if (phase) choice.phases.set(message, { phase, at })
  reportOf(state).ext(ext, at)
  choice.unknown = { ...choice.unknown, ...ownOf(ext) }
}

function endMessage(state: EncoderState, { status, at, ext }: MessageEnd): void {
  noteMessage(omitUndefined({ status, at }), reportOf(state))
  reportOf(state).ext(ext, at)
}

function finishChoice(
  state: EncoderState,
  { candidate, finish, logprobs, at, ext }: Extract<EncoderEvent, { type: 'finish' }>,
  emit: EmitWire,
): void {
  const choice = choiceOf(state, candidate)
  const written = encodeFinish(finish, { hasCalls: has(choice, 'call'), single: state.single })
  if (!written) {
    reportOf(state).rest({ logprobs }, at)
    reportOf(state).ext(ext, at)
    fail(state, failedBy(finish), emit)
    return
  }
  const report = reportOf(state)
  noteFinish(finish, written, { at, report })
  report.ext(ext, at)
  if (logprobs) writeLogprobs(state, choice, { key: 'text', logprobs, emit })
  const refusal = refusalOf(finish, choice.shown, report)
  if (refusal) sendDelta(state, choice, { delta: refusal, emit })
  const { message, ...fields } = ownOf(ext) ?? {}
  if (isObject(message)) choice.unknown = { ...choice.unknown, ...message }
  conclude(state, choice, { word: written.word, fields, at, emit })
}

type Conclusion = { word: string; fields?: JsonObject; at?: Place | undefined; emit: EmitWire }

/**
 * Writes annotations and signatures of reasoning, which clients expect complete, in one delta each;
 * then the finish reason.
 */
function conclude(
  state: EncoderState,
  choice: Choice,
  { word, fields = {}, at, emit }: Conclusion,
): void {
  if (choice.finished) return
  choice.finished = true
  closeCall(state, choice, emit)
  const report = reportOf(state)
  const texts = [...choice.parts.values()].filter(out => out.kind === 'text')
  noteLostBoundaries(texts, report)
  const found = encodeCitations(texts, report)
  const known: ChatCompletionsDelta = {
    ...(found.length > 0 && { annotations: found }),
    ...encodeReasoning(state, choice),
  }
  const { annotations, ...rest } = unknownBeside(choice.unknown, known, {
    at: `${pointerOf(at ?? '')}/message`,
    report,
  })
  // Those of a text are in `found`.
  const unknown = annotations === undefined || has(choice, 'text') ? rest : { ...rest, annotations }
  const left = withUnknown<ChatCompletionsDelta>(known, unknown)
  const put = (
    key: 'annotations' | 'reasoning_details' | 'thinking_blocks' | 'reasoning_items',
  ) => {
    const { [key]: list } = left
    delete left[key]
    if (list !== undefined) sendDelta(state, choice, { delta: { [key]: list }, emit })
  }
  put('annotations')
  const stores = state.settings.signatures === 'store'
  noteLostPhases(state, choice, !stores || storeSignatures(state, choice, left.reasoning_details))
  if (stores) delete left.reasoning_details
  for (const key of ['reasoning_details', 'thinking_blocks', 'reasoning_items'] as const) put(key)
  if (!choice.begun) sendDelta(state, choice, { delta: {}, emit })
  write(
    state,
    merge<ChatCompletionsChunkChoice>(fields, {
      index: choice.index,
      delta: left,
      finish_reason: word,
    }),
    emit,
  )
}

function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  state.phase = 'over'
  const { usage, blocked: promptBlocked, choices, sentHead } = state
  const report = reportOf(state)
  // Usage would be written at the end of the stream, which is not reached.
  report.rest({ promptBlocked, usage: state.writeUsage ? usage : undefined }, '')
  // The head is written in chunks with choices. There were none, so its fields are lost.
  if (![...choices.values()].some(({ begun }) => begun)) report.rest(sentHead, '')
  emit(encodeBareError(error, report))
}

function finish(state: EncoderState, clean: boolean, emit: EmitWire): void {
  const { choices, blocked, settings } = state
  const all = [...choices.values()]
  const whole =
    all.length > 0 ? clean || settings.truncated === 'length' : clean && blocked !== undefined
  if (!whole) {
    fail(state, endedEarly, emit)
    return
  }
  const refused = encodeBlocked(blocked, all.length > 0, reportOf(state))
  for (const { index, message, finish_reason: word } of refused) {
    const choice = choiceOf(state, index)
    sendDelta(state, choice, { delta: { refusal: message.refusal }, emit })
    conclude(state, choice, { word, emit })
  }
  for (const choice of all) if (!choice.finished) cutOff(state, choice, emit)
  state.phase = 'over'
  // Clients read fields next to `choices` only from a chunk with an id.
  if (state.usage && state.writeUsage)
    emit(chunkOf(state, [], encodeUsage(state.usage, reportOf(state), state.native)))
  else if (Object.keys(state.fields).length > 0) emit(chunkOf(state, [], undefined))
  emit('[DONE]')
}

/**
 * Ends a choice after the source stopped early, with the finish reason `length`, as the option
 * `truncated` asks.
 */
function cutOff(state: EncoderState, choice: Choice, emit: EmitWire): void {
  reportOf(state).once('finish.truncated-as-length', '')
  // A call that was cut off does not get made-up arguments.
  closeCall(state, choice, emit, true)
  conclude(state, choice, { word: 'length', emit })
}
