import { Worker } from 'node:worker_threads'
import { program } from 'wireglot-recorder-thread'
import type { Captured } from '../capture.ts'
import { type Packed, pack } from '../packed.ts'
import type { ThreadData, Written } from './messages.ts'

/** Writes exchanges in a thread of its own, which starts with the first one. */
export type Thread = {
  add(captured: Captured): void
  /** Resolves when all that was added is written or lost. */
  idle(): Promise<void>
  /** Ends the thread, once it has nothing to do. What is added later starts another one. */
  end(): Promise<void>
}

/** `bytes`: the sum of `sizeOf`. `failure`: why some exchange is not written. */
type Heard = { written(bytes: number, failure?: string): void }

type Batch = { packed: Packed; bytes: number }

/** In milliseconds: exchanges that end within this time go as one batch, up to so many or so large. */
const batchMs = 20
const mostInBatch = 32
const largestBatch = 1024 * 1024

/** What an exchange takes beside what was sent in it, in bytes. */
const perExchange = 5_000

export const sizeOf = ({ held }: Captured): number => perExchange + held

export function createThread(data: ThreadData, { written }: Heard): Thread {
  let worker: Worker | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended: Captured[] = []
  let size = 0
  const waiting: Batch[] = []
  /** What the thread works on. */
  let writing: Batch | undefined
  let idlers: (() => void)[] = []

  function over(failure?: string): void {
    const { bytes = 0 } = writing ?? {}
    writing = undefined
    worker?.unref()
    written(bytes, failure)
    next()
  }

  function started(): Worker {
    const fresh = new Worker(program, { eval: true, workerData: data })
    const gone = (failure: string) => {
      if (worker !== fresh) return
      worker = undefined
      if (writing) over(failure)
    }
    fresh.on('message', ({ failure }: Written) => over(failure))
    fresh.on('error', error => gone(error.message))
    fresh.on('exit', () => gone('the thread that writes them has ended'))
    return fresh
  }

  function next(): void {
    if (writing) return
    writing = waiting.shift()
    if (!writing) {
      for (const resolve of idlers) resolve()
      idlers = []
      return
    }
    try {
      worker ??= started()
    } catch (error) {
      over(String(error))
      return
    }
    // Does not keep the process alive while it has nothing to do.
    worker.ref()
    const { packed } = writing
    worker.postMessage(packed, [packed.bytes.buffer, packed.times.buffer, packed.lengths.buffer])
  }

  function sendBatch(): void {
    clearTimeout(timer)
    timer = undefined
    if (ended.length > 0) waiting.push({ packed: pack(ended), bytes: size })
    ended = []
    size = 0
    next()
  }

  const idle = () =>
    new Promise<void>(resolve => {
      idlers.push(resolve)
      sendBatch()
    })
  return {
    add(captured) {
      ended.push(captured)
      size += sizeOf(captured)
      if (ended.length >= mostInBatch || size >= largestBatch) sendBatch()
      else timer ??= setTimeout(sendBatch, batchMs)
    },
    idle,
    async end() {
      await idle()
      const ending = worker
      worker = undefined
      await ending?.terminate()
    },
  }
}
