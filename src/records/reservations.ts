import { randomBytes } from 'node:crypto'
import { inTime } from '../stores/circuit.ts'
import type { Database } from './database.ts'

/** What requests in progress are likely to use. */
export type Reserved = { tokens: number; dollars: number }

/**
 * What is reserved of each key, by its id, and of each group, by its owner id: in this process, and
 * in others that share the database.
 */
export type Reservations = {
  /** Of this process. */
  of(keyId: string): Reserved
  /** Of other processes, as they have written it. */
  ofOthers(keyId: string): Promise<Reserved>
  add(requestId: string, ownerIds: readonly string[], amount: Reserved): void
  /** The request has ended. */
  end(requestId: string): void
  close(): Promise<void>
}

const everyMs = 500
/**
 * Reservations of a process that has ended without a word count no longer. They are written again
 * before.
 */
const expiresMs = 30_000
const againMs = 10_000
const closeMs = 1_000

const none: Reserved = { tokens: 0, dollars: 0 }

/** `isShared`: other processes may use the database, too. */
export function createReservations({ ready }: Database, isShared: boolean): Reservations {
  const process = randomBytes(8).toString('hex')
  const requests = new Map<string, Reserved & { ownerIds: readonly string[] }>()
  const sums = new Map<string, Reserved & { requests: number }>()
  /** Keys whose sums other processes do not know yet. */
  const changed = new Set<string>()
  let writtenAt = performance.now()
  let isWriting = false
  let hasWritten = false
  const timer = isShared ? setInterval(() => void write().catch(() => {}), everyMs) : undefined
  timer?.unref()

  /** `sign`: of a request that has begun, or has ended. */
  function change(keyId: string, { tokens, dollars }: Reserved, sign: 1 | -1): void {
    const sum = sums.get(keyId) ?? { ...none, requests: 0 }
    sum.tokens += sign * tokens
    sum.dollars += sign * dollars
    sum.requests += sign
    // Sums of fractions do not come back to nothing.
    if (sum.requests === 0) sums.delete(keyId)
    else sums.set(keyId, sum)
    if (isShared) changed.add(keyId)
  }

  async function write(): Promise<void> {
    const isDue = performance.now() - writtenAt >= againMs
    const keyIds = isDue ? [...sums.keys()] : [...changed]
    if (isWriting || keyIds.length === 0) return
    isWriting = true
    try {
      changed.clear()
      const db = await ready()
      const now = Date.now()
      const rows = keyIds.map(keyId => {
        const { tokens, dollars } = sums.get(keyId) ?? none
        return { process, keyId, tokens, dollars, expiresAt: now + expiresMs }
      })
      await db
        .insertInto('reservations')
        .values(rows)
        .onConflict(conflict =>
          conflict.columns(['process', 'keyId']).doUpdateSet(({ ref }) => ({
            tokens: ref('excluded.tokens'),
            dollars: ref('excluded.dollars'),
            expiresAt: ref('excluded.expiresAt'),
          })),
        )
        .execute()
      hasWritten = true
      if (!isDue) return
      writtenAt = performance.now()
      await db.deleteFrom('reservations').where('expiresAt', '<', now).execute()
    } catch (error) {
      for (const keyId of keyIds) changed.add(keyId)
      throw error
    } finally {
      isWriting = false
    }
  }

  return {
    of: keyId => sums.get(keyId) ?? none,
    async ofOthers(keyId) {
      if (!isShared) return none
      const db = await ready()
      const sum = await db
        .selectFrom('reservations')
        .select(({ fn }) => [
          fn.sum<number | null>('tokens').as('tokens'),
          fn.sum<number | null>('dollars').as('dollars'),
        ])
        .where('keyId', '=', keyId)
        .where('process', '!=', process)
        .where('expiresAt', '>', Date.now())
        .executeTakeFirst()
      return { tokens: Number(sum?.tokens), dollars: Number(sum?.dollars) }
    },
    add(requestId, ownerIds, amount) {
      requests.set(requestId, { ...amount, ownerIds })
      for (const id of ownerIds) change(id, amount, 1)
    },
    end(requestId) {
      const reserved = requests.get(requestId)
      if (!reserved) return
      requests.delete(requestId)
      for (const id of reserved.ownerIds) change(id, reserved, -1)
    },
    async close() {
      clearInterval(timer)
      if (!hasWritten) return
      const remove = async () => {
        const db = await ready()
        await db.deleteFrom('reservations').where('process', '=', process).execute()
      }
      // They expire anyway.
      await inTime(remove(), closeMs).catch(() => {})
    },
  }
}
