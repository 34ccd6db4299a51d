import type { Signal } from './stopper.ts'

/** One HTTP call to an upstream. Header names are lower case. */
export type TransportCall = {
  url: string
  method: 'POST' | 'GET' | 'DELETE'
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | undefined
  /** Ends the call in every phase. */
  signal: AbortSignal
  /** The same as `signal`, for transports that only listen: then no AbortSignal has to be made. Absent: use `signal`. */
  stop?: Signal
  /** Milliseconds for the connection alone; 0: no limit. */
  connectMs: number
}

/** The body is decompressed, and must be read to its end or given up by `return()`. */
export type TransportAnswer = {
  status: number
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array | string>
}

/** How bytes reach an upstream. Rejects when there is no answer; any status is an answer. */
export type Transport = {
  send(call: TransportCall): Promise<TransportAnswer>
  /** Releases the sockets. */
  close?(): Promise<void>
}
