import type { Sum } from '../../records/index.ts'
import { call, queryOf } from './calls.ts'
import { fault, h, labeled, menu, messageOf, replace } from './dom.ts'
import { createPlot, type Series } from './plots.ts'
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

export const compact = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value)
export const dollars = (value: number): string =>
  `$${value.toFixed(value !== 0 && value < 0.1 ? 4 : 2)}`
const milliseconds = (value: number) =>
  value >= 1000 ? `${compact(value / 1000)} s` : `${compact(value)} ms`

/** Requests, errors, tokens, cost and latency over time. */
export function overviewTab({ role, keepsRecords }: Session): Tab {
  const range = menu(
    ranges.map(([length, text]) => [String(length), text] as const),
    String(ranges[0][0]),
  )
  const by = menu([
    ['', 'All together'],
    ['model', 'By model'],
    ...(role === 'operator'
      ? ([
          ['channel', 'By channel'],
          ['key', 'By key'],
        ] as const)
      : []),
  ])
  const totals = h('div', { className: 'totals' })
  const faults = h('div')
  const plots = {
    requests: createPlot({ title: 'Requests', format: compact }),
    errors: createPlot({ title: 'Errors', format: compact }),
    tokens: createPlot({ title: 'Tokens', format: compact }),
    cost: createPlot({ title: 'Cost', format: dollars }),
    latency: createPlot({ title: 'Latency', format: milliseconds }),
  }

  async function load() {
    const to = Date.now()
    const from = to - Number(range.value)
    try {
      const state =
        role === 'operator' ? call<{ inProgress: number }>('console/api/state') : undefined
      const usage = await call<Usage>(`console/api/usage${queryOf({ from, to, by: by.value })}`)
      replace(faults)
      show(usage, { from, to }, (await state)?.inProgress)
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  function show(
    { bucketMs, sums }: Usage,
    { from, to }: { from: number; to: number },
    inProgress: number | undefined,
  ) {
    const times: number[] = []
    for (let time = from - (from % bucketMs); time < to; time += bucketMs) times.push(time)
    const names = namesIn(sums)
    const series = (value: (sum: Sum) => number, isMean = false): Series[] =>
      names.map(({ name, shown }) => ({
        name: shown,
        values: valuesOf(times, sums.filter(name), value, isMean),
      }))
    const named =
      by.value === ''
        ? (shown: string, lines: Series[]) => lines.map(line => ({ ...line, name: shown }))
        : (_: string, lines: Series[]) => lines
    const isPlain = by.value === ''
    plots.requests.show(
      times,
      named(
        'requests',
        series(sum => sum.requests),
      ),
    )
    plots.errors.show(
      times,
      named(
        'failed requests',
        series(sum => sum.failures),
      ),
    )
    plots.tokens.show(
      times,
      isPlain
        ? [
            ...named(
              'input',
              series(sum => sum.input),
            ),
            ...named(
              'output',
              series(sum => sum.output),
            ),
          ]
        : series(sum => sum.input + sum.output),
    )
    plots.cost.show(
      times,
      named(
        'US dollars',
        series(sum => sum.cost ?? 0),
      ),
    )
    plots.latency.show(times, [
      ...named(
        'whole response, mean',
        series(sum => sum.totalMs / Math.max(1, sum.requests), true),
      ),
      ...(isPlain
        ? named(
            'first byte, mean',
            series(sum => sum.firstByteMs / Math.max(1, sum.firstBytes), true),
          )
        : []),
    ])
    showTotals(sums, inProgress)
  }

  function showTotals(sums: readonly Sum[], inProgress: number | undefined) {
    const all = (value: (sum: Sum) => number) => sums.reduce((total, sum) => total + value(sum), 0)
    const requests = all(sum => sum.requests)
    const failures = all(sum => sum.failures)
    const unpriced = all(sum => sum.unpriced)
    const isPriced = sums.some(({ cost }) => cost !== undefined)
    const rows: (readonly [text: string, value: string])[] = [
      ['requests', compact(requests)],
      [
        requests > 0 ? `failed (${((100 * failures) / requests).toFixed(1)} %)` : 'failed',
        compact(failures),
      ],
      ['tokens in', compact(all(sum => sum.input))],
      ['tokens out', compact(all(sum => sum.output))],
      [
        unpriced > 0 ? `cost, without ${compact(unpriced)} requests of unknown price` : 'cost',
        isPriced ? dollars(all(sum => sum.cost ?? 0)) : '–',
      ],
      ['mean time', requests > 0 ? milliseconds(all(sum => sum.totalMs) / requests) : '–'],
      ...(inProgress === undefined ? [] : ([['in progress', compact(inProgress)]] as const)),
    ]
    replace(
      totals,
      rows.map(([text, value]) =>
        h(
          'div',
          { className: 'total' },
          h('b', { textContent: value }),
          h('span', { textContent: text }),
        ),
      ),
    )
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
      totals,
      h('div', { className: 'plots' }, ...Object.values(plots).map(({ element }) => element)),
    ),
    show() {
      void load()
      const timer = setInterval(load, refreshMs)
      return () => clearInterval(timer)
    },
  }
}

/** The names with most requests, and one for all others. */
function namesIn(sums: readonly Sum[]): { shown: string; name(sum: Sum): boolean }[] {
  const requests = new Map<string, number>()
  for (const sum of sums) requests.set(sum.name, (requests.get(sum.name) ?? 0) + sum.requests)
  const sorted = [...requests].sort(([, one], [, other]) => other - one).map(([name]) => name)
  if (sorted.length === 0) return [{ shown: 'none', name: () => true }]
  const first = sorted.slice(0, mostNames)
  const own = first.map(wanted => ({
    shown: wanted || '(none)',
    name: (sum: Sum) => sum.name === wanted,
  }))
  return sorted.length > mostNames
    ? [
        ...own,
        { shown: `${sorted.length - mostNames} others`, name: sum => !first.includes(sum.name) },
      ]
    : own
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
