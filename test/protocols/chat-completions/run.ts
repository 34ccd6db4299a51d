import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { Note } from '../../../src/canonical/note.ts'
import type {
  CodecOptions,
  MachineState,
  StreamMachine,
  ToolOptions,
} from '../../../src/protocol.ts'
import {
  type ChatCompletionsOptions,
  chatCompletions,
} from '../../../src/protocols/chat-completions/index.ts'
import { createFrameParser } from '../../../src/sse/parse.ts'
import { normalize } from '../../../src/testing/streams.ts'

export type Options = CodecOptions & ToolOptions & ChatCompletionsOptions

/**
 * All that a machine makes of a list of events; its state is cloned after each, so that it can hold
 * nothing else.
 */
function run<In, Out>(
  machine: StreamMachine<In, Out, MachineState, ChatCompletionsOptions>,
  events: readonly In[],
  options: Options = {},
): { out: Out[]; notes: Note[] } {
  let state = machine.initial(options)
  const out: Out[] = []
  for (const event of events) {
    machine.step(state, event, made => out.push(made))
    state = structuredClone(state)
  }
  machine.end(state, made => out.push(made))
  return { out, notes: state.notes }
}

export function decodeStream(frames: readonly unknown[], options?: Options) {
  const { out, notes } = run(chatCompletions.streamDecoder, frames, options)
  return { events: out, notes }
}

export function encodeStream(events: readonly CanonicalEvent[], options?: Options) {
  const normalized = normalize(chatCompletions, events, options)
  const { out, notes } = run(chatCompletions.streamEncoder, normalized.events, options)
  return {
    frames: out,
    notes: [...normalized.notes, ...notes],
    text: out.map(chatCompletions.frames.write).join(''),
  }
}

/** The wire events of a recorded stream. */
export function parseStream(text: string): unknown[] {
  const frames: unknown[] = []
  const parser = createFrameParser(({ data }) =>
    frames.push(data.trim() === '[DONE]' ? '[DONE]' : JSON.parse(data)),
  )
  parser.push(text)
  parser.end()
  return frames
}

export const codes = (notes: readonly Note[]) => notes.map(({ code }) => code)

/** A chunk with one choice. */
export const chunk = (delta: object, finish: string | null = null, rest: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...rest,
})
