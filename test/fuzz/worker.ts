import { parentPort, workerData } from 'node:worker_threads'
import { found } from './case.ts'

/**
 * Runs case after case; the parent process reads the number of the current one, so that a hang can
 * be named.
 */
const { from, to, until, place } = workerData as {
  from: number
  to: number
  until: number
  place: SharedArrayBuffer
}
const present = new Float64Array(place)
let number = from
for (; number < to && Date.now() < until; number++) {
  present[0] = number
  const finding = await found(number)
  if (finding !== undefined) parentPort?.postMessage({ number, finding })
  // The loop of events must turn: timers of a gateway that is being tried belong to it.
  if (number % 64 === 0) await new Promise(resolve => setImmediate(resolve))
}
parentPort?.postMessage({ done: number })
process.exit()
