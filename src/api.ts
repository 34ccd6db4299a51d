import type { Note } from './canonical/note.ts'
import type { CanonicalResponse } from './canonical/response.ts'
import type { Protocol, TranslationContext, WireError } from './protocol.ts'
import { type MappingOptions, type ProtocolName, protocolNames, protocols } from './protocols/index.ts'
import type { History } from './translate/history.ts'
import * as history from './translate/history.ts'
import type { Reference, Resolvers } from './translate/references.ts'
import * as whole from './translate/request.ts'
import * as reply from './translate/response.ts'
import type { Settings } from './translate/settings.ts'
import * as stream from './translate/stream.ts'
import * as fold from './translate/whole.ts'

/** What a request refers to in its provider's memory, and the lookups that stand in for that memory. */
export type { History } from './translate/history.ts'
export type { Reference, ReferenceKind, Resolvers } from './translate/references.ts'

/** `from`: the protocol that the input is in; `to`: the one that is wanted. A name that is none makes every function throw a RangeError. */
export type TranslateOptions = Settings & MappingOptions & { from: ProtocolName; to: ProtocolName }

/** `protocol`: the one that everything is in. */
export type OneProtocol = Settings & MappingOptions & { protocol: ProtocolName }

const all: readonly Protocol[] = Object.values(protocols)

/**
 * A request for the other protocol, with a note for whatever was lost, bent or added. `context` is plain JSON: give it to
 * the translation of the answer. Between equal protocols the body comes back untouched, but for `model`.
 * @throws TranslationError `malformed` with the path of the fault; `inexpressible` when a note would not be enough, or `strict` forbids one
 */
export function translateRequest(
  body: unknown,
  { from, to, ...settings }: TranslateOptions & Resolvers,
): { body: unknown; notes: Note[]; context: TranslationContext } {
  return whole.translateRequest(body, protocolOf(from), protocolOf(to), all, settings)
}

/**
 * The ids in a request that mean something only to the provider who gave them: fetch what they stand for, then translate
 * with resolvers that give it.
 * @throws TranslationError `malformed`
 */
export function referencesOf(body: unknown, { protocol, ...settings }: OneProtocol): Reference[] {
  return history.referencesOf(body, protocolOf(protocol), settings)
}

/**
 * What to keep of an exchange under the id of its reply, for requests that go on from it; plain JSON. A streamed reply
 * goes through `collectStream` first. Resolvers bring in what came before.
 * @throws TranslationError `malformed`; `inexpressible` when the request itself goes on from something unknown
 */
export function historyOf(request: unknown, reply: unknown, { protocol, ...settings }: OneProtocol & Resolvers): History {
  return history.historyOf(request, reply, protocolOf(protocol), settings)
}

/**
 * A whole reply for the other protocol. An error body becomes the other protocol's error body. `context`: what
 * `translateRequest` gave; without it, tools that were renamed or wrapped stay so.
 * @throws TranslationError `malformed`; `truncated` for a reply that does not say how it ended, but for one of chat-completions,
 * whose servers often leave that out: it gets a note; `inexpressible` when `strict` forbids a note
 */
export function translateResponse(body: unknown, { from, to, ...settings }: TranslateOptions): reply.TranslatedResponse {
  return reply.translateResponse(body, protocolOf(from), protocolOf(to), settings)
}

/**
 * An error answer for the other protocol. Total: a broken body never hides the status it came with.
 * @throws TranslationError `inexpressible` when `strict`, and only then
 */
export function translateError(
  error: { status: number; headers?: Record<string, string>; body: unknown },
  { from, to, ...settings }: TranslateOptions,
): WireError & { notes: Note[] } {
  return reply.translateError({ headers: {}, ...error }, protocolOf(from), protocolOf(to), settings)
}

/**
 * A push-based, synchronous translator of one stream. It never throws for what the upstream sent: with `strict`, the first
 * forbidden note ends the stream as failed, in the target's protocol.
 */
export function createStreamTranslator({ from, to, ...settings }: TranslateOptions): stream.StreamTranslator {
  return stream.createStreamTranslator(protocolOf(from), protocolOf(to), settings)
}

/** The same as an async iterable: one chunk out for each chunk in that makes something due. */
export async function* translateStream(source: AsyncIterable<Uint8Array | string>, options: TranslateOptions): AsyncIterable<Uint8Array> {
  const translator = createStreamTranslator(options)
  const encoder = new TextEncoder()
  for await (const chunk of source) {
    const text = translator.push(chunk)
    if (text) yield encoder.encode(text)
  }
  const rest = translator.end()
  if (rest) yield encoder.encode(rest)
}

/**
 * The whole reply that a stream adds up to, in the same protocol. A stream that failed gives the protocol's error body.
 * @throws TranslationError `truncated` when the stream stopped before the reply did; `inexpressible` when `strict` forbids a note
 */
export function collectStream(
  source: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  { protocol, ...settings }: OneProtocol,
): Promise<{ body: unknown; notes: Note[] }> {
  return fold.collectStream(source, protocolOf(protocol), settings)
}

/**
 * The text of a legal stream that says what the whole reply says, in the same protocol.
 * @throws TranslationError `malformed`; `inexpressible` when `strict` forbids a note
 */
export function explodeResponse(body: unknown, { protocol, ...settings }: OneProtocol): string {
  return fold.explodeResponse(body, protocolOf(protocol), settings)
}

/**
 * What a reply means, in nobody's dialect. One that failed, or the body of an error, has `error` and may have no candidates.
 * @throws TranslationError `malformed`
 */
export function normalizeResponse(body: unknown, { protocol, ...settings }: OneProtocol): CanonicalResponse {
  return protocolOf(protocol).decodeResponse(body, settings).value
}

/**
 * Which protocol a body is of, for error texts: only unmistakable signs count, and `reasons` tells them. Without
 * `protocol` nothing, or more than one thing, spoke.
 */
export function detectProtocol(body: unknown): { protocol?: ProtocolName; kind?: 'request' | 'response' | 'event'; reasons: string[] } {
  const found = protocolNames.flatMap(protocol => {
    const signs = protocols[protocol].detect(body)
    return (['request', 'response', 'event'] as const).filter(kind => signs[kind].length > 0).map(kind => ({ protocol, kind, reasons: signs[kind] }))
  })
  const [only, ...others] = found
  if (only && others.length === 0) return only
  return { reasons: found.flatMap(({ protocol, kind, reasons }) => reasons.map(reason => `${protocol} ${kind}: ${reason}`)) }
}

function protocolOf(name: ProtocolName): Protocol {
  if (!Object.hasOwn(protocols, name)) throw new RangeError(`no protocol «${String(name)}»; there are ${protocolNames.join(', ')}`)
  return protocols[name]
}
