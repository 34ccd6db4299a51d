import type {
  Message,
  OpaquePart,
  Part,
  Place,
  SearchResultPart,
  TextPart,
} from '../../../canonical/message.ts'
import { rawOf, withoutPlace } from '../../../kit/conversation/without-place.ts'
import { decodeEnabled, unknownOfEnabled } from '../../../kit/fields/enabled.ts'
import { keysOf, unknownInList, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writtenRefusal, writtenResult, writtenText } from '../../../kit/fields/written.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { accepts } from '../../../kit/schema/guard.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { partsOfBlocks } from '../../../kit/signatures/block-parts.ts'
import { carrier } from '../../../kit/signatures/carried.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { blockOf, keep, keepBoth, ownUnder, protocolName, wireOf, withInner } from '../own.ts'
import { ConverseBlock, type ConverseBlockOf, type ConverseInside, isBlockOf } from '../schema.ts'
import type { ConverseWrittenBlock } from '../written.ts'
import { markBefore, noteCache } from './cache.ts'
import { decodeCall, decodeResult, encodeCall, encodeResult } from './calls.ts'
import { decodeCitation, encodeCited, unknownOfCitation } from './citations.ts'
import { decodeMedia, encodeMedia } from './media.ts'
import {
  carrierOf,
  decodeReasoningBlock,
  encodeCarrier,
  encodeReasoning,
  phaseBlock,
} from './reasoning.ts'
import type { Reading, Writing } from './writing.ts'

// ---- wire → canonical

/** Content of a message, of a tool result or of a response. `list`: the key of the list. */
export function decodeContent(
  content: readonly ConverseBlock[] | null | undefined,
  at: Place,
  reading: Reading,
  list = 'content',
): Part[] {
  if (!content) return []
  return partsOfBlocks(content, at, {
    report: reading.report,
    carrierOf,
    isCall: block => block['toolUse'] != null,
    decode(block, here, index, parts) {
      const before = parts.at(-1)
      const isMark =
        before &&
        isBlockOf(block, 'cachePoint') &&
        markBefore(
          before,
          block,
          { pointer: pointerOf(before.at ?? here), list, index },
          reading.names,
        )
      return isMark ? undefined : decodeBlock(block, here, reading)
    },
  })
}

/**
 * Decodes a block that `ConverseBlock` has checked. The first known key that is not null is its
 * kind.
 */
export function decodeBlock(block: ConverseBlock, at: Place, reading: Reading): Part {
  if (isBlockOf(block, 'text'))
    return keep<TextPart>({ type: 'text', text: block.text, at }, unknownOf(block, textKeys))
  if (isBlockOf(block, 'toolUse')) return decodeCall(block, at, reading)
  if (isBlockOf(block, 'toolResult'))
    return decodeResult(block, at, reading.isResponse, (content, inside) =>
      decodeContent(content, inside, reading),
    )
  if (isBlockOf(block, 'reasoningContent'))
    return (
      decodeReasoningBlock(block, below(at, 'reasoningContent'), reading.family) ??
      opaque(block, at)
    )
  if (isBlockOf(block, 'image')) return decodeMedia(block, 'image', block.image, at)
  if (isBlockOf(block, 'document')) return decodeMedia(block, 'document', block.document, at)
  if (isBlockOf(block, 'video')) return decodeMedia(block, 'video', block.video, at)
  if (isBlockOf(block, 'audio')) return decodeMedia(block, 'audio', block.audio, at)
  if (isBlockOf(block, 'citationsContent')) return decodeCited(block, at)
  if (isBlockOf(block, 'searchResult')) return decodeSearchResult(block, at)
  if (isBlockOf(block, 'json'))
    return keepBoth<TextPart>(
      { type: 'text', text: writeExact(block.json), at: below(at, 'json') },
      undefined,
      unknownOf(block, jsonKeys),
    )
  if (isBlockOf(block, 'guardContent')) return { ...opaque(block, at), ...guardedIn(block, at) }
  for (const control of ['toolAddition', 'toolRemoval'] as const)
    if (isBlockOf(block, control))
      return {
        type: 'control',
        control: control === 'toolAddition' ? 'tool-addition' : 'tool-removal',
        protocol: protocolName,
        raw: block,
        at,
      }
  return opaque(block, at)
}

