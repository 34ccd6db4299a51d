import type { Frames } from '../../protocol.ts'
import { pingComment, writeFrame } from '../../sse/write.ts'

export const frames: Frames = {
  named: false,
  write: wire => writeFrame(wire === '[DONE]' ? wire : JSON.stringify(wire)),
  ping: pingComment,
}
