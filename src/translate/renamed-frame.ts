import type { Protocol } from '../protocol.ts'
import { named, parseData } from '../sse/data.ts'
import type { Frame } from '../sse/parse.ts'

/** The frame with another model name; `''` when it is not JSON. */
export function renamedFrame(
  { frames, withModel }: Protocol,
  { data, event }: Frame,
  model: string,
): string {
  const wire = parseData(data)
  return wire === undefined
    ? ''
    : frames.write(withModel(frames.named ? named(wire, event) : wire, model))
}
