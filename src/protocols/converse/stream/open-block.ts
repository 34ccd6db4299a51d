import type { Delta } from '../../../canonical/event.ts'
import type { Place, Signature } from '../../../canonical/message.ts'
import { isObject, type JsonObject, parseObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import {
  addInput,
  addReasoning,
  addToHead,
  type Block,
  takeFields,
} from '../../../kit/stream/blocks.ts'
import { isNullInput } from '../../../kit/tools/object-input.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import { encodeCitation, saysMore } from '../content/citations.ts'
import { encodeParts } from '../content/content.ts'
import { encodeCarrier, phaseBlock, seal, sealBlob } from '../content/reasoning.ts'
import { blockOf, ownOf, protocolName, wireOf } from '../own.ts'
import { responseCallId } from '../response/response.ts'
import type { ConverseDelta, ConverseStart, ConverseWrittenBlock } from '../schema.ts'
import {
  type EmitWire,
  type EncoderState,
  failByInput,
  noteOwn,
  reportOf,
  writingOf,
} from './encoder-state.ts'

/** Writes the one open block of a stream: its start, its deltas and its end. */

export function openBlock(state: EncoderState, block: Block, emit: EmitWire): void {
  state.open = block
  const { head } = block
  const report = reportOf(state)
  if (head.cache && head.type !== 'tool-call' && block.kind !== 'whole')
    report.add('cache.unsupported', head.at, 'cache')
  if (head.type === 'tool-call') {
    if (head.signature)
      writeBlock(state, encodeCarrier({ signature: head.signature }, 'next'), emit)
    if (block.kind === 'freeform') report.add('freeform.wrapped', head.at)
    const { itemId, status, caller, toolset, async, cache, at, ext } = head
    report.onceEach('message.envelope', at, { itemId, status })
    report.ext(ext, at)
    report.rest({ async, caller, toolset }, at)
    if (cache) report.add('cache.unsupported', at, 'cache')
    const call = {
      toolUseId: responseCallId(head.id, at, report),
      name: responseToolName(head.name, head.namespace, at, report),
    }
    block.index = state.nextIndex++
    emit({
      contentBlockStart: {
        contentBlockIndex: block.index,
        start: blockOf<ConverseStart, 'toolUse'>('toolUse', call, ext),
      },
    })
    if (block.kind === 'freeform') writeDelta(block, { toolUse: { input: '{"input":"' } }, emit)
  } else if (head.type === 'media' && block.kind === 'text') report.add('media.transcript', head.at)
  else if (block.kind === 'text' || block.kind === 'reasoning' || block.kind === 'redacted') {
    report.ext(head.ext, head.at)
    noteOwn(state, head.ext, head.at)
  }
}

/** Begins a block of text or reasoning, once. These have no event for it: their first delta opens them. */
function beginBlock(state: EncoderState, block: Block, emit: EmitWire): void {
  if (block.index !== undefined) return
  const { head } = block
  if ((head.type === 'text' || head.type === 'refusal') && head.phase)
    writeBlock(state, phaseBlock(head.phase), emit)
  if (block.kind === 'text') state.seen.text = true
  block.index = state.nextIndex++
}

/** `source`: the canonical delta with the unknown keys to write, if it was made from one. */
function writeDelta({ index }: Block, delta: ConverseDelta, emit: EmitWire, source?: Delta): void {
  if (index !== undefined)
    emit({
      contentBlockDelta: {
        contentBlockIndex: index,
        delta: wireOf<ConverseDelta>(delta, source?.ext),
      },
    })
}

/** Writes a block that is complete. Blocks of kinds that no event can hold are left out. */
export function writeBlock(
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
      deltas: [{ toolUse: { input: isObject(input) ? JSON.stringify(input) : '' } }],
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

/** Writes a delta of the open block. */
export function write(state: EncoderState, block: Block, delta: Delta, emit: EmitWire): void {
  const { kind } = block
  if (delta.ext) reportOf(state).ext(delta.ext, delta.at)
  switch (delta.kind) {
    case 'text':
      if (kind === 'text' && (delta.text || delta.ext)) {
        beginBlock(state, block, emit)
        block.text += delta.text
        writeDelta(block, { text: delta.text }, emit, delta)
      } else if (kind === 'whole') addToHead(block, delta)
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
          writeDelta(block, { toolUse: { input: JSON.stringify(delta.text).slice(1, -1) } }, emit)
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
      if (kind === 'whole') addToHead(block, delta)
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
  if (saysMore(citation, [wire])) report.add('citation.approximated', block.head.at, 'citations')
  else if (
    citation.protocol !== protocolName &&
    (citation.start !== undefined || citation.end !== undefined)
  )
    report.once('citation.span', block.head.at, 'citations')
  beginBlock(state, block, emit)
  // It has its unknown keys already.
  writeDelta(block, { citation: wire }, emit)
}

function writeReasoning(
  state: EncoderState,
  block: Block,
  delta: Extract<Delta, { kind: 'reasoning' }>,
  emit: EmitWire,
): void {
  const added = addReasoning(block, delta)
  if (!added && !delta.ext) return
  beginReasoning(state, block, emit)
  block.text += added
  writeDelta(block, { reasoningContent: { text: added } }, emit, delta)
}

function beginReasoning(state: EncoderState, block: Block, emit: EmitWire): void {
  if (block.index === undefined) block.nth = state.reasoningCount++
  beginBlock(state, block, emit)
}

function writeInput(
  state: EncoderState,
  block: Block,
  delta: Extract<Delta, { kind: 'input' }>,
  emit: EmitWire,
): void {
  const { written, trailing } = addInput(block, delta)
  if (trailing.trim()) reportOf(state).once('stream.trailing-arguments', block.head.at, 'input')
  if (written !== undefined) writeDelta(block, { toolUse: { input: written } }, emit, delta)
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
      if (head.type === 'refusal' && block.text) reportOf(state).add('refusal.as-text', head.at)
      if (head.cache && head.type === 'text' && block.index === undefined)
        reportOf(state).add('text.blank', head.at)
      stop(block, emit)
      // As in a whole response: media that is left out takes its signature with it.
      if (signature && (block.index !== undefined || head.type !== 'media'))
        writeBlock(state, encodeCarrier({ signature }, attachOf(block)), emit)
      return
    case 'reasoning':
      closeReasoning(state, block, emit)
      return
    case 'redacted':
      if (signature) writeRedacted(state, block, signature, emit)
      else if (head.type === 'reasoning')
        reportOf(state).onceEach('message.envelope', head.at, { itemId: head.id })
      return
    case 'call':
      closeCall(state, block, emit)
      return
    case 'freeform':
      writeDelta(block, { toolUse: { input: '"}' } }, emit)
      stop(block, emit)
      if (signature && signature !== head.signature)
        writeBlock(state, encodeCarrier({ signature }, 'prev'), emit)
      return
    case 'whole': {
      const writing = writingOf(state)
      for (const content of encodeParts(
        [signature ? { ...head, signature } : head],
        writing,
        'assistant',
      )) {
        writing.report.resolvePending(content)
        writeBlock(state, content, emit, head.at)
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
  if (index !== undefined) emit({ contentBlockStop: { contentBlockIndex: index } })
}

function closeReasoning(state: EncoderState, block: Block, emit: EmitWire): void {
  const { signature, segments, head } = block
  const id = head.type === 'reasoning' ? head.id : undefined
  if (signature && block.index === undefined && head.type === 'reasoning' && head.redacted) {
    writeRedacted(state, block, signature, emit)
    return
  }
  if (signature) {
    beginReasoning(state, block, emit)
    const sealed: JsonObject & { signature: string } = {
      ...block.signatureFields,
      signature: seal(signature, id, segments, state.family),
    }
    writeDelta(block, { reasoningContent: sealed }, emit)
  } else {
    reportOf(state).onceEach('message.envelope', head.at, { itemId: id })
    if (segments.length > 1) reportOf(state).add('reasoning.joined', head.at)
  }
  if (block.index === undefined) return
  if (!signature?.value) state.closed[block.key] = { ...block, text: '' }
  stop(block, emit)
}

function writeRedacted(
  state: EncoderState,
  { head }: Block,
  signature: Signature,
  emit: EmitWire,
): void {
  state.reasoningCount++
  const redactedContent = sealBlob(
    signature,
    head.type === 'reasoning' ? head.id : undefined,
    state.family,
  )
  writeBlock(state, { reasoningContent: { redactedContent } }, emit, head.at)
}

function closeCall(state: EncoderState, block: Block, emit: EmitWire): void {
  const { head, signature } = block
  const text = block.text.trim()
  if (text && !text.startsWith('{')) {
    reportOf(state).add('tool-call.input', head.at, 'input')
    if (!isNullInput(text))
      writeDelta(block, { toolUse: { input: JSON.stringify({ __raw: block.text }) } }, emit)
  } else if (text && !parseObject(text)) {
    failByInput(state, 'JSON', emit)
    return
  }
  // As from the service: a call without arguments has one empty delta.
  if (!text || isNullInput(text)) writeDelta(block, { toolUse: { input: '' } }, emit)
  stop(block, emit)
  state.closed[block.key] = { ...block, text: '' }
  if (signature && signature !== head.signature)
    writeBlock(state, encodeCarrier({ signature }, 'prev'), emit)
}
