import type { Delta } from '../../../canonical/event.ts'
import type { Place, Signature } from '../../../canonical/message.ts'
import { defined } from '../../../kit/fields/defined.ts'
import { isObject, parseObject } from '../../../kit/json/json.ts'
import {
  addInput,
  addReasoning,
  addToHead,
  type Block,
  takeFields,
} from '../../../kit/stream/blocks.ts'
import { isNullInput } from '../../../kit/tools/object-input.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import { encodeCitation } from '../content/citations.ts'
import { encodeParts } from '../content/content.ts'
import { encodeCarrier, phaseBlock, seal } from '../content/reasoning.ts'
import { marked } from '../content/writing.ts'
import { ownOf, protocolName, wireOf } from '../own.ts'
import { responseCallId, responseWriting } from '../response/response.ts'
import type { MessagesDelta, MessagesWrittenBlock, MessagesWrittenBlockOf } from '../schema.ts'
import { isCaller } from '../vocabulary.ts'
import { type EmitWire, type EncoderState, failByInput, reportOf } from './encoder-state.ts'

/** Writes the one open block of a stream: its start, its deltas and its end. */

export function openBlock(state: EncoderState, block: Block, emit: EmitWire): void {
  state.open = block
  const { head } = block
  const report = reportOf(state)
  if (head.type === 'tool-call') {
    if (head.signature)
      writeWhole(state, encodeCarrier({ signature: head.signature }, 'next'), emit)
    if (block.kind === 'freeform') report.add('freeform.wrapped', head.at)
    report.onceEach('message.envelope', head.at, { itemId: head.itemId, status: head.status })
    report.ext(head.ext, head.at)
    const { caller, toolset, async } = head
    report.rest({ async }, head.at)
    if (!isCaller(caller)) report.add('field.unsupported', head.at, 'caller')
    const call = wireOf<MessagesWrittenBlockOf<'tool_use'>>(
      {
        type: 'tool_use',
        id: responseCallId(head.id, head.at, report),
        name: responseToolName(head.name, head.namespace, head.at, report),
        input: {},
        caller: (isCaller(caller) ? caller : undefined) ?? { type: 'direct' },
        toolset_name: toolset,
      },
      head.ext,
    )
    startBlock(state, block, marked(call, head, responseWriting(report)), emit)
    if (block.kind === 'freeform')
      writeDelta(block, { type: 'input_json_delta', partial_json: '{"input":"' }, emit)
  } else if (head.type === 'media')
    report.add(block.kind === 'text' ? 'media.transcript' : 'media.unsupported', head.at)
  else if (block.kind === 'text' || block.kind === 'reasoning' || block.kind === 'redacted')
    report.ext(head.ext, head.at)
}

/** Writes `content_block_start`, once. */
function startBlock(
  state: EncoderState,
  block: Block,
  content: MessagesWrittenBlock,
  emit: EmitWire,
): void {
  if (block.index !== undefined) return
  writeCarriers(state, emit)
  const { head } = block
  if ((head.type === 'text' || head.type === 'refusal') && head.phase)
    writeBlock(state, phaseBlock(head.phase), emit)
  if (content['type'] === 'text') state.seen.text = true
  block.index = state.nextIndex++
  emit({ type: 'content_block_start', index: block.index, content_block: content })
}

/** `canonical`: the canonical delta with the unknown keys to write, if it was made from one. */
function writeDelta(
  { index }: Block,
  delta: MessagesDelta,
  emit: EmitWire,
  canonical?: Delta,
): void {
  if (index !== undefined)
    emit({
      type: 'content_block_delta',
      index,
      delta: wireOf<MessagesDelta>(delta, canonical?.ext),
    })
}

/**
 * Writes a block without deltas. `at`: path of its part. With `lastSignature: 'drop'` a carrier block after a text waits until another
 * block follows, because a response without calls must not end in it.
 */
export function writeWhole(
  state: EncoderState,
  content: MessagesWrittenBlock,
  emit: EmitWire,
  at?: Place,
): void {
  const mayBeLast = state.lastSignature === 'drop' && state.seen.text && !state.seen.calls
  if (mayBeLast && content['type'] === 'redacted_thinking')
    state.carriers.push({ raw: content, ...defined({ at }) })
  else {
    writeCarriers(state, emit)
    writeBlock(state, content, emit)
  }
}

function writeCarriers(state: EncoderState, emit: EmitWire): void {
  for (const { raw } of state.carriers.splice(0)) writeBlock(state, raw, emit)
}

function writeBlock(state: EncoderState, content: MessagesWrittenBlock, emit: EmitWire): void {
  const index = state.nextIndex++
  emit({ type: 'content_block_start', index, content_block: content })
  emit({ type: 'content_block_stop', index })
}

