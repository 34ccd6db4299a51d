import { writeExact } from '../../kit/json/digits.ts'
import type { ClientHalf, Frames } from '../../protocol.ts'
import { writeFrame } from '../../sse/write.ts'
import { encodeError, encodeErrorBody } from './errors.ts'
import { facts } from './facts.ts'
import type { GenerateContentOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { encodeResponse } from './response/response.ts'
import { streamEncoder } from './stream/encoder.ts'
import { writeDelta } from './stream/encoder-state.ts'
import type { GenerateContentWire } from './written.ts'

const wrap = (json: string) => writeFrame(json, undefined, '\r\n')

const write = (wire: unknown) => wrap(writeExact(wire))

/**
 * With the CRLF line ends of this protocol's own servers. No frame has an event name, and none ends
 * the stream: clients parse `[DONE]` as JSON. google-genai for Python parses comments, too, so a
 * ping is an empty frame.
 */
const frames: Frames = {
  named: false,
  write,
  wrap,
  ping: '\r\n\r\n',
  escapesLines: true,
  breaksOff: 'always',
  failure: error => write(encodeErrorBody(error)),
}

/** The half of the protocol for `translateBetween` that serves clients. */
export const generateContent: ClientHalf<GenerateContentOptions, GenerateContentWire> & {
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
  objectArguments: true,
}
