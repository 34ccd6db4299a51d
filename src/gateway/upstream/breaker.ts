import type { ChannelEntry } from '../options.ts'

/** Circuit breakers: channels that keep failing get no requests for a while. */
export type Breakers<Result> = {
  /**
   * Milliseconds until the channel may be tried again by this client. Undefined: it may be used.
   */
  restMs(channel: ChannelEntry, client: string): number | undefined
  /** The last failure of the channel. Undefined: it has not failed. */
  lastFailure(channel: ChannelEntry): Result | undefined
  /**
   * Whether the channel gets requests. `open`: not for now. `probing`: the next attempt tests it,
   * or one does.
   */
  state(channel: ChannelEntry): 'closed' | 'open' | 'probing'
  /** Runs one attempt and counts its result. */
  run(channel: ChannelEntry, request: Counted, attempt: () => Promise<Result>): Promise<Result>
  /** Counts what another process has seen. */
  apply(change: CircuitChange): void
}

/**
 * What a process sends to the others of a channel: a request of this client has failed there or has
 * succeeded after failures, or the circuit has opened. `isProbe`: because its probe has failed.
 * `agoMs`: how long ago. Absent: just now.
 */
export type CircuitChange = {
  channel: string
  is: 'failed' | 'succeeded' | 'open'
  client: string
  isProbe?: true
  agoMs?: number
}

/**
 * A request, with all its attempts. `client`: who sends it. `failedAt`: the channels at which it
 * counts as failed.
 */
export type Counted = { client: string; failedAt: Set<string> }

/** Classifies the result of an attempt. Undefined: it does not count for the channel. */
type Classify<Result> = (result: Result) => 'well' | 'failed' | undefined

export function createBreakers<Result>(
  channels: readonly ChannelEntry[],
  classify: Classify<Result>,
  send: (change: CircuitChange) => void = () => {},
): Breakers<Result> {
  const circuits = new Map(
    channels
      .filter(({ breaker }) => breaker.failures > 0)
      .map(channel => [channel.name, new Circuit(channel, classify, send)]),
  )
  return {
    restMs: ({ name }, client) => circuits.get(name)?.restMs(client),
    lastFailure: ({ name }) => circuits.get(name)?.lastFailure,
    state: ({ name }) => circuits.get(name)?.state() ?? 'closed',
    run: ({ name }, request, attempt) => circuits.get(name)?.run(request, attempt) ?? attempt(),
    apply: change => circuits.get(change.channel)?.apply(change),
  }
}

/** How long a client counts as a user of a channel. */
const usedMs = 60_000

/**
 * Opens after a number of requests that failed in a row. What fails may be the requests of one
 * client and not the channel, so while others use the channel, one client counts for at most half
 * of them. After `restMs` one attempt probes the channel, and only a success closes the circuit.
 * Times are those of `performance.now()`, which nobody sets back. Our own, because cockatiel
 * creates abort signals when it is loaded, which workers forbid.
 */
class Circuit<Result> {
  readonly #name: string
  readonly #settings: ChannelEntry['breaker']
  readonly #classify: Classify<Result>
  readonly #send: (change: CircuitChange) => void
  readonly #users = new Users()
  /** Failed requests since the last success, by client. */
  readonly #failures = new Map<string, number>()
  lastFailure: Result | undefined
  #lastSuccess = 0
  /** When the channel may be probed. Undefined: the circuit is closed. */
  #until: number | undefined
  #isProbed = false
  /** Whose probe failed last. */
  #prober: string | undefined

  constructor(
    { name, breaker }: ChannelEntry,
    classify: Classify<Result>,
    send: (change: CircuitChange) => void,
  ) {
    this.#name = name
    this.#settings = breaker
    this.#classify = classify
    this.#send = send
  }

