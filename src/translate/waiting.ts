import type { CanonicalEvent } from '../canonical/event.ts'

/** Parts of one lane are written one after the other. */
export type Lane = 'all' | 'text' | 'refusal' | 'reasoning' | 'tool-call'

/** The events of a part, or one event without a lane or a part of its own. */
export type Waiting = {
  lane: Lane | undefined
  message: number
  part?: number
  events: CanonicalEvent[]
}

/**
 * What waits, in order. Those who left leave a gap, and none is in front of `first`: to move all
 * others each time would take quadratic time. `parts`: by number; `lanes` and `messages`: how many
 * wait of each, where `undefined` stands for no lane, and only parts count for messages. Plain
 * data.
 */
export type WaitingList = {
  entries: (Waiting | undefined)[]
  first: number
  count: number
  parts: Map<number, Waiting>
  lanes: Map<Lane | undefined, number>
  messages: Map<number, number>
}

export const startWaiting = (): WaitingList => ({
  entries: [],
  first: 0,
  count: 0,
  parts: new Map(),
  lanes: new Map(),
  messages: new Map(),
})

export function addWaiting(list: WaitingList, entry: Waiting): void {
  const { lane, message, part } = entry
  list.entries.push(entry)
  list.count++
  add(list.lanes, lane, 1)
  if (part === undefined) return
  list.parts.set(part, entry)
  add(list.messages, message, 1)
}

/** The place of the first one that fits. Undefined: none does. */
export function placeOfWaiting(
  { entries, first }: WaitingList,
  fits: (entry: Waiting) => boolean,
): number | undefined {
  for (let place = first; place < entries.length; place++) {
    const entry = entries[place]
    if (entry && fits(entry)) return place
  }
  return undefined
}

/** Takes the one at this place out of the list. */
export function takeWaiting(list: WaitingList, place: number): Waiting | undefined {
  const entry = list.entries[place]
  if (!entry) return undefined
  const { lane, message, part } = entry
  list.entries[place] = undefined
  list.count--
  add(list.lanes, lane, -1)
  if (part !== undefined) {
    list.parts.delete(part)
    add(list.messages, message, -1)
  }
  while (list.first < list.entries.length && !list.entries[list.first]) list.first++
  // Rarely enough that moving the others takes no time.
  if (list.entries.length > 2 * list.count + 16) {
    list.entries = list.entries.filter(one => one !== undefined)
    list.first = 0
  }
  return entry
}

function add<Key>(counts: Map<Key, number>, key: Key, more: number): void {
  const count = (counts.get(key) ?? 0) + more
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
