import type { ClientHalf } from '../../protocol.ts'
import type { protocolName } from './content/own.ts'
import { encodeError } from './errors.ts'
import { facts } from './facts.ts'
import type { ResponsesOptions } from './options.ts'
import { decodeRequest } from './request/request.ts'
import { remembered } from './response/echo.ts'
import { encodeResponse } from './response/response.ts'
import type { ResponsesWire } from './schema.ts'
import { streamEncoder } from './stream/encoder.ts'

/** The half of the protocol for `translateBetween` that serves clients. */
export const responses: ClientHalf<ResponsesOptions, ResponsesWire> & { readonly name: typeof protocolName } = {
  ...facts,
  decodeRequest,
  remembered,
  encodeResponse,
  encodeError,
  streamEncoder,
  streamParts: ({ sequential }) => (sequential ? 'sequential' : 'any'),
  oneCandidate: true,
}
