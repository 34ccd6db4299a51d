import type { CanonicalEvent } from '../../../canonical/event.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same, setOwn } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { asksForOne } from '../../../kit/response/candidates.ts'
import { append } from '../../../kit/text/append.ts'
import { flushTags, splitTags, type TaggedText } from '../../../kit/text/think-tags.ts'
import type { EmitEvent, StreamMachine } from '../../../protocol.ts'
import { noteTags, splitProxyFields, unknownOfCarriers } from '../content/carriers.ts'
import { noteUnattached, unknownOfAnnotations } from '../content/content.ts'
import { isInOrder } from '../content/layout.ts'
import { isItems, listIn } from '../content/reasoning.ts'
import { decodeErrorBody } from '../errors.ts'
import type { ChatCompletionsOptions } from '../options.ts'
import { keep, protocolName, withInner } from '../own.ts'
import { isFailed, readTime } from '../response/response.ts'
import { decodeUsage, findUsage } from '../usage.ts'
import { decodeFinish } from '../vocabulary.ts'
import {
  announce,
  appendText,
  cite,
  type Into,
  isText,
  readAudio,
  readBlock,
  readImages,
  readLegacyCall,
  readLogprobs,
  takeCall,
} from './content.ts'
import {
  type Choice,
  choiceOf,
  closePart,
  type DecoderState,
  type Failure,
  isFlatError,
  mayBeFailure,
  placeOf,
  reportOf,
  unframed,
} from './decoder-state.ts'
import {
  appendPlain,
  appendReasoning,
  isDetailed,
  readDetails,
  readItems,
  readOtherCarriers,
  readTextSignature,
} from './reasoning.ts'

/**
 * Chunks → canonical events. The wire does not announce parts: text, refusal and reasoning open a
 * part with their first character and close it when another kind follows; calls are announced when
 * their name is known and stay open to the end, because any chunk may still add to them. A choice
 * finishes when the stream does, since servers may still correct the finish reason. If the source
 * stops before a choice has a finish reason, its parts stay open.
 */
export const streamDecoder: StreamMachine<
  unknown,
  CanonicalEvent,
  DecoderState,
  ChatCompletionsOptions
> = {
  initial: options => ({
    notes: [],
    phase: 'before',
    thinkTags: options?.extractThinkTags === true,
    seals: options?.unsignedReasoning === 'seal',
    id: '',
    model: '',
    createdAt: undefined,
    serviceTier: undefined,
    fields: {},
    choices: new Map(),
    first: asksForOne(options ?? {}) ? undefined : 0,
    suspect: undefined,
    finishes: 0,
    unfinished: 0,
  }),

  step(state, wire, emit) {
    if (state.phase === 'over') return
    if (wire === '[DONE]') finishAll(state, true, emit)
    else if (!isObject(wire)) unknownEvent(state)
    else if (wire['error']) readErrorFrame(state, wire, emit)
    else if (isFlatError(wire)) readFailure(state, unframed(wire), emit)
    else readChunk(state, wire, emit)
  },

  end(state, emit) {
    if (state.phase !== 'over') finishAll(state, false, emit)
  },
}

/** Some servers send an error in a chunk that holds more than the error. */
function readErrorFrame(
  state: DecoderState,
  { error, ...chunk }: JsonObject,
  emit: EmitEvent,
): void {
  const isChunk = Array.isArray(chunk['choices'])
  if (isChunk) readChunk(state, chunk, emit)
  // One of its choices may have reported an error already.
  if (state.phase !== 'over')
    readFailure(state, { error: decodeErrorBody(isChunk ? { error } : { error, ...chunk }) }, emit)
}

function readFailure(state: DecoderState, failure: Failure, emit: EmitEvent): void {
  start(state, emit)
  emit({ type: 'error', ...failure })
  emit({ type: 'end', clean: false })
  state.phase = 'over'
}

function unknownEvent(state: DecoderState): void {
  reportOf(state).once('event.unknown', '')
}

function readChunk(state: DecoderState, chunk: JsonObject, emit: EmitEvent): void {
  const head = readHead(state, chunk)
  if (!head) {
    unknownEvent(state)
    if (mayBeFailure(chunk)) state.suspect = unframed(chunk)
    return
  }
  const { update, tier } = head
  if (update) state.fields = { ...state.fields, ...update }

  const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : []
  if (state.phase === 'before') {
    // The first chunk of some servers has neither an id nor a choice.
    if (choices.length > 0 || state.id) start(state, emit)
  } else if (update || tier !== undefined)
    emit(keep({ type: 'update', ...(tier !== undefined && { serviceTier: tier }) }, update))
  const failed = choices.find(isFailed)
  if (failed) {
    readFailure(state, { error: decodeErrorBody({ error: failed['error'] }) }, emit)
    return
  }
  for (const choice of choices)
    if (isObject(choice)) readChoice(state, choice, emit)
    else noteStrange(state, '/choices', choice)
  readUsage(state, findUsage(chunk), emit)
}

