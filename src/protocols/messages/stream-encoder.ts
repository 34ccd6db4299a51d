import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, Delta } from '../../canonical/event.ts'
import type { ExtMap, Part, Signature } from '../../canonical/message.ts'
import { type CanonicalResponse, type Finish, mergeUsage, type Usage } from '../../canonical/response.ts'
import { defined } from '../../kit/defined.ts'
import { wrapSignature } from '../../kit/envelope.ts'
import { advanceJson, isObject, type JsonObject, type JsonProgress, parseObject, startJson } from '../../kit/json.ts'
import { createReport } from '../../kit/report.ts'
import type { CodecOptions, Emit, FieldNames, MachineState, StreamMachine } from '../../protocol.ts'
import { encodeCitation } from './citations.ts'
import { encodeCarrier, encodeParts, isNull } from './content.ts'
import { encodeErrorBody } from './error.ts'
import { type MessagesReport, notes } from './notes.ts'
import type { MessagesOptions } from './options.ts'
import { ownKeys } from './own.ts'
import { encodeFinish, replyCallId, replyToolName, replyWriting } from './response.ts'
import type { MessagesRawBlock } from './schema.ts'
import { encodeUsage } from './usage.ts'
import { name } from './vocabulary.ts'

/** How a part is written. `none`: it has no form here, and its deltas are passed over. */
type BlockKind = 'text' | 'thinking' | 'redacted' | 'call' | 'freeform' | 'whole' | 'none'

type Block = {
  key: string
  kind: BlockKind
  head: Part
  /** Set once `content_block_start` is written, which waits until there is something to say. */
  index?: number
  /** What was taken in so far: text, reasoning or input. */
  text: string
  /** Of reasoning: lengths of its segments. */
  lengths: number[]
  /** Of a call: its input is seen to be an object, and goes out as it comes. */
  streams: boolean
  citations: number
  progress: JsonProgress
  signature?: Signature
  /** The part has ended. A call whose input is not whole is held open until the reply says how it ended. */
  ended: boolean
  closed: boolean
}

type Waiting = { block: Block; deltas: Delta[]; final?: Part }

export type EncoderState = MachineState & {
  fieldNames: FieldNames
  truncated: 'error' | 'length'
  fallback: { id: string; model?: string }
  phase: 'held' | 'begun' | 'done'
  start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
  nextIndex: number
  /** One block is open at a time: clients address the newest one. */
  open: Block | undefined
  queue: Waiting[]
  /** Calls that were closed as soon as their input was whole. */
  closed: Record<string, Block>
  /** What finish and refusals need to know of the parts. */
  seen: { calls: boolean; refusal?: string }
  finish: Finish | undefined
  usage: Usage | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  ext: ExtMap | undefined
}

type Options = CodecOptions & MessagesOptions
type Emitting = Emit<unknown>

/**
 * Canonical events → wire events. Blocks stand one after the other, whatever the order of their deltas; the end of the
 * message waits for the counts; a reply that fails ends in an error event and in nothing else.
 */
