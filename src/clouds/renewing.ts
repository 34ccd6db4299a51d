/**
 * A credential with its end, in milliseconds since the epoch. `expiresAt` absent: it does not
 * expire.
 */
export type Lease<Value> = { value: Value; expiresAt?: number | undefined }

/** A credential that is renewed before it expires. Concurrent callers share one renewal. */
export type Renewing<Value> = {
  /** The current credential. Waits only if there is none that can be used. */
  get(): Promise<Value>
  /** Another credential in place of one that was refused. Undefined: there is no other. */
  replace(refused: Value): Promise<Value | undefined>
}

/** A credential is renewed so long before its end, while it is still used. */
const renewMs = 5 * 60_000
/** With less time left, callers wait for the new one: the request has to arrive before the end. */
const waitMs = 30_000
/** After a failure there is no other attempt for so long. */
const failureMs = 1_000
/**
 * A refused credential is replaced at most so often: a refusal for another reason must not cause a
 * renewal per call.
 */
const replaceMs = 10_000

/** `obtain`: fetches a credential; `isForced`: not one from a cache. */
export function createRenewing<Value>(
  obtain: (isForced: boolean) => Promise<Lease<Value>>,
  now: () => number = Date.now,
): Renewing<Value> {
  let current: (Lease<Value> & { renewAt: number; usableUntil: number }) | undefined
  let pending: Promise<Value> | undefined
  let failed: { error: unknown; until: number } | undefined
  let replacedAt = Number.NEGATIVE_INFINITY

  function renew(isForced = false): Promise<Value> {
    if (failed && now() < failed.until) return Promise.reject(failed.error)
    pending ??= obtain(isForced)
      .then(
        lease => {
          const life = (lease.expiresAt ?? Number.POSITIVE_INFINITY) - now()
          // A token that lives for minutes only is renewed at half of its life.
          const renewAt = now() + Math.max(life - renewMs, life / 2)
          current = { ...lease, renewAt, usableUntil: now() + Math.max(life - waitMs, life / 2) }
          failed = undefined
          return lease.value
        },
        (error: unknown) => {
          failed = { error, until: now() + failureMs }
          throw error
        },
      )
      .finally(() => {
        pending = undefined
      })
    return pending
  }

  return {
    async get() {
      const time = now()
      if (!current) return renew()
      const { value, renewAt, usableUntil, expiresAt = Number.POSITIVE_INFINITY } = current
      if (time < renewAt) return value
      const renewed = renew()
      if (time < usableUntil) {
        // The old one is used meanwhile, and as long as it lives.
        renewed.catch(() => {})
        return value
      }
      return time < expiresAt ? renewed.catch(() => value) : renewed
    },

    async replace(refused) {
      if (current && current.value !== refused) return current.value
      const time = now()
      if (!pending && time < replacedAt + replaceMs) return undefined
      replacedAt = time
      const value = await renew(true)
      return value === refused ? undefined : value
    },
  }
}
