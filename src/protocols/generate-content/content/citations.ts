import type { Citation } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { append } from '../../../kit/text/append.ts'
import { isOffset } from '../../../kit/text/text.ts'
import { protocolName } from '../own.ts'
import type {
  GenerateContentGrounding,
  GenerateContentGroundingChunk,
  GenerateContentGroundingSupport,
} from '../written.ts'

/**
 * `groundingMetadata`: sources, and spans of the response that they support. Offsets are UTF-8
 * bytes in the part at `partIndex`, or if that is absent or 0 in all text of the response, as
 * servers and their clients count.
 */

/** `textIndex`: the index of the text that the citation belongs to. */
export type Found = { textIndex: number; citation: Citation }

/**
 * `left`: the fields that no citation holds, nested as they were. `rounded`: a span began or ended
 * inside a character.
 */
type Grounding = { found: Found[]; left: JsonObject; rounded: boolean }

/**
 * `chunks`: all sources so far; in a stream they come over several events and are indexed across
 * all of them.
 */
export function decodeGrounding(
  wire: JsonObject,
  textsAtParts: readonly TextAtPart[],
  chunks: readonly unknown[] = listIn(wire, 'groundingChunks'),
): Grounding {
  const { groundingChunks: ownChunks, groundingSupports: ownSupports, ...rest } = wire
  const supported = listIn(wire, 'groundingSupports')
  const texts = supported.length > 0 ? readTexts(textsAtParts) : []
  const found: Found[] = []
  const cited = new Set<number>()
  let rounded = false
  const supports = supported.map(support => {
    const read = isObject(support) ? readSupport(support, texts, chunks) : undefined
    if (!read) return support
    append(found, read.found)
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
      ...omitUndefined({
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

type Texts = ReturnType<typeof readTexts>
type Support = { found: Found[]; cited: number[]; left: JsonObject; rounded: boolean }

/** Undefined: it cannot be read as citations. */
function readSupport(
  { segment, groundingChunkIndices: indices, ...more }: JsonObject,
  texts: Texts,
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
  const read = texts[textIndex]?.read
  if (!read) return undefined
  const span = { start: pointsBefore(read, start), end: pointsBefore(read, end) }
  const unread = text != null && !isTextOf(text, read.bytes.subarray(start, end))
  const left = unread ? { text, ...beside } : beside
  return {
    found: sources.map(source => ({ textIndex, citation: Object.assign({}, source, span) })),
    cited: indices as number[],
    left: {
      ...(Object.keys(left).length > 0 && { segment: left }),
      ...more,
    },
    rounded: isInside(read, start) || isInside(read, end),
  }
}

/**
 * Are the bytes this text? Bytes that can be no other length are not decoded: a short support may
 * name a very long span.
 */
const isTextOf = (text: unknown, bytes: Uint8Array) =>
  typeof text === 'string' &&
  bytes.length <= 3 * text.length &&
  new TextDecoder().decode(bytes) === text

function placeOf(
  { partIndex, start, end }: { partIndex: unknown; start: unknown; end: unknown },
  texts: Texts,
): { textIndex: number; start: number; end: number } | undefined {
  if (!isOffset(start) || !isOffset(end) || start >= end) return undefined
  if (partIndex != null && partIndex !== 0) {
    const textIndex = lastThat(texts, ({ place }) => place <= Number(partIndex))
    const { place, read } = texts[textIndex] ?? {}
    return place === partIndex && end <= (read?.length ?? 0) ? { textIndex, start, end } : undefined
  }
  const textIndex = lastThat(texts, ({ read }) => (read?.before ?? 0) <= start)
  const { before = 0, length = 0 } = texts[textIndex]?.read ?? {}
  return end <= before + length
    ? { textIndex, start: start - before, end: end - before }
    : undefined
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
      ...omitUndefined({ title: textIn(page, 'title') }),
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
    ...omitUndefined({ fileId, filename, citedText }),
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
type Loss = 'none' | 'some' | 'all'

/**
 * Texts of a response in order, with their citations → `groundingMetadata`. Undefined: there are no
 * citations. `from`: the length in bytes and the places of the sources that a stream has already
 * written; new sources are added to them.
 */
export function encodeGrounding(
  texts: readonly { text: string; citations: readonly Citation[] }[],
  lost: (text: number, loss: 'some' | 'all') => void,
  from: { bytes: number; sources: Map<string, number> } = { bytes: 0, sources: new Map() },
): GenerateContentGrounding | undefined {
  if (texts.every(({ citations }) => citations.length === 0)) return undefined
  const chunks: GenerateContentGroundingChunk[] = []
  const known = from.sources
  const supports: GenerateContentGroundingSupport[] = []
  let before = from.bytes
  for (const [index, { text, citations }] of texts.entries()) {
    if (citations.length === 0) {
      before += new TextEncoder().encode(text).length
      continue
    }
    const { units, bytes } = offsetsOf(text)
    const length = units.length - 1
    const spans: Span[] = []
    const counts = new Map<string, number>()
    for (const citation of citations) {
      const { source, loss } = encodeSource(citation)
      if (!source || length === 0) {
        lost(index, 'all')
        continue
      }
      const given = {
        start: citation.start ?? 0,
        end: Math.min(citation.end ?? length, length),
      }
      const isSpan = given.start >= 0 && given.start < given.end
      if (loss === 'some' || !isSpan) lost(index, 'some')
      const { start, end } = isSpan ? given : { start: 0, end: length }
      const key = JSON.stringify(source)
      if (!known.has(key)) {
        known.set(key, known.size)
        chunks.push(source)
      }
      addSource({ start, end, source: known.get(key) ?? 0 }, spans, counts)
    }
    let room = roomFor(length)
    for (const { start, end, sources } of spans) {
      const startIndex = before + (bytes[start] ?? 0)
      room -= end - start
      if (room < 0) lost(index, 'some')
      supports.push({
        segment: {
          ...(startIndex > 0 && { startIndex }),
          endIndex: before + (bytes[end] ?? 0),
          ...(room >= 0 && { text: text.slice(units[start], units[end]) }),
        },
        groundingChunkIndices: sources,
      })
    }
    before += bytes[length] ?? 0
  }
  return supports.length > 0
    ? { ...(chunks.length > 0 && { groundingChunks: chunks }), groundingSupports: supports }
    : undefined
}

type Span = { start: number; end: number; sources: number[] }

/**
 * Adds a source to its span. One that is cited twice for the same span gets two supports. `spans`
 * and `counts` are changed.
 */
function addSource(
  { start, end, source }: { start: number; end: number; source: number },
  spans: Span[],
  counts: Map<string, number>,
): void {
  const again = `${start} ${end} ${source}`
  const nth = counts.get(again) ?? 0
  counts.set(again, nth + 1)
  const place = `${start} ${end} #${nth}`
  const there = counts.get(place)
  if (there !== undefined) spans[there]?.sources.push(source)
  else {
    counts.set(place, spans.length)
    spans.push({ start, end, sources: [source] })
  }
}

/**
 * How much text the segments may repeat. Many citations of a long text would make it many times as
 * long.
 */
const roomFor = (length: number) => 10_000 + 16 * length

/**
 * Where each code point of a text begins, in UTF-16 units and in bytes of UTF-8. Both end with the
 * length of the text.
 */
function offsetsOf(text: string): { units: number[]; bytes: number[] } {
  const units: number[] = []
  const bytes: number[] = []
  let unit = 0
  let byte = 0
  for (const point of text) {
    units.push(unit)
    bytes.push(byte)
    unit += point.length
    byte += bytesOf(point)
  }
  return { units: [...units, unit], bytes: [...bytes, byte] }
}

/** Half of a pair is written as three bytes. */
function bytesOf(point: string): number {
  const code = point.codePointAt(0) ?? 0
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
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
  source?: GenerateContentGroundingChunk
  loss: Loss
} {
  if (protocol === protocolName && isObject(raw)) return { source: asRead(raw), loss: 'none' }
  if (kind === 'url' && url !== undefined)
    return {
      source: { web: { uri: url, ...omitUndefined({ title }) } },
      loss: citedText !== undefined || encrypted !== undefined ? 'some' : 'none',
    }
  if (kind === 'file' && (fileId ?? filename) !== undefined)
    return {
      source: {
        retrievedContext: omitUndefined<{
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

/**
 * A text of the response, to which offsets of citations refer. `place`: its index among the parts
 * of the content. `fresh`: what a stream has added to it since `read`. Plain data.
 */
export type TextAtPart = { text: string; place: number; fresh?: string[]; read?: TextBytes }

/**
 * A text in UTF-8, in the first `length` bytes. `before`: the bytes of the texts before it.
 * `points`: for each byte, the number of code points that begin before it. They are kept, because
 * each of many citations would count them again.
 */
type TextBytes = { before: number; length: number; bytes: Uint8Array; points: Uint32Array }

const encoder = new TextEncoder()

/** The same texts, read as far as they have come. */
function readTexts(texts: readonly TextAtPart[]): (TextAtPart & { read: TextBytes })[] {
  let first = texts.length
  while (first > 0 && !isRead(texts[first - 1])) first--
  for (let nth = first; nth < texts.length; nth++) {
    const { before = 0, length = 0 } = texts[nth - 1]?.read ?? {}
    const text = texts[nth]
    if (text) readOn(text, before + length)
  }
  return texts as (TextAtPart & { read: TextBytes })[]
}

const isRead = (text: TextAtPart | undefined) => text?.read && !text.fresh?.length

function readOn(text: TextAtPart, before: number): void {
  const read = text.read ?? {
    before,
    length: 0,
    bytes: new Uint8Array(0),
    points: new Uint32Array(1),
  }
  const added = encoder.encode(text.read ? text.fresh?.join('') : text.text)
  text.read = read
  text.fresh = []
  const length = read.length + added.length
  if (length > read.bytes.length) {
    const room = read.length === 0 ? length : 2 * length
    read.bytes = larger(read.bytes, new Uint8Array(room))
    read.points = larger(read.points, new Uint32Array(room + 1))
  }
  read.bytes.set(added, read.length)
  for (let at = read.length; at < length; at++)
    read.points[at + 1] = (read.points[at] ?? 0) + (isContinuation(read.bytes[at]) ? 0 : 1)
  read.length = length
}

function larger<List extends Uint8Array | Uint32Array>(list: List, into: List): List {
  into.set(list)
  return into
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Is the place inside of a character? */
const isInside = ({ bytes, length }: TextBytes, offset: number) =>
  offset < length && isContinuation(bytes[offset])

/** Whole code points before a byte. */
function pointsBefore(read: TextBytes, offset: number): number {
  const points = read.points[offset] ?? 0
  return isInside(read, offset) ? points - 1 : points
}

/** The last text that fits: those that fit come before those that do not. -1: none. */
function lastThat(texts: readonly TextAtPart[], fits: (text: TextAtPart) => boolean): number {
  let low = 0
  let high = texts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(texts[middle] as TextAtPart)) low = middle + 1
    else high = middle
  }
  return low - 1
}
