import { google } from './google.ts'
import { modelOf } from './names.ts'

/** What a server of Gemini takes, judged by the name of the model; unknown ones are new. */

/** There are levels of thinking, not budgets. */
export const takesLevels = (model: string | undefined): boolean => {
  const { thinking } = modelOf(model, google) ?? {}
  return thinking === undefined || thinking.includes('effort')
}

/** The result of a tool may contain media. */
export const takesMediaInResults = (model: string | undefined): boolean =>
  modelOf(model, google)?.mediaInResults !== false

/** The first call of each step needs its signature. */
export const signsCalls = (model: string | undefined): boolean =>
  modelOf(model, google)?.signsCalls !== false
