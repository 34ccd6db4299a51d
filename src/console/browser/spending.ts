import { dollars } from '../../kit/text/dollars.ts'
import type { Budget, KeyLimits, Spending } from '../../records/index.ts'
import { call } from './calls.ts'
import { type Cell, h, panel, replace, table } from './dom.ts'
import { compact } from './numbers.ts'

/** A group with a budget, as the admin API lists it. */
export type ListedGroup = KeyLimits & { name: string; used: Spending; unpriced?: string[] }

/** What a client may use. One that has no limits is absent. */
export type OwnBudgets = { key?: Budget; group?: Budget }

const periods = {
  today: { tokens: 'tokensPerDay', dollars: 'dollarsPerDay' },
  month: { tokens: 'tokensPerMonth', dollars: 'dollarsPerMonth' },
} as const

type Period = keyof typeof periods

/** What was used in a period, with a bar for each limit. */
export function spentView(limits: KeyLimits, used: Spending, period: Period): HTMLElement {
  const { tokens, dollars: money, unpriced } = used[period]
  const names = periods[period]
  return h(
    'div',
    { className: 'spent' },
    barOf({ used: tokens, limit: limits[names.tokens], text: text => `${compact(text)} tokens` }),
    (money > 0 || limits[names.dollars] !== undefined) &&
      barOf({ used: money, limit: limits[names.dollars], text: dollars }),
    unpriced > 0 && h('span', { className: 'hint', textContent: unpricedText(unpriced) }),
  )
}

const unpricedText = (requests: number) =>
  `${compact(requests)} ${requests === 1 ? 'request' : 'requests'} of unknown price`

type Bar = { used: number; limit: number | undefined; text(value: number): string }

function barOf({ used, limit, text }: Bar): HTMLElement {
  if (limit === undefined) return h('span', { textContent: text(used) })
  const words = `${text(used).replace(/ tokens$/, '')} of ${text(limit)}`
  const bar = h('progress', {
    className: used >= limit ? 'over' : '',
    // A limit of nothing is used up.
    max: limit || 1,
    value: limit === 0 ? 1 : Math.min(used, limit),
    attributes: { 'aria-label': words },
  })
  return h('span', {}, words, bar)
}

/** A table of the groups that have a budget. */
export const groupTable = (groups: readonly ListedGroup[]): HTMLElement =>
  table(
    'Groups',
    ['Group', 'Models', 'Today', 'This month'],
    groups.map(({ name, models, used, ...limits }): Cell[] => [
      name,
      models ? models.join(', ') : 'all',
      spentView(limits, used, 'today'),
      spentView(limits, used, 'month'),
    ]),
  )

/** The budget of the client that has opened the page. */
export function budgetPanel() {
  const content = h('div')
  const element = panel('Budget', [], content)
  element.hidden = true
  return {
    element,
    async load() {
      const { key, group } = await call<OwnBudgets>('console/api/budgets')
      const rows = [
        ...(key ? [rowOf('your key', key)] : []),
        ...(group ? [rowOf(`the group ${group.name}`, group)] : []),
      ]
      element.hidden = rows.length === 0
      replace(content, table('Budget', ['Of', 'Today', 'This month', 'What is left'], rows))
    },
  }
}

const rowOf = (owner: string, { limits, used }: Budget): Cell[] => [
  owner,
  spentView(limits, used, 'today'),
  spentView(limits, used, 'month'),
  h(
    'div',
    { className: 'spent' },
    ...restsOf(limits, used).map(text => h('span', { textContent: text })),
  ),
]

/** Days and months are those of UTC. */
function restsOf(limits: KeyLimits, used: Spending): string[] {
  const now = new Date()
  const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
  const begins = { today: 'at 00:00 UTC', month: `on ${nextMonth.toISOString().slice(0, 10)}` }
  const rests = (Object.keys(periods) as Period[]).flatMap(period =>
    (['tokens', 'dollars'] as const).flatMap(unit => {
      const limit = limits[periods[period][unit]]
      if (limit === undefined) return []
      const rest = Math.max(0, limit - used[period][unit])
      const amount = unit === 'tokens' ? `${compact(rest)} tokens` : dollars(rest)
      const words = period === 'today' ? 'today' : 'this month'
      return `${amount} ${words}; it begins again ${begins[period]}`
    }),
  )
  return rests.length > 0 ? rests : ['no limit']
}
