import { writeExact } from '../../kit/json/digits.ts'
import { isObject } from '../../kit/json/json.ts'
import type { ClientHalf, Frames } from '../../protocol.ts'
import { writeFrame } from '../../sse/write.ts'
import { encodeError, encodeErrorBody } from './errors.ts'
import { facts } from './facts.ts'
import type { MessagesOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { encodeResponse } from './response/response.ts'
import { streamEncoder } from './stream/encoder.ts'
import { writeDelta } from './stream/encoder-state.ts'
import type { MessagesWire } from './written.ts'

const wrap = (json: string, wire: unknown) =>
  writeFrame(json, isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined)

/**
 * opencode retries a broken connection and an overloaded server, but no `api_error`. The AI SDK
 * marks only a broken connection as retryable.
 */
const frames: Frames = {
  named: true,
  write: wire => wrap(writeExact(wire), wire),
  wrap,
  ping: writeFrame('{"type":"ping"}', 'ping'),
  ending: writeFrame('{"type":"message_stop"}', 'message_stop'),
  breaksOff: 'retryable',
  failure: error => writeFrame(JSON.stringify(encodeErrorBody(error)), 'error'),
}

/** The half of the protocol for `translateBetween` that serves clients. */
export const messages: ClientHalf<MessagesOptions, MessagesWire> & {
  readonly name: typeof protocolName
} = {
  ...facts,
  frames,
  writeDelta,
  decodeRequest,
  encodeResponse,
  encodeError,
  streamEncoder,
  streamParts: () => 'sequential',
  oneCandidate: true,
  objectArguments: true,
  takesLateSignatures: true,
}
