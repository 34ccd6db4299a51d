import type { Citation, Part, TextPart } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { isOffset, lengthOf } from '../../../kit/text/text.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { protocolName } from '../own.ts'
import type { ChatCompletionsAnnotation } from '../schema.ts'

/**
 * Puts the annotations of a response on its text. False: there is no text that they could belong
 * to.
 */
export function attachCitations(body: readonly Part[], annotations: readonly unknown[]): boolean {
  if (annotations.length === 0) return true
  const text = body.findLast(part => part.type === 'text')
  if (!text) return false
  text.citations = annotations.map(decodeAnnotation)
  return true
}

/**
 * One annotation of a response. Its offsets count in the text of the whole response, which is one
 * part here.
 */
export function decodeAnnotation(raw: unknown): Citation {
  const url: unknown =
    isObject(raw) && raw['type'] === 'url_citation' ? raw['url_citation'] : undefined
  if (!isObject(url)) return { kind: 'opaque', protocol: protocolName, raw }
  const { url: link, title, content, start_index: start, end_index: end } = url
  const known = omitUndefined({
    url: typeof link === 'string' ? link : undefined,
    title: typeof title === 'string' ? title : undefined,
    citedText: typeof content === 'string' ? content : undefined,
    start: isOffset(start) ? start : undefined,
    end: isOffset(end) ? end : undefined,
  })
  return { kind: 'url', ...known, protocol: protocolName, raw }
}

/**
 * A citation with offsets in the whole response → offsets in the part that begins at `before`.
 * Without offsets, if it begins before the part.
 */
export function placedIn(citation: Citation, before: number): Citation {
  const { start, end, ...rest } = citation
  if (before === 0 || start === undefined || end === undefined) return citation
  return start < before ? rest : { ...rest, start: start - before, end: end - before }
}

const texts = new Set(['url', 'title', 'content'])
const offsets = new Set(['start_index', 'end_index'])

/** Is it a key of a `url_citation` with a value that can be read? Null counts as absent. */
function isRead(key: string, value: unknown): boolean {
  if (texts.has(key)) return value === null || typeof value === 'string'
  return offsets.has(key) && (value === null || isOffset(value))
}

/**
 * The keys of annotations that have no canonical field, and known ones with a value of another
 * type. Undefined: none.
 */
export function unknownOfAnnotations(annotations: readonly unknown[]): unknown[] | undefined {
  const unknown = flatMap(annotations, raw => {
    if (!isObject(raw) || raw['type'] !== 'url_citation' || !isObject(raw['url_citation']))
      return []
    const { type: _, url_citation, ...outer } = raw
    const inner = Object.fromEntries(
      Object.entries(url_citation as JsonObject).filter(([key, value]) => !isRead(key, value)),
    )
    const left = Object.keys(inner).length > 0 ? { ...outer, url_citation: inner } : outer
    return Object.keys(left).length > 0 ? [left] : []
  })
  return unknown.length > 0 ? unknown : undefined
}

/** `annotations`: offsets count in the joined text, in code points. */
export function encodeCitations(
  texts: readonly Pick<TextPart, 'text' | 'citations' | 'at'>[],
  report: ChatCompletionsReport,
): ChatCompletionsAnnotation[] {
  const annotations: ChatCompletionsAnnotation[] = []
  let before = 0
  for (const { text, citations, at } of texts) {
    const length = citations?.length || texts.length > 1 ? lengthOf(text) : 0
    for (const citation of citations ?? []) {
      const annotation = encodeCitation(citation, { start: before, end: before + length }, () =>
        report.add('citation.whole-part', at, 'citations'),
      )
      if (annotation) annotations.push(annotation)
      else report.add('citation.unsupported', at, 'citations')
    }
    before += length
  }
  return annotations
}

/**
 * `part`: where the part with the citation begins and ends in the response. Undefined: no
 * annotation type fits the citation.
 */
function encodeCitation(
  citation: Citation,
  part: { start: number; end: number },
  wholePart: () => void,
): ChatCompletionsAnnotation | undefined {
  const { kind, url, title, citedText, start, end, protocol, raw } = citation
  if (
    protocol === protocolName &&
    isObject(raw) &&
    (kind !== 'url' || same(placedIn(decodeAnnotation(raw), part.start), citation))
  )
    return asRead(raw)
  if (kind !== 'url' || url === undefined) return undefined
  if (start === undefined || end === undefined) wholePart()
  return {
    type: 'url_citation',
    url_citation: omitUndefined<ChatCompletionsAnnotation['url_citation']>({
      start_index: start === undefined ? part.start : part.start + start,
      end_index: end === undefined ? part.end : part.start + end,
      title: title ?? '',
      url,
      content: citedText,
    }),
  }
}

/**
 * Makes a note if texts with citations of other protocols are joined, because on this wire a
 * citation covers the whole response.
 */
export function noteLostBoundaries(
  texts: readonly Pick<TextPart, 'text' | 'citations' | 'at'>[],
  report: ChatCompletionsReport,
): void {
  const joins = texts.filter(({ text }) => text !== '')
  if (
    joins.length > 1 &&
    joins.some(({ citations }) => citations?.some(({ protocol }) => protocol !== protocolName))
  )
    report.add('text.boundary-lost', joins[1]?.at)
}
