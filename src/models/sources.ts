import type { Source } from './model.ts'

/** The day on which these files were read; what they say may be older. */
const read = '2026-11-29'

/** A file of models.dev at one commit. `date`: the day on which it says that it was checked. */
export const listed = (commit: string, file: string, date = read): Source => ({
  date,
  url: `https://github.com/anomalyco/models.dev/blob/${commit}/${file}.toml`,
})
