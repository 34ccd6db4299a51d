import { createFault } from '../../../kit/errors/fault.ts'
import { type Keys, keysOf } from '../../../kit/fields/keys.ts'
import { isObject, type JsonObject, setOwn } from '../../../kit/json/json.ts'
import { unknownNoter } from '../../../kit/notes/unknown-keys.ts'
import type { MachineState } from '../../../protocol.ts'
import { type ConverseReport, createConverseReport, protocolName } from '../own.ts'
import type { ConverseBlock } from '../schema.ts'

/**
 * What the files of the stream decoder share: the events, and blocks that are complete only at
 * their end.
 */

const eventNames = [
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
  'ping',
] as const
export type EventName = (typeof eventNames)[number]

/** The event in a frame. Undefined: none that is known, nor an exception. */
export function eventIn(wire: JsonObject): { name: EventName; payload: unknown } | undefined {
  const name = eventNames.find(known => wire[known] !== undefined && wire[known] !== null)
  return name && { name, payload: wire[name] }
}

/**
 * The name of the exception in a frame, in any case and with any namespace. Undefined: it is none.
 */
export const exceptionIn = (wire: JsonObject): string | undefined =>
  Object.keys(wire).find(key => /exception$/i.test(key))

/** By event: the known keys of its frame. Some servers write a `type` next to it. */
export const frameKeys: Readonly<Record<string, Keys>> = Object.fromEntries(
  eventNames.map(name => [name, { [name]: true, type: true }]),
)

const ofEvent = keysOf<{
  role: string
  contentBlockIndex: number
  start: object
  delta: object
  p: string
}>()

/** Known keys of events whose unknown keys have no place in a response. `p` only pads a frame. */
export const eventKeys: Partial<Record<EventName, Keys>> = {
  messageStart: ofEvent('role', 'p'),
  contentBlockStart: ofEvent('contentBlockIndex', 'start', 'p'),
  contentBlockDelta: ofEvent('contentBlockIndex', 'delta', 'p'),
  contentBlockStop: ofEvent('contentBlockIndex', 'p'),
}

export const reportOf = ({ notes }: MachineState): ConverseReport =>
  createConverseReport(undefined, notes)

export const noteUnknown = unknownNoter(reportOf)

export const fault = createFault(protocolName)

/**
 * A block that is open on the wire. `pending`: it has begun, but has no kind yet. `whole`: decoded
 * at its end. `redacted`: a blob, which is complete only at its end.
 */
export type OpenBlock = {
  kind: 'pending' | 'text' | 'reasoning' | 'redacted' | 'call' | 'whole'
  /** The number of its part. Undefined: it has none yet. */
  part?: number
  /** Of `whole`: the start and the deltas so far, as a response has them. */
  raw?: ConverseBlock
  /**
   * Reasoning so far, or of a call a marker: not empty once input has come. Of a `whole` call its
   * input so far.
   */
  text: string
  signature: string
  /** Chunks of a blob or of an image, in base64. */
  chunks: string[]
  /** Of a `whole` tool result: what its deltas have brought. */
  results?: unknown[]
  /** Of a text: how many citations it has so far. */
  citations: number
}

export const openBlock = (kind: OpenBlock['kind']): OpenBlock => ({
  kind,
  text: '',
  signature: '',
  chunks: [],
  citations: 0,
})

/** Adds a delta to a block that is decoded at its end. False: it does not fit. */
export function addToWhole(open: OpenBlock, delta: JsonObject): boolean {
  const { raw = {} } = open
  const { toolUse, toolResult, image } = delta
  if (isObject(toolUse) && typeof toolUse['input'] === 'string' && raw['toolUse'] != null)
    open.text += toolUse['input']
  else if (Array.isArray(toolResult) && isObject(raw['toolResult'])) {
    open.results ??= []
    for (const one of toolResult) open.results.push(one)
  } else if (isObject(image) && isObject(raw['image'])) {
    addChunk(open, raw['image']['source'], image['source'])
    open.raw = { ...raw, image: { ...raw['image'], ...image } }
  } else return false
  return true
}

/** The bytes of an image may come in several chunks, which are joined at its end. */
function addChunk({ chunks }: OpenBlock, before: unknown, source: unknown): void {
  const [first, next] = [before, source].map(one => (isObject(one) ? one['bytes'] : undefined))
  if (typeof first !== 'string' || typeof next !== 'string') chunks.length = 0
  else if (chunks.length === 0) chunks.push(first, next)
  else chunks.push(next)
}

/** The block as a whole response has it. */
export function wholeBlock({ raw = {}, text, chunks, results }: OpenBlock): ConverseBlock {
  const { toolUse, toolResult, image } = raw
  if (isObject(toolUse)) {
    const block = { ...raw, toolUse: { ...toolUse } }
    setOwn(block.toolUse, 'input', parsed(text))
    return block
  }
  if (isObject(toolResult) && results) {
    const { content } = toolResult
    const before = Array.isArray(content) ? (content as unknown[]) : []
    return { ...raw, toolResult: { ...toolResult, content: before.concat(results) } }
  }
  if (isObject(image) && isObject(image['source']) && chunks.length > 0)
    return {
      ...raw,
      image: { ...image, source: { ...image['source'], bytes: joinedBase64(chunks) } },
    }
  return raw
}

/** Input that is no JSON stays text. */
function parsed(text: string): unknown {
  if (!text.trim()) return {}
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/**
 * Chunks of a blob as one. Each chunk is base64 of its own; where they are only cut, the text is
 * simply joined.
 */
export function joinedBase64(chunks: readonly string[]): string {
  const isJoint = chunks.every(
    (chunk, index) =>
      index === chunks.length - 1 || (chunk.length % 4 === 0 && !chunk.endsWith('=')),
  )
  if (isJoint) return chunks.join('')
  try {
    return btoa(chunks.map(chunk => atob(chunk)).join(''))
  } catch {
    return chunks.join('')
  }
}
