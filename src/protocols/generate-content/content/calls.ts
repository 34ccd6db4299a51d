import type {
  ExtMap,
  Message,
  Part,
  Place,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/message.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { accepts } from '../../../kit/schema/guard.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { objectInput, readInput } from '../../../kit/tools/object-input.ts'
import { takesMediaInResults } from '../../../models/gemini.ts'
import { asBeside, asInside, extOf, ownFields, protocolName, splitBeside } from '../own.ts'
import { GenerateContentPart, type GenerateContentPartOf, isPartOf } from '../schema.ts'
import type { GenerateContentWrittenPart } from '../written.ts'
import { decodeMedia } from './media.ts'
import { decodeSignature, sign, unknownOfPart } from './reasoning.ts'
import { isInner, type Reading, type Writing } from './writing.ts'

/** Calls of the client's own functions, and their results. */

// ---- wire → canonical

const knownCallPart = keysOf<GenerateContentPartOf<'functionCall'>>()(
  'functionCall thought thoughtSignature',
)
const knownCall = keysOf<GenerateContentPartOf<'functionCall'>['functionCall']>()('id name args')

export function decodeCall(
  wire: GenerateContentPartOf<'functionCall'>,
  at: Place,
  reading: Reading,
): ToolCallPart {
  const { functionCall } = wire
  const { id, args } = functionCall
  if (typeof args === 'string' && args.trim())
    reading.report.add(
      'tool-call.input-text',
      reading.place(below(below(at, 'functionCall'), 'args')),
    )
  return {
    type: 'tool-call',
    id: id || reading.inventedCallId(at),
    idOrigin: id ? 'wire' : 'synthesized',
    name: functionCall.name ?? '',
    kind: 'function',
    input: readInput(args),
    ...omitUndefined({
      signature: decodeSignature(wire.thoughtSignature).signature,
      at: reading.place(below(at, 'functionCall')),
      ext: extOfBoth(unknownOf(functionCall, knownCall), unknownOfPart(wire, knownCallPart)),
    }),
  }
}

/**
 * Unknown fields of a part are kept with those of the call or result in it, under the prefix `../`.
 */
function extOfBoth(
  inner: JsonObject | undefined,
  outer: JsonObject | undefined,
): ExtMap | undefined {
  return inner || outer ? extOf({ ...asInside(inner), ...asBeside(outer) }) : undefined
}

const knownResultPart = keysOf<GenerateContentPartOf<'functionResponse'>>()(
  'functionResponse thought thoughtSignature',
)
const knownResult =
  keysOf<GenerateContentPartOf<'functionResponse'>['functionResponse']>()('id name response parts')

export function decodeResult(
  wire: GenerateContentPartOf<'functionResponse'>,
  at: Place,
  reading: Reading,
): ToolResultPart {
  const { functionResponse } = wire
  const { id, name, response, parts } = functionResponse
  const inside = reading.place(below(at, 'functionResponse'))
  const decoded = readResponse(response, below(inside, 'response'))
  const media = (parts ?? []).map((part, index) =>
    decodeInside(part, below(below(inside, 'parts'), index), reading),
  )
  return {
    type: 'tool-result',
    callId:
      reading.resultCallId?.({ id: id || undefined, name: name ?? undefined }, at) ?? id ?? '',
    kind: 'function',
    content: [...decoded.content, ...media],
    at: inside,
    ...omitNullish({
      name,
      structured: response,
      isError: decoded.isError,
      signature: decodeSignature(wire.thoughtSignature).signature,
      ext: extOfBoth(
        unknownOf(functionResponse, knownResult),
        unknownOfPart(wire, knownResultPart),
      ),
    }),
  }
}

/** A result whose call got others before it, each of which announced the next. `texts`: theirs. */
type Continued = { parts: Part[]; index: number; part: ToolResultPart; texts: Part[] }

/**
 * A call may get its result in several parts, each of which announces the next. Other protocols
 * take one result for each call, the last, so the last one gets the text of all.
 */
export function joinContinued(messages: readonly Message[]): void {
  for (const { parts, index, part, texts } of lastOfContinued(messages))
    parts[index] = { ...part, content: [...texts, ...part.content] }
}

/** The number of texts that `joinContinued` has put into each result. */
export function repeatedBy(messages: readonly Message[]): ReadonlyMap<Part, number> {
  return new Map(lastOfContinued(messages).map(({ part, texts }) => [part, texts.length]))
}

/** The last part of each result that came in several. */
function lastOfContinued(messages: readonly Message[]): Continued[] {
  const ended: Continued[] = []
  const open = new Map<string, Continued>()
  for (const { parts } of messages)
    for (const [index, part] of parts.entries()) {
      if (part.type !== 'tool-result') continue
      const before = open.get(part.callId)
      const texts = before?.texts ?? []
      if (before) append(texts, before.part.content.filter(isText))
      const result = { parts, index, part, texts }
      if (isContinued(part)) open.set(part.callId, result)
      else {
        open.delete(part.callId)
        if (before) ended.push(result)
      }
    }
  for (const result of open.values()) if (result.texts.length > 0) ended.push(result)
  return ended
}

const isContinued = ({ ext }: ToolResultPart) => ownFields(ext)?.['willContinue'] === true
const isText = ({ type }: Part) => type === 'text'

function decodeInside(part: GenerateContentPart, at: Place, reading: Reading): Part {
  // The schema does not check the parts inside of a result.
  const isChecked = accepts(GenerateContentPart, part)
  if (isChecked && (isPartOf(part, 'inlineData') || isPartOf(part, 'fileData')))
    return decodeMedia(part, at, reading)
  return { type: 'opaque', protocol: protocolName, raw: part, at }
}

/**
 * The content of a result: the text or texts under an only key `output`, `result` or `error`; else
 * the whole object as JSON.
 */
function readResponse(
  response: JsonObject | null | undefined,
  at: Place,
): { content: TextPart[]; isError?: boolean } {
  if (!response) return { content: [] }
  const [only, ...others] = Object.entries(response)
  const text = (value: unknown): TextPart[] =>
    value === ''
      ? []
      : [{ type: 'text', text: typeof value === 'string' ? value : writeExact(value), at }]
  if (only && others.length === 0) {
    const [key, value] = only
    const isError = key === 'error' ? { isError: true } : {}
    if (key === 'output' || key === 'result' || key === 'error') {
      if (Array.isArray(value) && value.length > 1 && value.every(one => typeof one === 'string'))
        return { content: flatMap(value, text), ...isError }
      if (typeof value === 'string' || key === 'error') return { content: text(value), ...isError }
    }
  }
  return { content: text(response) }
}

// ---- canonical → wire

const handledOfCall = bookOf<ToolCallPart>()(
  { 'message.envelope': 'itemId status' },
  'type id idOrigin name namespace kind input cut signature at ext',
)

export function encodeCall(part: ToolCallPart, writing: Writing): GenerateContentWrittenPart {
  const { id, name, namespace, at, ext } = part
  writing.report.node(part, handledOfCall)
  const own = ownFields(ext)
  const { inside, beside } = own ? splitBeside(own) : {}
  return {
    ...beside,
    functionCall: {
      ...inside,
      name: writing.toolName(name, namespace, at),
      args: objectInput(part, part.kind, writing),
      ...omitUndefined({ id: writing.writtenCallId(id, part) }),
    },
    ...sign(part, writing),
  }
}

type WriteParts = (parts: readonly Part[]) => GenerateContentWrittenPart[]

const handledOfResult = bookOf<ToolResultPart>()(
  { 'message.envelope': 'itemId status' },
  'type callId name namespace kind content structured isError synthesized signature at ext',
)

export function encodeResult(
  part: ToolResultPart,
  writing: Writing,
  write: WriteParts,
): GenerateContentWrittenPart[] {
  const { report, native } = writing
  const { callId, name, namespace, at, ext } = part
  report.node(part, handledOfResult)
  const shown = part.content.slice(writing.repeated?.get(part) ?? 0)
  const data = shown.filter(one => !hasText(one))
  const written = write(shown.filter(one => hasText(one) && !isInner(one, report)))
  // A search result or a document of parts may also contain media.
  const parts = [...write(data), ...written.filter(({ text }) => typeof text !== 'string')]
  const { inside, beside } = splitBeside(ownFields(ext) ?? {})
  const functionResponse: NonNullable<GenerateContentWrittenPart['functionResponse']> = inside
  if (name !== undefined && (name || native))
    functionResponse.name = writing.toolName(name, namespace, at)
  else if (!native) {
    functionResponse.name = 'unknown_function'
    report.addMade('tool-result.name', functionResponse, '/name')
  }
  if (name === undefined) report.rest(omitUndefined({ namespace }), at)
  functionResponse.response = encodeResponse(part, written, native)
  const id = writing.writtenCallId(callId, part)
  if (id) functionResponse.id = id
  const isMoved = parts.length > 0 && !native && !takesMediaInResults(writing.model)
  if (isMoved) report.add('tool-result.media-moved', at, 'content')
  else if (parts.length > 0) functionResponse.parts = parts
  return [{ ...beside, functionResponse, ...sign(part, writing) }, ...(isMoved ? parts : [])]
}

/** Can it be written as text in `response`? The rest goes to `parts`, which holds only data. */
function hasText(part: Part): boolean {
  return part.type === 'media'
    ? part.source.type === 'parts' || part.source.type === 'reference'
    : part.type !== 'opaque'
}

/** The `response` of a result: the original object if it says the same, else text under one key. */
function encodeResponse(
  { structured, isError = false }: ToolResultPart,
  written: readonly GenerateContentWrittenPart[],
  native: boolean,
): JsonObject {
  const texts = flatMap(written, ({ text }) => (typeof text === 'string' ? [text] : []))
  const text = texts.join('')
  if (isObject(structured)) {
    const original = readResponse(structured, '')
    if (
      original.isError === (isError || undefined) &&
      original.content.map(one => one.text).join('') === text &&
      // The server reads a reference in an object as one to a part of its message.
      (native || !text.includes('"$ref":'))
    )
      return structured
  }
  const content = texts.length > 1 ? texts : text
  return isError ? { error: content } : { output: content }
}
