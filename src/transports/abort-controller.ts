/** The part of an AbortSignal that is used here. */
export type Signal = {
  readonly aborted: boolean
  readonly reason: unknown
  /** Calls `listener` when the signal is aborted. */
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void
  /** Removes a listener. */
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * An AbortController and its signal in one, without DOM events. Each exchange needs four; the
 * platform's cost 3 µs to create and 1 µs to listen to.
 */
export class PlainAbortController implements Signal {
  aborted = false
  reason: unknown
  #listeners: Set<() => void> | undefined
  #platform: AbortController | undefined

  get signal(): this {
    return this
  }

  /** A real AbortSignal, created on first use. */
  get platform(): AbortSignal {
    if (!this.#platform) {
      const made = new AbortController()
      this.#platform = made
      if (this.aborted) made.abort(this.reason)
      else this.addEventListener('abort', () => made.abort(this.reason))
    }
    return this.#platform.signal
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = undefined
    for (const listener of listeners ?? []) listener()
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener)
  }
}
