import type { UpstreamHalf } from '../../protocol.ts'
import { facts } from './facts.ts'
import type { ChatCompletionsOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { demands, fitRequest, spellings } from './request/fitting.ts'
import { encodeRequest } from './request/request.ts'
import { decodeResponse } from './response/response.ts'
import { streamDecoder } from './stream/decoder.ts'
import { shortcut } from './stream/decoder-state.ts'
import type { ChatCompletionsWire } from './written.ts'

/** The half of the protocol for `translateBetween` that calls upstreams. */
export const chatCompletions: UpstreamHalf<ChatCompletionsOptions, ChatCompletionsWire> & {
  readonly name: typeof protocolName
} = {
  ...facts,
  shortcut,
  fitRequest,
  spellings,
  demands,
  encodeRequest,
  decodeResponse,
  streamDecoder,
}
