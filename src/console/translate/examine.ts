import type { Note } from '../../canonical/note.ts'
import { TranslationError } from '../../errors.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { placeOfFault } from '../../kit/json/fault.ts'
import { parseJson } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { parseFrames } from '../../sse/parse.ts'
import { collectStream } from '../../translate/fold.ts'
import { translateRequest } from '../../translate/request.ts'
import { translateResponse } from '../../translate/response.ts'
import { createStreamTranslator } from '../../translate/stream.ts'
import { type Difference, differences } from './differences.ts'
import {
  hasEvents,
  isEvent,
  type Kind,
  looksLikeStream,
  type Reading,
  type Recognized,
  recognizeBody,
  recognizeStream,
} from './recognize.ts'

/**
 * Why something cannot be read or written. `path`: JSON pointer to the fault; `at`: its character
 * in the text.
 */
export type Fault = { message: string; path?: string; at?: number }

/** A frame of a stream. `value`: its data as JSON; absent if it is not JSON, as `[DONE]`. */
export type ShownFrame = { event?: string; data: string; value?: unknown }

/** The translation into one other protocol: `body` of a request or response, `text` of a stream. */
export type TargetResult = {
  protocol: string
  body?: unknown
  text?: string
  frames?: ShownFrame[]
  notes: Note[]
  /** Differences after the way back that no note covers. */
  differences: Difference[]
  /** Why the way back could not be checked. */
  noReturn?: Fault
  fault?: Fault
}

export type Examined = {
  protocol?: string
  kind?: Kind
  reasons: string[]
  /** The other possible readings, if it is ambiguous. */
  choices: { protocol: string; kind: Kind }[]
  fault?: Fault
  /** The parsed request or response. */
  body?: unknown
  /** The frames of a stream. */
  frames?: ShownFrame[]
  targets: TargetResult[]
}

/** `now`: Unix seconds, for required time fields. */
export type Known = { protocol?: Protocol; kind?: Kind; now: number }

const all: readonly Protocol[] = Object.values(protocols)

/**
 * A request, response or stream of one protocol → its translation into all others, with notes and
 * losses.
 */
