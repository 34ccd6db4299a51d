import type { ProtocolName } from '../protocols/index.ts'

/** `warned`: it works, but somebody will stumble. `skipped`: there was nothing to look at. */
export type Result = 'passed' | 'failed' | 'warned' | 'skipped'

/** One line of the checklist. */
export type Point = {
  of: 'address' | 'service' | ProtocolName
  name: string
  result: Result
  /** What was found. */
  told: string
  /** What to change; there for every point that failed. */
  mend?: string
  /** Milliseconds, where a request was made for it. */
  ms?: number
}

export type Tell = (name: string, result: Result, told: string, more?: { mend?: string; ms?: number }) => Point
