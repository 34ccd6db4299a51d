/** `lines`: one value for each sample, undefined where there was none. */
export type Panel = { title: string; lines: { name: string; values: readonly number[] }[] }

const width = 900
const panelHeight = 150
const left = 60
const colours = ['#1f77b4', '#d62728', '#2ca02c']

const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1))

function panel({ title, lines }: Panel, top: number, minutes: number): string {
  const highest = Math.max(1e-9, ...lines.flatMap(({ values }) => values)) * 1.1
  const x = (i: number, count: number) => left + (i / Math.max(1, count - 1)) * (width - left - 20)
  const y = (value: number) => top + panelHeight - 25 - (value / highest) * (panelHeight - 55)
  const drawn = lines.map(({ values }, i) => {
    const points = values
      .map((value, at) => `${x(at, values.length).toFixed(1)},${y(value).toFixed(1)}`)
      .join(' ')
    return `<polyline points="${points}" fill="none" stroke="${colours[i % colours.length]}" stroke-width="1.5"/>`
  })
  const names = lines.map(
    ({ name }, i) =>
      `<text x="${width - 20 - (lines.length - 1 - i) * 110}" y="${top + 18}" text-anchor="end" fill="${colours[i % colours.length]}">${name}</text>`,
  )
  const grid = [0, highest / 2 / 1.1, highest / 1.1].map(
    value =>
      `<line x1="${left}" x2="${width - 20}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="#ddd"/><text x="${left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${round(value)}</text>`,
  )
  const ends = `<text x="${left}" y="${top + panelHeight - 8}">0 min</text><text x="${width - 20}" y="${top + panelHeight - 8}" text-anchor="end">${minutes} min</text>`
  return [
    `<text x="${left}" y="${top + 18}" font-weight="bold">${title}</text>`,
    ...names,
    ...grid,
    ...drawn,
    ends,
  ].join('\n')
}

/** Panels over the same time, one below the other. */
export function chart(panels: readonly Panel[], minutes: number): string {
  const height = panels.length * panelHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#333">
<title>${panels.map(({ title }) => title).join('; ')}</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${panels.map((one, i) => panel(one, i * panelHeight, minutes)).join('\n')}
</svg>
`
}
