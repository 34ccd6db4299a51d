import { withBlockedFinish } from './canonical/blocked.ts'
import type { CanonicalResponse } from './canonical/response.ts'
import * as errors from './errors.ts'
import { mergeOptions, optionsFor } from './kit/fields/option-groups.ts'
import { isObject } from './kit/json/json.ts'
import { refuseNoBody } from './kit/schema/check.ts'
import { nameFault } from './kit/text/similar.ts'
import type { Note } from './notes.ts'
import type { Protocol, TranslationContext, WireError } from './protocol.ts'
import { optionFaults, type Ungrouped } from './protocols/check-options.ts'
import {
  type MappingOptions,
  type ProtocolName,
  protocolNames,
  protocols,
} from './protocols/index.ts'
import type { RequestInput, ResponseInput, Wire, WireInput } from './protocols/wire.ts'
import { type ByteStream, chunksOf, translateChunks } from './translate/chunks.ts'
import { commonOptions } from './translate/common-options.ts'
import type { EventStream } from './translate/event-stream.ts'
import * as events from './translate/event-stream.ts'
import * as folds from './translate/fold.ts'
import type { History } from './translate/history.ts'
import * as histories from './translate/history.ts'
import { type RecognizedKind, recognize } from './translate/recognize.ts'
import type { Reference, Resolvers } from './translate/references.ts'
import * as requests from './translate/request.ts'
import type { ErrorResponse } from './translate/response.ts'
import * as responses from './translate/response.ts'
import { refuseIfStrict, type Settings } from './translate/settings.ts'
import * as streams from './translate/stream.ts'
import type { StreamTranslator } from './translate/stream-translator.ts'
import { withinLimits } from './translate/token-limits.ts'
import { without, withoutWritten } from './translate/unsupported.ts'
import { transformStreamOf } from './translate/web-streams.ts'
import { type VendorName, vendorNames, vendors } from './vendors/index.ts'
import { noRules, refusedIn, type VendorSettings, vendorSettings } from './vendors/settings.ts'

export type { ByteStream } from './translate/chunks.ts'
export type { EventStream } from './translate/event-stream.ts'
export type { History } from './translate/history.ts'
export type { RecognizedKind } from './translate/recognize.ts'
export type { Reference, ReferenceKind, Resolvers } from './translate/references.ts'
export type { ErrorResponse } from './translate/response.ts'
export { toWebStream } from './translate/web-streams.ts'

/**
 * See the class of the same name. `notes`: those made so far, when the error is about what would be
 * lost.
 */
export type TranslationError = Omit<errors.TranslationError, 'notes'> & { readonly notes?: Note[] }

type TranslationErrorClass = {
  new (...args: ConstructorParameters<typeof errors.TranslationError>): TranslationError
  /** As `instanceof`, but also true for errors of another copy of this package. */
  is(value: unknown): value is TranslationError
}

/**
 * Thrown by all translating functions; `code` names the kind of fault. The message contains no user
 * data.
 * @example
 * import { normalizeResponse, TranslationError } from 'wireglot'
 *
 * try {
 *   normalizeResponse(JSON.parse('{"content":5}'), { protocol: 'messages' })
 * } catch (error) {
 *   if (TranslationError.is(error)) console.log(error.code, error.path) // malformed /content
 * }
 */
export const TranslationError = errors.TranslationError as TranslationErrorClass

/**
 * Options that every protocol reads, and a group of options for each protocol. Only a gateway sets
 * the omitted ones.
 */
type CommonOptions = Omit<Settings, 'keepsResponse' | 'hideUsage'> & MappingOptions

/**
 * Options of every function that translates. A RangeError names each unknown option and each
 * invalid value.
 */
export type TranslateOptions<
  From extends ProtocolName = ProtocolName,
  To extends ProtocolName = ProtocolName,
> = CommonOptions & {
  /** The protocol of the input. */
  from: From
  /** The protocol of the output. */
  to: To
  /**
   * The vendor that serves the model. Its known requirements are defaults for the options, and
   * fields that it refuses are dropped with a note. Absent: requests are written so that every
   * server of the protocol accepts them. What is known of the model applies to every translated
   * request.
   */
  vendor?: VendorName
}

/**
 * Options of every function with one protocol. A RangeError names each unknown option and each
 * invalid value.
 */
