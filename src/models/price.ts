import type { Source } from './model.ts'

/**
 * US dollars for a million tokens, at the maker's list price: without a discount for a preview, an
 * introduction or quiet hours. `cacheRead`, `cacheWrite`: of
 * input that its cache held, or was written to it; absent: as `input`. Names as in `Model`, but
 * without versions that are not known: what a newer model costs is not known.
 *
 * Bundlers drop the prices where they are not used, as long as no call and no spread in them can
 * have an effect.
 */
export type ModelPrice = {
  names: readonly string[]
  input: number
  output: number
  cacheRead?: number
  cacheWrite?: number
  source: Source
}
