import type { ClientHalf } from '../../protocol.ts'
import { remembered } from './content/calls.ts'
import { encodeError } from './errors.ts'
import { facts } from './facts.ts'
import type { ChatCompletionsOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { encodeResponse } from './response/response.ts'
import type { ChatCompletionsWire } from './schema.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames } from './stream/frames.ts'
import { writeDelta } from './stream/shortcut.ts'

/** The half of the protocol for `translateBetween` that serves clients. */
export const chatCompletions: ClientHalf<ChatCompletionsOptions, ChatCompletionsWire> & {
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
  streamParts: () => 'one-per-kind',
  takesLateSignatures: true,
}
