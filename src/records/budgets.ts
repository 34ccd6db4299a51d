import type { Kysely } from 'kysely'
import { type GatewayError, type LikelyUse, reject, type UsageRecord } from '../gateway/gateway.ts'
import type { Database } from './database.ts'
import { createFresh } from './fresh.ts'
import type { KeyInfo } from './keys.ts'
import { costOf, type Prices } from './prices.ts'
import type { Reservations, Reserved } from './reservations.ts'
import type { Tables } from './tables.ts'
import type { Writer } from './writer.ts'

/**
 * What a key has used: in the last minute, on a day and in a month (UTC). `today`, `month`: when
 * these begin, in Unix milliseconds.
 */
type Spent = {
  /** What other processes have reserved. */
  others: Reserved
  today: number
  month: number
  minuteTokens: number
  dayTokens: number
  monthTokens: number
  dayDollars: number
  monthDollars: number
}

export type Budgets = {
  /**
   * The error for calls of a key that has used up its tokens or its money, or whose use is unknown
   * with `onFailure: 'closed'`. Undefined: it has not.
   */
  rejectionFor(key: KeyInfo): Promise<GatewayError | undefined>
  /**
   * Reserves what a request is likely to use, until it is spent. The error if the requests in
   * progress may use up the budget. A request alone may use more than is left: else one with a high
   * limit would never be served.
   */
  reserve(use: LikelyUse): GatewayError | undefined
  /** Counts a request of this process at once; other processes see it when it is written. */
  spend(record: UsageRecord): void
}

/** The number of keys whose limits are remembered. */
const mostKeys = 10_000

const limitNames = [
  'tokensPerMinute',
  'tokensPerDay',
  'tokensPerMonth',
  'dollarsPerDay',
  'dollarsPerMonth',
] as const satisfies readonly (keyof KeyInfo)[]

/** How far apart two processes may be, next to the time until a request is written. */
const staleMs = 1_500
const freshMs = 1_000

const minuteMs = 60_000

/**
 * `onFailure`: when the database fails. `open`: what it said last counts, with the requests of this
 * process since then.
 */
type Options = { prices(): Prices; onFailure: 'open' | 'closed' }

export function createBudgets(
  { ready, lookUp }: Database,
  writer: Writer,
  reservations: Reservations,
  { prices, onFailure }: Options,
): Budgets {
  const limited = new Map<string, KeyInfo>()
  /** What is spent while a key's use is read, and may not be in it. */
  const meanwhile = new Map<string, Reserved>()
  const known = createFresh(key => lookUp(() => read(key)), {
    freshMs,
    staleMs,
    keepsLast: onFailure === 'open',
  })

  /** `key`: of `nameOf`. */
  async function read(key: string): Promise<Spent> {
    const [id = '', name = ''] = key.split('\n')
    await writer.flush()
    const late = { tokens: 0, dollars: 0 }
    meanwhile.set(key, late)
    const db = await ready()
    const others = await reservations.ofOthers(id)
    const now = new Date()
    const spent: Spent = {
      others,
      ...startsAt(now),
      ...(await sumsOfDays(db, { id, name }, now)),
      minuteTokens: await tokensOfMinute(db, { id, name }, now),
    }
    // While the database fails, these are among the records that it does not have.
    if (!writer.isFailing()) add(spent, late.tokens, late.dollars)
    for (const row of writer.unwritten(id))
      add(spent, (row.input ?? 0) + (row.output ?? 0), row.cost ?? 0)
    meanwhile.delete(key)
    return spent
  }

  return {
    async rejectionFor(key) {
      limited.delete(key.id)
      if (limitNames.every(name => key[name] === undefined)) return undefined
      if (limited.size >= mostKeys) limited.clear()
      limited.set(key.id, key)
      const spent = await known.get(nameOf(key.id, key.name)).catch(() => undefined)
      const now = new Date()
      if (spent) {
        beginAgain(spent, now)
        return rejectionOf(key, spent, now)
      }
      // By default a dead database must not lock everybody out.
      return onFailure === 'closed' ? unknownUse() : undefined
    },
    reserve({ requestId, identity, model, input, output }) {
      const key = limited.get(identity.id ?? '')
      if (!key) return undefined
      const spent = known.last(nameOf(key.id, key.name))
      if (spent) {
        const now = new Date()
        beginAgain(spent, now)
        const rejection =
          rejectionOf(key, spent, now) ??
          rejectionOfReserved(key, spent, reservations.of(key.id), now)
        if (rejection) return rejection
      }
      const dollars = costOf(model, { input, output }, prices()) ?? 0
      reservations.add(requestId, key.id, { tokens: input + output, dollars })
      return undefined
    },
    spend({ requestId, key = '', keyId, usage, modelServed }) {
      reservations.end(requestId)
      if (keyId === undefined) return
      const name = nameOf(keyId, key)
      const tokens = (usage?.input ?? 0) + (usage?.output ?? 0)
      const dollars = costOf(modelServed, usage, prices()) ?? 0
      const late = meanwhile.get(name)
      if (late) {
        late.tokens += tokens
        late.dollars += dollars
      }
      const spent = known.last(name)
      if (!spent) return
      beginAgain(spent, new Date())
      add(spent, tokens, dollars)
    },
  }
}

type Owner = Pick<KeyInfo, 'id' | 'name'>

