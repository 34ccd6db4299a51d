import type { Signal } from './stopper.ts'

/** One HTTP call to an upstream. Header names are lower case. */
export type TransportCall = {
  url: string
  method: 'POST' | 'GET' | 'DELETE'
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | undefined
  /** Aborts the call, in every phase. */
  signal: AbortSignal
  /** A cheaper form of `signal`: reading `signal` creates an AbortSignal. Absent: use `signal`. */
  stop?: Signal
  /** Timeout for connecting, in milliseconds; 0: no limit. */
  connectMs: number
  /**
   * The URL of the proxy for this call (`http:`, `https:` or `socks…:`), or `env`: that of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Absent:
   * none.
   */
  proxy?: string
}

/** An HTTP response. Header names are lower case. The body is decompressed; read it to its end, or call `return()` of its iterator. */
export type TransportResponse = {
  status: number
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array | string>
}

/** The HTTP client for upstreams. `send` rejects when there is no response; a response of any status resolves. */
export type Transport = {
  /** Sends a request to an upstream. */
  send(call: TransportCall): Promise<TransportResponse>
  /** Does it use the `proxy` of a call? Default false. */
  usesProxies?: boolean
  /** Releases the sockets. */
  close?(): Promise<void>
}
