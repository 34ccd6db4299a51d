import type { Note } from '../canonical/note.ts'
import type { Attempt, Exchange, UsageRecord } from '../gateway/gateway.ts'
import { withoutSecrets } from '../gateway/secret-shapes.ts'
import { inTime } from '../stores/circuit.ts'
import type { Database } from './database.ts'
import { deleteOldest } from './deletion.ts'
import { periods } from './tables.ts'

/**
 * An attempt at an upstream. `status`, `failure`, `message`: if it failed. `upstreamMessage`: only
 * if bodies are kept, as it may repeat the prompt.
 */
export type AttemptDetail = {
  channel: string
  model: string
  protocol: string
  ms: number
  status?: number
  failure?: string
  message?: string
  upstreamMessage?: string
}

/**
 * What is kept of a request in addition to its record. `request`: what was sent to the last
 * upstream, only if bodies are kept; `isCut`: its end is missing.
 */
export type RecordDetail = {
  attempts: AttemptDetail[]
  notes: Pick<Note, 'kind' | 'code' | 'path' | 'reason'>[]
  request?: { text: string; isCut: boolean }
}

/** For the gateway. `onUsage` is called before `onNotes` of the same request. */
export type DetailHooks = {
  onAttempt(attempt: Attempt): void
  onUsage(record: UsageRecord): void
  onNotes(notes: readonly Note[], exchange: Exchange): void
}

export type Details = DetailHooks & {
  /** Undefined: there is none. */
  find(id: string): Promise<RecordDetail | undefined>
  close(): Promise<void>
}

/** In UTF-16 units, of one body. */
const longestBody = 64 * 1024
/** In UTF-16 units, of all that wait to be written; further details are dropped. */
const mostWaiting = 16 * 1024 * 1024
const mostPending = 20_000
const mostNotes = 100
const mostAttempts = 50
/**
 * A power of two: see `insertions`. Small, as the embedded database keeps the last values of each
 * statement.
 */
const batchSize = 8
/** A request for details waits for the latest ones, but not for a database that hangs. */
const flushMs = 1_000
const everyMs = 500
const deleteEveryMs = 60_000

/**
 * Collects the details of requests that failed or took several attempts, and with `keepBodies` of
 * all. `emit`: gets those of a finished request; its notes follow.
 */
export function collectDetails(
  keepBodies: boolean,
  emit: (id: string, time: number, detail: RecordDetail) => void,
): DetailHooks {
  const pending = new Map<string, RecordDetail>()
  let last: { id: string; detail: RecordDetail } | undefined
  return {
    onAttempt({ requestId, channel, model, protocol, ms, failure, body }) {
      const detail = pending.get(requestId) ?? { attempts: [], notes: [] }
      if (!pending.has(requestId) && pending.size < mostPending) pending.set(requestId, detail)
      const failed = failure && failureIn(failure, keepBodies)
      if (detail.attempts.length < mostAttempts)
        detail.attempts.push({ channel, model, protocol, ms, ...failed })
      if (keepBodies) detail.request = shortened(body)
    },
    onUsage({ requestId, time, failure }) {
      const detail = pending.get(requestId)
      last = undefined
      if (!detail) return
      pending.delete(requestId)
      if (failure === undefined && detail.attempts.length < 2 && !detail.request) return
      last = { id: requestId, detail }
      emit(requestId, Date.parse(time), detail)
    },
    onNotes(notes, { requestId }) {
      if (last?.id !== requestId) return
      const first = notes.slice(0, mostNotes)
      last.detail.notes = first.map(({ kind, code, path, reason }) => ({
        kind,
        code,
        path,
        reason,
      }))
    },
  }
}

function failureIn(
  { status, kind, message, upstreamMessage }: NonNullable<Attempt['failure']>,
  keepBodies: boolean,
): Partial<AttemptDetail> {
  const failed = { status, failure: kind, message }
  if (!keepBodies || upstreamMessage === undefined) return failed
  return { ...failed, upstreamMessage: withoutSecrets(upstreamMessage) }
}

type Options = { keepBodies?: boolean | undefined; keepDays?: number | undefined }

/**
 * Keeps details in the database. They are less important than records: a database that is away for
 * long loses them.
 */
export function createDetails(
  database: Database,
  { keepBodies = false, keepDays }: Options,
): Details {
  let waiting: { id: string; time: number; detail: RecordDetail }[] = []
  let size = 0
  let writing: Promise<void> | undefined
  const timers = [
    setInterval(() => void writeWaiting(), everyMs),
    setInterval(() => void deleteOld().catch(() => {}), deleteEveryMs),
  ]
  for (const timer of timers) timer.unref?.()

  async function flush(): Promise<void> {
    // It may have begun before the last details came.
    await writing
    await writeWaiting()
  }

  function writeWaiting(): Promise<void> {
    writing ??= write()
      .catch(() => {})
      .finally(() => {
        writing = undefined
      })
    return writing
  }

  async function write(): Promise<void> {
    for (let left = waiting.length; left > 0; left -= batchSize) {
      const db = await database.ready()
      const batch = waiting.slice(0, Math.min(left, batchSize))
      const rows = batch.map(one => ({ ...one, detail: JSON.stringify(one.detail) }))
      for (const insertion of database.insertions('details', rows, 'on conflict (id) do nothing'))
        await db.executeQuery(insertion)
      waiting = waiting.slice(batch.length)
      for (const { detail } of batch) size -= sizeOf(detail)
    }
  }

  async function deleteOld(): Promise<void> {
    if (keepDays === undefined) return
    const db = await database.ready()
    await deleteOldest(db, 'details', Date.now() - keepDays * periods.days)
  }

  const hooks = collectDetails(keepBodies, (id, time, detail) => {
    if (size + sizeOf(detail) > mostWaiting) return
    size += sizeOf(detail)
    waiting.push({ id, time, detail })
  })
  return {
    ...hooks,
    async find(id) {
      await inTime(flush(), flushMs).catch(() => {})
      const db = await database.ready()
      const row = await db
        .selectFrom('details')
        .select('detail')
        .where('id', '=', id)
        .executeTakeFirst()
      return row && (JSON.parse(row.detail) as RecordDetail)
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      await flush()
    },
  }
}

/** Roughly, and the same before and after its notes are known. */
const sizeOf = ({ request }: RecordDetail) => 1000 + (request?.text.length ?? 0)

/** A character has up to four bytes. */
const longestBytes = longestBody * 4

function shortened(body: string | Uint8Array): { text: string; isCut: boolean } {
  const text =
    typeof body === 'string' ? body : new TextDecoder().decode(body.subarray(0, longestBytes))
  // PostgreSQL holds no U+0000 in texts; JSON has it as an escape.
  return {
    text: withoutSecrets(text.slice(0, longestBody)),
    isCut: text.length > longestBody || body.length > longestBytes,
  }
}
