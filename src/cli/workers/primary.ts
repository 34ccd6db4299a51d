import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { loggerTo } from '../../gateway/log.ts'
import { onParentGone, signalHandlers } from '../signals.ts'
import { closeUnaccepted } from './handed.ts'
import { createLink, type Link } from './link.ts'
import { createShared } from './shared.ts'

/** `auto`: one worker for each core. */
export type WorkerCount = number | 'auto'

/** One that has lived for so long is replaced at once. */
const steadyMs = 10_000
const shortestWaitMs = 500
const longestWaitMs = 30_000

/**
 * Serves in several processes until a stop signal: each worker runs the same command as this
 * process, which has what they share, and replaces those that end.
 * @throws Error if the first worker cannot start
 */
export async function superviseWorkers(wanted: WorkerCount): Promise<void> {
  const count = wanted === 'auto' ? availableParallelism() : wanted
  const logger = loggerTo(line => void process.stderr.write(`${line}\n`))
  const shared = createShared()
  const running = new Set<Link>()
  let isStopping = false
  const sendAll = (what: 'reload' | 'stop') => {
    for (const link of running) link.send(what)
  }

  /** Resolves with its lines for people when it listens. `ended`: called when it has ended. */
  function begin(ended: (facts: object) => void): Promise<readonly string[]> {
    const worker = cluster.fork()
    closeUnaccepted(worker)
    const { handlers, leave } = shared.forWorker(worker.id)
    return new Promise((resolve, reject) => {
      const link = createLink(worker, {
        ...handlers,
        started(lines: readonly string[]) {
          shared.join(worker.id, link)
          if (isStopping) link.send('stop')
          resolve(lines)
        },
        failed: (message: string) => reject(new Error(message)),
      })
      running.add(link)
      // A message to a worker that has just ended.
      worker.on('error', () => {})
      worker.once('exit', (code, signal) => {
        running.delete(link)
        leave()
        reject(new Error(`a worker has ended with ${signal ?? code}`))
        ended({ pid: worker.process.pid, code, signal })
        if (isStopping && running.size === 0) void shared.close()
      })
    })
  }

  /** Keeps one worker running. Resolves when it listens for the first time. */
  function keep(waitMs = 0): Promise<readonly string[]> {
    const since = performance.now()
    const started = begin(facts => {
      if (isStopping || !hasStarted) return
      const isSteady = performance.now() - since >= steadyMs
      const next = isSteady ? 0 : Math.min(longestWaitMs, Math.max(shortestWaitMs, 2 * waitMs))
      logger.warn({ ...facts, replacedInMs: next }, 'a worker has ended and is replaced')
      setTimeout(() => isStopping || keep(next).catch(failed), next)
    })
    return started
  }
  const failed = (error: Error) =>
    logger.error({ error: error.message }, 'a worker could not start')

  const stop = () => {
    // A second signal ends the process at once, and its workers with it.
    for (const [signal, act] of handlers) process.off(signal, act)
    clearInterval(parentTimer)
    isStopping = true
    sendAll('stop')
  }
  const handlers = signalHandlers(() => sendAll('reload'), stop)
  for (const [signal, act] of handlers) process.on(signal, act)
  const isOfNpm = process.env['npm_lifecycle_event'] !== undefined
  const parentTimer = isOfNpm ? onParentGone(stop) : undefined

  let hasStarted = false
  // What it cannot do, the others cannot do either.
  const lines = await keep().catch((error: unknown) => {
    stop()
    throw error
  })
  hasStarted = true
  await Promise.all(Array.from({ length: count - 1 }, () => keep().catch(failed)))
  for (const line of lines.toSpliced(-1, 0, `workers: ${count}`)) process.stdout.write(`${line}\n`)
}
