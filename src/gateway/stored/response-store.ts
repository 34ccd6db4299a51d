import type { Message } from '../../canonical/message.ts'
import { writeExact } from '../../kit/json/digits.ts'
import { isObject, parseObject } from '../../kit/json/json.ts'
import { inTime } from '../../stores/circuit.ts'
import { reject } from '../error.ts'
import type { Identity, Store } from '../hooks.ts'
import { ConfigError, type ParsedConfig, type StoreEntry, storeDefaults } from '../options.ts'

/** A stored response. Plain JSON. */
export type Kept = {
  /** The conversation including the response. Absent: something before it is not known here. */
  messages?: Message[]
  /** The channel whose provider stores the response; then there is no `body`. */
  channel?: string
  /** The model name that the client used, if the channel has another one. */
  model?: string
  /** The response and the items of its request, in the client's protocol. */
  body?: unknown
  input?: unknown[]
}

/**
 * The store for data between exchanges. Entries can be read only by the client that stored them.
 */
export type ResponseStore = {
  /** Are reasoning signatures stored too, for clients that do not send them back? */
  readonly signatures: boolean
  /** The last call of the store failed. */
  isAway(): boolean
  /**
   * @throws GatewayError 503 when the store cannot be reached: an entry that may exist must not be
   * reported as unknown
   */
  response(owner: Identity, id: string): Promise<Kept | undefined>
  /** The id of the response that contains the item. @throws GatewayError 503 */
  responseOf(owner: Identity, item: string): Promise<string | undefined>
  signature(owner: Identity, callId: string): Promise<string | undefined>
  /** `items`: their ids. @throws GatewayError 503 */
  keep(owner: Identity, id: string, kept: Kept, items: readonly string[]): Promise<void>
  keepSignature(owner: Identity, callId: string, text: string): Promise<void>
  forget(owner: Identity, id: string, items: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** Of a store of the application, since a client is waiting. Redis has a shorter one of its own. */
const timeoutMs = 5_000

type Kind = 'response' | 'item' | 'signature'

type Access = 'read' | 'write'

/**
 * Log callbacks. `isAway`: called once per outage of the store. `isBroken`: called once per key
 * whose value is no response.
 */
type Warn = { isAway(error: unknown): void; isBroken(key: string): void }

/**
 * Undefined: nothing is stored.
 * @throws ConfigError when neither the configuration nor a hook has a store
 */
export function createResponseStore(
  config: ParsedConfig['store'],
  hook: Store | undefined,
  warn: Warn,
): ResponseStore | undefined {
  if (!config && !hook) return undefined
  const settings = config ?? storeDefaults
  const { ttlMs, signatures } = settings
  /** What does not work: a store may give what it has and keep nothing more. */
  const away = new Set<Access | 'connection'>()
  const warnOnce = (what: Access | 'connection', cause: unknown) => {
    if (away.size === 0) warn.isAway(cause)
    away.add(what)
  }
  let hasBroken = false
  const opened = hook
    ? { open: async (): Promise<Store> => hook, close: async () => {} }
    : storeOf(settings, cause => warnOnce('connection', cause))

  const ask = async (access: Access, what: (store: Store) => unknown): Promise<unknown> => {
    try {
      const response = await inTime(opened.open().then(what), timeoutMs)
      away.delete(access)
      away.delete('connection')
      return response
    } catch (cause) {
      warnOnce(access, cause)
      throw reject(503, 'unavailable', 'the response store cannot be reached')
    }
  }
  const get = async (owner: Identity, kind: Kind, id: string): Promise<string | undefined> => {
    if (id.length > longestId) return undefined
    const found = await ask('read', store => store.get(keyOf(owner, kind, id)))
    return typeof found === 'string' ? found : undefined
  }
  const set = async (owner: Identity, kind: Kind, id: string, value: string): Promise<void> => {
    if (id.length <= longestId)
      await ask('write', store => store.set(keyOf(owner, kind, id), value, ttlMs))
  }

  return {
    signatures,
    isAway: () => away.size > 0,
    async response(owner, id) {
      const text = await get(owner, 'response', id)
      if (text === undefined) return undefined
      const kept = keptOf(text)
      if (!kept && !hasBroken) warn.isBroken(keyOf(owner, 'response', id))
      hasBroken ||= !kept
      return kept
    },
    responseOf: (owner, item) => get(owner, 'item', item),
    signature: (owner, callId) => get(owner, 'signature', callId),
    async keep(owner, id, kept, items) {
      await Promise.all([
        set(owner, 'response', id, writeExact(kept)),
        ...items.map(item => set(owner, 'item', item, id)),
      ])
    },
    keepSignature: (owner, callId, text) => set(owner, 'signature', callId, text),
    async forget(owner, id, items) {
      const keys = [keyOf(owner, 'response', id), ...items.map(item => keyOf(owner, 'item', item))]
      await ask('write', store => Promise.all(keys.map(key => store.delete(key))))
    },
    close: opened.close,
  }
}

/** The configured store, loaded and opened on first use. */
function storeOf(
  { memory, redis, memoryLimitBytes }: StoreEntry,
  warn: (error: unknown) => void,
): { open(): Promise<Store>; close(): Promise<void> } {
  if (memory)
    return once(async () =>
      (await import('../../stores/memory-store.ts')).createMemoryStore(memoryLimitBytes),
    )
  if (redis === undefined)
    throw new ConfigError('store', 'expected "memory": true or "redis": a URL, or the hook `store`')
  return once(async () =>
    (await import('../../stores/redis-store.ts')).createRedisStore(redis, warn),
  )
}

function once(open: () => Promise<Store & { close?: () => void }>): {
  open(): Promise<Store>
  close(): Promise<void>
} {
  let opening: ReturnType<typeof open> | undefined
  return {
    open() {
      opening ??= open()
      return opening
    },
    async close() {
      const store = await opening?.catch(() => undefined)
      store?.close?.()
    },
  }
}

/** In UTF-16 units; nothing is stored under a longer id. */
const longestId = 256

/**
 * The key of an entry. JSON separates owner and id, so that no choice of names makes two keys
 * equal.
 */
function keyOf(identity: Identity, kind: Kind, id: string): string {
  return `wireglot:${kind}:${JSON.stringify([...ownerOf(identity), id])}`
}

function ownerOf({ id, name, group }: Identity): string[] {
  if (id !== undefined) return ['id', id]
  if (name !== undefined) return ['key', name]
  return group === undefined ? [] : ['group', group]
}

/** Undefined: somebody else has written it, or damaged it. */
function keptOf(text: string): Kept | undefined {
  const kept = parseObject(text)
  if (!kept) return undefined
  const { body = {}, input = [], messages = [] } = kept
  return isObject(body) &&
    Array.isArray(input) &&
    Array.isArray(messages) &&
    messages.every(isMessage)
    ? kept
    : undefined
}

const isMessage = (message: unknown) =>
  isObject(message) && Array.isArray(message['parts']) && message['parts'].every(isObject)
