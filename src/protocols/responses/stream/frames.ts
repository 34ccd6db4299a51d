import type { CanonicalError } from '../../../canonical/error.ts'
import { isObject, parseObject } from '../../../kit/json/json.ts'
import type { Frames } from '../../../protocol.ts'
import { pingComment, writeFrame } from '../../../sse/write.ts'
import { streamError } from '../errors.ts'

const wrap = (json: string, wire: unknown) =>
  writeFrame(json, isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined)

export const frames: Frames = {
  named: true,
  write: wire => (typeof wire === 'string' ? writeFrame(wire) : wrap(JSON.stringify(wire), wire)),
  wrap,
  ping: pingComment,
  countAfter(data) {
    const { sequence_number: number } = parseObject(data) ?? {}
    return typeof number === 'number' ? number + 1 : undefined
  },
  failure: (error: CanonicalError, count = 0) =>
    frames.write({ type: 'error', sequence_number: count, ...streamError(error) }) +
    frames.write('[DONE]'),
}
