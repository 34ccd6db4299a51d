import { isObject, parseJson } from '../kit/json/json.ts'
import type { Protocol } from '../protocol.ts'
import { named, parseData } from '../sse/data.ts'
import { parseFrames } from '../sse/parse.ts'

/** What a body or a text is. `error`: an error body, which several protocols may share. */
export type RecognizedKind = 'request' | 'response' | 'event' | 'stream' | 'error'

/**
 * `protocol`, `kind`: absent where there is no sign, or where there are signs of several. Of errors
 * that several protocols share, `protocols` has all of them. `reasons`: never empty. `body`: the
 * parsed text; absent for a stream.
 */
export type Recognized = {
  protocol?: Protocol
  kind?: RecognizedKind
  protocols?: readonly Protocol[]
  reasons: string[]
  body?: unknown
}

/** How many events of a stream are examined. */
const lookedAt = 20

/** Events in frames, or in one list, as some servers send them without `alt=sse`. */
const streamStart = /^\uFEFF?\s*(\[|(data|event|id|retry|error)\s*:|:)/

/** By unmistakable signs alone. A text is a stream, or else JSON. */
export function recognize(input: unknown, all: readonly Protocol[]): Recognized {
  if (typeof input !== 'string') return recognizeBody(input, all)
  if (input.trim() === '') return { reasons: ['the text is empty'] }
  if (streamStart.test(input.slice(0, 1000))) return recognizeStream(input, all)
  const body = parseJson(input)
  if (body !== undefined) return { ...recognizeBody(body, all), body }
  const looks = /^\s*</.test(input) ? '; it looks like HTML' : ''
  return { reasons: [`the text is neither JSON nor a stream of events${looks}`] }
}

function recognizeBody(body: unknown, all: readonly Protocol[]): Recognized {
  const found = all.flatMap(protocol => {
    const signs = protocol.detect(body)
    return (['request', 'response', 'event'] as const)
      .filter(kind => signs[kind].length > 0)
      .map(kind => ({ protocol, kind, reasons: signs[kind] }))
  })
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (found.length > 0)
    return {
      reasons: found.flatMap(({ protocol, kind, reasons }) =>
        reasons.map(reason => `${protocol.name} ${kind}: ${reason}`),
      ),
    }
  return recognizeError(body, all) ?? { reasons: [`no sign of any protocol${keysOf(body)}`] }
}

/** An error whose type is one of the protocol. Responses with an error have other signs, too. */
function recognizeError(body: unknown, all: readonly Protocol[]): Recognized | undefined {
  const protocols = all.filter(protocol => hasErrorOf(body, protocol))
  const [only, ...others] = protocols
  if (!only) return undefined
  const names = protocols.map(({ name }) => name).join(', ')
  const reasons = [`it is an error body of ${names}`]
  return {
    ...(others.length === 0 && { protocol: only }),
    kind: 'error',
    protocols,
    reasons,
  }
}

function hasErrorOf(body: unknown, protocol: Protocol): boolean {
  // A list of events, or a text, is no error.
  if (!isObject(body)) return false
  try {
    return protocol.decodeResponse(body).value.error?.type !== undefined
  } catch {
    return false
  }
}

function recognizeStream(text: string, all: readonly Protocol[]): Recognized {
  const frames = parseFrames(text)
  const [first] = frames
  if (!first) return { reasons: ['the text has no event of a protocol'] }
  const signs = new Map<Protocol, string[]>()
  for (const { data, event } of frames.slice(0, lookedAt)) {
    const body = named(parseData(data), event)
    for (const protocol of all) {
      const { event, response } = protocol.detect(body)
      // Some protocols stream chunks that look like complete responses.
      const found = event.length > 0 ? event : response
      if (found.length > 0 && !signs.has(protocol)) signs.set(protocol, found)
    }
  }
  const [only, ...others] = signs
  if (only && others.length === 0) return { protocol: only[0], kind: 'stream', reasons: only[1] }
  if (only)
    return {
      reasons: [...signs].flatMap(([{ name }, reasons]) =>
        reasons.map(reason => `${name} stream: ${reason}`),
      ),
    }
  return {
    reasons: [`${frames.length} events, none of a known protocol${keysOf(parseData(first.data))}`],
  }
}

/** For people: the keys, without any value. */
function keysOf(body: unknown): string {
  if (!isObject(body)) return Array.isArray(body) ? '; it is a list' : ''
  const keys = Object.keys(body).slice(0, 8)
  return keys.length > 0 ? `; it has the keys ${keys.map(key => key.slice(0, 40)).join(', ')}` : ''
}
