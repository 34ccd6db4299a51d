import type { Citation } from '../../../canonical/message.ts'
import { defined } from '../../../kit/fields/defined.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { isOffset } from '../../../kit/text/text.ts'
import { protocolName } from '../own.ts'
import type { GeminiGrounding, GeminiGroundingChunk, GeminiGroundingSupport } from '../schema.ts'

/**
 * `groundingMetadata`: sources, and spans of the response that they support. Offsets are UTF-8 bytes in the part at `partIndex`, or
 * if that is absent or 0 in all text of the response, as servers and their clients count.
 */

/** A text of the response. `place`: its index among the parts of the content. */
export type TextAtPart = { text: string; place: number }

/** `textIndex`: the index of the text that the citation belongs to. */
export type Found = { textIndex: number; citation: Citation }

/** `left`: the fields that no citation holds, nested as they were. `rounded`: a span began or ended inside a character. */
export type Grounding = { found: Found[]; left: JsonObject; rounded: boolean }

/** `chunks`: all sources so far; in a stream they come over several events and are indexed across all of them. */
export function decodeGrounding(
  wire: JsonObject,
  textsAtParts: readonly TextAtPart[],
  chunks: readonly unknown[] = listIn(wire, 'groundingChunks'),
): Grounding {
  const { groundingChunks: ownChunks, groundingSupports: ownSupports, ...rest } = wire
  const texts = textsAtParts.map(({ text, place }) => ({
    bytes: new TextEncoder().encode(text),
    place,
  }))
  const found: Found[] = []
  const cited = new Set<number>()
  let rounded = false
  const supports = listIn(wire, 'groundingSupports').map(support => {
    const read = isObject(support) ? readSupport(support, texts, chunks) : undefined
    if (!read) return support
    found.push(...read.found)
    rounded ||= read.rounded
    for (const index of read.cited) cited.add(index)
    return read.left
  })
  const before = chunks.length - listIn(wire, 'groundingChunks').length
  const sources = listIn(wire, 'groundingChunks').map((chunk, place) =>
    cited.has(before + place) ? leftOfSource(chunk) : chunk,
  )
  return {
    found,
    left: {
      ...rest,
      ...defined({
        groundingChunks: leftOfList(sources, ownChunks),
        groundingSupports: leftOfList(supports, ownSupports),
      }),
    },
    rounded,
  }
}

/** What is left of a list, or what `own`, the field as it came, is instead of one. */
function leftOfList(left: unknown[], own: unknown): unknown {
  if (left.some(saysSomething)) return left
  return Array.isArray(own) || own == null ? undefined : own
}

export function listIn(wire: JsonObject, key: string): unknown[] {
  const list = wire[key]
  return Array.isArray(list) ? list : []
}

const saysSomething = (value: unknown) => !isObject(value) || Object.keys(value).length > 0

type Bytes = { bytes: Uint8Array; place: number }
type Support = { found: Found[]; cited: number[]; left: JsonObject; rounded: boolean }

/** Undefined: it cannot be read as citations. */
function readSupport(
  { segment, groundingChunkIndices: indices, ...more }: JsonObject,
  texts: readonly Bytes[],
  chunks: readonly unknown[],
): Support | undefined {
  if (!isObject(segment) || !Array.isArray(indices) || indices.length === 0) return undefined
  const { partIndex, startIndex, endIndex, text, ...beside } = segment
  const place = placeOf({ partIndex, start: startIndex ?? 0, end: endIndex }, texts)
  const sources = indices.map((index: unknown) =>
    typeof index === 'number' ? readSource(chunks[index]) : undefined,
  )
  if (!place || !sources.every(source => source !== undefined)) return undefined
  const { textIndex, start, end } = place
  const { bytes } = texts[textIndex] ?? { bytes: new Uint8Array() }
  const slice = new TextDecoder().decode(bytes.subarray(start, end))
  const span = { start: pointsBefore(bytes, start), end: pointsBefore(bytes, end) }
  const unread = text != null && text !== slice ? { text, ...beside } : beside
  return {
    found: sources.map(source => ({ textIndex, citation: { ...source, ...span } })),
    cited: indices as number[],
    left: {
      ...(Object.keys(unread).length > 0 && { segment: unread }),
      ...more,
    },
    rounded: isInside(bytes, start) || isInside(bytes, end),
  }
}

