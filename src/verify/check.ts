import type { ProtocolName } from '../protocols/index.ts'

/**
 * `warned`: it works, but some clients will have problems. `skipped`: there was nothing to check.
 */
export type Result = 'passed' | 'failed' | 'warned' | 'skipped'

/** The result of one check. */
export type Check = {
  /** What the check is about: the address, the service as a whole, or one protocol. */
  scope: 'address' | 'service' | ProtocolName
  /** What was checked, such as `the key` or `streamed response`. */
  name: string
  /** Whether it passed. */
  result: Result
  /** What the service returned, or what is wrong with it. */
  detail: string
  /** What to change. Present for every failed check. */
  fix?: string
  /** Duration of the request, in ms. Absent: the check made no request. */
  ms?: number
}

export type ReportCheck = (
  name: string,
  result: Result,
  detail: string,
  more?: { fix?: string; ms?: number },
) => Check
