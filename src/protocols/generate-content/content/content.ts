import type {
  Part,
  Place,
  RefusalPart,
  SearchResultPart,
  ServerToolPart,
  TextPart,
} from '../../../canonical/message.ts'
import { noPhases, takePhase } from '../../../kit/conversation/phases.ts'
import { rawOf, withoutPlace } from '../../../kit/conversation/without-place.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { unwrapSignature } from '../../../kit/signatures/envelope.ts'
import { placeholder } from '../../../kit/signatures/placeholder.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { extOf, ownFields, protocolName } from '../own.ts'
import { type GenerateContentPart, type GenerateContentPartOf, isPartOf } from '../schema.ts'
import { serverParts, serverToolOfType } from '../vocabulary.ts'
import type { GenerateContentWrittenPart } from '../written.ts'
import { decodeCall, decodeResult, encodeCall, encodeResult } from './calls.ts'
import { decodeMedia, encodeMedia } from './media.ts'
import {
  carriedBy,
  decodeHidden,
  decodeSignature,
  decodeThought,
  encodeReasoning,
  phasePart,
  provesThought,
  rejoin,
  restoreReasoning,
  sign,
  unknownOfPart,
} from './reasoning.ts'
import { isInner, type Reading, type Writing } from './writing.ts'

// ---- wire → canonical

/**
 * Parts of one content or of several in a row. `before`: the parts read so far; changed: new parts,
 * signatures and reasoning are put there.
 */
export function decodeParts(
  parts: readonly GenerateContentPart[],
  at: Place,
  reading: Reading,
  before: Part[] = [],
): Part[] {
  const phases = noPhases()
  parts.forEach((given, index) => {
    const wire = withoutCarried(given, before, below(at, index))
    if (signsBefore(wire, before) || provesThought(wire, before)) return
    const part = decodePart(wire, below(at, index), reading)
    if (takePhase(phases, part)) return
    // Hidden reasoning was sent on an empty text; if a client has put text into it, both are read.
    if (part.type === 'reasoning' && wire['text'] && wire.thought !== true)
      before.push(part, { type: 'text', text: String(wire['text']), at: below(at, index) })
    else before.push(part.type === 'reasoning' ? rejoin(part, wire.thoughtSignature, before) : part)
  })
  return before
}

/**
 * Takes the carried reasoning out of a call's signature, and puts it back among the parts before
 * the call.
 */
function withoutCarried(wire: GenerateContentPart, before: Part[], at: Place): GenerateContentPart {
  const carried =
    isPartOf(wire, 'functionCall') && wire.thoughtSignature
      ? carriedBy(unwrapSignature(wire.thoughtSignature))
      : undefined
  if (!carried) return wire
  restoreReasoning(carried.reasoning, before, at)
  // The client added no placeholder, because the call had a signature.
  return { ...wire, thoughtSignature: carried.own ?? placeholder }
}

/**
 * Reads an empty part with the signature of the text before it, as streams write it. Changes that
 * text. False: not such a part.
 */
function signsBefore(wire: GenerateContentPart, before: readonly Part[]): boolean {
  const { signature, envelope } = decodeSignature(wire.thoughtSignature)
  const owner = before.at(-1)
  if (
    wire['text'] !== '' ||
    envelope?.attach !== 'prev' ||
    !signature ||
    owner?.type !== 'text' ||
    owner.signature
  )
    return false
  owner.signature = signature
  return true
}

/** A part that `GenerateContentPart` has checked. */
export function decodePart(part: GenerateContentPart, at: Place, reading: Reading): Part {
  if (isBareText(part)) return { type: 'text', text: part.text, at }
  if (isPartOf(part, 'functionCall') && isOfRole(part, reading))
    return decodeCall(part, at, reading)
  if (isPartOf(part, 'functionResponse') && isOfRole(part, reading))
    return decodeResult(part, at, reading)
  if (isPartOf(part, 'inlineData') || isPartOf(part, 'fileData'))
    return decodeMedia(part, at, reading)
  for (const [key, { phase, tool }] of serverParts) {
    const value = part[key]
    if (isObject(value))
      return decodeServerTool(
        part,
        value,
        { phase, tool: tool ?? serverToolOfType(value['toolType']) },
        at,
      )
  }
  // Some servers send unknown fields instead of text with `thought: true`: such a part is opaque.
  const isEmpty = Object.keys(part).every(key => key === 'thought' || key === 'thoughtSignature')
  if (part.thought === true && (isPartOf(part, 'text') || (isEmpty && part.thoughtSignature)))
    return decodeThought(part, at)
  if (isPartOf(part, 'text')) return decodeHidden(part, at) ?? decodeText(part, at)
  if (isEmpty && part.thoughtSignature) return decodeText(part, at)
  return { type: 'opaque', protocol: protocolName, raw: part, at }
}

/**
 * A fast path for most parts: checking the other kinds first took a tenth of the time of a small
 * request.
 */
function isBareText(part: GenerateContentPart): part is GenerateContentPart & { text: string } {
  for (const key in part) if (key !== 'text') return false
  return typeof part['text'] === 'string'
}

/**
 * May this role send the part? Calls (which need a name) come from the model, results from the
 * user.
 */