export type OneProtocol<Name extends ProtocolName = ProtocolName> = CommonOptions & {
  /** The protocol of input and output. */
  protocol: Name
}

const all: readonly Protocol[] = Object.values(protocols)

const protocol = (name: unknown) => nameFault(name, protocolNames)

/** The options outside of groups, with their values. */
const ungrouped: Ungrouped = {
  ...commonOptions,
  from: protocol,
  to: protocol,
  protocol,
  vendor: name => nameFault(name, vendorNames),
}

/**
 * `required`: the options that name a protocol.
 * @throws RangeError with a line for each unknown option and each invalid value
 * @throws TypeError when there are no options
 */
function checkOptions(options: unknown, ...required: readonly string[]): void {
  if (!isObject(options))
    throw new TypeError(`options: expected an object with ${required.join(' and ')}`)
  for (const name of required)
    if (options[name] === undefined) throw new RangeError(`option ${name}: ${protocol(undefined)}`)
  const faults = optionFaults(options, ungrouped)
  if (faults.length > 0)
    throw new RangeError(faults.map(({ path, message }) => `option ${path}: ${message}`).join('\n'))
}

/** With notes whose codes are known. */
export type Coded<Result extends { notes: unknown }> = Omit<Result, 'notes'> & { notes: Note[] }

/** Codecs make only notes of their tables, whose codes are those of `Note`. */
const coded = <Result extends { notes: unknown }>(result: Result) => result as Coded<Result>

/** The two protocols, if the options are valid. */
function pairOf(options: TranslateOptions): [from: Protocol, to: Protocol] {
  checkOptions(options, 'from', 'to')
  return [protocols[options.from], protocols[options.to]]
}

/** The protocol, if the options are valid. */
function onlyOf(options: OneProtocol): Protocol {
  checkOptions(options, 'protocol')
  return protocols[options.protocol]
}

function rulesOf(
  vendor: VendorName | undefined,
  protocol: ProtocolName,
  model: string | undefined,
): VendorSettings {
  return vendorSettings(vendor && vendors[vendor], protocol, model)
}

/** The options, with those for reading the responses of their vendor. */
function reading(options: TranslateOptions): TranslateOptions {
  const { from, vendor } = options
  return vendor
    ? mergeOptions<TranslateOptions>(
        rulesOf(vendor, from, undefined).responseOptions as TranslateOptions,
        options,
      )
    : options
}

/**
 * Translates a request, with a note for everything that was dropped, approximated or synthesized.
 * Pass `context`, which is plain JSON, to the translation of the response. Between equal protocols
 * the body is returned unchanged, except for `model`, what a named vendor refuses, and reasoning
 * that another provider signed; the last two are noted.
 * @throws TranslationError `malformed`, with the path of the fault, when the body is no request of
 * `from`; `inexpressible` when the target cannot express the request even with a note (see
 * `onUnresolvable`), or `strict` forbids a note
 * @example
 * import { translateRequest } from 'wireglot'
 *
 * const chat = { model: 'm', seed: 7, messages: [{ role: 'user', content: 'Hello' }] } as const
 * const { body, notes } = translateRequest(chat, { from: 'chat-completions', to: 'messages' })
 * console.log(body.max_tokens) // 32000
 * for (const { kind, path } of notes) console.log(kind, path)
 */
export function translateRequest<
  From extends ProtocolName,
  To extends ProtocolName,
  Body = WireInput[From]['request'],
>(
  body: RequestInput<Body, From>,
  options: TranslateOptions<From, To> & Resolvers,
): TranslatedRequest<To> {
  return translated(body, options) as TranslatedRequest<To>
}

/** `body`: in the target protocol. `context`: for the translation of the response. */
export type TranslatedRequest<To extends ProtocolName = ProtocolName> = {
  body: Wire[To]['request']
  notes: Note[]
  context: TranslationContext
}

