import type { Protocol } from '../protocol.ts'
import { named, parseData } from '../sse/data.ts'
import type { Frame } from '../sse/parse.ts'

/** The frame with another name of the model in it; `''` when it is no JSON. */
export function renamedFrame({ frames, withModel }: Protocol, { data, event }: Frame, model: string): string {
  const wire = parseData(data)
  return wire === undefined ? '' : frames.write(withModel(frames.named ? named(wire, event) : wire, model))
}
