import uPlot from 'uplot'
import { h, panel } from './dom.ts'

export type Series = { name: string; values: (number | null)[] }

/** `format`: of the numbers at the axis and in the legend. `isCount`: they are whole. */
export type PlotOptions = { title: string; format(value: number): string; isCount?: boolean }

export type Plot = {
  element: HTMLElement
  /** `times`: Unix milliseconds, the same for all series. */
  show(times: readonly number[], series: readonly Series[]): void
}

const colors = 7

/** Steps of an axis: 1, 2, 5, 10 and so on. */
const wholeSteps = Array.from({ length: 36 }, (_, index) => {
  const [factor = 1] = [1, 2, 5].slice(index % 3)
  return factor * 10 ** Math.floor(index / 3)
})

const dayMs = 86_400_000

/** The day, if there are several, at its start alone. */
function timeText(time: number, times: readonly number[]): string {
  const date = new Date(time)
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * dayMs
  return isLong || (date.getHours() === 0 && date.getMinutes() === 0)
    ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** A plot over time with a legend. The legend shows the values under the pointer. */
export function createPlot({ title, format, isCount = false }: PlotOptions): Plot {
  const canvas = h('div', { className: 'plot' })
  const legend = h('ul', { className: 'legend' })
  const element = panel(title, [], canvas, legend)
  let plot: uPlot | undefined
  let shown: { times: readonly number[]; series: readonly Series[] } = { times: [], series: [] }

  function draw() {
    plot?.destroy()
    const { times, series } = shown
    const style = getComputedStyle(document.documentElement)
    const color = (name: string) => style.getPropertyValue(name).trim()
    const axis = {
      stroke: color('--muted'),
      grid: { stroke: color('--line'), width: 1 },
      ticks: { stroke: color('--line'), width: 1 },
      font: '11px system-ui, sans-serif',
    }
    const options: uPlot.Options = {
      width: Math.max(200, canvas.clientWidth - 12),
      height: 180,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [
        {
          ...axis,
          size: 30,
          values: (_, values) => values.map(value => timeText(value * 1000, times)),
        },
        {
          ...axis,
          size: 62,
          values: (_, values) => values.map(format),
          ...(isCount && { incrs: wholeSteps }),
        },
      ],
      series: [
        {},
        ...series.map(({ values }, index) => ({
          stroke: color(`--series-${(index % colors) + 1}`),
          width: 2,
          // A value between gaps has no line.
          points: { show: values.length < 2 || values.includes(null), size: 4 },
          spanGaps: false,
        })),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => writeLegend(idx ?? undefined)] },
    }
    plot = new uPlot(
      options,
      [times.map(time => time / 1000), ...series.map(({ values }) => values)],
      canvas,
    )
    writeLegend()
  }

  function writeLegend(at?: number) {
    legend.replaceChildren(
      ...shown.series.map(({ name, values }, index) => {
        const value = at === undefined ? undefined : (values[at] ?? undefined)
        const line = h('i')
        line.style.setProperty('--series', `var(--series-${(index % colors) + 1})`)
        return h(
          'li',
          {},
          line,
          name,
          h('b', { textContent: value === undefined ? '' : format(value) }),
        )
      }),
    )
  }

  // The first size, and each change of it.
  new ResizeObserver(() => {
    if (canvas.clientWidth > 0 && shown.times.length > 0) draw()
  }).observe(canvas)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    if (shown.times.length > 0) draw()
  })
  return {
    element,
    show(times, series) {
      shown = { times, series }
      canvas.setAttribute('role', 'img')
      canvas.setAttribute(
        'aria-label',
        `${title} over time: ${series.map(({ name }) => name).join(', ')}`,
      )
      if (canvas.clientWidth > 0) draw()
    },
  }
}
