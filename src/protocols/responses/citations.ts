import type { Citation, TokenLogprob } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { bytesOf, leastLogprob } from '../../kit/logprobs.ts'
import { lengthOf } from '../../kit/text.ts'
import type { ResponsesReport } from './notes.ts'
import { keep, ownOf, protocolName } from './own.ts'

/** The known keys of an annotation, by its type. */
const modelled = new Map<unknown, ReadonlySet<string>>([
  ['url_citation', new Set(['type', 'url', 'title', 'start_index', 'end_index'])],
  ['file_citation', new Set(['type', 'file_id', 'filename', 'index'])],
  ['container_file_citation', new Set(['type', 'container_id', 'file_id', 'filename', 'start_index', 'end_index'])],
  ['file_path', new Set(['type', 'file_id', 'index'])],
])

/** The unknown keys of annotations, as an `annotations` field. */
export function unreadOf(annotations: readonly JsonObject[] | null | undefined): { annotations?: JsonObject[] } {
  const unread = flatMap(annotations ?? [], wire => {
    const known = modelled.get(wire['type'])
    const left = known ? Object.entries(wire).filter(([key]) => !known.has(key)) : []
    return left.length > 0 ? [Object.fromEntries(left)] : []
  })
  return unread.length > 0 ? { annotations: unread } : {}
}

/** An annotation of a text; its offsets count characters of that text. */
export function decodeCitation(raw: unknown): Citation {
  const wire = isObject(raw) ? raw : {}
  const asText = (key: string) => (typeof wire[key] === 'string' ? wire[key] : undefined)
  const asNumber = (key: string) => (typeof wire[key] === 'number' ? wire[key] : undefined)
  const span = { start: asNumber('start_index'), end: asNumber('end_index') }
  const file = { fileId: asText('file_id'), filename: asText('filename'), container: asText('container_id'), index: asNumber('index') }
  switch (wire['type']) {
    case 'url_citation':
      return { kind: 'url', ...defined({ url: asText('url'), title: asText('title'), ...span }), protocol: protocolName, raw }
    case 'file_citation':
    case 'container_file_citation':
    case 'file_path':
      return { kind: 'file', ...defined({ ...file, ...span }), protocol: protocolName, raw }
    default:
      return { kind: 'opaque', protocol: protocolName, raw }
  }
}

/** Undefined: this protocol has no form for it, which is noted. `text`: the text that has the citation. */
export function encodeCitation(citation: Citation, text: string, report: ResponsesReport, at: string | undefined): JsonObject | undefined {
  const { kind, url, title, start, end, fileId, filename, index, citedText, encrypted, source } = citation
  if (citation.protocol === protocolName && isObject(citation.raw)) return citation.raw
  if (kind === 'url' && url !== undefined) {
    if (start === undefined || end === undefined || title === undefined || citedText !== undefined || encrypted !== undefined)
      report.add('citation.approximated', at, 'citations')
    return { type: 'url_citation', start_index: start ?? 0, end_index: end ?? lengthOf(text), title: title ?? '', url }
  }
  if (kind === 'file' && fileId !== undefined) {
    if (citedText !== undefined || source !== undefined || start !== undefined) report.add('citation.approximated', at, 'citations')
    return { type: 'file_citation', file_id: fileId, filename: filename ?? title ?? '', index: index ?? 0 }
  }
  report.add('citation.unsupported', at, 'citations')
  return undefined
}

/** `at`: path of the list; `first`: number of tokens in it before these. */
export const decodeLogprobs = (wire: readonly unknown[], at: string, first = 0): TokenLogprob[] =>
  wire.map((one, i) => decodeLogprob(one, `${at}/${first + i}`))

/** Unknown keys are kept with the token. */
function decodeLogprob(raw: unknown, at: string): TokenLogprob {
  const { top_logprobs: top, ...token } = isObject(raw) ? raw : {}
  return {
    ...decodeToken(token, at),
    ...(Array.isArray(top) && { top: top.map((one, place) => decodeToken(isObject(one) ? one : {}, `${at}/top_logprobs/${place}`)) }),
  }
}

function decodeToken({ token, logprob, bytes, ...unknown }: JsonObject, at: string): Omit<TokenLogprob, 'top'> {
  return defined({
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: decodeBytes(bytes),
    ...(Object.keys(unknown).length > 0 && { at, ...keep(unknown, {}) }),
  })
}

/** A token without bytes has an empty list here, because no list may be null. */
function decodeBytes(bytes: unknown): number[] | null | undefined {
  if (!Array.isArray(bytes)) return bytes === null ? null : undefined
  return bytes.length === 0 ? null : bytes.filter(byte => typeof byte === 'number')
}

/** `whole`: bytes and alternatives are required, as everywhere except in stream deltas. */
export function encodeLogprob({ top, ...one }: TokenLogprob, whole: boolean): JsonObject {
  const tokenOf = ({ token, logprob, bytes, ext }: Omit<TokenLogprob, 'top'>) => {
    const given = bytes === undefined && whole ? bytesOf(token) : bytes
    return { ...ownOf(ext)?.fields, ...defined({ token, bytes: given === null ? [] : given, logprob: Math.max(logprob, leastLogprob) }) }
  }
  return defined({ ...tokenOf(one), top_logprobs: top?.map(tokenOf) ?? (whole ? [] : undefined) })
}
