import type { CanonicalError } from '../../canonical/error.ts'
import { isObject } from '../../kit/json.ts'
import type { Frames } from '../../protocol.ts'
import { writeFrame } from '../../sse/write.ts'
import { streamError } from './error.ts'

export const frames: Frames = {
  named: true,
  write: wire => {
    if (typeof wire === 'string') return writeFrame(wire)
    const type = isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined
    return writeFrame(JSON.stringify(wire), type)
  },
  ping: ': ping\n\n',
  failure: (error: CanonicalError) => frames.write({ type: 'error', ...streamError(error) }) + frames.write('[DONE]'),
}