  restMs(client: string): number | undefined {
    this.#users.saw(client)
    // Other requests use other channels meanwhile.
    if (this.#isProbed) return 1_000
    if (this.#until === undefined) return undefined
    const left = this.#until - performance.now()
    if (left > 0) return left
    // Else a client whose requests always fail would keep the channel from all others.
    return client === this.#prober && !this.#users.isAlone(client) ? 1_000 : undefined
  }

  state(): 'closed' | 'open' | 'probing' {
    if (this.#until === undefined) return 'closed'
    // Also after its open time: without requests to an open channel, it would never close.
    return this.#isProbed || this.#until <= performance.now() ? 'probing' : 'open'
  }

  run(request: Counted, attempt: () => Promise<Result>): Promise<Result> {
    const restMs = this.restMs(request.client)
    if (this.#until === undefined) return this.#counted(request, attempt)
    return restMs === undefined ? this.#probe(request, attempt) : this.#lastResort(request, attempt)
  }

  async #counted(request: Counted, attempt: () => Promise<Result>): Promise<Result> {
    const began = performance.now()
    const result = await attempt()
    const verdict = this.#verdictOf(result)
    // Attempts that were running when it opened say nothing about the time after.
    if (this.#until !== undefined) return result
    if (verdict === 'well') this.#succeeded(request)
    // If another request has succeeded meanwhile, the channel works, and this request is what
    // fails.
    else if (verdict === 'failed' && this.#lastSuccess <= began) this.#count(request)
    return result
  }

  /** Retries of one request are no further failures. */
  #count({ client, failedAt }: Counted): void {
    if (failedAt.has(this.#name)) return
    failedAt.add(this.#name)
    this.#send({ channel: this.#name, is: 'failed', client })
    if (this.#isTooMuch(client)) this.#open(client)
  }

  /** One more failure of this client. Is it the one that opens the circuit? */
  #isTooMuch(client: string): boolean {
    this.#failures.set(client, (this.#failures.get(client) ?? 0) + 1)
    const { failures: limit } = this.#settings
    const isAlone = this.#users.isAlone(client)
    const most = isAlone ? limit : Math.ceil(limit / 2)
    let sum = 0
    for (const count of this.#failures.values()) sum += Math.min(count, most)
    return sum >= limit && (isAlone || this.#failures.size > 1)
  }

  apply({ is, client, isProbe, agoMs }: CircuitChange): void {
    this.#users.saw(client)
    if (is === 'succeeded') this.#close()
    else if (is === 'open') this.#rest(isProbe && client, agoMs)
    // Whoever has seen a failure opens the circuit, and says so.
    else if (this.#until === undefined) this.#isTooMuch(client)
  }

  async #probe({ client }: Counted, attempt: () => Promise<Result>): Promise<Result> {
    this.#isProbed = true
    try {
      const result = await attempt()
      const verdict = this.#verdictOf(result)
      if (verdict === 'well') this.#succeeded({ client })
      else if (verdict === 'failed') this.#open(client, true)
      return result
    } finally {
      this.#isProbed = false
    }
  }

  /**
   * An attempt at an open channel, because no other one is left. Its failure does not extend the
   * rest.
   */
  async #lastResort(request: Counted, attempt: () => Promise<Result>): Promise<Result> {
    const result = await attempt()
    if (this.#verdictOf(result) === 'well') this.#succeeded(request)
    return result
  }

  #verdictOf(result: Result): ReturnType<Classify<Result>> {
    const verdict = this.#classify(result)
    if (verdict === 'failed') this.lastFailure = result
    return verdict
  }

  #open(client: string, isProbe = false): void {
    this.#rest(isProbe && client)
    this.#send({ channel: this.#name, is: 'open', client, ...(isProbe && { isProbe }) })
  }

  /** `prober`: whose probe has failed. */
  #rest(prober: string | false | undefined, agoMs = 0): void {
    this.#until = performance.now() + this.#settings.restMs - agoMs
    if (prober) this.#prober = prober
  }

  #succeeded({ client }: Pick<Counted, 'client'>): void {
    // Most requests succeed after others that did: the others need not know.
    if (this.#until !== undefined || this.#failures.size > 0)
      this.#send({ channel: this.#name, is: 'succeeded', client })
    this.#close()
  }

  #close(): void {
    this.#lastSuccess = performance.now()
    this.#until = undefined
    this.#prober = undefined
    this.#failures.clear()
  }
}

/** The clients that have used a channel: the latest one, and the latest other one. */
class Users {
  #latest: { client: string; at: number } | undefined
  #other: { client: string; at: number } | undefined

  saw(client: string): void {
    if (this.#latest?.client !== client) this.#other = this.#latest
    this.#latest = { client, at: performance.now() }
  }

  /** Has nobody else used the channel for a while? */
  isAlone(client: string): boolean {
    const one = this.#latest?.client === client ? this.#other : this.#latest
    return one === undefined || performance.now() - one.at > usedMs
  }
}
