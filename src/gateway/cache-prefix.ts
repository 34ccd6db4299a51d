import { colon, openList, quote } from '../kit/json/scan.ts'
import type { Headers, Protocol } from '../protocol.ts'
import { searchable } from '../sse/bytes.ts'
import type { ReadBody } from './body/body.ts'
import { endOfString, itemsOf, keyOf, type Member, membersOf } from './body/outline.ts'
import { tokensOfLength } from './endpoints/estimate.ts'
import { conversationKey } from './upstream/sticky.ts'

/**
 * How much of the prompt begins as in the request before of the same conversation, in tokens by an
 * estimate. `kept`: what a cache of the provider may have. `lost`: the rest of the earlier prompt,
 * which has to be read again; 0: the request continues it.
 */
export type CachePrefix = { kept: number; lost: number }

/** Compares the requests of conversations. Nothing of their text is kept. */
export type Prefixes = {
  /** Undefined: the first request of its conversation, or not known. */
  compare(
    asked: { headers: Headers; model: string; client: string },
    body: ReadBody,
    protocol: Protocol,
  ): CachePrefix | undefined
}

/** Parts of all conversations that are remembered: 8 bytes each. */
const mostParts = 1_000_000
/** What a conversation takes beside its parts, in parts. */
const perConversation = 32
/** In bytes: shorter fields beside the conversation are settings. */
const shortestPart = 200

/** `lengths`: in bytes. */
type Parts = { hashes: Uint32Array; lengths: Uint32Array }

export function createPrefixes(): Prefixes {
  /** The one that was used last is the last one. */
  const known = new Map<string, Parts>()
  let held = 0

  function remember(key: string, parts: Parts): void {
    held += parts.hashes.length + perConversation
    known.set(key, parts)
    for (const [oldest, { hashes }] of known) {
      if (held <= mostParts) break
      known.delete(oldest)
      held -= hashes.length + perConversation
    }
  }

  return {
    compare({ headers, model, client }, body, protocol) {
      const { bytes } = body
      const members = bytes && (body.members ?? membersOf(bytes))
      const own = members && conversationKey(headers, body, protocol)
      if (!bytes || !members || own === undefined) return undefined
      const key = `${client}\n${model}\n${own}`
      const before = known.get(key)
      const now = partsOf(bytes, members, protocol.fieldNames['turns'])
      if (before) {
        known.delete(key)
        held -= before.hashes.length + perConversation
      }
      remember(key, now)
      return before && compared(before, now)
    },
  }
}

function compared(before: Parts, now: Parts): CachePrefix {
  let at = 0
  while (at < before.hashes.length && before.hashes[at] === now.hashes[at]) at++
  const sum = (lengths: Uint32Array) => lengths.reduce((total, length) => total + length, 0)
  return {
    kept: tokensOfLength(sum(before.lengths.subarray(0, at))),
    lost: tokensOfLength(sum(before.lengths.subarray(at))),
  }
}

/** Tools and instructions come first, as models read them; then each message is a part. */
function partsOf(bytes: Uint8Array, members: readonly Member[], turns: string | undefined): Parts {
  const places: { start: number; end: number }[] = []
  let conversation: Member | undefined
  for (const member of members) {
    if (keyOf(bytes, member) === turns) conversation = member
    else if (member.end - member.start >= shortestPart) places.push(member)
  }
  if (conversation)
    if (bytes[conversation.start] === openList)
      for (const item of itemsOf(bytes, conversation)) places.push(item)
    else places.push(conversation)
  const searched = searchable(bytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    hashes: Uint32Array.from(places, ({ start, end }) => hashOf(searched, view, start, end)),
    lengths: Uint32Array.from(places, ({ start, end }) => end - start),
  }
}

/**
 * A hash of the texts in a part. Its form does not matter: clients move the marks of the cache from
 * message to message, and make lists of texts for that.
 */
function hashOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = bytes.indexOf(quote, start); at >= 0 && at < end; ) {
    const from = at + 1
    const close = endOfString(bytes, from)
    const isKey = bytes[close + 1] === colon
    if (!isKey && !isOfForm(bytes, from, close)) hash = added(hash, view, from, close)
    at = bytes.indexOf(quote, close + 1)
  }
  return hash >>> 0
}

/** Words of a mark, and the type of a text. */
const ofForm: ReadonlySet<string> = new Set([
  'text',
  'input_text',
  'ephemeral',
  'default',
  '5m',
  '1h',
])

function isOfForm(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > 10) return false
  let word = ''
  for (let at = from; at < to; at++) word += String.fromCharCode(bytes[at] ?? 0)
  return ofForm.has(word)
}

/** FNV-1a of four bytes at a time. */
function added(before: number, view: DataView, from: number, to: number): number {
  let hash = before
  let at = from
  for (; at + 4 <= to; at += 4) hash = Math.imul(hash ^ view.getInt32(at, true), 0x01000193)
  for (; at < to; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x01000193)
  return Math.imul(hash ^ 0xff, 0x01000193)
}
