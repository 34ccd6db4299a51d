import type { ExtMap, Message, Part, Place, TextPart, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { defined, some } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { accepts } from '../../kit/guard.ts'
import { isObject, type JsonObject, keepsNumbers, parseShallow } from '../../kit/json.ts'
import { objectInput } from '../../kit/object-input.ts'
import { below } from '../../kit/path.ts'
import { readable } from '../../kit/readable.ts'
import { decodeMedia } from './media.ts'
import { keep, nulls, ownForm, ownKeys, protocolName } from './own.ts'
import { decodeSignature, fieldsOf, sign, silenceOf } from './reasoning.ts'
import { GeminiPart, type GeminiPartOf, isPartOf } from './schema.ts'
import { isBeforeGemini3 } from './vocabulary.ts'
import { asBeside, asInside, splitBeside } from './wrapper.ts'
import { isInner, type Reading, type Writing } from './writing.ts'

/** Calls of the client's own functions, and their results. */

// ---- wire → canonical

export function decodeCall(wire: GeminiPartOf<'functionCall'>, at: Place, reading: Reading): ToolCallPart {
  const { functionCall, thoughtSignature, ...fields } = wire
  const { id, name, args, ...rest } = functionCall
  return {
    type: 'tool-call',
    id: id || reading.callId(at),
    idOrigin: id ? 'wire' : 'synthesized',
    name: name ?? '',
    kind: 'function',
    input: args ? JSON.stringify(args) : '',
    ...defined({ signature: decodeSignature(thoughtSignature).signature }),
    at: reading.place(below(at, 'functionCall')),
    // Fields of the part are kept with those of the call in it, under the prefix `../`.
    ...keep(
      { ...asInside(rest), ...asBeside(fieldsOf(fields)) },
      { ...asInside(nulls(functionCall)), ...(id === '' && { id }), ...asBeside(silenceOf(wire)) },
      some({ id: id ? undefined : 'absent', args: args ? undefined : 'absent', name: name == null ? 'absent' : undefined }),
    ),
  }
}

export function decodeResult(wire: GeminiPartOf<'functionResponse'>, at: Place, reading: Reading): ToolResultPart {
  const { functionResponse, thoughtSignature, ...fields } = wire
  const { id, name, response, parts, ...rest } = functionResponse
  const inside = reading.place(below(at, 'functionResponse'))
  const answer = readResponse(response, below(inside, 'response'))
  const media = (parts ?? []).map((part, index) => decodeInside(part, below(below(inside, 'parts'), index), reading))
  return {
    type: 'tool-result',
    callId: reading.answered?.({ id: id || undefined, name: name ?? undefined }, at) ?? id ?? '',
    ...defined({ name: name ?? undefined }),
    kind: 'function',
    content: [...answer.content, ...media],
    ...(response && { structured: response }),
    ...(answer.isError && { isError: true }),
    ...defined({ signature: decodeSignature(thoughtSignature).signature }),
    at: inside,
    ...keep(
      { ...asInside(rest), ...asBeside(fieldsOf(fields)) },
      {
        ...asInside(nulls(functionResponse)),
        ...(id === '' && { id }),
        ...(parts?.length === 0 && { parts }),
        ...asBeside(silenceOf(wire)),
      },
      { id: id ? id : 'absent' },
    ),
  }
}

/**
 * A call may be answered in several parts, each of which announces the next. Other protocols take one result for each call, the last, so
 * the last one gets the text of all.
 */
export function joinContinued(messages: readonly Message[]): void {
  const before = new Map<string, Part[]>()
  for (const { parts } of messages)
    for (const [index, part] of parts.entries()) {
      if (part.type !== 'tool-result') continue
      const earlier = before.get(part.callId)
      const content = earlier ? [...earlier, ...part.content] : part.content
      if (earlier) parts[index] = { ...part, content, ext: mergeForm(part, { joined: earlier.length }) }
      if (ownKeys(part.ext)['willContinue'] === true)
        before.set(
          part.callId,
          content.filter(({ type }) => type === 'text'),
        )
      else before.delete(part.callId)
    }
}

const mergeForm = ({ ext }: Part, form: JsonObject): ExtMap => ({ ...ext, [protocolName]: { ...ext?.[protocolName], form: { ...ownForm(ext), ...form } } })

function decodeInside(part: GeminiPart, at: Place, reading: Reading): Part {
  // The schema does not check the parts inside of a result.
  const isChecked = accepts(GeminiPart, part)
  if (isChecked && (isPartOf(part, 'inlineData') || isPartOf(part, 'fileData'))) return decodeMedia(part, at, reading)
  return { type: 'opaque', protocol: protocolName, raw: part, at }
}

/** The content of a result: the text or texts under an only key `output`, `result` or `error`; else the whole object as JSON. */
function readResponse(response: JsonObject | null | undefined, at: Place): { content: TextPart[]; isError?: boolean } {
  if (!response) return { content: [] }
  const [only, ...others] = Object.entries(response)
  const text = (value: unknown): TextPart[] => (value === '' ? [] : [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value), at }])
  if (only && others.length === 0) {
    const [key, value] = only
    const isError = key === 'error' ? { isError: true } : {}
    if (key === 'output' || key === 'result' || key === 'error') {
      if (Array.isArray(value) && value.length > 1 && value.every(one => typeof one === 'string')) return { content: flatMap(value, text), ...isError }
      if (typeof value === 'string' || key === 'error') return { content: text(value), ...isError }
    }
  }
  return { content: text(response) }
}

