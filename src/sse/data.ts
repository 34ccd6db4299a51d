/** What the data of a frame says: `[DONE]` stays text; undefined: not JSON. */
export function parseData(data: string): unknown {
  const text = data.trim()
  if (text === '[DONE]') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The event with its name in it: some servers say that in the frame alone. */
export function named(wire: unknown, event: string | undefined): unknown {
  if (event === undefined || typeof wire !== 'object' || wire === null || Array.isArray(wire) || 'type' in wire) return wire
  return { type: event, ...wire }
}
