import type { ProtocolName } from '../protocols/index.ts'

/** `warned`: it works, but some clients will have problems. `skipped`: there was nothing to check. */
export type Result = 'passed' | 'failed' | 'warned' | 'skipped'

/** One line of the checklist. */
export type Point = {
  of: 'address' | 'service' | ProtocolName
  name: string
  result: Result
  /** The result of the check. */
  detail: string
  /** What to change; present for every failed point. */
  mend?: string
  /** Milliseconds of its request. Absent: it needed none. */
  ms?: number
}

export type ReportPoint = (name: string, result: Result, detail: string, more?: { mend?: string; ms?: number }) => Point
