/** In bytes. Work on a longer body takes more than some tens of milliseconds. */
export const longWorkFrom = 1_000_000

/** In bytes: work on so many takes about ten milliseconds. */
export const stepBytes = 2_000_000

/**
 * The translation of long bodies, one after the other: a parsed body takes ten times the memory of
 * its text.
 */
export type LongWork = <T>(work: () => Promise<T>) => Promise<T>

export function createLongWork(): LongWork {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/**
 * Lets the process do what has come meanwhile. A new connection is accepted, read and answered in
 * three turns.
 */
export async function pause(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setTimeout(resolve))
}

export function atOnce<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** As `atOnce`, with a pause after each step. */
export async function withPauses<T>(steps: Iterator<void, T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}