export async function examine(text: string, { now, ...known }: Known): Promise<Examined> {
  if (text.trim() === '')
    return failed({ message: 'there is nothing to read: paste a request, a response or a stream' })
  if (known.kind === 'stream' || (known.kind === undefined && looksLikeStream(text))) {
    const recognized = recognizeStream(text, known)
    // A list may be a stream, or any other list.
    if (recognized.readings.length > 0 || known.kind || !/^\s*\[/.test(text))
      return examineAs(recognized, known, { text, now })
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return failed(faultOfText(text))
  }
  const recognized = recognizeBody(body, known)
  if (recognized.readings.length === 0 && isEvent(body))
    return failed(
      { message: 'this is one event of a stream: paste the stream with its frames' },
      { body },
    )
  return examineAs(recognized, known, { text, body, now })
}

type Source = { text: string; body?: unknown; now: number }

async function examineAs(
  { readings, reasons }: Recognized,
  known: Partial<Reading>,
  source: Source,
): Promise<Examined> {
  const { body } = source
  const chosen =
    known.protocol && known.kind ? { protocol: known.protocol, kind: known.kind } : undefined
  const likely = readings.length === 1 ? readings[0] : likeliest(readings, body)
  const reading = chosen ?? likely
  if (!reading) {
    const choices = readings.map(({ protocol, kind }) => ({ protocol: protocol.name, kind }))
    const message =
      choices.length > 0
        ? 'several protocols match: choose one'
        : 'no protocol matches: choose one to see what is missing'
    return failed({ message }, { choices, body })
  }
  const { protocol, kind } = reading
  const fault =
    kind === 'stream' ? faultOfStream(source.text) : faultOf(() => read(protocol, kind, body))
  const others = readings.filter(one => one !== reading && !chosen)
  const is = {
    protocol: protocol.name,
    kind,
    reasons:
      others.length > 0
        ? ['nothing in it identifies the protocol, and this one is the most common']
        : reasons,
    choices: others.map(one => ({ protocol: one.protocol.name, kind: one.kind })),
    ...(body !== undefined && { body }),
    ...(kind === 'stream' && { frames: framesOf(source.text) }),
  }
  if (fault) return { ...is, fault, targets: [] }
  const targets: TargetResult[] = []
  for (const target of all)
    if (target !== protocol) targets.push(await translateTo(reading, target, source))
  return { ...is, targets }
}

/**
 * A request that several protocols can read is that of the first one whose conversation is where
 * this body has it.
 */
function likeliest(readings: readonly Reading[], body: unknown): Reading | undefined {
  const [first] = readings
  return first &&
    readings.every(({ kind }) => kind === 'request') &&
    first.protocol.detect(body).maybe
    ? first
    : undefined
}

async function translateTo(
  { protocol: from, kind }: Reading,
  to: Protocol,
  { text, body, now }: Source,
): Promise<TargetResult> {
  try {
    if (kind === 'stream') return await translateStreamTo(from, to, text, now)
    const translated =
      kind === 'request'
        ? translateRequest(body, from, to, all, { now })
        : translateResponse(body, from, to, { now })
    const path = 'context' in translated ? translated.context.path : undefined
    const back = () =>
      kind === 'request'
        ? translateRequest(translated.body, to, from, all, {
            now,
            ...(path !== undefined && { path }),
          })
        : translateResponse(translated.body, to, from, { now })
    return {
      protocol: to.name,
      body: translated.body,
      notes: translated.notes,
      ...(await compared(translated.notes, () => [body, back().body])),
    }
  } catch (error) {
    return {
      protocol: to.name,
      notes: TranslationError.is(error) ? (error.notes ?? []) : [],
      differences: [],
      fault: faultIn(error),
    }
  }
}

/** The frames may differ after the way back, so the complete responses are compared. */
async function translateStreamTo(
  from: Protocol,
  to: Protocol,
  text: string,
  now: number,
): Promise<TargetResult> {
  const { text: translated, notes } = streamed(text, from, to, now)
  const back = async () =>
    [
      await collected(text, from),
      await collected(streamed(translated, to, from, now).text, from),
    ] as const
  return {
    protocol: to.name,
    text: translated,
    frames: framesOf(translated),
    notes,
    ...(await compared(notes, back)),
  }
}

const framesOf = (text: string): ShownFrame[] =>
  parseFrames(text).map(({ event, data }) => ({
    ...omitUndefined({ event, value: parseJson(data) }),
    data,
  }))

function streamed(
  text: string,
  from: Protocol,
  to: Protocol,
  now: number,
): { text: string; notes: Note[] } {
  const translator = createStreamTranslator(from, to, { now })
  const output = translator.push(text) + translator.end()
  return { text: output, notes: translator.notes }
}

const collected = async (text: string, protocol: Protocol) =>
  (await collectStream([text], protocol, {})).body

/** Differences after the way there and back that no note covers. */
async function compared(
  notes: readonly Note[],
  thereAndBack: () => readonly [unknown, unknown] | Promise<readonly [unknown, unknown]>,
): Promise<Pick<TargetResult, 'differences' | 'noReturn'>> {
  try {
    return { differences: silent(differences(...(await thereAndBack())), notes) }
  } catch (error) {
    return { differences: [], noReturn: faultIn(error) }
  }
}

/** The differences that no note covers. */
function silent(found: Difference[], notes: readonly Note[]): Difference[] {
  const noted = new Set(notes.filter(({ kind }) => kind !== 'synthesized').map(({ path }) => path))
  return found.filter(({ path }) => {
    for (let above = path; above !== ''; above = above.slice(0, above.lastIndexOf('/')))
      if (noted.has(above)) return false
    return !noted.has('')
  })
}

function read(protocol: Protocol, kind: Exclude<Kind, 'stream'>, body: unknown): void {
  if (kind === 'request') protocol.decodeRequest(body)
  else translateResponse(body, protocol, all.find(other => other !== protocol) ?? protocol, {})
}

const faultOfStream = (text: string): Fault | undefined =>
  hasEvents(text)
    ? undefined
    : { message: 'there is no event in it: expected frames that begin with data:' }

function faultOf(act: () => void): Fault | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return faultIn(error)
  }
}

/** @throws every error that the input did not cause */
function faultIn(error: unknown): Fault {
  if (!TranslationError.is(error)) throw error
  return { message: error.message, path: error.path }
}

function faultOfText(text: string): Fault {
  const { at, place } = placeOfFault(text)
  return { message: `this is not JSON: ${place}`, at }
}

function failed(fault: Fault, more: Partial<Examined> = {}): Examined {
  return { reasons: [], choices: [], targets: [], ...more, fault }
}