/**
 * Keys that no table knows, and that may be all of a chunk: timings of Groq, prompt filter results
 * of Azure, moderation.
 */
const chunksOfTheirOwn = new Set(['x_groq', 'prompt_filter_results', 'moderation'])

/**
 * Reads the fields around the choices. `update`: unknown ones that are new; `tier`: a new one.
 * Undefined: it is no chunk.
 */
function readHead(
  state: DecoderState,
  chunk: JsonObject,
): { update: JsonObject | undefined; tier: string | undefined } | undefined {
  let isChunk = false
  let update: JsonObject | undefined
  let tier: string | undefined
  for (const key in chunk) {
    const value = chunk[key]
    switch (key) {
      case 'id':
        if (value !== state.id) readWord(state, key, value)
        break
      case 'model':
        if (value !== state.model) readWord(state, key, value)
        break
      case 'created':
        readCreated(state, value)
        break
      case 'choices':
        if (!Array.isArray(value)) noteStrange(state, `/${key}`, value)
        break
      case 'usage':
        if (!isObject(value)) noteStrange(state, `/${key}`, value)
        break
      case 'service_tier':
        if (typeof value !== 'string') noteStrange(state, `/${key}`, value)
        else if (value !== state.serviceTier) {
          state.serviceTier = value
          tier = value
        }
        break
      case 'object':
      // Padding that hides the length of deltas, not data.
      case 'obfuscation':
      case 'error':
        continue
      default:
        if (value === null || value === undefined || same(state.fields[key], value)) continue
        update = { ...update, [key]: value }
        if (!chunksOfTheirOwn.has(key)) continue
    }
    isChunk = true
  }
  return isChunk ? { update, tier } : undefined
}

function readCreated(state: DecoderState, value: unknown): void {
  if (state.createdAt === undefined) {
    state.createdAt = readTime(value)
    noteLate(state, 'created', state.createdAt)
  }
  if (typeof value === 'object') noteStrange(state, '/created', value)
}

function readWord(state: DecoderState, key: 'id' | 'model', value: unknown): void {
  if (typeof value !== 'string') noteStrange(state, `/${key}`, value)
  else if (!state[key]) {
    state[key] = value
    noteLate(state, key, value)
  }
}

/** Notes a field that is known, with a value of a kind that it cannot have. */
function noteStrange(state: DecoderState, path: string, value: unknown): void {
  if (value !== null && value !== undefined) reportOf(state).once('field.unknown', path)
}

/** Notes a field of the head that comes after the head. */
function noteLate(state: DecoderState, key: string, value: unknown): void {
  if (value && state.phase === 'inside') reportOf(state).add('response.late', `/${key}`)
}

function start(state: DecoderState, emit: EmitEvent): void {
  if (state.phase !== 'before') return
  state.phase = 'inside'
  const { id, model, createdAt, serviceTier, fields } = state
  const head = omitUndefined({
    id: id || undefined,
    model: model || undefined,
    createdAt,
    serviceTier,
  })
  emit(
    keep(
      { type: 'start', ...head, source: { protocol: protocolName } },
      omitUndefinedOrNone(fields),
    ),
  )
}

function readUsage(state: DecoderState, raw: unknown, emit: EmitEvent): void {
  const usage = raw ? decodeUsage(raw, state.serviceTier, reportOf(state)) : undefined
  if (!usage) return
  start(state, emit)
  emit({ type: 'usage', usage })
}

