import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { CodecOptions, MachineState, Protocol, StreamMachine } from '../../src/protocol.ts'
import { createFrameParser } from '../../src/sse/parse.ts'

/** Everything a machine emits; `between` stands for what happens to its state between two events. */
export function run<In, Out>(
  machine: StreamMachine<In, Out, MachineState>,
  events: Iterable<In>,
  { options, between = state => state }: { options?: CodecOptions; between?: (state: MachineState) => MachineState } = {},
): { out: Out[]; notes: Note[] } {
  const out: Out[] = []
  let state = machine.initial(options)
  for (const event of events) {
    state = between(state)
    machine.step(state, event, one => out.push(one))
  }
  state = between(state)
  machine.end(state, one => out.push(one))
  return { out, notes: state.notes }
}

export function decodeStream(protocol: Protocol, wires: Iterable<unknown>): CanonicalEvent[] {
  return run(protocol.streamDecoder, wires).out
}

/** What a client gets to read. */
export function encodeStream(protocol: Protocol, events: Iterable<CanonicalEvent>, options?: CodecOptions): { text: string; wires: unknown[]; notes: Note[] } {
  const { out, notes } = run(protocol.streamEncoder, events, options ? { options } : {})
  return { text: out.map(wire => protocol.frames.write(wire)).join(''), wires: out, notes }
}

/** The parsed data of each frame of a stream's text, with the name that the frame has. */
export function framesOf(text: string | Uint8Array): { event: string | undefined; wire: unknown }[] {
  const frames: { event: string | undefined; wire: unknown }[] = []
  const parser = createFrameParser(({ event, data }) => frames.push({ event, wire: data.trim() === '[DONE]' ? '[DONE]' : JSON.parse(data) }))
  parser.push(text)
  parser.end()
  return frames
}
