import type { MediaPart, Part, Place, RefusalPart, TextPart } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { foreignPart } from '../../kit/foreign-parts.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { decodeMark, encodeMark, withMark } from './cache.ts'
import { decodeAudio, decodeFile, decodeImage, encodeMedia } from './media.ts'
import type { ChatReport } from './notes.ts'
import { keep, ownForm, protocolName, splitNulls, wireOf } from './own.ts'
import { decodeThinkingBlock, encodeThinkingBlock } from './reasoning.ts'
import type { ChatAudioPart, ChatFilePart, ChatImagePart, ChatPart, ChatRefusalPart, ChatTextPart, ChatThinkingPart } from './schema.ts'
import type { Writing } from './writing.ts'

type TextSource = Extract<MediaPart['source'], { type: 'text' | 'parts' }>

type Content = string | readonly ChatPart[] | null | undefined

/** `content` of any message; `at` is the path of the message. Null and absence give no parts. */
export function decodeContent(content: Content, at: Place, report: ChatReport): Part[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content, at: below(at, 'content') }]
  return content.map((part, i) => decodePart(part, below(below(at, 'content'), i), report))
}

// The casts: the schema has checked each kind, but `ChatPart` also allows unknown kinds with any `type`, so the compiler cannot narrow.
function decodePart(part: ChatPart, at: Place, report: ChatReport): Part {
  switch (part.type) {
    case 'text':
      return decodeText(part as ChatTextPart, at)
    case 'image_url':
      return decodeImage(part as ChatImagePart, at)
    case 'input_audio':
      return decodeAudio(part as ChatAudioPart, at)
    case 'file':
      return decodeFile(part as ChatFilePart, at)
    case 'refusal': {
      const { type, refusal, ...unknown } = part as ChatRefusalPart
      return { type, text: refusal, at, ...keep(unknown, {}, { place: 'content' }) }
    }
    case 'thinking':
      return decodeThinkingBlock(part as ChatThinkingPart, at)
    default: {
      const foreign = foreignPart(part, at, protocolName)
      if (!foreign) return { type: 'opaque', protocol: protocolName, raw: part, at }
      report.add('part.foreign', at)
      return { ...foreign.part, ...keep(foreign.rest, {}, { foreign: part }) }
    }
  }
}

function decodeText(wire: ChatTextPart, at: Place): TextPart {
  const { present: part, nothing } = splitNulls(wire)
  const { type, text, prompt_cache_breakpoint, cache_control, ...unknown } = part
  return { type, text, at, ...decodeMark({ prompt_cache_breakpoint, cache_control }, unknown, { nothing }) }
}

/** Is it a text block without further keys, which can be written as a plain string? */
export function isPlainText(wire: JsonObject): wire is { type: 'text'; text: string } {
  return wire['type'] === 'text' && typeof wire['text'] === 'string' && Object.keys(wire).length === 2
}

/** Parts of a system, user or tool message → blocks. Makes a note for each part that has no block type here. */
export function encodeParts(parts: readonly Part[], writing: Writing): JsonObject[] {
  return flatMap(parts, part => encodePart(part, writing))
}

function encodePart(part: Part, writing: Writing): JsonObject[] {
  const { report } = writing
  const { foreign } = ownForm(part.ext) ?? {}
  if (isObject(foreign)) return [foreign]
  switch (part.type) {
    case 'text': {
      const block = encodeText(part, writing)
      // Empty text is left out, unless it came from this protocol.
      return part.text || writing.native ? [block] : []
    }
    case 'refusal':
      return [encodeRefusal(part, writing)]
    case 'media':
      return part.source.type === 'text' || part.source.type === 'parts' ? encodeDocument(part, part.source, writing) : encodeMedia(part, writing)
    case 'search-result': {
      const { type: _, source, title, parts, citations, at, ext, cache, signature, ...rest } = part
      report.add('document.flattened', at)
      report.ext(ext, at)
      report.rest({ ...rest, ...(citations?.enabled && { citations }), signature }, at)
      const blocks = encodeParts(parts, writing)
      return [{ type: 'text', text: `${title}\n${source}` }, ...withMark(blocks, encodeMark({ ...defined({ cache, at }) }, writing))]
    }
    case 'opaque':
      if (part.protocol === protocolName && isObject(part.raw)) return [{ ...part.raw }]
      report.add('part.unknown', part.at)
      return []
    case 'reasoning': {
      // Some servers put reasoning into content blocks.
      const block = encodeThinkingBlock(part)
      if (block) return [{ ...block }]
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

/** A text document → text blocks, the first of which is its title. */
function encodeDocument(part: MediaPart, source: TextSource, writing: Writing): JsonObject[] {
  const { type: _, kind: _kind, source: _source, filename, title, id: _id, cache: _cache, citations, at, ext, ...rest } = part
  const { report } = writing
  report.add('document.flattened', at)
  report.rest({ ...rest, ...(title !== undefined && { filename }), ...(citations?.enabled && { citations }) }, at)
  report.ext(ext, at)
  const blocks = source.type === 'text' ? [{ type: 'text', text: source.text }] : encodeParts(source.parts, writing)
  const heading = title ?? filename
  return [...(heading === undefined ? [] : [{ type: 'text', text: heading }]), ...withMark(blocks, encodeMark(part, writing))]
}

export function encodeText(part: TextPart, writing: Writing): JsonObject {
  const { type, text, at, ext, cache: _, citations, signature, ...rest } = part
  const { report } = writing
  for (const _citation of citations ?? []) report.add('citation.unsupported', at, 'citations')
  if (signature) report.add('reasoning.foreign-signature', at, 'signature')
  report.rest(rest, at)
  report.ext(ext, at)
  return wireOf({ type, text, ...encodeMark(part, writing) }, ext)
}

function encodeRefusal({ text, at, ext, cache, signature, ...rest }: RefusalPart, { report }: Writing): JsonObject {
  const { type: _, ...left } = rest
  report.rest({ ...left, cache, signature }, at)
  report.ext(ext, at)
  return wireOf({ type: 'refusal', refusal: text }, ext)
}
