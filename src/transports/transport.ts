import type { Signal } from './abort-controller.ts'

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
   * The URL of the proxy for this call (`http:`, `https:` or `socks…:`), or `env`: that of
   * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Absent: none.
   */
  proxy?: string
  /**
   * Send the request over WebSocket, as these messages. Absent: over HTTP. Only for transports with
   * `usesWebSocket`.
   */
  socket?: SocketMessages
}

/** How a request and its stream are written as messages of a WebSocket. */
export type SocketMessages = {
  /** The message for a request. `body`: its body over HTTP, a JSON object. */
  message(body: string): string
  /** What a message of the upstream means. */
  event(data: string): SocketMessage
}

/**
 * `frame`: the event as text/event-stream. `ends`: it is the last one of the response. `refusal`:
 * it is an error, here as over HTTP.
 */
export type SocketMessage = {
  frame: string
  ends: boolean
  refusal?: { status: number; headers: Record<string, string>; body: string }
}

/**
 * An HTTP response. Header names are lower case. The body is decompressed; read it to its end, or
 * call `return()` of its iterator.
 */
export type TransportResponse = {
  status: number
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array | string>
  /**
   * Secrets that the call was sent with in addition to those of the configuration, such as a token.
   * They are redacted in the response.
   */
  secrets?: readonly string[]
}

/**
 * The HTTP client for upstreams. `send` rejects when there is no response; a response of any status
 * resolves.
 */
export type Transport = {
  /** Sends a request to an upstream. */
  send(call: TransportCall): Promise<TransportResponse>
  /** Does it use the `proxy` of a call? Default false. */
  usesProxies?: boolean
  /** Can it send calls over WebSocket? Default false. */
  usesWebSocket?: boolean
  /** Releases the sockets. */
  close?(): Promise<void>
}