/** The text or image that a guardrail is to check. */
function guardedIn(
  { guardContent: { text, image } }: ConverseBlockOf<'guardContent'>,
  at: Place,
): Pick<OpaquePart, 'plain'> {
  const inside = below(at, 'guardContent')
  if (isObject(text) && typeof text['text'] === 'string')
    return { plain: { type: 'text', text: text['text'], at: inside } }
  const block = { image }
  if (!accepts(ConverseBlock, block) || !isBlockOf(block, 'image')) return {}
  const plain = decodeMedia(block, 'image', block.image, inside)
  return plain.type === 'media' ? { plain } : {}
}

const opaque = (raw: ConverseBlock, at: Place): OpaquePart => ({
  type: 'opaque',
  protocol: protocolName,
  raw,
  at,
})

const textKeys = keysOf<ConverseBlockOf<'text'>>()('text')
const jsonKeys = keysOf<ConverseBlockOf<'json'>>()('json')
const citedBlockKeys = keysOf<ConverseBlockOf<'citationsContent'>>()('citationsContent')
const citedKeys = keysOf<ConverseInside<'citationsContent'>>()('content citations')
const foundBlockKeys = keysOf<ConverseBlockOf<'searchResult'>>()('searchResult')
const foundKeys = keysOf<ConverseInside<'searchResult'>>()('source title content citations')

function decodeCited(block: ConverseBlockOf<'citationsContent'>, at: Place): TextPart {
  const { content, citations } = block.citationsContent
  const part: TextPart = {
    type: 'text',
    text: content?.map(({ text }) => text ?? '').join('') ?? '',
    at: below(at, 'citationsContent'),
  }
  if (citations?.length) part.citations = citations.map(decodeCitation)
  const inContent = unknownInList(content, one => unknownOf(one, textKeys))
  const inside = withInner(
    withInner(unknownOf(block.citationsContent, citedKeys), 'content', inContent),
    'citations',
    unknownInList(citations, unknownOfCitation),
  )
  return keepBoth(part, inside, unknownOf(block, citedBlockKeys))
}

function decodeSearchResult(block: ConverseBlockOf<'searchResult'>, at: Place): SearchResultPart {
  const { source, title, content, citations } = block.searchResult
  const inside = below(at, 'searchResult')
  const parts: Part[] = (content ?? []).map((one, index) =>
    keep<TextPart>(
      { type: 'text', text: one.text ?? '', at: below(below(inside, 'content'), index) },
      unknownOf(one, textKeys),
    ),
  )
  const part: SearchResultPart = omitUndefined({
    type: 'search-result' as const,
    source,
    title,
    parts,
    citations: decodeEnabled(citations),
    at: inside,
  })
  return keepBoth(
    part,
    withInner(unknownOf(block.searchResult, foundKeys), 'citations', unknownOfEnabled(citations)),
    unknownOf(block, foundBlockKeys),
  )
}

// ---- canonical → wire

/** Parts of one message → blocks. Blank text is left out, unless it came from this protocol. */
export function encodeParts(
  parts: readonly Part[],
  writing: Writing,
  role: Message['role'],
): ConverseWrittenBlock[] {
  return flatMap(parts, part => encodeWithCarrier(part, writing, role))
}

/** The blocks of a part, with a carrier block for a signature that has no place on them. */
export function encodeWithCarrier(
  part: Part,
  writing: Writing,
  role: Message['role'],
): ConverseWrittenBlock[] {
  const blocks = encodePart(part, writing, role)
  if (part.type === 'reasoning') return blocks
  const carried = carrier(part, writing, encodeCarrier)
  if (!carried) return blocks
  // The signature of a part without blocks becomes a block of its own, except that of media.
  if (part.type === 'media' && blocks.length === 0) return []
  if (part.type !== 'text') return blocks.length === 0 ? [carried()] : [carried('next'), ...blocks]
  return [...blocks, carried(blocks.length === 0 ? 'text' : 'prev')]
}

