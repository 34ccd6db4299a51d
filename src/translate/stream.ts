import type { Protocol } from '../protocol.ts'
import { createPassThrough, createTextPassThrough } from './pass-through.ts'
import { changesResponse, type Settings } from './settings.ts'
import { translateForeignStream } from './stream-translation.ts'
import type { StreamTranslator } from './stream-translator.ts'

/**
 * A decoder and an encoder in a row. Between equal protocols the bytes pass unchanged; an error
 * event is added when the stream is cut off.
 */
export function createStreamTranslator(
  from: Protocol,
  to: Protocol,
  options: Settings,
): StreamTranslator {
  return from === to && !changesResponse(options)
    ? createTextPassThrough(from, options)
    : translateForeignStream(from, to, options)
}

/** The same for callers that send bytes. */
export function createByteTranslator(
  from: Protocol,
  to: Protocol,
  options: Settings,
): StreamTranslator<Uint8Array | string> {
  return from === to && !changesResponse(options)
    ? createPassThrough(from, options)
    : translateForeignStream(from, to, options)
}
