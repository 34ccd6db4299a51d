import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from 'cockatiel'
import type { ChannelEntry } from './options.ts'

/** Leaves channels alone for a while that keep failing. */
export type Breakers = {
  /** Milliseconds until the channel is tried again; undefined: it is not resting. */
  restMs(channel: ChannelEntry): number | undefined
  /** Runs one attempt and counts how it went. Call it only where `restMs` is undefined. */
  run<Result>(channel: ChannelEntry, attempt: () => Promise<Result>): Promise<Result>
}

/** `failed`: does this result of an attempt count against the channel? */
export function createBreakers(channels: readonly ChannelEntry[], failed: (result: unknown) => boolean): Breakers {
  const circuits = new Map(channels.filter(({ breaker }) => breaker.failures > 0).map(channel => [channel.name, circuitOf(channel, failed)]))
  return {
    restMs: ({ name }) => circuits.get(name)?.restMs(),
    run: (channel, attempt) => {
      const circuit = circuits.get(channel.name)
      return circuit ? circuit.policy.execute(attempt) : attempt()
    },
  }
}

function circuitOf({ breaker: { failures, restMs } }: ChannelEntry, failed: (result: unknown) => boolean) {
  const policy = circuitBreaker(handleWhenResult(failed), { breaker: new ConsecutiveBreaker(failures), halfOpenAfter: restMs })
  let until = 0
  policy.onBreak(() => {
    until = Date.now() + restMs
  })
  return {
    policy,
    restMs() {
      // While one attempt tries whether the channel is well again, others need not wait for its outcome.
      if (policy.state === CircuitState.HalfOpen) return 1_000
      const left = until - Date.now()
      return policy.state === CircuitState.Open && left > 0 ? left : undefined
    },
  }
}