export const streamEncoder: StreamMachine<CanonicalEvent, unknown, EncoderState, MessagesOptions> = {
  initial: (options: Options = {}) => ({
    notes: [],
    fieldNames: options.fieldNames ?? {},
    truncated: options.truncated ?? 'error',
    fallback: { id: options.newId?.('msg_') ?? 'msg_0', ...defined({ model: options.context?.request?.model }) },
    phase: 'held',
    start: {},
    nextIndex: 0,
    open: undefined,
    queue: [],
    closed: {},
    seen: { calls: false },
    finish: undefined,
    usage: undefined,
    promptBlocked: undefined,
    ext: undefined,
  }),

  step(state, event, emit) {
    if (state.phase === 'done') return
    if ('candidate' in event) {
      if (event.candidate !== 0) {
        report(state).once('candidates.first-only', undefined, `candidates.${event.candidate}`)
        return
      }
    }
    switch (event.type) {
      case 'start': {
        const { type: _, ...start } = event
        state.start = start
        if (start.createdAt !== undefined) report(state).add('field.unsupported', undefined, 'createdAt')
        report(state).ext(start.ext, undefined)
        return
      }
      case 'message.start': {
        const { type: _, candidate: __, message: ___, role: ____, id, phase, ext, ...rest } = event
        report(state).rest({ ...rest, ...(phase && { phase }) }, undefined, 'message.')
        report(state).ext(ext, undefined)
        if (id !== undefined) report(state).once('message.envelope', undefined)
        begin(state, emit)
        return
      }
      case 'part.start':
        begin(state, emit)
        startPart(state, `${event.part}`, event.head, emit)
        return
      case 'part.delta':
        takeDelta(state, `${event.part}`, event.delta, emit)
        return
      case 'part.end':
        endPart(state, `${event.part}`, event.final, emit)
        return
      case 'message.end':
        return
      case 'finish':
        begin(state, emit)
        state.finish = event.finish
        report(state).ext(event.ext, undefined)
        settle(state, event.finish, emit)
        return
      case 'usage':
        state.usage = mergeUsage(state.usage, event.usage)
        return
      case 'update': {
        const { type: _, serviceTier, completedAt, promptBlocked, ext, ...rest } = event
        report(state).rest({ ...rest, ...defined({ completedAt }) }, undefined)
        report(state).ext(ext, undefined)
        if (serviceTier !== undefined) state.start = { ...state.start, serviceTier }
        if (promptBlocked) state.promptBlocked = promptBlocked
        if (ext) state.ext = { ...state.ext, ...ext }
        return
      }
      case 'ping':
        if (state.phase === 'begun') emit({ type: 'ping' })
        return
      case 'opaque':
        if (event.protocol === name && state.phase === 'begun') emit(event.raw)
        else report(state).once('event.unknown', undefined)
        return
      case 'error':
        fail(state, event.error, emit)
        return
      case 'end':
        if (event.clean) close(state, emit)
        else cutOff(state, emit)
        return
      default:
        event satisfies never
    }
  },

  end(state, emit) {
    if (state.phase !== 'done') cutOff(state, emit)
  },
}

function report({ notes: into, fieldNames }: EncoderState): MessagesReport {
  return createReport(name, notes, fieldNames, into)
}

// ---- the frame around the blocks

function begin(state: EncoderState, emit: Emitting): void {
  if (state.phase !== 'held') return
  state.phase = 'begun'
  const { id, model, serviceTier, ext } = state.start
  const named = model || state.fallback.model
  if (!id) report(state).add('response.id', '/message/id')
  if (named === undefined) report(state).add('response.model', '/message/model')
  const own = ownKeys(ext ? { ext } : {})
  const early = state.usage?.input !== undefined
  if (!early) report(state).add('usage.late', '/message/usage')
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = early ? (state.usage ?? {}) : {}
  emit({
    type: 'message_start',
    message: {
      container: null,
      diagnostics: null,
      ...own,
      id: id || state.fallback.id,
      type: 'message',
      role: 'assistant',
      model: named ?? 'unknown',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage({ input, output, cacheRead, cacheWrite }, serviceTier, { report: report(state), whole: true }),
    },
  })
}

function close(state: EncoderState, emit: Emitting): void {
  if (!state.finish && !state.promptBlocked) {
    cutOff(state, emit)
    return
  }
  if (state.finish?.reason === 'error') {
    fail(state, { status: 500, kind: 'internal', message: state.finish.message ?? 'the upstream failed' }, emit)
    return
  }
  begin(state, emit)
  if (isDone(state)) return
  const { calls, refusal } = state.seen
  const parts: Part[] = [
    ...(calls ? [{ type: 'tool-call' as const, id: '', name: '', kind: 'function' as const, input: '' }] : []),
    ...(refusal === undefined ? [] : [{ type: 'refusal' as const, text: refusal }]),
  ]
  const stop = encodeFinish(state.finish, parts, state.promptBlocked, { native: false }, report(state))
  finishMessage(state, stop, emit)
}

/** `isDone` keeps the narrowing of `phase` from outliving a call that changes it. */
const isDone = ({ phase }: EncoderState): boolean => phase === 'done'

function finishMessage(state: EncoderState, stop: JsonObject, emit: Emitting): void {
  const { container, ...beside } = ownKeys(state.ext ? { ext: state.ext } : {})
  state.phase = 'done'
  const usage = encodeUsage(state.usage, undefined, { report: report(state), whole: true })
  const { service_tier: _, ...counts } = usage
  emit({ ...beside, type: 'message_delta', delta: { container: container ?? null, ...stop }, usage: counts })
  emit({ type: 'message_stop' })
}

function fail(state: EncoderState, error: CanonicalError, emit: Emitting): void {
  state.phase = 'done'
  emit(encodeErrorBody(error))
}

