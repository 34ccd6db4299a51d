import type {
  Citation,
  MediaPart,
  Part,
  Place,
  RefusalPart,
  SearchResultPart,
  TextPart,
  TokenLogprob,
} from '../../../canonical/message.ts'
import { foreignPart } from '../../../kit/conversation/foreign-parts.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { createTokens, isTokens, noteTokens } from '../../../kit/response/logprobs.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { isOffset, lengthOf } from '../../../kit/text/text.ts'
import { type ChatCompletionsReport, keep, protocolName, wireOf } from '../own.ts'
import type {
  ChatCompletionsAudioPart,
  ChatCompletionsFilePart,
  ChatCompletionsImagePart,
  ChatCompletionsPart,
  ChatCompletionsRefusalPart,
  ChatCompletionsTextPart,
  ChatCompletionsThinkingPart,
} from '../schema.ts'
import type {
  ChatCompletionsAnnotation,
  ChatCompletionsBlock,
  ChatCompletionsBlockOf,
  ChatCompletionsLogprobs,
} from '../written.ts'
import { decodeAudio, decodeFile, decodeImage, encodeMedia } from './media.ts'
import { decodeThinkingBlock, encodeThinkingBlock } from './reasoning.ts'
import { encodeMark, type Marks, readMark, type Writing, withMark } from './writing.ts'

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

type TextSource = Extract<MediaPart['source'], { type: 'text' | 'parts' }>

type Content = string | readonly ChatCompletionsPart[] | null | undefined

/** `content` of any message; `at` is the path of the message. Null and absence give no parts. */
export function decodeContent(content: Content, at: Place, report: ChatCompletionsReport): Part[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string')
    return [{ type: 'text', text: content, at: below(at, 'content') }]
  return content.map((part, i) => decodePart(part, below(below(at, 'content'), i), report))
}

// The casts: the schema has checked each kind, but `ChatCompletionsPart` also allows unknown kinds with any
// `type`, so the compiler cannot narrow.
function decodePart(part: ChatCompletionsPart, at: Place, report: ChatCompletionsReport): Part {
  switch (part.type) {
    case 'text':
      return decodeText(part as ChatCompletionsTextPart, at)
    case 'image_url':
      return decodeImage(part as ChatCompletionsImagePart, at)
    case 'input_audio':
      return decodeAudio(part as ChatCompletionsAudioPart, at)
    case 'file':
      return decodeFile(part as ChatCompletionsFilePart, at)
    case 'refusal':
      return keep(
        { type: 'refusal', text: (part as ChatCompletionsRefusalPart).refusal, at },
        unknownOf(part, knownOfRefusal),
      )
    case 'thinking':
      return decodeThinkingBlock(part as ChatCompletionsThinkingPart, at)
    default: {
      const foreign = foreignPart(part, at, protocolName)
      if (!foreign) return { type: 'opaque', protocol: protocolName, raw: part, at }
      report.add('part.foreign', at)
      return keep(foreign.part, omitUndefinedOrNone(foreign.rest))
    }
  }
}

const knownOfText = keysOf<ChatCompletionsTextPart & Marks>()(
  'type text prompt_cache_breakpoint cache_control',
)
const knownOfRefusal = keysOf<ChatCompletionsRefusalPart>()('type refusal')

function decodeText(wire: ChatCompletionsTextPart, at: Place): TextPart {
  return readMark<TextPart>(
    { type: 'text', text: wire.text, at },
    wire,
    unknownOf(wire, knownOfText),
  )
}

/** Was the part read from the list `content`, where some servers put more than text? */
export const isInContent = ({ at }: Part): boolean =>
  at !== undefined && /\/content\/\d+$/.test(pointerOf(at))

/** Blocks as `content`: a single text without further keys becomes a string. */
export function plainly(blocks: ChatCompletionsBlock[]): string | ChatCompletionsBlock[] {
  const [only] = blocks
  if (!only) return ''
  return blocks.length === 1 && only.type === 'text' && Object.keys(only).length === 2
    ? only.text
    : blocks
}

/**
 * Parts of a system, user or tool message → blocks. Makes a note for each part that has no block
 * type here.
 */
export function encodeParts(parts: readonly Part[], writing: Writing): ChatCompletionsBlock[] {
  return flatMap(parts, part => encodePart(part, writing))
}

function encodePart(part: Part, writing: Writing): ChatCompletionsBlock[] {
  const { report } = writing
  switch (part.type) {
    case 'text': {
      const block = encodeText(part, writing)
      // Empty text is left out, unless it came from this protocol.
      return part.text || writing.native ? [block] : []
    }
    case 'refusal':
      return [encodeRefusal(part, writing)]
    case 'media':
      return part.source.type === 'text' || part.source.type === 'parts'
        ? encodeDocument(part, part.source, writing)
        : encodeMedia(part, writing)
    case 'search-result': {
      const { source, title, parts, citations, at } = part
      report.add('document.flattened', at)
      report.node(part, handledOfSearchResult)
      if (citations?.enabled) report.rest({ citations }, at)
      const blocks = encodeParts(parts, writing)
      return [
        { type: 'text', text: `${title}\n${source}` },
        ...withMark(blocks, encodeMark(part, writing)),
      ]
    }
    case 'opaque':
      if (part.protocol === protocolName && isObject(part.raw)) return [asRead({ ...part.raw })]
      report.add('part.unknown', part.at)
      return []
    case 'reasoning': {
      // Some servers put reasoning into content blocks.
      if (writing.native && isInContent(part)) return [encodeThinkingBlock(part)]
      report.add('part.unsupported', part.at)
      return []
    }
    case 'tool-call':
    case 'tool-result':
    case 'server-tool':
    case 'control':
      report.add('part.unsupported', part.at)
      return []
    default:
      return part satisfies never
  }
}

