import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from 'cockatiel'
import type { ChannelEntry } from './options.ts'

/** Circuit breakers: channels that keep failing get no requests for a while. */
export type Breakers = {
  /** Milliseconds until the channel may be tried again. Undefined: it may be used. */
  restMs(channel: ChannelEntry): number | undefined
  /** Runs one attempt and counts its result. Call it only if `restMs` is undefined. */
  run<Result>(channel: ChannelEntry, attempt: () => Promise<Result>): Promise<Result>
}

/** `failed`: does this result count as a failure of the channel? */
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
      // One attempt is probing the channel. Other requests use other channels meanwhile.
      if (policy.state === CircuitState.HalfOpen) return 1_000
      const left = until - Date.now()
      return policy.state === CircuitState.Open && left > 0 ? left : undefined
    },
  }
}
