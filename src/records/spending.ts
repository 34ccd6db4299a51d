import type { Database } from './database.ts'
import type { KeyLimits } from './keys.ts'

/** What requests have used. `unpriced`: the requests with tokens whose price is unknown. */
export type Used = { tokens: number; dollars: number; unpriced: number }

/** Of the day and the month (UTC) that have begun last. */
export type Spending = { today: Used; month: Used }

/** The budgets of a group: of all its keys together. Absent: none. Days and months are of UTC. */
export type GroupBudget = {
  readonly [Budget in 'tokensPerDay' | 'tokensPerMonth' | 'dollarsPerDay' | 'dollarsPerMonth']?:
    | KeyLimits[Budget]
    | undefined
}

/** By name. `models`: the ids that the group sees. Absent: all. */
export type Groups = Readonly<
  Record<string, GroupBudget & { readonly models?: readonly string[] | undefined }>
>

export const budgetNames = [
  'tokensPerDay',
  'tokensPerMonth',
  'dollarsPerDay',
  'dollarsPerMonth',
] as const satisfies readonly (keyof GroupBudget)[]

/** When the day and the month began, in Unix milliseconds. */
export const startsAt = (now: Date) => ({
  today: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()),
  month: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()),
})

export const noSpending = (): Spending => ({ today: noUse(), month: noUse() })
const noUse = (): Used => ({ tokens: 0, dollars: 0, unpriced: 0 })

/** Of every key by its id, or of every group by its name. One that used nothing is absent. */
export async function spendingBy(
  { ready }: Database,
  owner: 'keyId' | 'groupName',
  now = new Date(),
): Promise<Map<string, Spending>> {
  const db = await ready()
  const { month, today } = startsAt(now)
  const found = new Map<string, Spending>()
  for (const [period, start] of [
    ['month', month],
    ['today', today],
  ] as const) {
    const rows = await db
      .selectFrom('days')
      .select(({ fn }) => [
        `${owner} as owner`,
        fn.sum<number>('input').as('input'),
        fn.sum<number>('output').as('output'),
        fn.sum<number>('cost').as('cost'),
        fn.sum<number>('unpriced').as('unpriced'),
      ])
      .where('start', '>=', start)
      .where(owner, '!=', '')
      .groupBy(owner)
      .execute()
    for (const { owner, input, output, cost, unpriced } of rows) {
      const spending = found.get(owner) ?? noSpending()
      spending[period] = {
        tokens: Number(input) + Number(output),
        dollars: Number(cost),
        unpriced: Number(unpriced),
      }
      found.set(owner, spending)
    }
  }
  return found
}
