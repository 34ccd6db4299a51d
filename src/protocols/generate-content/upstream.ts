import type { UpstreamHalf } from '../../protocol.ts'
import type { protocolName } from './content/own.ts'
import { facts } from './facts.ts'
import type { GeminiOptions } from './options.ts'
import { demands } from './request/demands.ts'
import { fitRequest } from './request/fitting.ts'
import { encodeRequest } from './request/request.ts'
import { decodeResponse } from './response/response.ts'
import type { GeminiWire } from './schema.ts'
import { streamDecoder } from './stream/decoder.ts'

/** The half of the protocol for `translateBetween` that calls upstreams. */
export const generateContent: UpstreamHalf<GeminiOptions, GeminiWire> & { readonly name: typeof protocolName } = {
  ...facts,
  fitRequest,
  demands,
  encodeRequest,
  decodeResponse,
  streamDecoder,
}
