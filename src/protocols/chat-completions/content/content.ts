import type {
  MediaPart,
  Part,
  Place,
  RefusalPart,
  SearchResultPart,
  TextPart,
} from '../../../canonical/message.ts'
import { foreignPart } from '../../../kit/conversation/foreign-parts.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { keep, protocolName, wireOf } from '../own.ts'
import type {
  ChatCompletionsAudioPart,
  ChatCompletionsBlock,
  ChatCompletionsBlockOf,
  ChatCompletionsFilePart,
  ChatCompletionsImagePart,
  ChatCompletionsPart,
  ChatCompletionsRefusalPart,
  ChatCompletionsTextPart,
  ChatCompletionsThinkingPart,
} from '../schema.ts'
import { encodeMark, type Marks, readMark, withMark } from './cache.ts'
import { decodeAudio, decodeFile, decodeImage, encodeMedia } from './media.ts'
import { decodeThinkingBlock, encodeThinkingBlock } from './reasoning.ts'
import type { Writing } from './writing.ts'

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