/** The source stopped without saying that it had ended. A call that was cut off is never closed. */
function cutOff(state: EncoderState, emit: Emitting): void {
  const { open } = state
  const cut = (open && isCall(open) && !isWhole(open)) || state.queue.some(({ block }) => isCall(block))
  if (state.truncated === 'error' || cut || state.phase === 'held') {
    fail(state, { status: 502, kind: 'internal', message: 'upstream stream ended early' }, emit)
    return
  }
  closeOpen(state, emit)
  promote(state, emit)
  while (state.open && !isDone(state)) {
    closeOpen(state, emit)
    promote(state, emit)
  }
  if (isDone(state)) return
  report(state).add('finish.truncated-as-length', undefined)
  finishMessage(state, { stop_reason: 'max_tokens', stop_sequence: null, stop_details: null }, emit)
}

/**
 * The reply has said how it ended: calls that were held are judged. Within a reply that ran into its limit, a cut call
 * stays without its stop, as the vendor's own server leaves it; anything else that is no JSON is a failure.
 */
function settle(state: EncoderState, { reason }: Finish, emit: Emitting): void {
  while (state.open && state.phase === 'begun') {
    const block = state.open
    if (isCall(block) && !isWhole(block)) {
      if (state.queue.length === 0 && reason !== 'stop' && reason !== 'tool_calls' && reason !== 'error') return
      if (reason !== 'error') fail(state, { status: 502, kind: 'internal', message: 'the arguments of a tool call are not whole JSON' }, emit)
      return
    }
    closeOpen(state, emit)
    promote(state, emit)
  }
}

// ---- one block at a time

function startPart(state: EncoderState, key: string, head: Part, emit: Emitting): void {
  const block: Block = {
    key,
    kind: kindOf(head),
    head,
    text: '',
    lengths: [],
    streams: false,
    citations: 0,
    progress: startJson(),
    ended: false,
    closed: false,
  }
  if (head.type === 'tool-call') state.seen.calls = true
  const first = firstDeltas(head)
  if (state.open && isCall(state.open) && isComplete(state.open)) closeOpen(state, emit)
  if (isDone(state)) return
  if (state.open || state.queue.length > 0) {
    state.queue.push({ block, deltas: first })
    return
  }
  openBlock(state, block, emit)
  for (const delta of first) write(state, block, delta, emit)
}

function kindOf(head: Part): BlockKind {
  switch (head.type) {
    case 'text':
    case 'refusal':
      return 'text'
    case 'reasoning':
      return head.redacted ? 'redacted' : 'thinking'
    case 'tool-call':
      return head.kind === 'freeform' ? 'freeform' : 'call'
    case 'media':
      return head.kind === 'audio' ? 'text' : 'none'
    default:
      return 'whole'
  }
}

/** What a head already holds, as if it had been streamed. */
function firstDeltas(head: Part): Delta[] {
  const deltas: Delta[] = []
  if (head.signature) deltas.push({ kind: 'signature', signature: head.signature })
  if (head.type === 'text') for (const citation of head.citations ?? []) deltas.push({ kind: 'citation', citation })
  if ((head.type === 'text' || head.type === 'refusal') && head.text) deltas.push({ kind: 'text', text: head.text })
  if (head.type === 'media' && head.transcript) deltas.push({ kind: 'text', text: head.transcript })
  if (head.type === 'reasoning') for (const [segment, { kind, text }] of head.segments.entries()) deltas.push({ kind: 'reasoning', segment, of: kind, text })
  if (head.type === 'tool-call' && head.input) deltas.push({ kind: 'input', text: head.input })
  return deltas
}

const isCall = ({ kind }: Block): boolean => kind === 'call' || kind === 'freeform'

/** Only white space can follow: the call may be closed before its end. */
const isComplete = ({ kind, progress, streams }: Block): boolean => kind === 'call' && progress.whole && streams

/** The call has ended and its input is an object, or nothing, or something that can be wrapped into one. */
function isWhole(block: Block): boolean {
  if (block.kind === 'freeform') return block.ended
  if (!block.ended && !isComplete(block)) return false
  const text = block.text.trim()
  return !text.startsWith('{') || parseObject(text) !== undefined
}

