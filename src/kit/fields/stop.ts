/** The stop sequences for servers that refuse one of white space only. Undefined: none is left. */
export function filledStops(
  stop: readonly string[],
  {
    native,
    report,
  }: { native: boolean; report: { add(code: 'stop.blank', at: undefined, field: string): void } },
): string[] | undefined {
  if (native) return [...stop]
  const kept = stop.filter(sequence => sequence.trim())
  stop.forEach((sequence, nth) => {
    if (!sequence.trim()) report.add('stop.blank', undefined, `stop.${nth}`)
  })
  return kept.length > 0 ? kept : undefined
}
