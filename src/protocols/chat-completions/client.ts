import { writeExact } from '../../kit/json/digits.ts'
import type { ClientHalf, Frames } from '../../protocol.ts'
import { pingComment, writeFrame } from '../../sse/write.ts'
import { remembered } from './content/calls.ts'
import { encodeError, encodeErrorBody } from './errors.ts'
import { facts } from './facts.ts'
import type { ChatCompletionsOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { encodeResponse } from './response/response.ts'
import { streamEncoder } from './stream/encoder.ts'
import { writeDelta } from './stream/encoder-state.ts'
import type { ChatCompletionsWire } from './written.ts'

const frames: Frames = {
  named: false,
  write: wire => writeFrame(wire === '[DONE]' ? wire : writeExact(wire)),
  wrap: json => writeFrame(json),
  ping: pingComment,
  // Without `[DONE]`, which would mean a normal end.
  failure: error => writeFrame(JSON.stringify(encodeErrorBody(error))),
}

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
