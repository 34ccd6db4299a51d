import { z } from 'zod'
import { noteKinds } from '../canonical/note.ts'
import { protocolNames } from '../protocols/index.ts'
import { formatVersion } from './version.ts'

const ms = z.number().min(0)
const headers = z.record(z.string(), z.string())

/** Further fields are left out. `names`: separated by spaces. */
const onlyThese = (names: string) =>
  z.object(Object.fromEntries(names.split(' ').map(name => [name, z.unknown().optional()])))

const protocol = z.enum(protocolNames)

/** A part of a stream, with the time since the exchange began. */
const Frame = z.strictObject({
  /** Milliseconds. */
  atMs: ms,
  /** One event of text/event-stream with its blank line, as it was sent. */
  text: z.string(),
})

/**
 * The bytes of a request or response. Exactly one of `text`, `base64`, `frames` and `redacted` is
 * there.
 */
const Body = z.strictObject({
  /** Bytes that are UTF-8. */
  text: z.string().optional(),
  /** Other bytes. */
  base64: z.string().optional(),
  /**
   * The events of a stream. Binary event streams are written as text/event-stream, whatever their
   * content type says.
   */
  frames: z.array(Frame).optional(),
  /** The number of bytes of media that were not kept. */
  redacted: z.int().min(0).optional(),
  /** The body broke off, or its reader left: its end never came. Absent: it is complete. */
  isCut: z.literal(true).optional(),
  /** The number of bytes at the end that were not kept, because of a size bound. Absent: none. */
  leftOut: z.int().min(1).optional(),
})

const Note = z.looseObject({
  kind: z.enum(noteKinds),
  path: z.string(),
  code: z.string(),
  reason: z.string(),
  target: z.string().optional(),
})

/** A channel, and the upstream's name of the model. */
const Channel = { channel: z.string(), model: z.string(), protocol }

/**
 * Of these a gateway is made again. Others are left out: a file of somebody else may not choose
 * addresses, headers or keys.
 */
const Settings = z.strictObject({
  channel: onlyThese('vendor protocols options set setIfAbsent streamUsage embedded'),
  model: onlyThese(
    'unsupported streaming bridge capabilities contextTokens maxOutputTokens set setIfAbsent',
  ),
  defaults: onlyThese('strict maxOutputTokens retries'),
})

/** One request to an upstream. */
const Attempt = z.strictObject({
  ...Channel,
  /** The name of the profile of its vendor. Absent: none is known. */
  vendor: z.string().optional(),
  /** Milliseconds since the exchange began. */
  atMs: ms,
  method: z.string(),
  /** Empty for the demo model. Values of keys in the query are replaced. */
  url: z.string(),
  headers,
  body: Body,
  /** What was changed in the request for this upstream. */
  notes: z.array(Note),
  /** What the configuration says of this way: see `replay`. */
  settings: Settings,
  /** Milliseconds until the upstream began to respond, or failed. Absent: it did neither. */
  ms: ms.optional(),
  /** Why it failed. Absent: it did not. */
  failure: z.looseObject({ status: z.number(), kind: z.string(), message: z.string() }).optional(),
  /** Absent: there was none. */
  response: z.strictObject({ status: z.int(), headers, atMs: ms, body: Body }).optional(),
})

/** A channel that got no request. */
const Skipped = z.strictObject({
  ...Channel,
  /** `resting`: it had failed too often; `busy`: it had as many requests as it may have. */
  reason: z.enum(['resting', 'busy']),
})

/** One exchange: a request of a client, and all that was sent for it. */
export const CassetteSchema = z.strictObject({
  format: z.literal('wireglot-cassette'),
  version: z.literal(formatVersion),
  /** The id of the request in logs and records. */
  id: z.string(),
  /** Time of the request, ISO 8601. */
  time: z.iso.datetime(),
  /** `pass`: a request that passes to another endpoint unchanged. */
  operation: z.enum(['generate', 'count-tokens', 'compact', 'pass']),
  /** What the client sent. Its header names are lower case. */
  request: z.strictObject({
    protocol,
    method: z.string(),
    path: z.string(),
    /** With `?`; empty: there was none. */
    query: z.string(),
    headers,
    body: Body,
  }),
  route: z.strictObject({
    /** In the order in which they are tried. `fallback`: the id of the fallback model. */
    candidates: z.array(z.strictObject({ ...Channel, fallback: z.string().optional() })),
    skipped: z.array(Skipped),
  }),
  attempts: z.array(Attempt),
  /** What the client got. Absent: it left before. */
  response: z.strictObject({ status: z.int(), headers, atMs: ms, body: Body }).optional(),
  /** Of the whole exchange. */
  notes: z.array(Note),
  /** The usage record, as `onUsage` gets it. Absent: the request names no model. */
  record: z.looseObject({ totalMs: ms, status: z.int() }).optional(),
})

/**
 * One exchange: a request of a client, and all that was sent for it. Secrets are replaced by `***`.
 * Times are in milliseconds since the exchange began, unless they say otherwise.
 */
export type Cassette = z.output<typeof CassetteSchema>
/** The bytes of a request or response: see `Cassette`. */
export type CassetteBody = z.output<typeof Body>
/** One event of a stream: see `Cassette`. */
export type CassetteFrame = z.output<typeof Frame>
/** One request to an upstream: see `Cassette`. */
export type CassetteAttempt = z.output<typeof Attempt>
