import type { Citation, ExtMap, Place, TextPart } from '../../../canonical/message.ts'
import { keysOf, unknownInList, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { piecesOf } from '../../../kit/response/pieces.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { blockOf, type ConverseReport, ownOf, protocolName, withInner } from '../own.ts'
import type { ConverseCitation } from '../schema.ts'
import type {
  ConverseWrittenBlock,
  ConverseWrittenCitation,
  ConverseWrittenPlace,
} from '../written.ts'

const spans = [
  ['documentChar', 'char'],
  ['documentPage', 'page'],
  ['documentChunk', 'block'],
  ['searchResultLocation', 'block'],
] as const

export function decodeCitation(wire: ConverseCitation): Citation {
  const { title, source, sourceContent, location } = wire
  const citedText = sourceContent?.map(({ text }) => text ?? '').join('') || undefined
  const web = location?.web
  const common = {
    ...omitUndefined({ title: title ?? undefined, citedText }),
    protocol: protocolName,
    raw: wire,
  }
  if (web?.url != null) return { kind: 'url', url: web.url, ...common }
  for (const [key, unit] of spans) {
    const place = location?.[key]
    if (!place) continue
    const { documentIndex, searchResultIndex, start, end } = place
    const document = documentIndex ?? searchResultIndex
    const span =
      document != null && start != null && end != null ? { unit, document, start, end } : undefined
    return {
      kind: 'document',
      ...omitUndefined({ url: source ?? undefined, source: span }),
      ...common,
    }
  }
  return { kind: 'opaque', ...omitUndefined({ url: source ?? undefined }), ...common }
}

const citationKeys = keysOf<ConverseCitation>()('title source sourceContent location')
const locationKeys = keysOf<NonNullable<ConverseCitation['location']>>()(
  'web documentChar documentPage documentChunk searchResultLocation',
)
const placeKeys = keysOf<ConverseWrittenPlace>()('documentIndex searchResultIndex start end')
const webKeys = keysOf<{ url: string; domain: string }>()('url domain')
const urlKeys = keysOf<{ url: string }>()('url')
const sourceKeys = keysOf<{ text: string }>()('text')

/** The unknown keys of a citation, with those of the objects inside. */
export function unknownOfCitation(wire: ConverseCitation): JsonObject | undefined {
  const { sourceContent, location } = wire
  const cited = unknownInList(sourceContent, one => unknownOf(one, sourceKeys))
  let inLocation = location ? unknownOf(location, locationKeys) : undefined
  for (const [key] of spans) {
    const place = location?.[key]
    if (isObject(place)) inLocation = withInner(inLocation, key, unknownOf(place, placeKeys))
  }
  const web = location?.web
  // Other protocols have no place for the domain, and need none where the URL has it.
  if (web)
    inLocation = withInner(
      inLocation,
      'web',
      unknownOf(web, web.domain == null || web.url?.includes(web.domain) ? webKeys : urlKeys),
    )
  return withInner(
    withInner(unknownOf(wire, citationKeys), 'sourceContent', cited),
    'location',
    inLocation,
  )
}

/** A citation on this wire. Empty: it has no form here. */
export function encodeCitation({
  kind,
  url,
  title,
  citedText,
  source,
  protocol,
  raw,
}: Citation): ConverseWrittenCitation[] {
  if (protocol === protocolName && isObject(raw)) return [asRead(raw)]
  const cited = citedText === undefined ? undefined : [{ text: citedText }]
  if (kind === 'url' && url !== undefined)
    return [
      omitUndefined<ConverseWrittenCitation>({
        title,
        sourceContent: cited,
        location: { web: { url } },
      }),
    ]
  if (kind !== 'document' || !source) return []
  return [
    omitUndefined<ConverseWrittenCitation>({
      title,
      source: url,
      sourceContent: cited,
      location: { [keyOf[source.unit]]: placeOf(source) },
    }),
  ]
}

/**
 * Does another protocol's citation say more than what is written for it? Then it is noted. `type`
 * only names its kind.
 */
export function isApproximated(
  { protocol, raw }: Citation,
  written: readonly ConverseWrittenCitation[],
  at: Place | undefined,
  report: ConverseReport,
): boolean {
  const isMore = protocol !== protocolName && isObject(raw) && hasOtherText(raw, textsIn(written))
  if (isMore) report.add('citation.approximated', at, 'citations')
  return isMore
}

/** All texts and keys in a value. */
function textsIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string') found.add(value)
  if (typeof value !== 'object' || value === null) return found
  for (const [key, inner] of Object.entries(value)) {
    found.add(key)
    textsIn(inner, found)
  }
  return found
}

function hasOtherText(value: unknown, written: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return !written.has(value)
  if (Array.isArray(value)) return value.some(one => hasOtherText(one, written))
  return (
    isObject(value) &&
    Object.keys(value).some(key => key !== 'type' && hasOtherText(value[key], written))
  )
}

const keyOf = { char: 'documentChar', page: 'documentPage', block: 'documentChunk' } as const

const placeOf = ({
  document,
  start,
  end,
}: NonNullable<Citation['source']>): ConverseWrittenPlace => ({
  documentIndex: document,
  start,
  end,
})

/**
 * Citations name a span of the text; here they cover a whole block, so the text is split at both
 * ends of each span.
 */
export function encodeCited(
  { text, citations = [], at, ext }: TextPart,
  report: ConverseReport,
): ConverseWrittenBlock[] {
  const points = [...text]
  const spanned = citations.map(citation => {
    const [start, end] = [
      citation.start ?? 0,
      Math.min(citation.end ?? points.length, points.length),
    ]
    // Some servers cite without a span: they mean the whole text.
    const isPlaced =
      start >= 0 && start < end && (citation.start !== undefined || citation.end !== undefined)
    return {
      citation,
      written: encodeCitation(citation),
      start: isPlaced ? start : 0,
      end: isPlaced ? end : points.length,
    }
  })
  for (const { citation, written } of spanned)
    if (written.length === 0) report.add('citation.foreign', at, 'citations')
    else isApproximated(citation, written, at, report)
  if (points.length === 0) {
    const all = flatMap(spanned, ({ written }) => written)
    return all.length > 0 ? [citedBlock(undefined, all, ext)] : []
  }
  const pieces = piecesOf(points.length, spanned)
  if (!pieces) report.once('citation.span', at, 'citations')
  const whole = { start: 0, end: points.length, spans: spanned }
  return (pieces ?? [whole]).map(({ start, end, spans }, index) => {
    const here = flatMap(spans, ({ written }) => written)
    const piece = points.slice(start, end).join('')
    return here.length > 0
      ? citedBlock(piece, here, index === 0 ? ext : undefined)
      : { text: piece }
  })
}

/**
 * `text` undefined: the block has none. `ext`: of the part, whose unknown keys its first block
 * gets.
 */
function citedBlock(
  text: string | undefined,
  citations: ConverseWrittenCitation[],
  ext: ExtMap | undefined,
): ConverseWrittenBlock {
  const own = ownOf(ext)?.['content']
  const [first, ...others] = Array.isArray(own) ? (own as JsonObject[]) : []
  const content = text === undefined ? first && [first, ...others] : [{ ...first, text }, ...others]
  return blockOf<ConverseWrittenBlock, 'citationsContent'>(
    'citationsContent',
    { citations, ...(content && { content: asRead(content) }) },
    ext,
  )
}