export function encodePart(
  part: Part,
  writing: Writing,
  role: Message['role'],
): ConverseWrittenBlock[] {
  const { report } = writing
  const write = (parts: readonly Part[]) => encodeParts(parts, writing, 'user')
  if (writing.to === 'client') noteCache(part, report)
  switch (part.type) {
    case 'text':
      return encodeText(part, writing, role)
    case 'refusal': {
      const { text, phase, at } = part
      report.node(part, writtenRefusal)
      if (!text.trim() && (!text || writing.to === 'provider')) return []
      report.add('refusal.as-text', at)
      return [...(phase && writing.opens ? [phaseBlock(phase)] : []), { text }]
    }
    case 'reasoning':
      if (writing.native || role === 'assistant') return encodeReasoning(part, writing)
      report.add('part.unsupported', part.at)
      return []
    case 'tool-call':
      return [encodeCall(part, writing)]
    case 'tool-result':
      if (writing.to === 'provider')
        return [encodeResult(part, encodeParts(part.content, writing, 'tool'), writing)]
      report.add('part.unsupported', part.at)
      return []
    case 'media':
      return encodeMedia(part, role, writing, write)
    case 'search-result':
      return [encodeSearchResult(part, writing, write)]
    case 'server-tool':
    case 'control':
    case 'opaque': {
      const raw = rawOf(part, protocolName)
      if (raw) return [asRead(raw)]
      if (part.type === 'server-tool' && part.image && writing.to === 'client') {
        report.add('server-tool.image-only', part.at)
        return encodeMedia(part.image, role, writing, write)
      }
      withoutPlace(part, writing)
      return []
    }
    default:
      return part satisfies never
  }
}

function encodeText(
  part: TextPart,
  writing: Writing,
  role: Message['role'],
): ConverseWrittenBlock[] {
  const { report, native, to, opens } = writing
  const { text, citations, cache, signature, phase, at, ext } = part
  report.node(part, writtenText)
  if (phase && !opens) report.rest({ phase }, at)
  // An empty text with a signature is that of a carrier block: only the carrier is written again.
  if (native && !text && signature) return []
  const cited = citations?.length ? citations : undefined
  if (!native && !text.trim() && (!text || to === 'provider')) {
    // Leaving out an empty text loses nothing, unless it is an instruction or has a cache mark.
    const written = cited && to === 'client' ? encodeCited(part, report) : []
    if (written.length === 0 && (text || role === 'system' || cache)) report.add('text.blank', at)
    if (to === 'provider')
      for (const _citation of cited ?? []) report.add('citation.foreign', at, 'citations')
    return written
  }
  const front = phase && opens && text ? [phaseBlock(phase)] : []
  const taken = to === 'client' ? cited : cited?.filter(({ protocol }) => protocol === protocolName)
  if (cited && taken?.length !== cited.length)
    for (let i = taken?.length ?? 0; i < cited.length; i++)
      report.add('citation.foreign', at, 'citations')
  if (!taken?.length) return [...front, wireOf<ConverseWrittenBlock>({ text }, ext)]
  return [...front, ...encodeCited({ ...part, citations: taken }, report)]
}

function encodeSearchResult(
  part: SearchResultPart,
  { report }: Writing,
  write: (parts: readonly Part[]) => ConverseWrittenBlock[],
): ConverseWrittenBlock {
  const { source, title, parts, citations, ext } = part
  report.node(part, writtenResult)
  const content = flatMap(write(parts), ({ text }) => (text === undefined ? [] : [{ text }]))
  for (const inner of parts) if (inner.type !== 'text') report.add('part.unsupported', inner.at)
  const own = citations && { ...ownUnder(ext, 'citations'), ...citations }
  return blockOf<ConverseWrittenBlock, 'searchResult'>(
    'searchResult',
    { source, title, content, citations: own },
    ext,
  )
}
