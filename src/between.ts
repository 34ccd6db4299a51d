/**
 * Translation between two protocols alone, for small bundles: only what these two need is bundled.
 * @module wireglot/between
 */
import type { Note } from './canonical/note.ts'
import { optionFaults } from './kit/fields/option-faults.ts'
import { isObject } from './kit/json/json.ts'
import {
  type ClientHalf,
  type TranslationContext,
  toolOptions,
  type UpstreamHalf,
  type WireError,
} from './protocol.ts'
import type { MappingOptions, ProtocolName } from './protocols/index.ts'
import type { RequestInput, ResponseInput, Wire, WireInput } from './protocols/wire.ts'
import { type ByteStream, translateChunks } from './translate/chunks.ts'
import { commonOptions } from './translate/common-options.ts'
import type { Resolvers } from './translate/references.ts'
import { translateForeign as translateRequest } from './translate/request.ts'
import {
  checkedError,
  type ErrorResponse,
  translateError,
  translateForeign as translateResponse,
} from './translate/response.ts'
import type { Settings } from './translate/settings.ts'
import { translateForeignStream } from './translate/stream-translation.ts'
import type { StreamTranslator } from './translate/stream-translator.ts'
import { transformStreamOf } from './translate/web-streams.ts'

/**
 * The options of `wireglot` without `from`, `to` and `vendor`. Only the groups of the two protocols
 * and `tools` are allowed.
 */
export type BetweenOptions = Omit<Settings, 'keepsResponse' | 'hideUsage'> & MappingOptions

/**
 * The functions of `wireglot` for one pair. Requests go from the client to the upstream; all else
 * comes back.
 */
export type Between<Client extends ProtocolName, Upstream extends ProtocolName> = {
  /** @throws TranslationError `malformed`, `inexpressible` */
  translateRequest<Body = WireInput[Client]['request']>(
    body: RequestInput<Body, Client>,
    options?: BetweenOptions & Resolvers,
  ): { body: Wire[Upstream]['request']; notes: Note[]; context: TranslationContext }
  /** @throws TranslationError `malformed`, `truncated`, `inexpressible` */
  translateResponse<Body = WireInput[Upstream]['response']>(
    body: ResponseInput<Body, Upstream>,
    options?: BetweenOptions,
  ): { body: Wire[Client]['response']; notes: Note[] }
  /**
   * Accepts any body.
   * @throws TranslationError `inexpressible` when `strict` forbids a note.
   * @throws TypeError without a status
   */
  translateError(
    error: ErrorResponse,
    options?: BetweenOptions,
  ): WireError<Wire[Client]['error']> & { notes: Note[] }
  /** A synchronous translator of one stream: push chunks in, get text out. */
  createStreamTranslator(options?: BetweenOptions): StreamTranslator
  /** A translated stream as an async iterable of UTF-8. Rejects when the source does. */
  translateStream(
    source: ByteStream,
    options?: BetweenOptions,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>>
  /** A translator of one stream for `pipeThrough`. */
  createTransformStream(
    options?: BetweenOptions,
  ): TransformStream<Uint8Array | string, Uint8Array<ArrayBuffer>>
}

/**
 * The functions that translate between the protocol of a client and that of an upstream, which must
 * differ. A bundle contains only these two halves. The whole protocols of `wireglot/protocols/…`
 * are accepted, too. Every function throws a RangeError for an unknown option.
 * @throws TypeError when an argument is not the half of a protocol; RangeError when both are the
 * same protocol
 * @example
 * import { translateBetween } from 'wireglot/between'
 * import { chatCompletions } from 'wireglot/protocols/chat-completions/client'
 * import { messages } from 'wireglot/protocols/messages/upstream'
 *
 * const { translateRequest } = translateBetween(chatCompletions, messages)
 * const { body } = translateRequest({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
 * console.log(body.max_tokens) // 32000
 */
export function translateBetween<
  Client extends ProtocolName,
  Upstream extends Exclude<ProtocolName, Client>,
>(
  client: ClientHalf & { readonly name: Client },
  upstream: UpstreamHalf & { readonly name: Upstream },
): Between<Client, Upstream> {
  if (!('decodeRequest' in Object(client) && 'encodeRequest' in Object(upstream)))
    throw new TypeError(
      'translateBetween: expected the client half of a protocol, and the upstream half of another',
    )
  const isOne: boolean = client.name === String(upstream.name)
  if (isOne)
    throw new RangeError(
      `translateBetween: both protocols are ${client.name}; pass two different ones`,
    )
  const groups = {
    [client.optionsKey]: client.options,
    [upstream.optionsKey]: upstream.options,
    tools: toolOptions,
  }
  const checked = <Options extends object>(options: Options): Options => {
    if (!isObject(options)) throw new TypeError('options: expected an object')
    const faults = optionFaults(options, commonOptions, groups)
    if (faults.length > 0)
      throw new RangeError(
        faults.map(({ path, message }) => `option ${path}: ${message}`).join('\n'),
      )
    return options
  }
  const createStreamTranslator = (options: BetweenOptions = {}) =>
    translateForeignStream(upstream, client, checked(options))
  const functions: Untyped = {
    translateRequest: (body, options = {}) =>
      translateRequest(body, client, upstream, [client, upstream], checked(options)),
    translateResponse(body, options = {}) {
      const {
        usage: _,
        error: __,
        ...translated
      } = translateResponse(body, upstream, client, checked(options))
      return translated
    },
    translateError: (error, options = {}) =>
      translateError(checkedError(error), upstream, client, checked(options)),
    createStreamTranslator,
    translateStream: (source, options) =>
      translateChunks(source, createStreamTranslator(options), client),
    createTransformStream: options => transformStreamOf(createStreamTranslator(options), client),
  }
  return functions as Between<Client, Upstream>
}

type Untyped = Omit<
  Between<ProtocolName, ProtocolName>,
  'translateRequest' | 'translateResponse' | 'translateError'
> & {
  translateRequest(
    body: unknown,
    options?: BetweenOptions & Resolvers,
  ): { body: unknown; notes: Note[]; context: TranslationContext }
  translateResponse(body: unknown, options?: BetweenOptions): { body: unknown; notes: Note[] }
  translateError(error: ErrorResponse, options?: BetweenOptions): WireError & { notes: Note[] }
}
