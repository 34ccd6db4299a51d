/** How many runs a law gets: `WIREGLOT_LAW_RUNS`, else the given number. */
export function runs(usual: number): { numRuns: number } {
  const wanted = Number(process.env['WIREGLOT_LAW_RUNS'])
  return { numRuns: wanted > 0 ? wanted : usual }
}
