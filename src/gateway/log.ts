import type { Logger } from './hooks.ts'

/**
 * A logger that writes one JSON object per line, but not each exchange, which would show which
 * client sends what.
 */
export function loggerTo(write: (line: string) => void): Logger {
  const at = (level: 'info' | 'warn' | 'error') => (details: object, message: string) => {
    const inWords = (_: string, value: unknown) =>
      value instanceof Error ? wordsOf(value, level) : value
    write(JSON.stringify({ time: new Date().toISOString(), level, message, ...details }, inWords))
  }
  const info = at('info')
  return {
    info(details, message) {
      if (message !== 'exchange') info(details, message)
    },
    warn: at('warn'),
    error: at('error'),
  }
}

/** A fault of the program is found by its stack. */
const isFault = (error: Error) =>
  error instanceof TypeError ||
  error instanceof ReferenceError ||
  error instanceof RangeError ||
  error instanceof SyntaxError

const wordsOf = (error: Error, level: string) =>
  level === 'error' && isFault(error) ? (error.stack ?? error.message) : error.message
