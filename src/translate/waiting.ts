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
 * What waits, in order, by place. `queues`: the places of those who wait for the same, so that
 * nobody looks at all of them; who left is passed over. `parts`: by number; `lanes` and `messages`:
 * how many wait of each, where only parts count for messages. Plain data.
 */
export type WaitingList = {
  entries: Map<number, Waiting>
  added: number
  queues: Map<string, { places: number[]; first: number }>
  parts: Map<number, Waiting>
  lanes: Map<Lane | undefined, number>
  messages: Map<number, number>
}

export const startWaiting = (): WaitingList => ({
  entries: new Map(),
  added: 0,
  queues: new Map(),
  parts: new Map(),
  lanes: new Map(),
  messages: new Map(),
})

export function addWaiting(list: WaitingList, queue: string, entry: Waiting): void {
  const { lane, message, part } = entry
  const place = list.added++
  list.entries.set(place, entry)
  const before = list.queues.get(queue)
  if (before) before.places.push(place)
  else list.queues.set(queue, { places: [place], first: 0 })
  add(list.lanes, lane, 1)
  if (part === undefined) return
  list.parts.set(part, entry)
  add(list.messages, message, 1)
}

/** The first place of all in these queues. Undefined: they are empty. */
export function firstOf(list: WaitingList, queues: readonly string[]): number | undefined {
  let least: number | undefined
  for (const name of queues) {
    const place = headOf(list, name)
    if (place !== undefined && (least === undefined || place < least)) least = place
  }
  return least
}

function headOf({ entries, queues }: WaitingList, name: string): number | undefined {
  const queue = queues.get(name)
  for (; queue && queue.first < queue.places.length; queue.first++) {
    const place = queue.places[queue.first]
    if (place !== undefined && entries.has(place)) return place
  }
  queues.delete(name)
  return undefined
}

/** Takes the one at this place out of the list. */
export function takeWaiting(list: WaitingList, place: number): Waiting | undefined {
  const entry = list.entries.get(place)
  if (!entry) return undefined
  const { lane, message, part } = entry
  list.entries.delete(place)
  add(list.lanes, lane, -1)
  if (part !== undefined) {
    list.parts.delete(part)
    add(list.messages, message, -1)
  }
  return entry
}

function add<Key>(counts: Map<Key, number>, key: Key, more: number): void {
  const count = (counts.get(key) ?? 0) + more
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