function readChoice(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const choice = choiceOf(state, wire['index'], emit)
  const { logprobs, delta, message, error } = wire
  if (isObject(error)) state.suspect = { error: decodeErrorBody({ error }), unrecognized: true }
  if (isObject(delta)) readDelta(state, choice, { delta, emit })
  // Servers that cannot stream send the complete message in their only chunk; others repeat it next
  // to the last delta.
  if (isObject(message) && choice.nextPart === 0 && choice.calls.length === 0)
    readDelta(state, choice, { delta: message, emit })
  if (isObject(logprobs)) readLogprobs(choice, logprobs, emit)
  for (const key in wire) {
    const value = wire[key]
    if (value === null || value === undefined) continue
    switch (key) {
      case 'finish_reason':
        // The first finish reason counts. Exception: some servers send `stop` first and
        // `tool_calls` later.
        if (typeof value === 'string') {
          if (
            value &&
            (choice.finish === undefined || (choice.finish === 'stop' && value === 'tool_calls'))
          ) {
            if (choice.finish === undefined) state.unfinished--
            choice.finish = value
          }
          if (value) state.finishes = state.unfinished === 0 ? state.finishes + 1 : 0
          break
        }
        noteStrange(state, `/choices/${choice.candidate}/${key}`, value)
        break
      case 'index':
        if (typeof value !== 'number')
          noteStrange(state, `/choices/${choice.candidate}/${key}`, value)
        break
      case 'delta':
      case 'logprobs':
      case 'usage':
      case 'message':
        if (!isObject(value)) noteStrange(state, `/choices/${choice.candidate}/${key}`, value)
        break
      default:
        setOwn(choice.fields, key, value)
    }
  }
  if (choice.finish === undefined) state.finishes = 0
}

const isObjects = (value: unknown) => Array.isArray(value) && value.every(isObject)
const isString = (value: unknown) => typeof value === 'string'
const isAny = () => true

/** The fields of a delta besides its texts, and what each must be. */
const inDelta = new Map<string, (value: unknown) => boolean>([
  ['role', isAny],
  ['tool_calls', isObjects],
  ['reasoning_details', isObjects],
  ['reasoning_signature', isString],
  ['thinking_blocks', isObjects],
  ['annotations', Array.isArray],
  ['function_call', isObject],
  ['audio', isObject],
  ['images', isAny],
  ['index', isAny],
  // A list of blocks; text is read at once.
  ['content', isObjects],
])

/** Fields that servers also use for something else: a value of another type is an unknown field. */
const mayDiffer = new Map<string, (value: unknown) => boolean>([
  ['content', value => isString(value) || Array.isArray(value)],
  ['reasoning_content', isString],
  ['reasoning', isString],
  ['refusal', isString],
  ['reasoning_items', isItems],
])

function readDelta(state: DecoderState, choice: Choice, { delta, emit }: Into): void {
  // Reasoning is read first: in a delta where it ends and the text begins, the text may be the
  // first key.
  const detailed = isDetailed(choice, delta)
  if (detailed) takeDetails(choice, delta, emit)
  else {
    // Some servers send the same text in both fields, so only one is read.
    const plain = isText(delta['reasoning_content'])
      ? delta['reasoning_content']
      : delta['reasoning']
    if (typeof plain === 'string' && plain) appendPlain(choice, plain, emit)
  }
  const unknown = readTexts(state, choice, { delta, emit })
  if (unknown)
    choice.delta = {
      ...choice.delta,
      ...readTextSignature(choice, splitProxyFields(unknown, delta).left, emit),
    }
  const { content, annotations, audio, images } = delta
  if (Array.isArray(content))
    for (const block of content) if (isObject(block)) readBlock(state, choice, { block, emit })
  if (!detailed) takeDetails(choice, delta, emit)
  readCarriers(choice, delta, emit)
  readCalls(state, choice, { delta, emit })
  if (Array.isArray(annotations)) readAnnotations(choice, annotations, emit)
  if (isObject(audio)) readAudio(choice, audio, emit)
  if (images) readImages(choice, images, emit)
}

/**
 * Reads text and refusal. Returns the fields that nothing reads; known ones of a wrong type are
 * noted.
 */
function readTexts(
  state: DecoderState,
  choice: Choice,
  { delta, emit }: Into,
): JsonObject | undefined {
  const unknown: JsonObject = {}
  for (const key in delta) {
    const value = delta[key]
    if (value === null || value === undefined || value === '') continue
    if (key === 'content' && typeof value === 'string')
      appendContent(state, choice, { text: value, emit })
    else if (key === 'refusal' && typeof value === 'string')
      appendText(choice, 'refusal', { text: value, emit })
    else if (mayDiffer.get(key)?.(value) === false || !(inDelta.has(key) || mayDiffer.has(key)))
      setOwn(unknown, key, value)
    else if (inDelta.get(key)?.(value) === false)
      noteStrange(state, `${pointerOf(placeOf(choice))}/${key}`, value)
  }
  return omitUndefinedOrNone(unknown)
}

/** Reasoning and its signatures in fields other than those of its text. */
function readCarriers(choice: Choice, delta: JsonObject, emit: EmitEvent): void {
  if (Array.isArray(delta['thinking_blocks'])) append(choice.blocks, delta['thinking_blocks'])
  if ('reasoning_signature' in delta || listIn(delta, 'thinking_blocks'))
    readOtherCarriers(choice, delta, emit)
  if (isItems(delta['reasoning_items'])) readItems(choice, delta['reasoning_items'], emit)
}

