import type { MediaPart } from '../../../canonical/message.ts'
import { omitNullish } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../../kit/json/json.ts'
import { below, pointerOf, step } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { decodeAnnotation, placedIn } from '../content/citations.ts'
import { decodeImages } from '../content/images.ts'
import { protocolName } from '../own.ts'
import { decodeLogprobs, unreadOfLogprobs } from '../response/logprobs.ts'
import { type Choice, type DecoderState, placeOf, reportOf } from './decoder-state.ts'
import { add, closePart, count, opened, openPart } from './open-parts.ts'
import { appendReasoning } from './reasoning.ts'

/**
 * What a delta holds besides reasoning and calls: text, blocks, citations, log probabilities,
 * images, audio.
 */

export function appendText(
  choice: Choice,
  kind: 'text' | 'refusal',
  { text, emit }: { text: string; emit: EmitEvent },
): void {
  const part = opened(choice, kind, emit)
  count(choice, part, { kind, text })
  add(choice, part, { delta: { kind: 'text', text }, emit })
  const logprobs = choice.logprobs[kind]
  if (logprobs.length === 0) return
  add(choice, part, { delta: { kind: 'logprobs', logprobs }, emit })
  choice.logprobs[kind] = []
}

/** Servers that send content as blocks put reasoning into blocks, too. */
export function readBlock(
  state: DecoderState,
  choice: Choice,
  { block, emit }: { block: JsonObject; emit: EmitEvent },
): void {
  const { type, text, thinking, ...unknown } = block
  const thought = type === 'thinking' ? thoughtIn(thinking) : undefined
  if (type === 'text' && typeof text === 'string') {
    noteUnknown(state, choice, unknown)
    if (text) appendText(choice, 'text', { text, emit })
  } else if (thought !== undefined) {
    noteUnknown(state, choice, unknown)
    if (thought) appendReasoning(choice, { text: thought, of: 'raw', emit })
  } else {
    closePart(choice, emit)
    const part = openPart(choice, { type: 'opaque', protocol: protocolName, raw: block }, emit)
    emit({ type: 'part.end', candidate: choice.candidate, part })
  }
}

/** Texts run on from delta to delta, so what else a block says has no place. */
function noteUnknown(state: DecoderState, choice: Choice, unknown: JsonObject): void {
  for (const key in omitNullish(unknown))
    reportOf(state).once('field.unknown', `${pointerOf(placeOf(choice))}/content${step(key)}`)
}

/** Undefined: it is neither a text nor a list of texts. */
function thoughtIn(thinking: unknown): string | undefined {
  if (!Array.isArray(thinking)) return typeof thinking === 'string' ? thinking : undefined
  const isPlain = (entry: unknown): entry is { text: string } =>
    isObject(entry) &&
    typeof entry['text'] === 'string' &&
    Object.keys(entry).every(key => key === 'text' || key === 'type')
  return thinking.every(isPlain) ? thinking.map(({ text }) => text).join('') : undefined
}

export function cite(choice: Choice, annotation: unknown, emit: EmitEvent): void {
  const part = opened(choice, 'text', emit)
  const citation = placedIn(decodeAnnotation(annotation), choice.open?.before ?? 0)
  add(choice, part, { delta: { kind: 'citation', citation }, emit })
}

export function readLogprobs(choice: Choice, logprobs: JsonObject, emit: EmitEvent): void {
  const { content, refusal } = logprobs
  const { candidate, tokens } = choice
  const decoded = {
    text: decodeLogprobs(
      content,
      below(below(below('/choices', candidate), 'logprobs'), 'content'),
      tokens.text,
    ),
    refusal: decodeLogprobs(
      refusal,
      below(below(below('/choices', candidate), 'logprobs'), 'refusal'),
      tokens.refusal,
    ),
  }
  for (const kind of ['text', 'refusal'] as const) {
    const read = decoded[kind]
    if (!read) continue
    tokens[kind] += read.length
    if (choice.open?.kind === kind)
      add(choice, choice.open.part, { delta: { kind: 'logprobs', logprobs: read }, emit })
    else append(choice.logprobs[kind], read)
  }
  const unread = unreadOfLogprobs(logprobs)
  if (Object.keys(unread).length > 0) choice.fields = { ...choice.fields, logprobs: unread }
}

/** What is in the place of a text. */
const wordless = (value: unknown): unknown => (typeof value === 'string' ? null : (value ?? null))

export function readImages(choice: Choice, images: unknown, emit: EmitEvent): void {
  const parts = decodeImages(images, placeOf(choice))
  if (!parts) choice.delta = { ...choice.delta, images }
  for (const head of parts ?? []) {
    closePart(choice, emit)
    emit({ type: 'part.end', candidate: choice.candidate, part: openPart(choice, head, emit) })
  }
}

export function readAudio(
  choice: Choice,
  { id, data, transcript, ...unknown }: JsonObject,
  emit: EmitEvent,
): void {
  const late: JsonObject = omitNullish({
    ...unknown,
    id: wordless(id),
    data: wordless(data),
    transcript: wordless(transcript),
  })
  if (choice.audio === undefined) {
    closePart(choice, emit)
    const head: MediaPart = { type: 'media', kind: 'audio', source: { type: 'base64', data: '' } }
    if (typeof id === 'string' && id) head.id = id
    choice.audio = { part: openPart(choice, head, emit), id }
  } else if (typeof id === 'string' && id !== choice.audio.id) late['id'] = id
  const { part } = choice.audio
  if (typeof transcript === 'string' && transcript)
    add(choice, part, { delta: { kind: 'text', text: transcript }, emit })
  if (typeof data === 'string' && data)
    add(choice, part, { delta: { kind: 'media', base64: data }, emit })
  if (Object.keys(late).length > 0) choice.delta = merge(choice.delta, { audio: late })
}