function translated(
  body: unknown,
  options: TranslateOptions & Resolvers,
): { body: unknown; notes: Note[]; context: TranslationContext } {
  const [source, target] = pairOf(options)
  refuseNoBody(source.name, body)
  const { to, vendor } = options
  // Toward an unknown server of the same protocol the bytes stay.
  if (vendor === undefined && source === target)
    return coded(requests.translateRequest(body, source, target, all, options))
  const rules = rulesOf(vendor, to, requests.modelIn(body, source, options))
  if (rules === noRules) return coded(requests.translateRequest(body, source, target, all, options))
  // Between equal protocols, the paths of notes are paths in the body as received.
  const fitting = withinLimits(body, source, rules.limits)
  const less =
    source === target ? without(fitting.body, source, refusedIn(rules, fitting.body)) : fitting
  const adjusted =
    less === fitting ? fitting : { ...less, notes: [...fitting.notes, ...less.notes] }
  const found = requests.translateRequest(adjusted.body, source, target, all, {
    fitsVendor: vendor !== undefined,
    ...mergeOptions<TranslateOptions & Resolvers>(rules.options as TranslateOptions, options),
  })
  const translated = { ...found, notes: [...adjusted.notes, ...found.notes] }
  const refused = source === target ? [] : refusedIn(rules, translated.body)
  if (refused.length === 0) {
    refuseIfStrict(translated.notes, options.strict, to)
    return coded(translated)
  }
  const context = { to: target, caller: source, body, notes: translated.notes }
  const written = withoutWritten(translated.body, refused, context)
  refuseIfStrict(written.notes, options.strict, to)
  return coded({ ...translated, ...written })
}

/**
 * The ids in a request that only the provider that issued them can resolve. Fetch what they refer
 * to, then translate with resolvers that return it. Empty: the request refers to nothing.
 * @throws TranslationError `malformed`
 * @example
 * import { referencesOf } from 'wireglot'
 *
 * console.log(referencesOf({ model: 'm', input: 'Hello', previous_response_id: 'resp_1' }, { protocol: 'responses' })[0]?.id) // resp_1
 */
export function referencesOf<Name extends ProtocolName, Body = WireInput[Name]['request']>(
  body: RequestInput<Body, Name>,
  options: OneProtocol<Name>,
): Reference[] {
  return histories.referencesOf(body, onlyOf(options), options)
}

/**
 * The conversation up to and including a response, as plain JSON: store it under the id of the
 * response, and return its `messages` from `resolvePrevious`. Pass a streamed response through
 * `collectStream` first. When the request continues an earlier response itself, resolvers are
 * needed for it.
 * @throws TranslationError `malformed`; `inexpressible` when the request continues something that
 * no resolver knows
 * @example
 * import { historyOf } from 'wireglot'
 *
 * const request = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] } as const
 * const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }]
 * console.log(historyOf(request, { choices }, { protocol: 'chat-completions' }).messages.length) // 2
 */
export function historyOf<
  Name extends ProtocolName,
  Body = WireInput[Name]['request'],
  Response = WireInput[Name]['response'],
>(
  request: RequestInput<Body, Name>,
  response: ResponseInput<Response, Name>,
  options: OneProtocol<Name> & Resolvers,
): History {
  return histories.historyOf(request, response, onlyOf(options), options)
}

/**
 * Translates a complete response. An error body becomes an error body of `to`. `context`: the one
 * that `translateRequest` returned; without it, tools that the request had to rename or wrap keep
 * the upstream's names and shapes.
 * @throws TranslationError `malformed`; `truncated` for a response without a finish reason (in
 * chat-completions, whose servers often omit it, that is a note); `inexpressible` when `strict`
 * forbids a note
 * @example
 * import { translateResponse } from 'wireglot'
 *
 * const response = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' } as const
 * const { body } = translateResponse(response, { from: 'messages', to: 'chat-completions' })
 * if ('choices' in body) console.log(body.choices[0]?.message.content) // Hi!
 */
export function translateResponse<
  From extends ProtocolName,
  To extends ProtocolName,
  Body = WireInput[From]['response'],
>(body: ResponseInput<Body, From>, options: TranslateOptions<From, To>): TranslatedResponse<To> {
  const [from, to] = pairOf(options)
  refuseNoBody(from.name, body)
  return responses.translateResponse(body, from, to, reading(options)) as TranslatedResponse<To>
}

/** `body`: in the target protocol. An error body when the response failed. */
export type TranslatedResponse<To extends ProtocolName = ProtocolName> = Omit<
  responses.TranslatedResponse,
  'body' | 'notes'
> & {
  body: Wire[To]['response']
  notes: Note[]
}

/**
 * Translates an HTTP error response. Any body is accepted: one that cannot be read never hides the
 * status. `headers`: of the response, for request ids and retry hints, as an object or as the
 * `Headers` of `fetch`. Names are read in any case.
 * @throws TranslationError `inexpressible` when `strict` forbids a note, and only then
 * @throws TypeError without a status
 * @example
 * import { translateError } from 'wireglot'
 *
 * const body = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }
 * console.log(translateError({ status: 529, body }, { from: 'messages', to: 'chat-completions' }).body.error.message) // busy
 */