/** Writes a delta of the open block. */
export function write(state: EncoderState, block: Block, delta: Delta, emit: EmitWire): void {
  const { kind } = block
  if (delta.ext) reportOf(state).ext(delta.ext, delta.at)
  switch (delta.kind) {
    case 'text':
      if (kind === 'text' && (delta.text || delta.ext)) {
        if (block.index === undefined) startBlock(state, block, textStart(state, block), emit)
        block.text += delta.text
        writeDelta(block, { type: 'text_delta', text: delta.text }, emit, delta)
      }
      return
    case 'citation':
      if (kind === 'text') writeCitation(state, block, delta, emit)
      return
    case 'reasoning':
      if (kind === 'redacted' && delta.text) block.kind = 'reasoning'
      if (block.kind === 'reasoning') writeReasoning(state, block, delta, emit)
      return
    case 'input':
      if (kind === 'freeform') {
        block.text += delta.text
        if (delta.text)
          writeDelta(
            block,
            { type: 'input_json_delta', partial_json: JSON.stringify(delta.text).slice(1, -1) },
            emit,
          )
      } else if (kind === 'call') writeInput(state, block, delta, emit)
      return
    case 'signature':
      block.signature = delta.signature
      if (delta.ext) block.signatureFields = ownOf(delta.ext) ?? {}
      return
    case 'logprobs':
      reportOf(state).once('field.unsupported', block.head.at, 'logprobs')
      return
    case 'media':
      return
    case 'fields':
      takeFields(block, delta)
      return
    case 'whole':
      takeWhole(state, block, delta)
      return
    default:
      delta satisfies never
  }
}

function textStart(state: EncoderState, { head }: Block): MessagesWrittenBlockOf<'text'> {
  const text: MessagesWrittenBlockOf<'text'> = { type: 'text', text: '' }
  return head.type === 'text'
    ? marked(wireOf<typeof text>(text, head.ext), head, responseWriting(reportOf(state)))
    : text
}

function writeCitation(
  state: EncoderState,
  block: Block,
  delta: Extract<Delta, { kind: 'citation' }>,
  emit: EmitWire,
): void {
  const { citation } = delta
  const [wire] = encodeCitation(citation)
  const report = reportOf(state)
  if (!wire) {
    report.add('citation.foreign', block.head.at, 'citations')
    return
  }
  if (citation.protocol !== protocolName) {
    if (citation.start !== undefined || citation.end !== undefined)
      report.once('citation.span', block.head.at, 'citations')
    report.once('citation.encrypted-index', '/content')
  }
  startBlock(state, block, textStart(state, block), emit)
  writeDelta(block, { type: 'citations_delta', citation: wire }, emit, delta)
}

function writeReasoning(
  state: EncoderState,
  block: Block,
  delta: Extract<Delta, { kind: 'reasoning' }>,
  emit: EmitWire,
): void {
  const added = addReasoning(block, delta)
  if (!added && !delta.ext) return
  if (block.index === undefined) startThinking(state, block, emit)
  block.text += added
  writeDelta(block, { type: 'thinking_delta', thinking: added }, emit, delta)
}

function startThinking(state: EncoderState, block: Block, emit: EmitWire): void {
  if (block.index === undefined) block.nth = state.reasoning++
  startBlock(
    state,
    block,
    wireOf<MessagesWrittenBlockOf<'thinking'>>(
      { type: 'thinking', thinking: '', signature: '' },
      block.head.ext,
    ),
    emit,
  )
}

function writeInput(
  state: EncoderState,
  block: Block,
  delta: Extract<Delta, { kind: 'input' }>,
  emit: EmitWire,
): void {
  const { written, trailing } = addInput(block, delta)
  if (trailing.trim()) reportOf(state).once('stream.trailing-arguments', block.head.at, 'input')
  if (written !== undefined)
    writeDelta(block, { type: 'input_json_delta', partial_json: written }, emit, delta)
}

/** Replaces a part without deltas. Its unknown keys are noted when it is written, if it is. */
function takeWhole(
  state: EncoderState,
  block: Block,
  delta: Extract<Delta, { kind: 'whole' }>,
): void {
  const { whole } = delta
  addToHead(block, delta)
  if (block.kind !== 'whole' && block.kind !== 'none') reportOf(state).ext(whole.ext, block.head.at)
  if (whole.signature) block.signature = whole.signature
}