function openBlock(state: EncoderState, block: Block, emit: Emitting): void {
  state.open = block
  const { head } = block
  const log = report(state)
  if (head.type === 'tool-call') {
    if (head.signature) writeWhole(state, encodeCarrier(head.signature, 'next'), emit)
    if (block.kind === 'freeform') log.add('freeform.wrapped', head.at)
    if (head.itemId !== undefined || head.status !== undefined) log.once('message.envelope', head.at)
    log.ext(head.ext, head.at)
    const { caller = { type: 'direct' }, toolset } = head
    startBlock(
      state,
      block,
      {
        ...ownKeys(head),
        type: 'tool_use',
        id: replyCallId(head.id, head.at, log),
        name: replyToolName(head.name, head.namespace, head.at, log),
        input: {},
        caller: head.ext?.[name] || isObject(caller) ? caller : { type: 'direct' },
        ...defined({ toolset_name: toolset }),
      },
      emit,
    )
    if (block.kind === 'freeform') writeDelta(block, { type: 'input_json_delta', partial_json: '{"input":"' }, emit)
  } else if (head.type === 'media') log.add(block.kind === 'text' ? 'media.transcript' : 'media.unsupported', head.at)
  else if (block.kind === 'text' || block.kind === 'thinking') log.ext(head.ext, head.at)
}

/** `content_block_start`, once. */
function startBlock(state: EncoderState, block: Block, content: JsonObject, emit: Emitting): void {
  if (block.index !== undefined) return
  block.index = state.nextIndex++
  emit({ type: 'content_block_start', index: block.index, content_block: content })
}

function writeDelta({ index }: Block, delta: JsonObject, emit: Emitting): void {
  emit({ type: 'content_block_delta', index, delta })
}

function writeWhole(state: EncoderState, content: JsonObject, emit: Emitting): void {
  const index = state.nextIndex++
  emit({ type: 'content_block_start', index, content_block: content })
  emit({ type: 'content_block_stop', index })
}

function takeDelta(state: EncoderState, key: string, delta: Delta, emit: Emitting): void {
  const { open } = state
  if (open?.key === key) {
    write(state, open, delta, emit)
    if (isComplete(open) && state.queue.length > 0) {
      closeOpen(state, emit)
      promote(state, emit)
    }
    return
  }
  const waiting = state.queue.find(({ block }) => block.key === key)
  if (waiting) {
    waiting.deltas.push(delta)
    return
  }
  const closed = Object.hasOwn(state.closed, key) ? state.closed[key] : undefined
  if (!closed) return
  if (delta.kind === 'signature') lateSignature(state, closed, delta.signature, emit)
  else if (delta.kind === 'input' && delta.text.trim()) report(state).once('stream.trailing-arguments', closed.head.at, 'input')
}

/** A signature for a call that is closed already stands in a block that names the call. */
function lateSignature(state: EncoderState, { head }: Block, signature: Signature, emit: Emitting): void {
  if (head.type !== 'tool-call') return
  const attach = `c:${replyCallId(head.id, head.at, createReport(name, notes))}`
  if (!state.open) writeWhole(state, encodeCarrier(signature, attach), emit)
  else state.queue.push({ block: carrierBlock(signature, attach), deltas: [] })
}

function carrierBlock(signature: Signature, attach: string): Block {
  return {
    key: '',
    kind: 'whole',
    head: { type: 'opaque', protocol: name, raw: encodeCarrier(signature, attach) },
    text: '',
    lengths: [],
    streams: false,
    citations: 0,
    progress: startJson(),
    ended: true,
    closed: false,
  }
}

/** A delta of the open block. */
function write(state: EncoderState, block: Block, delta: Delta, emit: Emitting): void {
  const { kind } = block
  switch (delta.kind) {
    case 'text':
      if (kind === 'text' && delta.text) {
        if (block.index === undefined) startBlock(state, block, textStart(block), emit)
        block.text += delta.text
        writeDelta(block, { type: 'text_delta', text: delta.text }, emit)
      }
      return
    case 'citation':
      if (kind === 'text') writeCitation(state, block, delta.citation, emit)
      return
    case 'reasoning':
      if (kind === 'redacted' && delta.text) block.kind = 'thinking'
      if (block.kind === 'thinking') writeReasoning(state, block, delta, emit)
      return
    case 'input':
      if (kind === 'freeform') {
        block.text += delta.text
        if (delta.text) writeDelta(block, { type: 'input_json_delta', partial_json: JSON.stringify(delta.text).slice(1, -1) }, emit)
      } else if (kind === 'call') writeInput(state, block, delta.text, emit)
      return
    case 'signature':
      block.signature = delta.signature
      return
    case 'logprobs':
      report(state).once('field.unsupported', block.head.at, 'logprobs')
      return
    case 'media':
      return
    default:
      delta satisfies never
  }
}

