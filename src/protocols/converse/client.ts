import { writeExact } from '../../kit/json/digits.ts'
import type { ClientHalf, Frames } from '../../protocol.ts'
import { writeFrame } from '../../sse/write.ts'
import { encodeError, encodeErrorBody, exceptionOf } from './errors.ts'
import { facts } from './facts.ts'
import type { ConverseOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { encodeResponse } from './response/response.ts'
import { streamEncoder } from './stream/encoder.ts'
import type { ConverseWire } from './written.ts'

const wrap = (json: string) => writeFrame(json)

const write = (wire: unknown) => wrap(writeExact(wire))

/**
 * Both clients of AWS take a stream that stops between frames for complete, so a failure is always
 * an exception. They skip unknown events.
 */
const frames: Frames = {
  named: false,
  write,
  wrap,
  withoutModel: true,
  ping: write({ ping: {} }),
  failure: error => write({ [exceptionOf(error.kind)]: encodeErrorBody(error) }),
}

/** The half of the protocol for `translateBetween` that serves clients. */
export const converse: ClientHalf<ConverseOptions, ConverseWire> & {
  readonly name: typeof protocolName
} = {
  ...facts,
  frames,
  decodeRequest,
  encodeResponse,
  encodeError,
  streamEncoder,
  streamParts: () => 'sequential',
  oneCandidate: true,
  objectArguments: true,
  takesLateSignatures: true,
}
