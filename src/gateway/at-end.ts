import type { GatewayError } from './error.ts'

/** An exchange that can end. */
export type Ending = { ended(status: number, failure?: GatewayError): void }

/** Calls `act` when the exchange ends. */
export function atEnd(trace: Ending, act: () => void): void {
  const { ended } = trace
  trace.ended = (...outcome) => {
    act()
    ended(...outcome)
  }
}
