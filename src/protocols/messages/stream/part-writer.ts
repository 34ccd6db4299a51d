import { createBlockWriter } from '../../../kit/stream/block-writer.ts'
import { encodeCarrier } from '../content/reasoning.ts'
import { createMessagesReport } from '../notes.ts'
import { responseCallId } from '../response/response.ts'
import { type EmitWire, type EncoderState, failByInput } from './encoder-state.ts'
import { closeOpen, openBlock, write, writeWhole } from './open-block.ts'

/** Parts as blocks, one after the other. */
export const { startPart, takeDelta, endPart } = createBlockWriter<EncoderState, EmitWire>({
  media: 'none',
  open: openBlock,
  write,
  close: closeOpen,
  fail: failByInput,
  callId: (id, at) => responseCallId(id, at, createMessagesReport()),
  carry: (state, { placed, attach, at }, emit) =>
    writeWhole(state, encodeCarrier(placed, attach), emit, at),
})
