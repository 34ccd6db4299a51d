import type { UpstreamHalf } from '../../protocol.ts'
import { facts } from './facts.ts'
import type { ConverseOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { demands, fitRequest } from './request/fitting.ts'
import { encodeRequest } from './request/request.ts'
import { decodeResponse } from './response/response.ts'
import { streamDecoder } from './stream/decoder.ts'
import type { ConverseWire } from './written.ts'

/** The half of the protocol for `translateBetween` that calls upstreams. */
export const converse: UpstreamHalf<ConverseOptions, ConverseWire> & {
  readonly name: typeof protocolName
} = {
  ...facts,
  demands,
  encodeRequest,
  fitRequest,
  decodeResponse,
  streamDecoder,
}
