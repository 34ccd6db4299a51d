export const compact = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value)

export const milliseconds = (value: number): string =>
  value >= 1000 ? `${compact(value / 1000)} s` : `${compact(value)} ms`