async function sumsOfDays(db: Kysely<Tables>, { id, name }: Owner, now: Date) {
  const { month, today } = startsAt(now)
  const days = await db
    .selectFrom('days')
    .select(['start', 'input', 'output', 'cost'])
    .where('key', '=', name)
    .where('keyId', '=', id)
    .where('start', '>=', month)
    .execute()
  const sums = { dayTokens: 0, monthTokens: 0, dayDollars: 0, monthDollars: 0 }
  for (const { start, input, output, cost } of days) {
    sums.monthTokens += input + output
    sums.monthDollars += cost
    if (start < today) continue
    sums.dayTokens += input + output
    sums.dayDollars += cost
  }
  return sums
}

/**
 * Of requests that ended in the last minute: by their start, those that take longer than a minute
 * would never count. These few have an index of their own, by their end.
 */
async function tokensOfMinute(db: Kysely<Tables>, { id, name }: Owner, now: Date): Promise<number> {
  const since = now.getTime() - minuteMs
  const ended = db
    .selectFrom('records')
    .select(({ fn }) => [
      fn.sum<number | null>('input').as('input'),
      fn.sum<number | null>('output').as('output'),
    ])
    .where('key', '=', name)
    .where('keyId', '=', id)
    .where(({ eb, ref }) => eb(eb('time', '+', ref('totalMs')), '>=', since))
  // Written into the text of the statement: the index is of these records alone.
  const short = ended
    .where('time', '>=', since - minuteMs)
    .where(({ eb, lit }) => eb('totalMs', '<=', lit(minuteMs)))
  const long = ended.where(({ eb, lit }) => eb('totalMs', '>', lit(minuteMs)))
  let tokens = 0
  for (const query of [short, long]) {
    const sum = await query.executeTakeFirst()
    tokens += Number(sum?.input) + Number(sum?.output)
  }
  return tokens
}

/** No id or name has a line break. The name is for the index of records. */
const nameOf = (id: string, name: string) => `${id}\n${name}`

function add(spent: Spent, tokens: number, dollars: number): void {
  spent.minuteTokens += tokens
  spent.dayTokens += tokens
  spent.monthTokens += tokens
  spent.dayDollars += dollars
  spent.monthDollars += dollars
}

const unknownUse = () =>
  reject(
    503,
    'unavailable',
    'the budget of this key cannot be read: its database does not respond',
    { retryAfterMs: 5_000 },
  )

const startsAt = (now: Date) => ({
  today: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()),
  month: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()),
})

/**
 * Removes the sums of a day or month that is over: they may not be read again in time, and that is
 * when clients come back.
 */
function beginAgain(spent: Spent, now: Date): void {
  const { today, month } = startsAt(now)
  if (spent.today !== today) Object.assign(spent, { today, dayTokens: 0, dayDollars: 0 })
  if (spent.month !== month) Object.assign(spent, { month, monthTokens: 0, monthDollars: 0 })
}

/** The month first: the day begins again sooner, and its calls would be refused then too. */
function rejectionOf(key: KeyInfo, spent: Spent, now: Date): GatewayError | undefined {
  const ofMonth =
    overrun(key.tokensPerMonth, spent.monthTokens, inTokens) ??
    overrun(key.dollarsPerMonth, spent.monthDollars, inDollars)
  if (ofMonth !== undefined) {
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
    const date = new Date(next).toISOString().slice(0, 10)
    return spentUntil(next, now, `month: ${ofMonth}; it begins again on ${date} at 00:00 UTC`)
  }
  const ofDay =
    overrun(key.tokensPerDay, spent.dayTokens, inTokens) ??
    overrun(key.dollarsPerDay, spent.dayDollars, inDollars)
  if (ofDay !== undefined) {
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
    return spentUntil(next, now, `day: ${ofDay}; it begins again at 00:00 UTC`)
  }
  const ofMinute = overrun(key.tokensPerMinute, spent.minuteTokens, inTokens)
  if (ofMinute === undefined) return undefined
  return reject(429, 'rate_limit', `this key has used its tokens of this minute: ${ofMinute}`, {
    retryAfterMs: 10_000,
  })
}

/** Undefined: what the requests in progress are likely to use is left. */
function rejectionOfReserved(
  key: KeyInfo,
  { others, ...spent }: Spent,
  own: Reserved,
  now: Date,
): GatewayError | undefined {
  const all: Spent = { others, ...spent }
  add(all, own.tokens + others.tokens, own.dollars + others.dollars)
  const rejection = rejectionOf(key, all, now)
  if (!rejection) return undefined
  // One of them may end at any moment, and use less than that.
  const message = `with the requests in progress ${rejection.message}`
  return reject(429, 'rate_limit', message, { retryAfterMs: 2_000 })
}

/** `next`: when the budget begins again, in Unix milliseconds. */
function spentUntil(next: number, now: Date, words: string): GatewayError {
  // Whole seconds, as clients read them.
  const retryAfterMs = Math.ceil((next - now.getTime()) / 1000) * 1000
  return reject(429, 'quota', `this key has used its budget of this ${words}`, { retryAfterMs })
}

/** `58 of 50 tokens`. Undefined: there is no limit, or it is not reached. */
function overrun(
  limit: number | undefined,
  used: number,
  words: (used: string, limit: string) => string,
): string | undefined {
  if (limit === undefined || used < limit) return undefined
  return words(numbers.format(used), numbers.format(limit))
}

const inTokens = (used: string, limit: string) => `${used} of ${limit} tokens`
const inDollars = (used: string, limit: string) => `$${used} of $${limit}`
/** Single requests cost fractions of a cent. */
const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 })
