import type { Kysely } from 'kysely'
import {
  type GatewayError,
  type Identity,
  type LikelyUse,
  reject,
  type UsageRecord,
} from '../gateway/gateway.ts'
import type { Database } from './database.ts'
import { createFresh } from './fresh.ts'
import type { KeyInfo } from './keys.ts'
import { costOf, costOfRecord, type Prices } from './prices.ts'
import type { Reservations, Reserved } from './reservations.ts'
import { budgetNames, type GroupBudget, type Groups, startsAt } from './spending.ts'
import type { RecordRow, Tables } from './tables.ts'
import type { Writer } from './writer.ts'

/**
 * What a key or a group has used: in the last minute, on a day and in a month (UTC). `today`, `month`: when
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
  reserve(use: LikelyUse): GatewayError | undefined | Promise<GatewayError | undefined>
  /** Counts a request of this process at once; other processes see it when it is written. */
  spend(record: UsageRecord): void
}

/** The number of keys whose limits are remembered. */
const mostKeys = 10_000

/** The limits of a key that count tokens or money. */
type Limits = GroupBudget & Pick<KeyInfo, 'tokensPerMinute'>

const isUnlimited = (limits: Limits) =>
  limits.tokensPerMinute === undefined && budgetNames.every(name => limits[name] === undefined)

/**
 * Who has a budget. `id`: for reservations; that of a key, or one that no key has. `words`: of its
 * errors.
 */
type Owner = { id: string; words: string; limits: Limits } & (
  | { key: string; group?: never }
  | { group: string; key?: never }
)

const ownerOfKey = (key: KeyInfo): Owner => ({
  id: key.id,
  key: key.name,
  words: 'this key',
  limits: key,
})

const ownerOfGroup = (group: string, limits: Limits): Owner => ({
  id: groupId(group),
  group,
  words: `the group ${group}`,
  limits,
})

/** No id of a key has a line break. */
const groupId = (group: string) => `group\n${group}`

/** How far apart two processes may be, next to the time until a request is written. */
const staleMs = 1_500
const freshMs = 1_000

const minuteMs = 60_000

/**
 * `onFailure`: when the database fails. `open`: what it said last counts, with the requests of this
 * process since then.
 */
type Options = {
  prices(): Prices
  groups(): Groups
  onFailure: 'open' | 'closed'
}

export function createBudgets(
  { ready, lookUp }: Database,
  writer: Writer,
  reservations: Reservations,
  { prices, groups, onFailure }: Options,
): Budgets {
  const limited = new Map<string, KeyInfo>()
  /** What is spent while the use of an owner is read, and may not be in it. By its place. */
  const meanwhile = new Map<string, Reserved>()
  const known = createFresh(place => lookUp(() => read(place)), {
    freshMs,
    staleMs,
    keepsLast: onFailure === 'open',
  })

  async function read(place: string): Promise<Spent> {
    const [id = '', name = ''] = placed(place)
    const isGroup = id === ofGroups
    await writer.flush()
    const late = { tokens: 0, dollars: 0 }
    meanwhile.set(place, late)
    const db = await ready()
    const others = await reservations.ofOthers(isGroup ? groupId(name) : id)
    const now = new Date()
    const owner = isGroup ? { group: name } : { id, name }
    const spent: Spent = {
      others,
      ...startsAt(now),
      ...(await sumsOfDays(db, owner, now)),
      // No group has a limit per minute.
      minuteTokens: 'group' in owner ? 0 : await tokensOfMinute(db, owner, now),
    }
    // While the database fails, these are among the records that it does not have.
    if (!writer.isFailing()) add(spent, late.tokens, late.dollars)
    const isOwn = (row: RecordRow) => (isGroup ? row.groupName === name : row.keyId === id)
    for (const row of writer.unwritten(isOwn))
      add(spent, (row.input ?? 0) + (row.output ?? 0), row.cost ?? 0)
    meanwhile.delete(place)
    return spent
  }

  /** The error for an owner whose budget is used up, or may be by the requests in progress. */
  function refusalOf(owner: Owner, now: Date): GatewayError | undefined {
    const spent = known.last(placeOfOwner(owner))
    if (!spent) return undefined
    beginAgain(spent, now)
    return (
      rejectionOf(owner, spent, now) ??
      rejectionOfReserved(owner, spent, reservations.of(owner.id), now)
    )
  }

  function reserveFor(
    owners: readonly Owner[],
    { requestId, model, input, output }: LikelyUse,
  ): GatewayError | undefined {
    const now = new Date()
    for (const owner of owners) {
      const refusal = refusalOf(owner, now)
      if (refusal) return refusal
    }
    const dollars = costOf(model, { input, output }, prices()) ?? 0
    const ids = owners.map(({ id }) => id)
    if (ids.length > 0) reservations.add(requestId, ids, { tokens: input + output, dollars })
    return undefined
  }

  const groupOf = ({ group }: Identity): Owner | undefined => {
    const limits = group !== undefined && Object.hasOwn(groups(), group) ? groups()[group] : {}
    return group === undefined || !limits || isUnlimited(limits)
      ? undefined
      : ownerOfGroup(group, limits)
  }

  return {
    async rejectionFor(key) {
      limited.delete(key.id)
      if (isUnlimited(key)) return undefined
      if (limited.size >= mostKeys) limited.clear()
      limited.set(key.id, key)
      const owner = ownerOfKey(key)
      const spent = await known.get(placeOfOwner(owner)).catch(() => undefined)
      const now = new Date()
      if (spent) {
        beginAgain(spent, now)
        return rejectionOf(owner, spent, now)
      }
      // By default a dead database must not lock everybody out.
      return onFailure === 'closed' ? unknownUse(owner) : undefined
    },
    reserve(use) {
      const key = limited.get(use.identity.id ?? '')
      const owners = key ? [ownerOfKey(key)] : []
      const group = groupOf(use.identity)
      if (!group) return reserveFor(owners, use)
      return known.get(placeOfOwner(group)).then(
        () => reserveFor([...owners, group], use),
        () => (onFailure === 'closed' ? unknownUse(group) : reserveFor(owners, use)),
      )
    },
    spend({ requestId, key = '', keyId, group, ...used }) {
      reservations.end(requestId)
      const places = [
        ...(keyId === undefined ? [] : [placeOf(keyId, key)]),
        ...(group === undefined ? [] : [placeOf(ofGroups, group)]),
      ]
      if (places.length === 0) return
      const { usage } = used
      const tokens = (usage?.input ?? 0) + (usage?.output ?? 0)
      const dollars = costOfRecord(used, prices()) ?? 0
      for (const place of places) {
        const late = meanwhile.get(place)
        if (late) {
          late.tokens += tokens
          late.dollars += dollars
        }
        const spent = known.last(place)
        if (!spent) continue
        beginAgain(spent, new Date())
        add(spent, tokens, dollars)
      }
    },
  }
}