function placeOf(
  { partIndex, start, end }: { partIndex: unknown; start: unknown; end: unknown },
  texts: readonly Bytes[],
): { textIndex: number; start: number; end: number } | undefined {
  if (!isOffset(start) || !isOffset(end) || start >= end) return undefined
  if (partIndex != null && partIndex !== 0) {
    const textIndex = texts.findIndex(({ place }) => place === partIndex)
    return end <= (texts[textIndex]?.bytes.length ?? 0) ? { textIndex, start, end } : undefined
  }
  let before = 0
  for (const [textIndex, { bytes }] of texts.entries()) {
    if (start < before + bytes.length)
      return end <= before + bytes.length
        ? { textIndex, start: start - before, end: end - before }
        : undefined
    before += bytes.length
  }
  return undefined
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80
const isInside = (bytes: Uint8Array, offset: number) =>
  offset < bytes.length && isContinuation(bytes[offset])

/** Whole code points before a byte. */
function pointsBefore(bytes: Uint8Array, offset: number): number {
  let points = 0
  for (let at = 0; at < offset; at++) if (!isContinuation(bytes[at])) points++
  return isInside(bytes, offset) ? points - 1 : points
}

function readSource(chunk: unknown): Citation | undefined {
  if (!isObject(chunk)) return undefined
  const { web, maps, image, retrievedContext } = chunk
  const place = isObject(web) ? web : maps
  const [page, key] = isObject(place) ? [place, 'uri'] : [image, 'sourceUri']
  if (isObject(page) && typeof page[key] === 'string')
    return {
      kind: 'url',
      url: page[key],
      ...defined({ title: textIn(page, 'title') }),
      protocol: protocolName,
      raw: chunk,
    }
  if (!isObject(retrievedContext)) return undefined
  const [fileId, filename, citedText] = ['uri', 'title', 'text'].map(key =>
    textIn(retrievedContext, key),
  )
  if (fileId === undefined && filename === undefined && citedText === undefined) return undefined
  return {
    kind: 'file',
    ...defined({ fileId, filename, citedText }),
    protocol: protocolName,
    raw: chunk,
  }
}

function leftOfSource(chunk: unknown): unknown {
  if (!isObject(chunk)) return chunk
  const [kind] = ['web', 'maps', 'image', 'retrievedContext'].filter(key => isObject(chunk[key]))
  const source = kind === undefined ? undefined : chunk[kind]
  if (kind === undefined || !isObject(source)) return chunk
  const { [kind]: _, ...more } = chunk
  const inner = { ...source }
  const read =
    kind === 'retrievedContext'
      ? ['uri', 'title', 'text']
      : [kind === 'image' ? 'sourceUri' : 'uri', 'title']
  for (const key of read) if (typeof inner[key] === 'string') delete inner[key]
  return { ...(Object.keys(inner).length > 0 && { [kind]: inner }), ...more }
}

const textIn = (wire: JsonObject, key: string) =>
  typeof wire[key] === 'string' ? wire[key] : undefined

/** How much of a citation cannot be written here. */
export type Loss = 'none' | 'some' | 'all'

/**
 * Texts of a response in order, with their citations → `groundingMetadata`. Undefined: there are no citations. `from`: the length
 * in bytes and the sources that a stream has already written; new sources are added to them.
 */
export function encodeGrounding(
  texts: readonly { text: string; citations: readonly Citation[] }[],
  lost: (text: number, loss: 'some' | 'all') => void,
  from: { bytes: number; sources: string[] } = { bytes: 0, sources: [] },
): GeminiGrounding | undefined {
  if (texts.every(({ citations }) => citations.length === 0)) return undefined
  const chunks: GeminiGroundingChunk[] = []
  const known = from.sources
  const supports: GeminiGroundingSupport[] = []
  let before = from.bytes
  for (const [index, { text, citations }] of texts.entries()) {
    const points = [...text]
    const bytes = (end: number) => new TextEncoder().encode(points.slice(0, end).join('')).length
    const spans: { start: number; end: number; sources: number[] }[] = []
    for (const citation of citations) {
      const { source, loss } = encodeSource(citation)
      if (!source || points.length === 0) {
        lost(index, 'all')
        continue
      }
      const given = {
        start: citation.start ?? 0,
        end: Math.min(citation.end ?? points.length, points.length),
      }
      const isSpan = given.start >= 0 && given.start < given.end
      if (loss === 'some' || !isSpan) lost(index, 'some')
      const { start, end } = isSpan ? given : { start: 0, end: points.length }
      const key = JSON.stringify(source)
      if (!known.includes(key)) {
        known.push(key)
        chunks.push(source)
      }
      const place = known.indexOf(key)
      // A source that is cited twice for the same span gets two supports.
      const span = spans.find(
        one => one.start === start && one.end === end && !one.sources.includes(place),
      )
      if (span) span.sources.push(place)
      else spans.push({ start, end, sources: [place] })
    }
    for (const { start, end, sources } of spans) {
      const startIndex = before + bytes(start)
      supports.push({
        segment: {
          ...(startIndex > 0 && { startIndex }),
          endIndex: before + bytes(end),
          text: points.slice(start, end).join(''),
        },
        groundingChunkIndices: sources,
      })
    }
    before += bytes(points.length)
  }
  return supports.length > 0
    ? { ...(chunks.length > 0 && { groundingChunks: chunks }), groundingSupports: supports }
    : undefined
}

function encodeSource({
  kind,
  url,
  title,
  fileId,
  filename,
  container,
  citedText,
  encrypted,
  index,
  source,
  protocol,
  raw,
}: Citation): {
  source?: GeminiGroundingChunk
  loss: Loss
} {
  if (protocol === protocolName && isObject(raw)) return { source: asRead(raw), loss: 'none' }
  if (kind === 'url' && url !== undefined)
    return {
      source: { web: { uri: url, ...defined({ title }) } },
      loss: citedText !== undefined || encrypted !== undefined ? 'some' : 'none',
    }
  if (kind === 'file' && (fileId ?? filename) !== undefined)
    return {
      source: {
        retrievedContext: defined<{
          uri: string | undefined
          title: string | undefined
          text: string | undefined
        }>({
          uri: fileId,
          title: filename ?? title,
          text: citedText,
        }),
      },
      loss:
        index !== undefined || container !== undefined || source !== undefined ? 'some' : 'none',
    }
  return { loss: 'all' }
}