function readCalls(state: DecoderState, choice: Choice, { delta, emit }: Into): void {
  const { tool_calls: calls, function_call: legacy } = delta
  if (calls || legacy) flush(choice, emit)
  if (Array.isArray(calls))
    for (const call of calls) if (isObject(call)) takeCall(state, choice, { delta: call, emit })
  if (isObject(legacy)) readLegacyCall(state, choice, { delta: legacy, emit })
}

function readAnnotations(choice: Choice, annotations: unknown[], emit: EmitEvent): void {
  for (const annotation of annotations) cite(choice, annotation, emit)
  const left = unknownOfAnnotations(annotations)
  if (left) choice.delta = { ...choice.delta, annotations: left }
}

function takeDetails(choice: Choice, delta: JsonObject, emit: EmitEvent): void {
  const details = listIn(delta, 'reasoning_details')
  if (!Array.isArray(details)) return
  append(choice.details, details)
  readDetails(choice, details, emit)
}

function appendContent(
  state: DecoderState,
  choice: Choice,
  { text, emit }: { text: string; emit: EmitEvent },
): void {
  const { tags } = choice
  if (!tags) {
    appendText(choice, 'text', { text, emit })
    return
  }
  const { found } = tags
  appendTagged(choice, splitTags(tags, text), emit)
  if (tags.found && !found) noteTags(placeOf(choice), reportOf(state))
}

function appendTagged(choice: Choice, spans: TaggedText[], emit: EmitEvent): void {
  for (const { kind, text } of spans)
    if (kind === 'text') appendText(choice, 'text', { text, emit })
    else appendReasoning(choice, { text, of: 'raw', emit })
}

/** Emits held-back text that could have been the start of a tag, because something else follows. */
function flush(choice: Choice, emit: EmitEvent): void {
  if (choice.tags) appendTagged(choice, flushTags(choice.tags), emit)
}

/** `isReported`: `[DONE]` arrived and counts as a normal end. */
function finishAll(state: DecoderState, isReported: boolean, emit: EmitEvent): void {
  start(state, emit)
  state.phase = 'over'
  const choices = [...state.choices.values()]
  const { suspect } = state
  const ended = ({ finish, calls }: Choice) =>
    finish !== undefined ||
    (isReported &&
      !suspect &&
      calls.every(
        ({ json, kind, part }) =>
          kind === 'freeform' || part === undefined || json.whole || !json.begun,
      ))
  const clean = choices.length > 0 && choices.every(ended)
  const report = reportOf(state)
  for (const choice of choices)
    for (const place of choice.strays)
      report.add('reasoning.joined', `${pointerOf(placeOf(choice))}/${pointerOf(place)}`)
  if (clean) for (const choice of choices) finishChoice(state, choice, emit)
  else if (suspect) emit({ type: 'error', ...suspect })
  emit({ type: 'end', clean })
}

function finishChoice(state: DecoderState, choice: Choice, emit: EmitEvent): void {
  const { candidate, calls, finish: raw, audio, logprobs, fields, delta, details, blocks } = choice
  const report = reportOf(state)
  flush(choice, emit)
  closePart(choice, emit)
  if (audio !== undefined) emit({ type: 'part.end', candidate, part: audio.part })
  for (const call of calls) announce(state, choice, call, emit)
  for (const { part } of calls)
    if (part === undefined) report.add('tool-call.nameless', below('/choices', candidate))
    else emit({ type: 'part.end', candidate, part })
  if (choice.layout && !isInOrder(choice.layout, choice.received))
    report.add('parts.layout-stale', `${pointerOf(placeOf(choice))}/reasoning_details`)
  if (logprobs.refusal.length > 0)
    noteUnattached(below(below('/choices', candidate), 'logprobs'), report)
  emit({ type: 'message.end', candidate, message: 0 })
  const holds = {
    calls: calls.some(({ part }) => part !== undefined),
    broken: calls.length > 0,
    empty: !choice.hasContent,
  }
  const finish = decodeFinish(raw, holds, { at: below('/choices', candidate), report })
  const beside = omitUndefinedOrNone({
    ...delta,
    ...unknownOfCarriers({ reasoning_details: details, thinking_blocks: blocks }),
  })
  const loose = logprobs.text.length > 0 && { logprobs: logprobs.text }
  emit(
    keep(
      { type: 'finish', candidate, finish, ...loose, at: below('/choices', candidate) },
      withInner(omitUndefinedOrNone(fields), 'message', beside),
    ),
  )
}
