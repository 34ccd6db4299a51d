import type { ChannelEntry } from '../options.ts'

/** Circuit breakers: channels that keep failing get no requests for a while. */
export type Breakers<Result> = {
  /** Milliseconds until the channel may be tried again. Undefined: it may be used. */
  restMs(channel: ChannelEntry): number | undefined
  /** The last failure of the channel. Undefined: it has not failed. */
  lastFailure(channel: ChannelEntry): Result | undefined
  /** Whether the channel gets requests. `open`: not for now. `probing`: the next attempt tests it, or one does. */
  state(channel: ChannelEntry): 'closed' | 'open' | 'probing'
  /** Runs one attempt and counts its result. */
  run(channel: ChannelEntry, attempt: () => Promise<Result>): Promise<Result>
}

/** Classifies the result of an attempt. Undefined: it does not count for the channel. */
type Classify<Result> = (result: Result) => 'well' | 'failed' | undefined

export function createBreakers<Result>(
  channels: readonly ChannelEntry[],
  classify: Classify<Result>,
): Breakers<Result> {
  const circuits = new Map(
    channels
      .filter(({ breaker }) => breaker.failures > 0)
      .map(channel => [channel.name, new Circuit(channel.breaker, classify)]),
  )
  return {
    restMs: ({ name }) => circuits.get(name)?.restMs(),
    lastFailure: ({ name }) => circuits.get(name)?.lastFailure,
    state: ({ name }) => circuits.get(name)?.state() ?? 'closed',
    run: ({ name }, attempt) => circuits.get(name)?.run(attempt) ?? attempt(),
  }
}

/**
 * Opens after a number of failures in a row. After `restMs` one attempt probes the channel, and only its success closes the circuit.
 * Our own, because cockatiel creates abort signals when it is loaded, which workers forbid.
 */
class Circuit<Result> {
  readonly #settings: ChannelEntry['breaker']
  readonly #classify: Classify<Result>
  #failures = 0
  lastFailure: Result | undefined
  /** When the channel may be probed, in ms since the epoch. Undefined: the circuit is closed. */
  #until: number | undefined
  #isProbed = false

  constructor(settings: ChannelEntry['breaker'], classify: Classify<Result>) {
    this.#settings = settings
    this.#classify = classify
  }

  restMs(): number | undefined {
    // Other requests use other channels meanwhile.
    if (this.#isProbed) return 1_000
    const left = this.#until === undefined ? 0 : this.#until - Date.now()
    return left > 0 ? left : undefined
  }

  state(): 'closed' | 'open' | 'probing' {
    if (this.#until === undefined) return 'closed'
    // Also after its open time: without requests to an open channel, it would never close.
    return this.#isProbed || this.#until <= Date.now() ? 'probing' : 'open'
  }

  run(attempt: () => Promise<Result>): Promise<Result> {
    return this.#until === undefined ? this.#counted(attempt) : this.#probe(attempt)
  }

  async #counted(attempt: () => Promise<Result>): Promise<Result> {
    const result = await attempt()
    const verdict = this.#verdictOf(result)
    if (verdict === 'well') this.#failures = 0
    // Attempts that were running when it opened do not extend the rest.
    else if (
      verdict === 'failed' &&
      ++this.#failures >= this.#settings.failures &&
      this.#until === undefined
    )
      this.#open()
    return result
  }

  async #probe(attempt: () => Promise<Result>): Promise<Result> {
    this.#isProbed = true
    try {
      const result = await attempt()
      const verdict = this.#verdictOf(result)
      if (verdict === 'failed') this.#open()
      else if (verdict === 'well') this.#close()
      return result
    } finally {
      this.#isProbed = false
    }
  }

  #verdictOf(result: Result): ReturnType<Classify<Result>> {
    const verdict = this.#classify(result)
    if (verdict === 'failed') this.lastFailure = result
    return verdict
  }

  #open(): void {
    this.#until = Date.now() + this.#settings.restMs
  }

  #close(): void {
    this.#until = undefined
    this.#failures = 0
  }
}
