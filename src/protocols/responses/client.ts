import type { ClientHalf } from '../../protocol.ts'
import { encodeError } from './errors.ts'
import { facts } from './facts.ts'
import type { ResponsesOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { remembered } from './response/envelope.ts'
import { encodeResponse } from './response/response.ts'
import type { ResponsesWire } from './schema.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames, writeDelta } from './stream/shortcut.ts'

/** The half of the protocol for `translateBetween` that serves clients. */
export const responses: ClientHalf<ResponsesOptions, ResponsesWire> & {
  readonly name: typeof protocolName
} = {
  ...facts,
  frames,
  writeDelta,
  decodeRequest,
  remembered,
  encodeResponse,
  encodeError,
  streamEncoder,
  streamParts: () => 'any',
  oneCandidate: true,
}