const handledOfSearchResult = keysOf<SearchResultPart>()(
  'type source title parts citations at ext cache',
)
const handledOfDocument = keysOf<MediaPart>()(
  'type kind source filename title id cache citations at ext',
)

/** A text document → text blocks, the first of which is its title. */
function encodeDocument(
  part: MediaPart,
  source: TextSource,
  writing: Writing,
): ChatCompletionsBlock[] {
  const { filename, title, citations, at } = part
  const { report } = writing
  report.add('document.flattened', at)
  report.node(part, handledOfDocument)
  report.rest(
    { ...(title !== undefined && { filename }), ...(citations?.enabled && { citations }) },
    at,
  )
  const blocks =
    source.type === 'text'
      ? [{ type: 'text' as const, text: source.text }]
      : encodeParts(source.parts, writing)
  const heading = title ?? filename
  return [
    ...(heading === undefined ? [] : [{ type: 'text' as const, text: heading }]),
    ...withMark(blocks, encodeMark(part, writing)),
  ]
}

const handledOfTextPart = bookOf<TextPart>()(
  { 'reasoning.foreign-signature': 'signature' },
  'type text at ext cache citations',
)

function encodeText(part: TextPart, writing: Writing): ChatCompletionsBlock {
  const { text, at, ext, citations } = part
  const { report } = writing
  if (citations) for (const _ of citations) report.add('citation.unsupported', at, 'citations')
  report.node(part, handledOfTextPart)
  return wireOf<ChatCompletionsBlockOf<'text'>>(
    part.cache ? { type: 'text', text, ...encodeMark(part, writing) } : { type: 'text', text },
    ext,
  )
}

const handledOfRefusalPart = keysOf<RefusalPart>()('type text at ext')

function encodeRefusal(part: RefusalPart, { report }: Writing): ChatCompletionsBlock {
  report.node(part, handledOfRefusalPart)
  return wireOf<ChatCompletionsBlockOf<'refusal'>>(
    { type: 'refusal', refusal: part.text },
    part.ext,
  )
}

/** `logprobs` of a choice: the log probabilities of the tokens of its text and of its refusal. */

/**
 * Puts log probabilities on the part that they belong to. Returns those of text if there is no text
 * part.
 */
export function attachLogprobs(
  parts: readonly Part[],
  { logprobs, at, report }: { logprobs: JsonObject; at: Place; report: ChatCompletionsReport },
): TokenLogprob[] | undefined {
  const content = decodeLogprobs(logprobs['content'], below(at, 'content'))
  const refusal = decodeLogprobs(logprobs['refusal'], below(at, 'refusal'))
  const text = parts.find(part => part.type === 'text')
  const refused = parts.find(part => part.type === 'refusal')
  if (refusal && refused) refused.logprobs = refusal
  else if (refusal) noteUnattached(at, report)
  if (!content) return undefined
  if (!text) return content
  text.logprobs = content
  return undefined
}

/** Notes log probabilities of a refusal that is not there. `at`: path of `logprobs`. */
export const noteUnattached = (at: Place, report: ChatCompletionsReport) =>
  report.add('logprobs.unattached', below(at, 'refusal'))

const { decodeTokens, encodeToken } = createTokens(protocolName, {
  missing: Number.NEGATIVE_INFINITY,
  noBytes: null,
})

/** `at`: path of the list; `first`: number of tokens in it before these. Undefined: no tokens. */
export const decodeLogprobs = (wire: unknown, at: Place, first = 0): TokenLogprob[] | undefined =>
  isTokens(wire) && wire.length > 0 ? decodeTokens(wire, at, first) : undefined

/** The unknown keys of `logprobs`, and lists that cannot be read. */
export function unreadOfLogprobs({ content, refusal, ...unknown }: JsonObject): JsonObject {
  return {
    ...unknown,
    ...(content != null && !isTokens(content) && { content }),
    ...(refusal != null && !isTokens(refusal) && { refusal }),
  }
}

export const encodeLogprobs = (tokens: readonly TokenLogprob[]) =>
  tokens.map(token => encodeToken(token, true))

/** `logprobs` of a choice. Undefined: none. */
export function encodeChoiceLogprobs(
  parts: readonly Part[],
  loose: readonly TokenLogprob[] | undefined,
  report: ChatCompletionsReport,
): ChatCompletionsLogprobs | undefined {
  const content = [
    ...(loose ?? []),
    ...flatMap(parts, part => (part.type === 'text' ? (part.logprobs ?? []) : [])),
  ]
  const refusal = flatMap(parts, part => (part.type === 'refusal' ? (part.logprobs ?? []) : []))
  noteTokens([...content, ...refusal], protocolName, report)
  if (content.length === 0 && refusal.length === 0) return undefined
  return {
    content: content.length > 0 ? encodeLogprobs(content) : null,
    refusal: refusal.length > 0 ? encodeLogprobs(refusal) : null,
  }
}
