import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { openList, quote } from '../../kit/json/scan.ts'
import type { Headers, Protocol } from '../../protocol.ts'
import { textOf } from '../../sse/bytes.ts'
import type { ReadBody } from '../body/body.ts'
import { itemsOf, keyOf, type Member, membersOf, outlineOf } from '../body/outline.ts'

/** Headers in which agents send the id of a session, and applications may. */
const sessionHeaders = [
  'x-session-id',
  'session-id',
  'session_id',
  'x-claude-code-session-id',
  'x-session-affinity',
  'conversation_id',
  'x-conversation-id',
  'x-amp-thread-id',
  'thread-id',
]

/** Of the first messages, in bytes. */
const hashed = 8 * 1024

/**
 * What all requests of one conversation have in common: the id of its session, else its cache key,
 * else its first messages. Undefined: nothing of these is there.
 */
export function conversationKey(
  headers: Headers,
  body: ReadBody,
  protocol: Protocol,
): string | undefined {
  for (const name of sessionHeaders) if (headers[name]) return headers[name]
  const { outline } = body
  const cacheKey = textAt(outline, protocol.fieldNames['cache.key'])
  if (cacheKey) return cacheKey
  // The user alone may have many conversations: agents name the session in the same field.
  const user = textAt(outline, protocol.fieldNames['user.safetyId'])
  if (user && /session/i.test(user)) return user
  const start = beginning(body, protocol)
  return start === undefined ? undefined : `${user ?? ''}\n${start}`
}

/** The messages up to the first one of the user, which stay the same in all turns. */
function beginning(body: ReadBody, { fieldNames }: Protocol): string | undefined {
  const field = fieldNames['turns']
  if (field === undefined) return undefined
  return body.bytes
    ? beginningOfText(body.bytes, body.members ?? membersOf(body.bytes), field)
    : beginningOfValue(body, field)
}

/**
 * From the bytes, which may be long: nothing is parsed that comes after the first message of the
 * user.
 */
function beginningOfText(
  bytes: Uint8Array,
  members: readonly Member[] | undefined,
  field: string,
): string | undefined {
  const turns = members?.findLast(member => keyOf(bytes, member) === field)
  if (!turns) return undefined
  const kind = bytes[turns.start]
  const endOfText = kind === quote ? turns.end : undefined
  const end = kind === openList ? endOfFirstUser(bytes, turns) : endOfText
  return end === undefined
    ? undefined
    : textOf(bytes.subarray(turns.start, Math.min(end, turns.start + hashed)))
}

function endOfFirstUser(bytes: Uint8Array, turns: Member): number | undefined {
  for (const { start, end } of itemsOf(bytes, turns)) {
    const item = bytes.subarray(start, end)
    const turn = outlineOf(item, membersOf(item))
    if (turn && isOfUser(turn)) return end
  }
  return undefined
}

/** Of a body that the application has parsed, or a hook has replaced. */
function beginningOfValue(body: ReadBody, field: string): string | undefined {
  let value: unknown
  try {
    ;({ value } = body)
  } catch {
    // The upstream or the translation reports the fault.
    return undefined
  }
  const turns = isObject(value) ? value[field] : undefined
  if (!Array.isArray(turns)) return typeof turns === 'string' ? turns.slice(0, hashed) : undefined
  const first = turns.findIndex(turn => isObject(turn) && isOfUser(turn))
  return first < 0 ? undefined : JSON.stringify(turns.slice(0, first + 1)).slice(0, hashed)
}

const isOfUser = (turn: JsonObject) => (turn['role'] ?? 'user') === 'user'

function textAt(body: unknown, path: string | undefined): string | undefined {
  const value = path
    ?.split('/')
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), body)
  return typeof value === 'string' ? value : undefined
}

/**
 * Rendezvous hashing: the channel with the largest score serves the conversation. Each channel gets
 * its share by weight, and when one is added or removed only the conversations of that channel
 * move. `weight`: above 0.
 */
export const scoreOf = (key: string, channel: string, weight: number): number =>
  -weight / Math.log((hashOf(`${channel}\n${key}`) + 0.5) / 2 ** 32)

/** FNV-1a with a final mix, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
