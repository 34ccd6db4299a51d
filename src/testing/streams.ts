import fc, { type Arbitrary } from 'fast-check'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import type { CodecOptions, MachineState, Protocol, StreamMachine } from '../protocol.ts'
import { parseFrames } from '../sse/parse.ts'
import { normalizeEvent, startNormalizing } from '../translate/normalizer.ts'
import { cleanEvents } from './events.ts'
import { json } from './texts.ts'

/** All outputs of a machine. `between`: applied to its state between two events. */
export function run<In, Out>(
  machine: StreamMachine<In, Out, MachineState>,
  events: Iterable<In>,
  {
    options,
    between = state => state,
  }: { options?: CodecOptions; between?: (state: MachineState) => MachineState } = {},
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

/** The text that a client receives. */
export function encodeStream(
  protocol: Protocol,
  events: Iterable<CanonicalEvent>,
  options?: CodecOptions,
): { text: string; wires: unknown[]; notes: Note[] } {
  const { events: normalized, notes: repaired } = normalize(protocol, events, options)
  const { out, notes } = run(protocol.streamEncoder, normalized, options ? { options } : {})
  return {
    text: out.map(wire => protocol.frames.write(wire)).join(''),
    wires: out,
    notes: [...repaired, ...notes],
  }
}

/** The events as the encoder of a protocol requires them, with the notes of the normalizer. */
export function normalize(
  protocol: Protocol,
  events: Iterable<CanonicalEvent>,
  options: CodecOptions = {},
): { events: CanonicalEvent[]; notes: Note[] } {
  const state = startNormalizing(protocol, options)
  const passed: CanonicalEvent[] = []
  for (const event of events) normalizeEvent(state, event, one => passed.push(one))
  return { events: passed, notes: state.notes }
}

/**
 * The parsed data of each frame of a stream, with the frame's event name.
 * @example
 * import { framesOf } from 'wireglot/testing'
 *
 * console.log(framesOf('event: ping\ndata: {"type":"ping"}\n\n')[0]?.event) // ping
 */
export function framesOf(
  text: string | Uint8Array,
): { event: string | undefined; wire: unknown }[] {
  return parseFrames(text).map(({ event, data }) => ({
    event,
    wire: data.trim() === '[DONE]' ? '[DONE]' : JSON.parse(data),
  }))
}

/**
 * A legal stream with frames removed, doubled, swapped, replaced or damaged, and cut off anywhere.
 */
export function brokenStream(protocol: Protocol): Arbitrary<string> {
  const damage = fc.tuple(
    fc.constantFrom('lose', 'double', 'exchange', 'replace', 'damage'),
    fc.nat(1000),
    json,
  )
  return fc
    .tuple(cleanEvents, fc.array(damage, { maxLength: 3 }), fc.option(fc.nat(1000)))
    .map(([events, damages, cut]) => {
      let wires = encodeStream(protocol, events).wires
      for (const [how, at, value] of damages) {
        const place = at % Math.max(1, wires.length)
        const before = wires.slice(0, place)
        const [here, ...after] = wires.slice(place)
        if (how === 'lose') wires = [...before, ...after]
        else if (how === 'double') wires = [...before, here, here, ...after]
        else if (how === 'exchange')
          wires = [...before, ...after.slice(0, 1), here, ...after.slice(1)]
        else if (how === 'replace') wires = [...before, value, ...after]
        else wires = [...before, damaged(here, at, value), ...after]
      }
      if (cut !== null) wires = wires.slice(0, cut % (wires.length + 1))
      return wires
        .map(wire => (wire === '[DONE]' ? 'data: [DONE]\n\n' : protocol.frames.write(wire ?? null)))
        .join('')
    })
}

function damaged(wire: unknown, at: number, value: unknown): unknown {
  if (typeof wire !== 'object' || wire === null) return value
  const keys = Object.keys(wire)
  const key = keys[at % keys.length]
  if (key === undefined) return value
  const inner = (wire as Record<string, unknown>)[key]
  return {
    ...wire,
    [key]:
      at % 2 && typeof inner === 'object' && inner !== null
        ? damaged(inner, at >> 1, value)
        : value,
  }
}
