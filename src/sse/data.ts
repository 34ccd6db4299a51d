import { parseExact } from '../kit/json/digits.ts'

/** The parsed data of a frame, or the string `[DONE]`. Undefined: not JSON. */
export function parseData(data: string): unknown {
  const text = data.trim()
  if (text === '[DONE]') return text
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** The event with its `type`, which some servers send only as the name of the frame. */
export function named(wire: unknown, event: string | undefined): unknown {
  if (
    event === undefined ||
    typeof wire !== 'object' ||
    wire === null ||
    Array.isArray(wire) ||
    'type' in wire
  )
    return wire
  return { type: event, ...wire }
}