export function translateError<To extends ProtocolName>(
  error: ErrorResponse,
  options: TranslateOptions<ProtocolName, To>,
): WireError<Wire[To]['error']> & { notes: Note[] } {
  const [from, to] = pairOf(options)
  return responses.translateError(responses.checkedError(error), from, to, options) as WireError<
    Wire[To]['error']
  > & { notes: Note[] }
}

/**
 * A synchronous translator of one stream: push chunks in, get text/event-stream out, also where the
 * protocol itself has binary frames (see `translateStream`). It never throws because of what the
 * upstream sent: a stream that cannot be read, or that makes a note which `strict` forbids, ends
 * with an error event of `to`.
 * @example
 * import { createStreamTranslator } from 'wireglot'
 *
 * const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'Hi!' }, finish_reason: 'stop' }] }
 * const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages' })
 * console.log(translator.push(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`) + translator.end()) // event: message_start …
 * console.log(translator.finished) // true
 */
export function createStreamTranslator(options: TranslateOptions): Coded<StreamTranslator> {
  const [from, to] = pairOf(options)
  return coded(streams.createStreamTranslator(from, to, reading(options)))
}

/**
 * The same as an async iterable of the bytes that a server of `to` sends: at most one chunk for
 * each chunk of the source. Rejects when the source does.
 * @example
 * import { translateStream } from 'wireglot'
 *
 * const upstream = ['data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n']
 * for await (const bytes of translateStream(upstream, { from: 'chat-completions', to: 'messages' })) process.stdout.write(bytes)
 */
export async function* translateStream(
  source: ByteStream,
  options: TranslateOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* translateChunks(source, createStreamTranslator(options), protocols[options.to])
}

/**
 * The same as a web `TransformStream`, for `pipeThrough`.
 * @example
 * import { createTransformStream } from 'wireglot'
 *
 * const upstream = new Response('data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n')
 * const translated = upstream.body?.pipeThrough(createTransformStream({ from: 'chat-completions', to: 'messages' }))
 * console.log(await new Response(translated).text()) // event: message_start …
 */
export function createTransformStream(
  options: TranslateOptions,
): TransformStream<Uint8Array | string, Uint8Array<ArrayBuffer>> {
  return transformStreamOf(createStreamTranslator(options), protocols[options.to])
}

/**
 * Reads a stream as canonical events, which are the same for all protocols. `complete()` of the
 * result is the complete response. `source`: the body of a `fetch` response, a Node stream, or any
 * iterable of bytes or text.
 * @example
 * import { readStream, toolCallsOf } from 'wireglot'
 *
 * const body = 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi!"}]},"finishReason":"STOP"}]}\n\n'
 * const stream = readStream(new Response(body).body, { protocol: 'generate-content' })
 * for await (const event of stream) if (event.type === 'part.delta' && event.delta.kind === 'text') console.log(event.delta.text) // Hi!
 * console.log(toolCallsOf(await stream.complete())) // []
 */
export function readStream(source: ByteStream, options: OneProtocol): Coded<EventStream> {
  return coded(events.readStream(source, onlyOf(options), options))
}

/**
 * Collects a stream into the complete response, in the same protocol. A stream that failed gives an
 * error body.
 * @throws TranslationError `truncated` when the stream stopped before the response had ended;
 * `inexpressible` when `strict` forbids a note
 * @example
 * import { collectStream } from 'wireglot'
 *
 * const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'Hi!' }, finish_reason: 'stop' }] }
 * const { body } = await collectStream(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { protocol: 'chat-completions' })
 * if ('choices' in body) console.log(body.choices[0]?.message.content) // Hi!
 */
export function collectStream<Name extends ProtocolName>(
  source: ByteStream,
  options: OneProtocol<Name>,
): Promise<{ body: Wire[Name]['response']; notes: Note[] }> {
  return folds.collectStream(chunksOf(source), onlyOf(options), options) as Promise<{
    body: Wire[Name]['response']
    notes: Note[]
  }>
}

