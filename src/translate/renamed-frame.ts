import { isObject } from '../kit/json/json.ts'
import { withValue } from '../kit/json/member.ts'
import type { Protocol } from '../protocol.ts'
import { named, parseData } from '../sse/data.ts'
import type { Frame } from '../sse/parse.ts'

/**
 * The frame with another model name; `''` when it is not JSON. All else in its data stays as it is
 * written: numbers such as `1.0` would change.
 */
export function renamedFrame(
  { frames, withModel }: Protocol,
  { data, event }: Frame,
  model: string,
): string {
  const wire = parseData(data)
  if (wire === undefined) return ''
  const own = frames.named ? named(wire, event) : wire
  const renamed = withModel(own, model)
  const kept = own === wire && isObject(wire) ? keptText(data, wire, renamed, model) : undefined
  return kept === undefined ? frames.write(renamed) : frames.wrap(kept, renamed)
}

/** Undefined: the data has to be written anew. */
function keptText(
  data: string,
  before: unknown,
  after: unknown,
  model: string,
): string | undefined {
  if (data.includes('\n')) return undefined
  if (after === before) return data
  const path = changedPath(before, after)
  return path && withValue(data, path, JSON.stringify(valueAt(after, path) ?? model))
}

/** The keys that lead to the only text that differs. Undefined: something else does. */
function changedPath(before: unknown, after: unknown): string[] | undefined {
  if (typeof before === 'string' && typeof after === 'string') return []
  if (!isObject(before) || !isObject(after)) return undefined
  const [key, ...others] = Object.keys(after).filter(name => after[name] !== before[name])
  if (key === undefined || others.length > 0 || !Object.hasOwn(before, key)) return undefined
  const inner = changedPath(before[key], after[key])
  return inner && [key, ...inner]
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
