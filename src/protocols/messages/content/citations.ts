import type { Citation, TextPart } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject } from '../../../kit/json/json.ts'
import { piecesOf } from '../../../kit/response/pieces.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { type MessagesReport, protocolName } from '../own.ts'
import type { MessagesRawBlock } from '../schema.ts'
import type { MessagesCitation, MessagesWrittenBlockOf } from '../written.ts'

export function decodeCitation(wire: MessagesRawBlock): Citation {
  const string = (key: string) => (typeof wire[key] === 'string' ? { [key]: wire[key] } : {})
  const number = (key: string) => (typeof wire[key] === 'number' ? wire[key] : undefined)
  const {
    cited_text: citedText,
    url,
    title,
    document_title,
    encrypted_index: encrypted,
    file_id: fileId,
    source,
  } = {
    ...string('cited_text'),
    ...string('url'),
    ...string('title'),
    ...string('document_title'),
    ...string('encrypted_index'),
    ...string('file_id'),
    ...string('source'),
  } as Record<string, string | undefined>
  if (wire.type === 'web_search_result_location')
    return {
      kind: 'url',
      ...omitUndefined({ url, title, citedText, encrypted }),
      protocol: protocolName,
      raw: wire,
    }
  const span = spans.get(wire.type)
  if (!span)
    return {
      kind: 'opaque',
      ...omitUndefined({ url, title, citedText }),
      protocol: protocolName,
      raw: wire,
    }
  const [unit, counter] = span
  const document = number(counter)
  const start = number(`start_${keyOf[unit]}`)
  const end = number(`end_${keyOf[unit]}`)
  const place =
    document === undefined || start === undefined || end === undefined
      ? undefined
      : { unit, document, start, end }
  return {
    kind: 'document',
    ...omitUndefined({
      url: source,
      title: title ?? document_title,
      citedText,
      fileId,
      source: place,
    }),
    protocol: protocolName,
    raw: wire,
  }
}

const spans = new Map<string, readonly ['char' | 'page' | 'block', string]>([
  ['char_location', ['char', 'document_index']],
  ['page_location', ['page', 'document_index']],
  ['content_block_location', ['block', 'document_index']],
  ['search_result_location', ['block', 'search_result_index']],
])

const keyOf = { char: 'char_index', page: 'page_number', block: 'block_index' } as const

/**
 * Citations of other providers name a span of the text; here they cover a whole block, so the text
 * is split at both ends of each span.
 */
export function encodeCited(
  { text, citations = [], at }: TextPart,
  report: MessagesReport,
): MessagesWrittenBlockOf<'text'>[] {
  const [own, foreign] = byOrigin(citations)
  const points = [...text]
  const spanned = foreign.map(citation => {
    const [start, end] = [
      citation.start ?? 0,
      Math.min(citation.end ?? points.length, points.length),
    ]
    // Some servers cite without a span: they mean the whole text.
    return start >= 0 && start < end
      ? { citation, start, end, isPlaced: true }
      : { citation, start: 0, end: points.length, isPlaced: !isSpanned(citation) }
  })
  const write = (citation: Citation) => encodeCitation(citation, report)
  const owned = flatMap(own, write)
  const whole = { start: 0, end: points.length, spans: spanned }
  const cut = text === '' ? [whole] : piecesOf(points.length, spanned)
  const isCut = cut !== undefined && owned.length * cut.length <= 1000 + 16 * owned.length
  const blocks: MessagesWrittenBlockOf<'text'>[] = []
  for (const { start, end, spans: covering } of isCut ? cut : [whole]) {
    const citations = [...owned, ...flatMap(covering, ({ citation }) => write(citation))]
    if (text !== '' || citations.length > 0)
      blocks.push({
        type: 'text',
        text: points.slice(start, end).join(''),
        ...(citations.length > 0 && { citations }),
      })
  }
  for (const { citation, isPlaced } of spanned) {
    if (write(citation).length === 0) report.add('citation.foreign', at, 'citations')
    else if (!isPlaced || !isCut) report.add('citation.span', at, 'citations')
  }
  return blocks
}

/** The citations of this protocol, and the others. */
export function byOrigin(citations: readonly Citation[]): [own: Citation[], foreign: Citation[]] {
  return [
    citations.filter(({ protocol }) => protocol === protocolName),
    citations.filter(({ protocol }) => protocol !== protocolName),
  ]
}

/** Does a citation of another protocol cover only a span of its text? */
export const isSpanned = ({ protocol, start, end }: Citation) =>
  protocol !== protocolName && (start !== undefined || end !== undefined)

/** A citation on this wire. Empty: it has no form here. */
export function encodeCitation(
  { kind, url, title, citedText, protocol, raw, encrypted }: Citation,
  report: MessagesReport,
): MessagesCitation[] {
  if (protocol === protocolName && isObject(raw)) return [asRead(raw)]
  if (kind !== 'url' || url === undefined) return []
  if (!encrypted) report.once('citation.encrypted-index', '/content')
  return [
    {
      type: 'web_search_result_location',
      url,
      title: title ?? null,
      cited_text: citedText ?? '',
      encrypted_index: encrypted ?? '',
    },
  ]
}