/**
 * The opposite of `collectStream`: a complete response as the text of a stream, in the same
 * protocol. What the streams of the protocol cannot express is left out; pass `strict` to refuse
 * such a response.
 * @throws TranslationError `malformed`; `inexpressible` when `strict` forbids a note
 * @example
 * import { explodeResponse } from 'wireglot'
 *
 * const response = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' } as const
 * console.log(explodeResponse(response, { protocol: 'messages' })) // event: message_start …
 */
export function explodeResponse<Name extends ProtocolName, Body = WireInput[Name]['response']>(
  body: ResponseInput<Body, Name>,
  options: OneProtocol<Name>,
): string {
  return folds.explodeResponse(body, onlyOf(options), options).text
}

/**
 * A complete response in the canonical model, which is the same for all protocols. A failed
 * response, or an error body, has `error` and may have no candidates. A prompt that was blocked has
 * `promptBlocked`, and a candidate that is empty and ended with `content_filter`.
 * @throws TranslationError `malformed`
 * @example
 * import { normalizeResponse } from 'wireglot'
 *
 * const response = { type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' } as const
 * console.log(normalizeResponse(response, { protocol: 'messages' }).candidates[0]?.finish?.reason) // stop
 */
export function normalizeResponse<Name extends ProtocolName, Body = WireInput[Name]['response']>(
  body: ResponseInput<Body, Name>,
  options: OneProtocol<Name>,
): CanonicalResponse {
  const protocol = onlyOf(options)
  return withBlockedFinish(protocol.decodeResponse(body, optionsFor(protocol, options)).value)
}

/**
 * What `detectProtocol` finds. `protocol` and `kind` are absent where there is no sign, or where
 * there are signs of several. `kind`: `stream` for a text of events, `error` for an error body;
 * several protocols share some of these. `reasons`: never empty.
 */
export type Detected = { protocol?: ProtocolName; kind?: RecognizedKind; reasons: string[] }

/**
 * Guesses the protocol of a body, or of a text from a log: JSON, a stream of events, or a list of
 * events in JSON. Only unmistakable signs count; `reasons` lists them, or says what was found.
 * @example
 * import { detectProtocol } from 'wireglot'
 *
 * console.log(detectProtocol({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }).protocol) // generate-content
 * console.log(detectProtocol('event: message_start\ndata: {"type":"message_start"}\n\n').kind) // stream
 */
export function detectProtocol(body: unknown): Detected {
  const { protocol, kind, reasons } = recognize(body, all)
  const name = protocolNames.find(one => one === protocol?.name)
  return { ...(name && { protocol: name }), ...(kind && { kind }), reasons }
}

/** Options of `normalize`. `protocol`: absent, it is recognized. */
export type NormalizeOptions = CommonOptions & { protocol?: ProtocolName }

/**
 * What a text is, in one shape. `kind`: of the text. Of an error body that several protocols share,
 * `protocol` is the first one.
 */
export type Normalized = {
  protocol: ProtocolName
  kind: 'response' | 'stream' | 'error'
  response: CanonicalResponse
}

/**
 * Reads a response as it stands in a log: JSON, a stream of events, a list of events, or an error
 * body, of any protocol. A response that failed has `error`.
 * @throws TranslationError `malformed` when the text is no response of a known protocol, with the
 * reasons; `truncated` when a stream stopped before the response had ended
 * @example
 * import { normalize, textOf } from 'wireglot'
 *
 * const line = '{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi!"}],"stop_reason":"end_turn"}'
 * const { protocol, response } = await normalize(line)
 * console.log(protocol, textOf(response)) // messages Hi!
 */
export async function normalize(text: string, options: NormalizeOptions = {}): Promise<Normalized> {
  const { protocol: wanted, ...settings } = options
  const found = recognize(text, all)
  const { kind, reasons } = found
  const name =
    wanted ?? protocolNames.find(one => one === (found.protocol ?? found.protocols?.[0])?.name)
  if (name === undefined || kind === 'request')
    throw new errors.TranslationError(
      { code: 'malformed', protocol: name ?? 'normalize', path: '' },
      `expected a response of a known protocol, but found ${kind ?? 'none'}: ${reasons.join('; ')}`,
    )
  const whole = { ...settings, protocol: name }
  if (kind === 'stream' || found.body === undefined)
    return { protocol: name, kind: 'stream', response: await readStream(text, whole).complete() }
  const response = normalizeResponse(found.body as never, whole)
  return { protocol: name, kind: response.error ? 'error' : 'response', response }
}
