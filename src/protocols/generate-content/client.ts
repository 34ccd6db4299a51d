import type { ClientHalf } from '../../protocol.ts'
import { encodeError } from './errors.ts'
import { facts } from './facts.ts'
import type { GenerateContentOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { encodeResponse } from './response/response.ts'
import type { GenerateContentWire } from './schema.ts'
import { streamEncoder } from './stream/encoder.ts'
import { frames } from './stream/frames.ts'
import { writeDelta } from './stream/shortcut.ts'

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
}