function isOfRole(part: GenerateContentPart, { speaks }: Reading): boolean {
  if (speaks === undefined) return true
  const call = part['functionCall']
  return isObject(call) ? speaks === 'model' && Boolean(call['name']) : speaks === 'user'
}

const knownText = keysOf<GenerateContentPartOf<'text'>>()('text thought thoughtSignature')

/** A part with only a signature is read as an empty text. */
function decodeText(part: GenerateContentPart & { text?: unknown }, at: Place): TextPart {
  const { text } = part
  return {
    type: 'text',
    text: typeof text === 'string' ? text : '',
    ...omitUndefined({
      signature: decodeSignature(part.thoughtSignature).signature,
      at,
      ext: extOf(unknownOfPart(part, knownText)),
    }),
  }
}

function decodeServerTool(
  raw: GenerateContentPart,
  value: Record<string, unknown>,
  { phase, tool }: Pick<ServerToolPart, 'phase' | 'tool'>,
  at: Place,
): ServerToolPart {
  return {
    type: 'server-tool',
    phase,
    tool,
    id: typeof value['id'] === 'string' ? value['id'] : '',
    protocol: protocolName,
    raw,
    at,
  }
}

// ---- canonical → wire

/**
 * Parts of one message. Empty text is left out, unless it came from this protocol or has a
 * signature.
 */
export function encodeParts(
  parts: readonly Part[],
  writing: Writing,
): GenerateContentWrittenPart[] {
  return flatMap(parts, part => encodePart(part, writing))
}

export function encodePart(part: Part, writing: Writing): GenerateContentWrittenPart[] {
  const { report } = writing
  const write = (parts: readonly Part[]) => encodeParts(parts, writing)
  switch (part.type) {
    case 'text':
      return encodeText(part, writing)
    case 'refusal':
      return encodeRefusal(part, writing)
    case 'reasoning':
      return encodeReasoning(part, writing)
    case 'tool-call':
      if (!part.cut) return [encodeCall(part, writing)]
      report.add('tool-call.cut', part.at)
      return []
    case 'tool-result':
      return encodeResult(part, writing, parts => encodeParts(parts, inResult(writing)))
    case 'media':
      return encodeMedia(part, writing, write)
    case 'search-result':
      return encodeSearchResult(part, writing, write)
    case 'server-tool':
    case 'control':
    case 'opaque': {
      const raw = rawOf(part, protocolName)
      if (raw) return [asRead(raw)]
      if (part.type === 'server-tool' && part.image) {
        report.add('server-tool.image-only', part.at)
        return write([{ ...part.image, ...omitUndefined({ signature: part.signature }) }])
      }
      withoutPlace(part, writing)
      return []
    }
    default:
      return part satisfies never
  }
}

/**
 * For the content of a tool result: it is not part of the response, so its citations and logprobs
 * are not written next to that.
 */
function inResult(writing: Writing): Writing {
  return { ...writing, inResult: true, beside: undefined }
}

const handledOfText = keysOf<TextPart>()('type text citations logprobs signature phase at ext')

function encodeText(part: TextPart, writing: Writing): GenerateContentWrittenPart[] {
  const { report, native, beside, instructs, opens } = writing
  const { text, citations, logprobs, signature, phase, at, ext } = part
  report.node(part, handledOfText)
  if (phase && !opens) report.rest({ phase }, at)
  if (!beside && logprobs) report.rest({ logprobs }, at)
  if (!beside)
    for (const _citation of citations ?? []) report.add('citation.unsupported', at, 'citations')
  const signed = sign(part, writing, text ? {} : { attach: 'text' })
  if (!text && !native && !signed.thoughtSignature) {
    if ((part.cache || instructs) && !signature) report.add('text.empty', at)
    for (const _citation of (beside && citations) ?? [])
      report.add('citation.unsupported', at, 'citations')
    if (beside) report.rest({ logprobs }, at)
    return []
  }
  const written: GenerateContentWrittenPart = { ...ownFields(ext), text, ...signed }
  beside?.(part, written)
  return phase && opens && text ? [phasePart(phase), written] : [written]
}

const handledOfRefusal = keysOf<RefusalPart>()('type text signature phase at ext')

function encodeRefusal(part: RefusalPart, writing: Writing): GenerateContentWrittenPart[] {
  const { report, opens } = writing
  const { text, phase, at } = part
  report.node(part, handledOfRefusal)
  if (!text) return []
  report.add('refusal.as-text', at)
  return [...(phase && opens ? [phasePart(phase)] : []), { text, ...sign(part, writing) }]
}

function encodeSearchResult(
  { type: _, source, title, parts, signature: __, at, ext, ...rest }: SearchResultPart,
  { report }: Writing,
  write: (parts: readonly Part[]) => GenerateContentWrittenPart[],
): GenerateContentWrittenPart[] {
  report.rest(rest, at)
  report.ext(ext, at)
  report.add('search-result.as-text', at)
  const inside = write(parts.filter(part => !isInner(part, report)))
  const head = title === source || !title ? source : `${title} (${source})`
  if (head === '') return inside
  const [first, ...others] = inside
  return typeof first?.text === 'string' && first.thoughtSignature === undefined && !first.thought
    ? [{ ...first, text: `${head}\n${first.text}` }, ...others]
    : [{ text: head }, ...inside]
}
