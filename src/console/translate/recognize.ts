import type { Detection, Protocol } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { named, parseData } from '../../sse/data.ts'
import { parseFrames } from '../../sse/parse.ts'

export type Kind = 'request' | 'response' | 'stream'

export const kinds: readonly Kind[] = ['request', 'response', 'stream']

/** The protocol of a text, and its kind. */
export type Reading = { protocol: Protocol; kind: Kind }

/**
 * `reasons`: why this reading was chosen, as sentences. With several readings or none, the user has
 * to choose.
 */
export type Recognized = { readings: Reading[]; reasons: string[] }

const all: readonly Protocol[] = Object.values(protocols)

/** How many events of a stream are examined. */
const lookedAt = 20

/** Events in frames, or in one list, as some servers send them without `alt=sse`. */
export const looksLikeStream = (text: string): boolean =>
  /^\uFEFF?\s*(\[|(data|event|id|retry|error)\s*:|:)/.test(text)

/**
 * Does it contain any frame with data? JSON alone is none, though a stream may have lines of it.
 */
export function hasEvents(text: string): boolean {
  return parseFrames(text).length > 0 && looksLikeStream(text)
}

/**
 * By unmistakable signs; without any, by which protocols can read it. `known`: what is already
 * known.
 */
export function recognizeBody(body: unknown, known: Partial<Reading>): Recognized {
  const signs = all.map(protocol => ({ protocol, found: protocol.detect(body) }))
  const signed = signs.flatMap(({ protocol, found }) =>
    (['request', 'response'] as const)
      .filter(kind => found[kind].length > 0)
      .map(kind => ({ protocol, kind, reasons: found[kind] })),
  )
  const fitting = signed.filter(reading => fits(reading, known))
  if (fitting.length > 0)
    return {
      readings: fitting.map(({ protocol, kind }) => ({ protocol, kind })),
      reasons: fitting.flatMap(({ reasons }) => reasons),
    }
  const readable = all
    .flatMap(protocol => (['request', 'response'] as const).map(kind => ({ protocol, kind })))
    .filter(reading => fits(reading, known) && canRead(reading, body))
  return {
    readings: readable,
    reasons: readable.length === 1 ? ['nothing else can be read from it'] : [],
  }
}

/** Is this a single event of a stream, without its frame? */
export const isEvent = (body: unknown): boolean =>
  all.some(({ detect }) => detect(body).event.length > 0)

export function recognizeStream(text: string, known: Partial<Reading>): Recognized {
  const votes = new Map<Protocol, string[]>()
  for (const { data, event } of parseFrames(text).slice(0, lookedAt))
    for (const protocol of all) {
      const reasons = ofStream(protocol.detect(named(parseData(data), event)))
      if (reasons.length > 0 && !votes.has(protocol)) votes.set(protocol, reasons)
    }
  const found = [...votes].filter(
    ([protocol]) => known.protocol === undefined || known.protocol === protocol,
  )
  return {
    readings: found.map(([protocol]) => ({ protocol, kind: 'stream' })),
    reasons: found.flatMap(([, reasons]) => reasons),
  }
}

/** Some protocols stream chunks that look like complete responses. */
const ofStream = ({ event, response }: Detection) => (event.length > 0 ? event : response)

const fits = (reading: Reading, known: Partial<Reading>) =>
  (known.protocol === undefined || known.protocol === reading.protocol) &&
  (known.kind === undefined || known.kind === reading.kind)

/** Schemas allow unknown keys: a protocol that knows none of the keys of a body cannot read it. */
function canRead({ protocol, kind }: Reading, body: unknown): boolean {
  try {
    const { ext } =
      kind === 'request' ? protocol.decodeRequest(body).value : protocol.decodeResponse(body).value
    const unknown = ext?.[protocol.name]?.fields ?? {}
    return Object.keys(Object(body)).some(key => !Object.hasOwn(unknown, key))
  } catch {
    return false
  }
}
