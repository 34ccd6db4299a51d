/** What signals mean to a process that serves: read the configuration again, or stop. */
export const signalHandlers = (
  reload: () => void,
  stop: () => void,
): (readonly [NodeJS.Signals, () => void])[] => [
  ['SIGHUP', reload],
  ['SIGINT', stop],
  ['SIGTERM', stop],
]

/**
 * npm passes a signal on to the shell of its script, which ends without passing it on: then this
 * process has another parent. Windows has no such signals, and the parent stays the same.
 */
export function onParentGone(act: () => void): NodeJS.Timeout {
  const parent = process.ppid
  return setInterval(() => process.ppid !== parent && act(), 500).unref()
}
