import { writeExact } from '../../../kit/json/digits.ts'
import { isObject } from '../../../kit/json/json.ts'
import type { Frames } from '../../../protocol.ts'
import { writeFrame } from '../../../sse/write.ts'
import { encodeErrorBody } from '../errors.ts'

const wrap = (json: string, wire: unknown) =>
  writeFrame(json, isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined)

/**
 * opencode retries a broken connection and an overloaded server, but no `api_error`. The AI SDK
 * marks only a broken connection as retryable.
 */
export const frames: Frames = {
  named: true,
  write: wire => wrap(writeExact(wire), wire),
  wrap,
  ping: writeFrame('{"type":"ping"}', 'ping'),
  ending: writeFrame('{"type":"message_stop"}', 'message_stop'),
  breaksOff: 'retryable',
  failure: error => writeFrame(JSON.stringify(encodeErrorBody(error)), 'error'),
}
