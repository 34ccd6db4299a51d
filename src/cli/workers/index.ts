import cluster from 'node:cluster'
import { linesTo } from '../../operations/lines.ts'
import type { ServeOptions } from '../serve.ts'
import type { End } from './link.ts'
import type { WorkerCount } from './primary.ts'

/**
 * Serves in several processes. Each of them runs this command: the first one starts the others.
 * @throws Error if the first worker cannot start
 */
export async function serveByWorkers(count: WorkerCount, options: ServeOptions): Promise<void> {
  if (cluster.isPrimary) await (await import('./primary.ts')).superviseWorkers(count)
  else await serveAsWorker(options)
}

/** A pipe takes so many bytes as a whole, so that lines of several processes do not mix. */
const wholeBytes = 4096

/** Serves in a worker. */
async function serveAsWorker(options: ServeOptions): Promise<void> {
  const end: End = {
    send: (message, done) => process.send?.(message, undefined, undefined, done),
    on: (event, receive) => process.on(event, receive),
  }
  const { createPrimary } = await import('./worker.ts')
  const primary = createPrimary(end, cluster.worker?.id === 1)
  try {
    const { serve } = await import('../serve.ts')
    await serve(options, { primary, out: linesTo(process.stdout, wholeBytes) })
  } catch (error) {
    await primary.failed(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}
