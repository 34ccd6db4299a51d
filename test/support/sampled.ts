/**
 * The cases of a large table: all of them in `npm run test:all`, which CI runs, and every third in
 * `npm test`, or every `nth`. For tables of one test over many pairs or vendors, where a fault
 * rarely shows in one case alone. `nth`: prime to the number of columns that the table repeats, so
 * that each of them is among the cases.
 */
export function sampled<T>(cases: readonly T[], nth = 3): T[] {
  return runsAll() ? [...cases] : cases.filter((_, i) => i % nth === 0)
}

/** Does every case run, as in `npm run test:all`? */
export const runsAll = () => process.env['WIREGLOT_TEST_ALL'] === '1'
