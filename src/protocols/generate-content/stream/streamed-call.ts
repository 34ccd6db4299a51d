import { isObject, type JsonObject, same } from '../../../kit/json/json.ts'

/**
 * A call whose arguments come in chunks, each with the JSON path of its value. Plain data, because
 * streams keep it in their state.
 */
export type StreamedCall = {
  part: number
  args: JsonObject /** The path of the string that the next chunk continues. */
  continues?: string
}

/** Adds the chunks of one event. False: one of them could not be placed. Changes the call. */
export function addPartialArgs(call: StreamedCall, partialArgs: readonly unknown[]): boolean {
  let placed = true
  for (const entry of partialArgs) {
    const keys =
      isObject(entry) && typeof entry['jsonPath'] === 'string'
        ? keysOf(entry['jsonPath'])
        : undefined
    const value = isObject(entry) ? argumentOf(entry) : undefined
    if (
      !isObject(entry) ||
      !keys ||
      value === undefined ||
      !put(call, { keys, path: String(entry['jsonPath']), value })
    ) {
      placed = false
      continue
    }
    if (entry['willContinue'] === true) call.continues = String(entry['jsonPath'])
    else delete call.continues
  }
  return placed
}

const valueKeys = [
  ['stringValue', 'string'],
  ['numberValue', 'number'],
  ['boolValue', 'boolean'],
] as const

function argumentOf(entry: JsonObject): unknown {
  for (const [key, type] of valueKeys) if (typeof entry[key] === type) return entry[key]
  return 'nullValue' in entry ? null : undefined
}

type Place = { keys: (string | number)[]; path: string; value: unknown }

function put(call: StreamedCall, { keys, path, value }: Place): boolean {
  let holder: unknown = call.args
  for (const [depth, key] of keys.slice(0, -1).entries()) {
    if (valueAt(holder, key) === undefined)
      set(holder, key, typeof keys[depth + 1] === 'number' ? [] : {})
    holder = valueAt(holder, key)
  }
  const last = keys.at(-1)
  if (last === undefined || typeof holder !== 'object' || holder === null) return false
  const before = valueAt(holder, last)
  const isContinued =
    call.continues === path && typeof before === 'string' && typeof value === 'string'
  // The value at that path was complete already.
  if (before !== undefined && !isContinued && !same(before, value)) return false
  set(holder, last, isContinued ? before + value : value)
  return valueAt(holder, last) !== undefined
}

function valueAt(holder: unknown, key: string | number): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as JsonObject)[key]
    : undefined
}

/**
 * An array may only grow by one item at a time, so that no path makes a huge one. `__proto__`
 * becomes an ordinary key.
 */
function set(holder: unknown, key: string | number, value: unknown): void {
  if (Array.isArray(holder)) {
    if (typeof key === 'number' && key <= holder.length) holder[key] = value
  } else if (isObject(holder))
    Object.defineProperty(holder, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

const step = /\.([^.[\]]+)|\[(\d+)\]|\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/y

/** The keys in a path such as `$.a[0]['b c']`. Undefined: not such a path. */
function keysOf(path: string): (string | number)[] | undefined {
  if (!path.startsWith('$')) return undefined
  const keys: (string | number)[] = []
  step.lastIndex = 1
  for (let at = 1; at < path.length; at = step.lastIndex) {
    const found = step.exec(path)
    if (!found) return undefined
    const [, name, index, double, single] = found
    keys.push(
      index === undefined
        ? (name ?? (double ?? single ?? '').replaceAll(/\\(.)/g, '$1'))
        : Number(index),
    )
  }
  return keys.length > 0 ? keys : undefined
}