// ---- canonical → wire

export function encodeCall(part: ToolCallPart, writing: Writing): GeminiPart {
  const { report } = writing
  const { type: _, id, idOrigin: __, itemId, name, namespace, kind, input, status, cut: ____, signature: ___, at, ext, ...rest } = part
  report.rest(rest, at)
  report.ext(ext, at)
  report.onceEach('message.envelope', at, { itemId, status })
  const form = ownForm(part.ext)
  const args = form?.['args'] === 'absent' && !input ? {} : { args: objectInput(part, kind, writing) }
  const kept = splitBeside(ownKeys(part.ext))
  return {
    ...kept.beside,
    functionCall: {
      ...kept.inside,
      ...(!(form?.['name'] === 'absent' && !name) && { name: writing.toolName(name, namespace, at) }),
      ...args,
      ...defined({ id: writing.callId(id, part) }),
    },
    ...sign(part, writing),
  }
}

type WriteParts = (parts: readonly Part[]) => GeminiPart[]

export function encodeResult(part: ToolResultPart, writing: Writing, { parseJson, write }: { parseJson: boolean; write: WriteParts }): GeminiPart[] {
  const { report } = writing
  const {
    type: _,
    callId,
    name,
    namespace: __,
    kind: ___,
    content: all,
    structured,
    isError,
    itemId,
    status,
    synthesized,
    signature: ____,
    at,
    ext,
    ...rest
  } = part
  report.rest(rest, at)
  report.ext(ext, at)
  report.onceEach('message.envelope', at, { itemId, status })
  const joined = ownForm(ext)?.['joined']
  const content = typeof joined === 'number' ? all.slice(joined) : all
  const shown = readable(content, protocolName, place => report.add('tool-result.flattened', place))
  const inside = shown.filter(part => !hasText(part))
  const texts = shown.filter(part => hasText(part) && !isInner(part, report))
  const written = write(texts)
  // A search result or a document of parts may also contain media.
  const parts = [...write(inside), ...written.filter(({ text }) => typeof text !== 'string')]
  const form = ownForm(part.ext)
  const kept = splitBeside(ownKeys(part.ext))
  const id = form ? (form['id'] === 'absent' ? undefined : callId) : writing.callId(callId, part) || undefined
  const functionResponse: JsonObject = { ...kept.inside }
  const call = writing.callOf?.(part)
  // Servers match a result to its call by name.
  if (call) functionResponse['name'] = writing.toolName(call.name, call.namespace, call.at)
  else if (name !== undefined && (name || form)) functionResponse['name'] = writing.toolName(name, part.namespace, at)
  else if (!form) {
    functionResponse['name'] = 'unknown_function'
    report.addMade('tool-result.name', functionResponse, '/name')
  }
  if (call && name && name !== call.name) report.rest({ name }, at)
  if ((call || name === undefined) && part.namespace !== call?.namespace) report.rest(defined({ namespace: part.namespace }), at)
  const response = encodeResponse(written, { structured: form && isObject(structured) ? structured : undefined, isError, parseJson })
  if (!(form && structured === undefined && texts.length === 0)) functionResponse['response'] = response
  if (id !== undefined) functionResponse['id'] = id
  const isMoved = parts.length > 0 && !writing.native && isBeforeGemini3(writing.model)
  if (isMoved) report.add('tool-result.media-moved', at, 'content')
  else if (parts.length > 0) functionResponse['parts'] = parts
  return [{ ...kept.beside, functionResponse, ...sign(part, writing) }, ...(isMoved ? parts : [])]
}

/** Can it be written as text in `response`? The rest goes to `parts`, which holds only data. */
function hasText(part: Part): boolean {
  return part.type === 'media' ? part.source.type === 'parts' || part.source.type === 'reference' : part.type !== 'opaque'
}

/** The `response` of a result: as it came if its text is unchanged, else the text under one key, or parsed if `parseJson` is set. */
function encodeResponse(
  written: readonly GeminiPart[],
  { structured, isError, parseJson }: { structured: JsonObject | undefined; isError: boolean | undefined; parseJson: boolean },
): JsonObject {
  const texts = flatMap(written, ({ text }) => (typeof text === 'string' ? [text] : []))
  const text = texts.join('')
  if (structured && readText(structured) === text) return structured
  const said = texts.length > 1 ? texts : text
  if (isError) return { error: said }
  return (parseJson && keepsNumbers(text) && parseShallow(text)) || { output: said }
}

const readText = (response: JsonObject) =>
  readResponse(response, '')
    .content.map(({ text }) => text)
    .join('')
