import { writeExact } from '../../kit/json/digits.ts'
import { isObject, parseObject } from '../../kit/json/json.ts'
import type { ClientHalf, Frames } from '../../protocol.ts'
import { pingComment, writeFrame } from '../../sse/write.ts'
import { encodeError, failureOf, streamError } from './errors.ts'
import { facts } from './facts.ts'
import type { ResponsesOptions } from './options.ts'
import type { protocolName } from './own.ts'
import { decodeRequest } from './request/request.ts'
import { fallbacks, remembered, snapshot } from './response/envelope.ts'
import { encodeResponse } from './response/response.ts'
import { streamEncoder } from './stream/encoder.ts'
import { writeDelta } from './stream/encoder-state.ts'
import type { ResponsesWire } from './written.ts'

const wrap = (json: string, wire: unknown) =>
  writeFrame(json, isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined)

export const frames: Frames = {
  named: true,
  write: wire => (typeof wire === 'string' ? writeFrame(wire) : wrap(writeExact(wire), wire)),
  wrap,
  ping: pingComment,
  countAfter(data) {
    const { sequence_number: number } = parseObject(data) ?? {}
    return typeof number === 'number' ? number + 1 : undefined
  },
  failure(error, { count = 0, hasBegun = false, saysError = false, ...known } = {}) {
    const { id, ...head } = fallbacks()
    const envelope = {
      ...head,
      id: known.id ?? id,
      createdAt: known.createdAt ?? 0,
      model: known.model ?? 'unknown',
      native: false,
    }
    const response = snapshot(envelope, { status: 'in_progress', output: [] })
    const failed = snapshot(envelope, { status: 'failed', output: [], error: failureOf(error) })
    const events = [
      ...(hasBegun || saysError ? [] : [{ type: 'response.created', response }]),
      ...(saysError ? [] : [{ type: 'error', ...streamError(error) }]),
      // Some clients read no other event for the reason.
      { type: 'response.failed', response: failed },
    ]
    const written = events.map(({ type, ...event }, i) =>
      frames.write({ type, sequence_number: count + i, ...event }),
    )
    return written.join('') + frames.write('[DONE]')
  },
}

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