function textStart({ head }: Block): JsonObject {
  return { ...(head.type === 'text' && ownKeys(head)), type: 'text', text: '', citations: null }
}

function writeCitation(state: EncoderState, block: Block, citation: Parameters<typeof encodeCitation>[0], emit: Emitting): void {
  const [wire] = encodeCitation(citation)
  const log = report(state)
  block.citations++
  if (!wire) {
    log.add('citation.foreign', block.head.at, 'citations')
    return
  }
  if (citation.protocol !== name) {
    if (citation.start !== undefined || citation.end !== undefined) log.once('citation.span', block.head.at, 'citations')
    log.once('citation.no-proof', '/content')
  }
  startBlock(state, block, textStart(block), emit)
  writeDelta(block, { type: 'citations_delta', citation: wire }, emit)
}

function writeReasoning(state: EncoderState, block: Block, { segment, text }: Extract<Delta, { kind: 'reasoning' }>, emit: Emitting): void {
  const { lengths } = block
  const before = lengths.length
  while (lengths.length <= segment) lengths.push(0)
  const joint = '\n\n'.repeat(before === 0 ? lengths.length - 1 : lengths.length - before)
  lengths[segment] = (lengths[segment] ?? 0) + text.length
  const added = joint + text
  if (!added) return
  if (block.index === undefined) startThinking(state, block, emit)
  block.text += added
  writeDelta(block, { type: 'thinking_delta', thinking: added }, emit)
}

function startThinking(state: EncoderState, block: Block, emit: Emitting): void {
  startBlock(state, block, { ...ownKeys(block.head), type: 'thinking', thinking: '', signature: '' }, emit)
}

/** Input is streamed once it is seen to begin as an object; anything else is held, and wrapped at its end. */
function writeInput(state: EncoderState, block: Block, text: string, emit: Emitting): void {
  if (block.progress.whole && block.streams) {
    if (text.trim()) report(state).once('stream.trailing-arguments', block.head.at, 'input')
    return
  }
  block.text += text
  advanceJson(block.progress, text)
  if (!text) return
  if (block.streams) writeDelta(block, { type: 'input_json_delta', partial_json: text }, emit)
  else if (block.text.trimStart().startsWith('{')) {
    block.streams = true
    writeDelta(block, { type: 'input_json_delta', partial_json: block.text }, emit)
  }
}

function endPart(state: EncoderState, key: string, final: Part | undefined, emit: Emitting): void {
  const { open } = state
  if (open?.key === key) {
    finalize(state, open, final, emit)
    open.ended = true
    if (isCall(open) && !isWhole(open)) return
    closeOpen(state, emit)
    promote(state, emit)
    return
  }
  const waiting = state.queue.find(({ block }) => block.key === key)
  if (waiting) {
    waiting.block.ended = true
    if (final) waiting.final = final
    return
  }
  const closed = Object.hasOwn(state.closed, key) ? state.closed[key] : undefined
  if (closed && final?.signature && !closed.signature) lateSignature(state, closed, final.signature, emit)
}

/** What the end of a part knows beyond its deltas. */
function finalize(state: EncoderState, block: Block, final: Part | undefined, emit: Emitting): void {
  if (!final) return
  if (final.signature) block.signature = final.signature
  const rest = (whole: string): string | undefined => {
    if (whole.startsWith(block.text)) return whole.slice(block.text.length)
    if (whole.trim() !== block.text.trim()) report(state).add('stream.final-differs', block.head.at)
    return undefined
  }
  switch (final.type) {
    case 'text':
    case 'refusal': {
      const text = rest(final.text)
      if (final.type === 'text')
        for (const citation of (final.citations ?? []).slice(block.citations)) write(state, block, { kind: 'citation', citation }, emit)
      if (text) write(state, block, { kind: 'text', text }, emit)
      return
    }
    case 'tool-call': {
      const text = rest(final.input)
      if (text) write(state, block, { kind: 'input', text }, emit)
      return
    }
    case 'reasoning': {
      block.head = final
      const text = rest(final.segments.map(segment => segment.text).join('\n\n'))
      if (text) {
        startThinking(state, block, emit)
        block.text += text
        writeDelta(block, { type: 'thinking_delta', thinking: text }, emit)
      }
      block.lengths = final.segments.map(segment => segment.text.length)
      return
    }
    default:
      block.head = final
  }
}

