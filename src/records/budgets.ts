import { refuse, type UsageRecord } from '../gateway/gateway.ts'
import type { Database } from './database.ts'
import { createFresh } from './fresh.ts'
import type { KeyInfo } from './keys.ts'
import { costOf, type Prices } from './prices.ts'
import type { Writer } from './writer.ts'

/** What a key has used: in the last minute, on this day and in this month (UTC). */
type Spent = {
  minuteTokens: number
  dayTokens: number
  monthTokens: number
  dayDollars: number
  monthDollars: number
}

export type Budgets = {
  /** @throws Refusal 429 if the key has used up its tokens or its money */
  check(key: KeyInfo): Promise<void>
  /** Counts a request of this process at once; other processes see it when it is written. */
  spend(record: UsageRecord): void
}

/** How long sums are used before they are read again. So far apart two processes may be. */
const freshMs = 1_000

export function createBudgets({ ready }: Database, writer: Writer, prices: () => Prices): Budgets {
  const known = createFresh(read, freshMs)

  async function read(name: string): Promise<Spent> {
    await writer.flush()
    const db = await ready()
    const now = new Date()
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
    const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
    const days = await db
      .selectFrom('days')
      .select(['start', 'input', 'output', 'cost'])
      .where('key', '=', name)
      .where('start', '>=', month)
      .execute()
    const recent = await db
      .selectFrom('records')
      .select(({ fn }) => [
        fn.sum<number | null>('input').as('input'),
        fn.sum<number | null>('output').as('output'),
      ])
      .where('key', '=', name)
      .where('time', '>=', now.getTime() - 60_000)
      .executeTakeFirst()
    const spent: Spent = {
      minuteTokens: Number(recent?.input) + Number(recent?.output),
      dayTokens: 0,
      monthTokens: 0,
      dayDollars: 0,
      monthDollars: 0,
    }
    for (const { start, input, output, cost } of days) {
      spent.monthTokens += input + output
      spent.monthDollars += cost
      if (start < today) continue
      spent.dayTokens += input + output
      spent.dayDollars += cost
    }
    return spent
  }

  return {
    async check(key) {
      const { tokensPerMinute, tokensPerDay, tokensPerMonth, dollarsPerDay, dollarsPerMonth } = key
      if (
        [tokensPerMinute, tokensPerDay, tokensPerMonth, dollarsPerDay, dollarsPerMonth].every(
          limit => limit === undefined,
        )
      )
        return
      // A dead database must not lock everybody out.
      const spent = await known.get(key.name).catch(() => undefined)
      if (!spent) return
      const over = (limit: number | undefined, used: number) => limit !== undefined && used >= limit
      if (over(tokensPerMinute, spent.minuteTokens))
        throw refuse(429, 'rate_limit', 'this key has used its tokens of this minute', {
          retryAfterMs: 10_000,
        })
      if (over(tokensPerDay, spent.dayTokens) || over(dollarsPerDay, spent.dayDollars))
        throw refuse(429, 'quota', 'this key has used its budget of this day')
      if (over(tokensPerMonth, spent.monthTokens) || over(dollarsPerMonth, spent.monthDollars))
        throw refuse(429, 'quota', 'this key has used its budget of this month')
    },
    spend({ key, usage, modelServed }) {
      const spent = key === undefined ? undefined : known.last(key)
      if (!spent) return
      const tokens = (usage?.input ?? 0) + (usage?.output ?? 0)
      const dollars = costOf(modelServed, usage, prices()) ?? 0
      spent.minuteTokens += tokens
      spent.dayTokens += tokens
      spent.monthTokens += tokens
      spent.dayDollars += dollars
      spent.monthDollars += dollars
    },
  }
}
