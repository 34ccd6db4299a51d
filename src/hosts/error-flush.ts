/**
 * How long a client has to read the error frame before the connection breaks: many lose what they
 * have not read by then, and would show only that the connection broke.
 */
const errorFlushMs = 100

export const errorFlushed = (): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, errorFlushMs))