/** Ends the open block with all that is still owed for it. */
function closeOpen(state: EncoderState, emit: Emitting): void {
  const block = state.open
  if (!block) return
  const { head, signature } = block
  state.open = undefined
  block.closed = true
  switch (block.kind) {
    case 'text':
      if (head.type === 'refusal') {
        state.seen.refusal = block.text
        if (block.text) report(state).add('refusal.as-text', head.at)
      }
      stop(block, emit)
      if (signature) writeWhole(state, encodeCarrier(signature, block.index === undefined ? undefined : 'prev'), emit)
      return
    case 'thinking':
      closeThinking(state, block, emit)
      return
    case 'redacted':
      if (signature) writeWhole(state, { ...ownKeys(head), type: 'redacted_thinking', data: sealed(block, signature) }, emit)
      else report(state).add('reasoning.unsigned', head.at)
      return
    case 'call':
      closeCall(state, block, emit)
      return
    case 'freeform':
      writeDelta(block, { type: 'input_json_delta', partial_json: '"}' }, emit)
      stop(block, emit)
      if (signature && signature !== head.signature) writeWhole(state, encodeCarrier(signature, 'prev'), emit)
      return
    case 'whole':
      for (const content of encodeParts([signature ? { ...head, signature } : head], replyWriting(report(state), false), 'assistant'))
        writeRaw(state, content, emit)
      return
    case 'none':
      return
    default:
      block.kind satisfies never
  }
}

function stop({ index }: Block, emit: Emitting): void {
  if (index !== undefined) emit({ type: 'content_block_stop', index })
}

function sealed({ head, lengths }: Block, signature: Signature): string {
  const id = head.type === 'reasoning' ? head.id : undefined
  const cut = lengths.length > 1 ? lengths : undefined
  return signature.issuer === name && !cut && id === undefined ? signature.value : wrapSignature({ signature, ...defined({ id, lengths: cut }) })
}

function closeThinking(state: EncoderState, block: Block, emit: Emitting): void {
  const { signature, lengths, head } = block
  if (signature && block.index === undefined && head.type === 'reasoning' && head.redacted) {
    writeWhole(state, { ...ownKeys(head), type: 'redacted_thinking', data: sealed(block, signature) }, emit)
    return
  }
  if (signature) {
    startThinking(state, block, emit)
    writeDelta(block, { type: 'signature_delta', signature: sealed(block, signature) }, emit)
  } else if (block.index !== undefined) {
    report(state).once('reasoning.signature-empty', '/content')
    if (lengths.length > 1) report(state).add('reasoning.joined', head.at)
  }
  stop(block, emit)
}

function closeCall(state: EncoderState, block: Block, emit: Emitting): void {
  const { head, signature } = block
  const text = block.text.trim()
  if (text && !text.startsWith('{')) {
    report(state).add('tool-call.input', head.at, 'input')
    if (!isNull(text)) writeDelta(block, { type: 'input_json_delta', partial_json: JSON.stringify({ __raw: block.text }) }, emit)
  } else if (text && !parseObject(text)) {
    fail(state, { status: 502, kind: 'internal', message: 'the arguments of a tool call are not JSON' }, emit)
    return
  }
  stop(block, emit)
  state.closed[block.key] = { ...block, text: '' }
  if (signature && signature !== head.signature) writeWhole(state, encodeCarrier(signature, 'prev'), emit)
}

/** A block that comes whole; the input of a tool that the provider ran is streamed like that of any other. */
function writeRaw(state: EncoderState, content: MessagesRawBlock, emit: Emitting): void {
  const { input } = content
  if (!content.type.endsWith('_use') || !isObject(input) || Object.keys(input).length === 0) {
    writeWhole(state, content, emit)
    return
  }
  const index = state.nextIndex++
  emit({ type: 'content_block_start', index, content_block: { ...content, input: {} } })
  emit({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } })
  emit({ type: 'content_block_stop', index })
}

/** The next parts that waited, until one of them is still open. */
function promote(state: EncoderState, emit: Emitting): void {
  while (!state.open && !isDone(state)) {
    const next = state.queue.shift()
    if (!next) return
    const { block, deltas, final } = next
    openBlock(state, block, emit)
    for (const delta of deltas) write(state, block, delta, emit)
    if (block.ended) finalize(state, block, final, emit)
    const due = block.ended ? !isCall(block) || isWhole(block) : isComplete(block) && state.queue.length > 0
    if (!due) return
    closeOpen(state, emit)
  }
}