/** Closes the open block, and writes its signature and what was held back. */
export function closeOpen(state: EncoderState, emit: EmitWire): void {
  const block = state.open
  if (!block) return
  const { head, signature } = block
  state.open = undefined
  switch (block.kind) {
    case 'text':
      if (head.type === 'refusal') {
        state.seen.refusal ??= { text: block.text, ...defined({ at: head.at }) }
        if (block.text) reportOf(state).add('refusal.as-text', head.at)
      }
      if (head.cache && head.type === 'text' && block.index === undefined)
        reportOf(state).add('text.blank', head.at)
      stop(block, emit)
      if (signature) writeWhole(state, encodeCarrier({ signature }, attachOf(block)), emit, head.at)
      return
    case 'reasoning':
      closeThinking(state, block, emit)
      return
    case 'redacted':
      if (signature) writeRedacted(state, block, signature, emit)
      else reportOf(state).add('reasoning.unsigned', head.at)
      return
    case 'call':
      closeCall(state, block, emit)
      return
    case 'freeform':
      writeDelta(block, { type: 'input_json_delta', partial_json: '"}' }, emit)
      stop(block, emit)
      if (signature && signature !== head.signature)
        writeWhole(state, encodeCarrier({ signature }, 'prev'), emit)
      return
    case 'whole': {
      const writing = responseWriting(reportOf(state))
      for (const content of encodeParts(
        [signature ? { ...head, signature } : head],
        writing,
        'assistant',
      )) {
        writing.report.resolvePending(content, '/content_block')
        writeRaw(state, content, emit, head.at)
      }
      return
    }
    case 'none':
      return
    default:
      block.kind satisfies never
  }
}

/** What the signature behind a text belongs to: the block before it, or a text that was too empty to be written. */
function attachOf({ index, head }: Block): string | undefined {
  if (index !== undefined) return 'prev'
  return head.type === 'text' ? 'text' : undefined
}

function stop({ index }: Block, emit: EmitWire): void {
  if (index !== undefined) emit({ type: 'content_block_stop', index })
}

function sealed({ head, segments }: Block, signature: Signature): string {
  return seal(signature, head.type === 'reasoning' ? head.id : undefined, segments)
}

function closeThinking(state: EncoderState, block: Block, emit: EmitWire): void {
  const { signature, segments, head } = block
  if (signature && block.index === undefined && head.type === 'reasoning' && head.redacted) {
    writeRedacted(state, block, signature, emit)
    return
  }
  if (signature) {
    startThinking(state, block, emit)
    writeDelta(
      block,
      { ...block.signatureFields, type: 'signature_delta', signature: sealed(block, signature) },
      emit,
    )
  } else {
    if (head.type === 'reasoning')
      reportOf(state).onceEach('message.envelope', head.at, { itemId: head.id })
    if (block.index === undefined) return
    state.unsigned = true
    if (segments.length > 1) reportOf(state).add('reasoning.joined', head.at)
  }
  if (!signature?.value) state.closed[block.key] = { ...block, text: '' }
  stop(block, emit)
}

function writeRedacted(
  state: EncoderState,
  block: Block,
  signature: Signature,
  emit: EmitWire,
): void {
  state.reasoning++
  writeWhole(
    state,
    wireOf<MessagesWrittenBlockOf<'redacted_thinking'>>(
      { type: 'redacted_thinking', data: sealed(block, signature) },
      block.head.ext,
    ),
    emit,
    block.head.at,
  )
}

function closeCall(state: EncoderState, block: Block, emit: EmitWire): void {
  const { head, signature } = block
  const text = block.text.trim()
  if (text && !text.startsWith('{')) {
    reportOf(state).add('tool-call.input', head.at, 'input')
    if (!isNullInput(text))
      writeDelta(
        block,
        { type: 'input_json_delta', partial_json: JSON.stringify({ __raw: block.text }) },
        emit,
      )
  } else if (text && !parseObject(text)) {
    failByInput(state, 'JSON', emit)
    return
  }
  if (!text) writeDelta(block, { type: 'input_json_delta', partial_json: '{}' }, emit)
  stop(block, emit)
  state.closed[block.key] = { ...block, text: '' }
  if (signature && signature !== head.signature)
    writeWhole(state, encodeCarrier({ signature }, 'prev'), emit)
}

/** Writes a block that was encoded whole. The input of a tool that the provider ran comes as a delta, as for any tool. */
function writeRaw(
  state: EncoderState,
  content: MessagesWrittenBlock,
  emit: EmitWire,
  at: Place | undefined,
): void {
  const input = 'input' in content && content.type.endsWith('_use') ? content.input : undefined
  if (!('input' in content) || !isObject(input) || Object.keys(input).length === 0) {
    writeWhole(state, content, emit, at)
    return
  }
  writeCarriers(state, emit)
  const index = state.nextIndex++
  emit({ type: 'content_block_start', index, content_block: { ...content, input: {} } })
  emit({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  })
  emit({ type: 'content_block_stop', index })
}
