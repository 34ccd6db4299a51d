/** Keeps requests from waiting for a store that hangs. */
export type Circuit = {
  /**
   * What the command returns. Rejects when it takes too long. From then on commands reject at once:
   * every few seconds one of them is sent, and when one is answered, the store works again. No
   * request waits for that.
   */
  run<T>(command: () => Promise<T>): Promise<T>
}

/** How long a command may take: a request waits for it. */
export const timeoutMs = 2_000
/** From one command to a store that hangs to the next. */
const restMs = 3_000

export function createCircuit(): Circuit {
  /** By the clock of the process, which never jumps. 0: the store works. */
  let restsUntil = 0

  function send<T>(command: () => Promise<T>): Promise<T> {
    const since = performance.now()
    const working = () => {
      restsUntil = 0
    }
    const answer = command()
    answer.then(working, () => {
      // An error that comes at once delays nobody. A late one is a connection that was given up.
      if (performance.now() - since < timeoutMs) working()
    })
    return answer
  }

  return {
    async run(command) {
      if (restsUntil === 0)
        return inTime(send(command), timeoutMs, () => {
          restsUntil = performance.now() + restMs
        })
      if (performance.now() >= restsUntil) {
        restsUntil = performance.now() + restMs
        send(command).catch(() => {})
      }
      throw new Error('the store does not respond')
    },
  }
}

/** Rejects after `ms`. `late`: called then. */
export async function inTime<T>(
  work: Promise<T>,
  ms: number,
  late: () => void = () => {},
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late()
      reject(new Error('the store does not respond in time'))
    }, ms)
  })
  try {
    return await Promise.race([work, overdue])
  } finally {
    clearTimeout(timer)
  }
}
