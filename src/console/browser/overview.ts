import { dollars } from '../../kit/text/dollars.ts'
import type { Sum } from '../../records/index.ts'
import { call, queryOf } from './calls.ts'
import {
  type Cell,
  empty,
  fault,
  h,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  table,
} from './dom.ts'
import { compact, milliseconds } from './numbers.ts'
import { createPlot, type Series } from './plots.ts'
import { budgetPanel } from './spending.ts'
import type { Session, Tab } from './types.ts'

const minuteMs = 60_000
const ranges = [
  [60 * minuteMs, 'Last hour'],
  [180 * minuteMs, 'Last 3 hours'],
  [1440 * minuteMs, 'Last 24 hours'],
  [7 * 1440 * minuteMs, 'Last 7 days'],
  [30 * 1440 * minuteMs, 'Last 30 days'],
] as const

/** The number of names that have a line of their own; the others share one. */
const mostNames = 6
const refreshMs = 10_000

type Usage = { bucketMs: number; sums: Sum[] }

/** Requests, errors, tokens, cost and latency over time. */
export function overviewTab({ role, keepsRecords }: Session): Tab {
  const range = menu(
    ranges.map(([length, text]) => [String(length), text] as const),
    String(ranges[0][0]),
  )
  const by = menu([
    ['', 'All together'],
    ['model', 'By model'],
    ...(role === 'operator' ? operatorSplits : []),
  ])
  const totals = h('div', { className: 'totals' })
  const faults = h('div')
  const plots = usagePlots()
  const budget = budgetPanel()
  const sums = h('div')

  async function load() {
    const to = Date.now()
    const from = to - Number(range.value)
    try {
      const state =
        role === 'operator' ? call<{ inProgress: number }>('console/api/state') : undefined
      const usage = await call<Usage>(`console/api/usage${queryOf({ from, to, by: by.value })}`)
      replace(faults)
      const inProgress = (await state)?.inProgress
      plots.show(usage, { from, to, isSplit: by.value !== '' })
      replace(totals, totalsOf(usage.sums, inProgress).map(totalView))
      const shown = by.value || (role === 'operator' ? 'key' : 'model')
      const query = queryOf({ from, to, by: shown, total: 'true' })
      replace(sums, sumTable(shown, (await call<Usage>(`console/api/usage${query}`)).sums))
      if (role === 'client') await budget.load()
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  for (const select of [range, by]) select.addEventListener('change', load)
  return {
    id: 'overview',
    title: 'Overview',
    element: h(
      'div',
      { className: 'stack' },
      h('div', { className: 'fields bare' }, labeled('Range', range), labeled('Lines', by)),
      !keepsRecords &&
        h('p', {
          className: 'hint',
          textContent:
            'Of the latest 2000 requests of this process: no records are kept in a database.',
        }),
      faults,
      budget.element,
      totals,
      plots.element,
      panel('Who used what', [], sums),
    ),
    show() {
      void load()
      const timer = setInterval(load, refreshMs)
      return () => clearInterval(timer)
    },
  }
}

const operatorSplits = [
  ['channel', 'By channel'],
  ['key', 'By key'],
  ['group', 'By group'],
] as const

const sumHeads = ['Requests', 'Failed', 'Tokens in', 'Tokens out', 'Cost', 'Mean time', 'Emulated']

const emulatedTitle = 'requests in which the gateway stood in for what the model lacks'

/** A row for each name, those with most requests first, and one for all of them. */
function sumTable(by: string, sums: readonly Sum[]): HTMLElement {
  if (sums.length === 0) return empty('There are no requests in this time.')
  const rowOf = (name: string, some: readonly Sum[]): Cell[] => {
    const all = (value: (sum: Sum) => number) => some.reduce((sum, one) => sum + value(one), 0)
    const [requests, unpriced] = [all(one => one.requests), all(one => one.unpriced)]
    const isPriced = some.some(({ cost }) => cost !== undefined)
    const cost = isPriced ? dollars(all(one => one.cost ?? 0)) : '–'
    return [
      name,
      requests,
      all(one => one.failures),
      all(one => one.input),
      all(one => one.output),
      { number: cost, title: unpriced > 0 ? `${unpriced} requests have no known price` : '' },
      { number: milliseconds(all(one => one.totalMs) / Math.max(1, requests)) },
      { number: compact(all(one => one.emulated)), title: emulatedTitle },
    ]
  }
  const rows = sums.map(sum => rowOf(sum.name || '(none)', [sum]))
  const head = by.slice(0, 1).toUpperCase() + by.slice(1)
  if (sums.length > 1) rows.push(rowOf('all', sums))
  return table('Who used what', [head, ...sumHeads], rows)
}

function usagePlots() {
  const requests = createPlot({ title: 'Requests', format: compact, isCount: true })
  const errors = createPlot({ title: 'Errors', format: compact, isCount: true })
  const tokens = createPlot({ title: 'Tokens', format: compact, isCount: true })
  const cost = createPlot({ title: 'Cost', format: dollars })
  const latency = createPlot({ title: 'Latency', format: milliseconds })
  const all = [requests, errors, tokens, cost, latency]

  /** `isSplit`: a line for each name, which is what the line is called then. */
  function show(
    { bucketMs, sums }: Usage,
    { from, to, isSplit }: { from: number; to: number; isSplit: boolean },
  ) {
    const times: number[] = []
    for (let time = from - (from % bucketMs); time < to; time += bucketMs) times.push(time)
    const names = namesIn(sums)
    const lines = (shown: string, value: (sum: Sum) => number, isMean = false): Series[] =>
      names.map(({ name, shown: own }) => ({
        name: isSplit ? own : shown,
        values: valuesOf(times, sums.filter(name), value, isMean),
      }))
    const mean = (shown: string, value: (sum: Sum) => number) => lines(shown, value, true)

    requests.show(
      times,
      lines('requests', sum => sum.requests),
    )
    errors.show(
      times,
      lines('failed requests', sum => sum.failures),
    )
    cost.show(
      times,
      lines('US dollars', sum => sum.cost ?? 0),
    )
    const whole = mean('whole response, mean', sum => sum.totalMs / Math.max(1, sum.requests))
    if (isSplit) {
      tokens.show(
        times,
        lines('', sum => sum.input + sum.output),
      )
      latency.show(
        times,
        whole.map(({ name, values }) => ({ name: `${name}: whole response, mean`, values })),
      )
      return
    }
    const input = lines('input', sum => sum.input)
    const output = lines('output', sum => sum.output)
    tokens.show(times, [...input, ...output])
    const first = mean('first byte, mean', sum => sum.firstByteMs / Math.max(1, sum.firstBytes))
    latency.show(times, [...whole, ...first])
  }

  return {
    element: h('div', { className: 'plots' }, ...all.map(({ element }) => element)),
    show,
  }
}

type Total = readonly [text: string, value: string]

/** `inProgress`: at this moment; only the operator sees it. */
function totalsOf(sums: readonly Sum[], inProgress: number | undefined): Total[] {
  const all = (value: (sum: Sum) => number) => sums.reduce((total, sum) => total + value(sum), 0)
  const requests = all(sum => sum.requests)
  const failures = all(sum => sum.failures)
  const unpriced = all(sum => sum.unpriced)
  const isPriced = sums.some(({ cost }) => cost !== undefined)
  const percent = requests > 0 ? ` (${((100 * failures) / requests).toFixed(1)} %)` : ''
  const without = unpriced > 0 ? `, without ${compact(unpriced)} requests of unknown price` : ''
  const totals: Total[] = [
    ['requests', compact(requests)],
    [`failed${percent}`, compact(failures)],
    ['tokens in', compact(all(sum => sum.input))],
    ['tokens out', compact(all(sum => sum.output))],
    [`cost${without}`, isPriced ? dollars(all(sum => sum.cost ?? 0)) : '–'],
    ['mean time', requests > 0 ? milliseconds(all(sum => sum.totalMs) / requests) : '–'],
  ]
  if (inProgress !== undefined) totals.push(['in progress', compact(inProgress)])
  return totals
}

const totalView = ([text, value]: Total) =>
  h('div', { className: 'total' }, h('b', { textContent: value }), h('span', { textContent: text }))

/** The names with most requests, and one for all others. */
function namesIn(sums: readonly Sum[]): { shown: string; name(sum: Sum): boolean }[] {
  const requests = new Map<string, number>()
  for (const sum of sums) requests.set(sum.name, (requests.get(sum.name) ?? 0) + sum.requests)
  const sorted = [...requests].sort(([, one], [, other]) => other - one).map(([name]) => name)
  if (sorted.length === 0) return [{ shown: 'none', name: () => true }]
  const first = sorted.slice(0, mostNames)
  const lines = first.map(wanted => ({
    shown: wanted || '(none)',
    name: (sum: Sum) => sum.name === wanted,
  }))
  if (sorted.length > mostNames)
    lines.push({
      shown: `${sorted.length - mostNames} others`,
      name: sum => !first.includes(sum.name),
    })
  return lines
}

/** A bucket without requests is 0, and has no mean. */
function valuesOf(
  times: readonly number[],
  sums: readonly Sum[],
  value: (sum: Sum) => number,
  isMean: boolean,
): (number | null)[] {
  const found = new Map<number, number>()
  for (const sum of sums)
    found.set(sum.time, isMean ? value(sum) : (found.get(sum.time) ?? 0) + value(sum))
  return times.map(time => found.get(time) ?? (isMean ? null : 0))
}
