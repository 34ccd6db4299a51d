/** The other process: a worker of `node:cluster`, or in a worker the process that has started it. */
export type End = {
  send(message: object, done: (error: Error | null) => void): unknown
  on(event: 'message', heard: (message: unknown) => void): unknown
}

/** Calls between the first process and one of its workers. Arguments and results are plain JSON. */
export type Link = {
  /**
   * What the function of this name returns in the other process.
   * @throws Error as it was thrown there, with its code; or when the other process is gone
   */
  call(name: string, ...args: readonly unknown[]): Promise<unknown>
  /** The same, for one who needs no answer. */
  send(name: string, ...args: readonly unknown[]): void
  /** The other process has ended: whoever waits for it gets an error. */
  end(): void
}

/** What the other process may call. */
export type Handlers = Record<string, (...args: never[]) => unknown>

/** `id`: of a call that is answered; absent: it is not. */
type Called = { id?: number; call: string; args: readonly never[] }
type Answered = { answered: number; result?: unknown; failure?: { message: string; code?: string } }

/** Both sides of it are the same. */
export function createLink(other: End, handlers: Handlers): Link {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  let last = 0

  function send(message: Called | Answered, failed: (error: Error) => void = () => {}): void {
    try {
      other.send(message, error => error && failed(error))
    } catch (error) {
      failed(error as Error)
    }
  }

  async function answer({ id, call, args }: Called): Promise<void> {
    try {
      const result = await handlers[call]?.(...args)
      if (id !== undefined) send({ answered: id, result })
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      if (id !== undefined)
        send({ answered: id, failure: { message, ...(code !== undefined && { code }) } })
    }
  }

  other.on('message', message => {
    const heard = message as Called | Answered
    if ('call' in heard) return void answer(heard)
    const caller = waiting.get(heard.answered)
    waiting.delete(heard.answered)
    if (heard.failure) {
      const { message: words, ...facts } = heard.failure
      caller?.reject(Object.assign(new Error(words), facts))
    } else caller?.resolve(heard.result)
  })

  return {
    call: (call, ...args) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve, reject })
        send({ id, call, args: args as never[] }, error => {
          waiting.delete(id)
          reject(error)
        })
      }),
    send: (call, ...args) => send({ call, args: args as never[] }),
    end() {
      for (const { reject } of waiting.values()) reject(new Error('the other process has ended'))
      waiting.clear()
    },
  }
}
