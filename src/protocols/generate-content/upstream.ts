import type { UpstreamHalf } from '../../protocol.ts'
import { facts } from './facts.ts'
import type { GenerateContentOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { demands, fitRequest } from './request/fitting.ts'
import { encodeRequest } from './request/request.ts'
import { decodeResponse } from './response/response.ts'
import { shortcut, streamDecoder } from './stream/decoder.ts'
import type { GenerateContentWire } from './written.ts'

/** The half of the protocol for `translateBetween` that calls upstreams. */
export const generateContent: UpstreamHalf<GenerateContentOptions, GenerateContentWire> & {
  readonly name: typeof protocolName
} = {
  ...facts,
  shortcut,
  fitRequest,
  demands,
  encodeRequest,
  decodeResponse,
  streamDecoder,
}
