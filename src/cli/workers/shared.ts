import type { GatewayState } from '../../gateway/gateway.ts'
import { storeDefaults } from '../../gateway/options.ts'
import type { MetricValues } from '../../operations/index.ts'
import { type Embedded, openEmbedded, type Turn } from '../../records/embedded.ts'
import { inTime } from '../../stores/circuit.ts'
import { createMemoryCounter } from '../../stores/memory-counter.ts'
import type { createMemoryStore } from '../../stores/memory-store.ts'
import type { Handlers, Link } from './link.ts'

/** What the processes of one gateway share, in the first of them. */
export type Shared = {
  /** What a worker may call. `leave`: it has ended. */
  forWorker(id: number): { handlers: Handlers; leave(): void }
  /** This worker serves, and can be asked. */
  join(id: number, link: Link): void
  close(): Promise<void>
}

type MemoryStore = ReturnType<typeof createMemoryStore>
type Limit = number | undefined

/** Whoever asks for all workers does not wait longer for one that hangs. */
const answerMs = 1_000

export function createShared(): Shared {
  const links = new Map<number, Link>()
  const counter = createMemoryCounter()
  const databases = new Map<string, Embedded>()
  const metrics = createSum()
  let store: Promise<MemoryStore> | undefined
  let isKeyed: boolean | undefined

  /** The answers of all workers that serve, by their ids. */
  async function askAll(name: string): Promise<Map<number, unknown>> {
    const answers = new Map<number, unknown>()
    await Promise.allSettled(
      [...links].map(async ([id, link]) =>
        answers.set(id, await inTime(link.call(name), answerMs)),
      ),
    )
    return answers
  }

  /** With the limit of the first one who uses it. */
  const storeOf = (limitBytes: Limit): Promise<MemoryStore> => {
    store ??= import('../../stores/memory-store.ts').then(({ createMemoryStore }) =>
      createMemoryStore(limitBytes ?? storeDefaults.memoryLimitBytes),
    )
    return store
  }

  return {
    forWorker(id) {
      const turns = createTurns(file => databases.get(file))
      return {
        handlers: {
          ...turns.handlers,
          count: counter.add,
          /** What the first worker found holds for all: the first key may be made after it. */
          asksForKeys(found: boolean) {
            isKeyed ??= found
            return isKeyed
          },
          send(message: object) {
            for (const [other, link] of links) if (other !== id) link.send('receive', message)
          },
          get: async (limitBytes: Limit, key: string) => (await storeOf(limitBytes)).get(key),
          set: async (limitBytes: Limit, key: string, text: string, ttlMs?: number) =>
            (await storeOf(limitBytes)).set(key, text, ttlMs),
          delete: async (limitBytes: Limit, key: string) => (await storeOf(limitBytes)).delete(key),
          open(file: string, libsql: string) {
            if (!databases.has(file)) databases.set(file, openEmbedded(file, libsql))
          },
          async metrics() {
            for (const [worker, values] of await askAll('metrics'))
              metrics.of(worker, values as MetricValues)
            return metrics.text()
          },
          states: async () => [...(await askAll('state')).values()] as GatewayState[],
        },
        leave() {
          links.get(id)?.end()
          links.delete(id)
          turns.end()
          metrics.ended(id)
        },
      }
    },
    join: (id, link) => void links.set(id, link),
    async close() {
      for (const database of databases.values()) await database.close()
    },
  }
}

/** The turns of one worker, who may end at any moment. */
function createTurns(databaseOf: (file: string) => Embedded | undefined) {
  const held = new Map<number, { turn: Turn; last: Promise<unknown> }>()
  let ids = 0
  let hasEnded = false

  /** Nobody else may use the connection before it is out of a transaction. */
  async function giveUp({ turn, last }: { turn: Turn; last: Promise<unknown> }): Promise<void> {
    await last.catch(() => {})
    await turn.run('rollback', []).catch(() => {})
    turn.release()
  }

  return {
    handlers: {
      async turn(file: string) {
        const turn = await databaseOf(file)?.turn()
        if (hasEnded) turn?.release()
        else if (turn) held.set(++ids, { turn, last: Promise.resolve() })
        return ids
      },
      run(id: number, sql: string, values: readonly unknown[]) {
        const one = held.get(id)
        if (!one) throw new Error('the database is closed')
        const running = one.turn.run(sql, values)
        one.last = running
        return running
      },
      release(id: number) {
        held.get(id)?.turn.release()
        held.delete(id)
      },
    },
    end() {
      hasEnded = true
      for (const one of held.values()) void giveUp(one)
      held.clear()
    },
  }
}

/** Metrics of all workers, also of those that have ended: a counter never goes down. */
function createSum() {
  const known = new Map<number, MetricValues>()
  let ended: Promise<MetricValues> = Promise.resolve([])
  const load = () => import('../../operations/metrics.ts')
  return {
    /** What a worker has counted so far. */
    of: (id: number, values: MetricValues) => void known.set(id, values),
    ended(id: number) {
      const last = known.get(id)
      known.delete(id)
      if (last)
        ended = Promise.all([load(), ended]).then(([{ countsOfAll }, before]) =>
          countsOfAll([before, last]),
        )
    },
    text: async () => (await load()).textOfAll([...known.values(), await ended]),
  }
}