/** Whose requests are summed. The name of a key is for the index of records. */
type Summed = { id: string; name: string } | { group: string }

async function sumsOfDays(db: Kysely<Tables>, owner: Summed, now: Date) {
  const { month, today } = startsAt(now)
  const all = db
    .selectFrom('days')
    .select(['start', 'input', 'output', 'cost'])
    .where('start', '>=', month)
  const days = await ('group' in owner
    ? all.where('groupName', '=', owner.group)
    : all.where('key', '=', owner.name).where('keyId', '=', owner.id)
  ).execute()
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
async function tokensOfMinute(
  db: Kysely<Tables>,
  { id, name }: { id: string; name: string },
  now: Date,
): Promise<number> {
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

/** Where the use of an owner is remembered: its id and its name. No id of a key is empty. */
const placeOf = (id: string, name: string) => `${id}\n${name}`
const ofGroups = ''
const placeOfOwner = ({ id, key, group }: Owner) =>
  key === undefined ? placeOf(ofGroups, group) : placeOf(id, key)

function placed(place: string): [id: string, name: string] {
  const at = place.indexOf('\n')
  return [place.slice(0, at), place.slice(at + 1)]
}

function add(spent: Spent, tokens: number, dollars: number): void {
  spent.minuteTokens += tokens
  spent.dayTokens += tokens
  spent.monthTokens += tokens
  spent.dayDollars += dollars
  spent.monthDollars += dollars
}

const unknownUse = ({ words }: Owner) =>
  reject(
    503,
    'unavailable',
    `the budget of ${words} cannot be read: its database does not respond`,
    { retryAfterMs: 5_000 },
  )

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
function rejectionOf({ limits, words }: Owner, spent: Spent, now: Date): GatewayError | undefined {
  const ofMonth =
    overrun(limits.tokensPerMonth, spent.monthTokens, inTokens) ??
    overrun(limits.dollarsPerMonth, spent.monthDollars, inDollars)
  if (ofMonth !== undefined) {
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
    const date = new Date(next).toISOString().slice(0, 10)
    return spentUntil(
      next,
      now,
      `${words} has used its budget of this month: ${ofMonth}; it begins again on ${date} at 00:00 UTC`,
    )
  }
  const ofDay =
    overrun(limits.tokensPerDay, spent.dayTokens, inTokens) ??
    overrun(limits.dollarsPerDay, spent.dayDollars, inDollars)
  if (ofDay !== undefined) {
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
    return spentUntil(
      next,
      now,
      `${words} has used its budget of this day: ${ofDay}; it begins again at 00:00 UTC`,
    )
  }
  const ofMinute = overrun(limits.tokensPerMinute, spent.minuteTokens, inTokens)
  if (ofMinute === undefined) return undefined
  return reject(429, 'rate_limit', `${words} has used its tokens of this minute: ${ofMinute}`, {
    retryAfterMs: 10_000,
  })
}

/** Undefined: what the requests in progress are likely to use is left. */
function rejectionOfReserved(
  owner: Owner,
  { others, ...spent }: Spent,
  own: Reserved,
  now: Date,
): GatewayError | undefined {
  const all: Spent = { others, ...spent }
  add(all, own.tokens + others.tokens, own.dollars + others.dollars)
  const rejection = rejectionOf(owner, all, now)
  if (!rejection) return undefined
  // One of them may end at any moment, and use less than that.
  const message = `with the requests in progress ${rejection.message}`
  return reject(429, 'rate_limit', message, { retryAfterMs: 2_000 })
}

/** `next`: when the budget begins again, in Unix milliseconds. */
function spentUntil(next: number, now: Date, message: string): GatewayError {
  // Whole seconds, as clients read them.
  const retryAfterMs = Math.ceil((next - now.getTime()) / 1000) * 1000
  return reject(429, 'quota', message, { retryAfterMs })
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
