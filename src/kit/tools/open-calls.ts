import type { ToolCallPart } from '../../canonical/message.ts'

/** What a result without a whole reference says about its call. */
type Clue = 'any' | `id ${string}` | `name ${string}` | `made ${string}`

/** Calls in order, of which those in front of `next` are known to be closed. */
type Queue = { calls: ToolCallPart[]; next: number }

/**
 * Calls that wait for their results. Finding the oldest one of a kind takes the same time however
 * many there are.
 */
export class OpenCalls {
  readonly #closed = new Set<ToolCallPart>()
  readonly #queues = new Map<Clue, Queue>()
  #calls: ToolCallPart[] = []
  /** The number of calls in the queues: most conversations need none. */
  #queued = 0

  add(call: ToolCallPart): void {
    this.#calls.push(call)
  }

  close(call: ToolCallPart): void {
    this.#closed.add(call)
  }

  forget(): void {
    this.#calls = []
    this.#queued = 0
    this.#queues.clear()
  }

  /** The oldest open call. */
  oldest(): ToolCallPart | undefined {
    return this.#first('any')
  }

  withId(id: string): ToolCallPart | undefined {
    return this.#first(`id ${id}`)
  }

  /** `made`: only a call whose id is made up. */
  named(name: string, made: boolean): ToolCallPart | undefined {
    return this.#first(made ? `made ${name}` : `name ${name}`)
  }

  #first(clue: Clue): ToolCallPart | undefined {
    for (; this.#queued < this.#calls.length; this.#queued++)
      this.#queue(this.#calls[this.#queued] as ToolCallPart)
    const queue = this.#queues.get(clue)
    if (!queue) return undefined
    let call = queue.calls[queue.next]
    while (call && this.#closed.has(call)) call = queue.calls[++queue.next]
    return call
  }

  #queue(call: ToolCallPart): void {
    const { id, name, idOrigin } = call
    const clues: Clue[] = ['any', `id ${id}`, `name ${name}`]
    if (idOrigin === 'synthesized') clues.push(`made ${name}`)
    for (const clue of clues) {
      const queue = this.#queues.get(clue)
      if (queue) queue.calls.push(call)
      else this.#queues.set(clue, { calls: [call], next: 0 })
    }
  }
}
