import type { Logger } from './hooks.ts'

/** A logger that writes warnings and errors, one JSON object per line. Not each exchange, which would show which client sends what. */
export function loggerTo(write: (line: string) => void): Logger {
  const at = (level: 'warn' | 'error') => (details: object, message: string) => {
    const inWords = (_: string, value: unknown) =>
      value instanceof Error ? wordsOf(value, level) : value
    write(JSON.stringify({ time: new Date().toISOString(), level, message, ...details }, inWords))
  }
  return { info() {}, warn: at('warn'), error: at('error') }
}

/** A fault of the program is found by its stack. */
const isFault = (error: Error) =>
  error instanceof TypeError ||
  error instanceof ReferenceError ||
  error instanceof RangeError ||
  error instanceof SyntaxError

const wordsOf = (error: Error, level: string) =>
  level === 'error' && isFault(error) ? (error.stack ?? error.message) : error.message
