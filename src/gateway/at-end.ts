/** An exchange that ends once. */
export type Ending = {
  isOver: boolean
  /** What is called then. */
  endings: (() => void)[]
}

/** Calls `act` when the exchange ends, or now if it is over. */
export function atEnd(trace: Ending, act: () => void): void {
  if (trace.isOver) act()
  else trace.endings.push(act)
}
