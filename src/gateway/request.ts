import type { Headers } from '../protocol.ts'
import type { Signal } from '../transports/abort-controller.ts'
import type { Share } from './memory.ts'

/** An HTTP request, as passed in by a host. Header names are lower case. */
export type GatewayRequest = {
  method: string
  /** Begins with `/`, without query, relative to where the gateway is mounted. */
  path: string
  query: URLSearchParams
  headers: Headers
  body: RequestBody
  /** Aborted when the client disconnects. */
  signal: Signal
  /** The URL that the gateway is mounted at, for messages to people: `http://host/mount`. */
  base?: string
  /** The client's network address, for counting wrong keys. Absent: not known. */
  address?: string
  /** Does the client run on the same machine? Absent: not known. */
  local?: boolean
  /**
   * Can the host make a WebSocket of the connection? It does so when the response has status 101.
   * Default false.
   */
  upgrades?: boolean
  /**
   * Called when the body was read. False: the request is only checked and counted, and the response
   * is empty. Absent: true.
   */
  generates?(): boolean
  /** The request object of the host, for hooks. */
  raw?: unknown
}

/** What identifies the sender of a request. */
export type ClientRequest = Pick<
  GatewayRequest,
  'method' | 'path' | 'headers' | 'query' | 'address' | 'local' | 'raw'
>

/** `parsed`: the value, if a body parser of the application has read the body already. */
export type RequestBody = { bytes: AsyncIterable<Uint8Array> } | { parsed: unknown }

/**
 * The response for the host to send. A string or bytes are sent at once, an iterable chunk by
 * chunk. `memory`: with status 101, that of the connection.
 */
export type GatewayResponse = {
  status: number
  headers: Headers
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<string | Uint8Array>
  memory?: Share
}

export function jsonResponse(
  body: unknown,
  headers: Headers = {},
  write: (body: unknown) => string = JSON.stringify,
): GatewayResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...headers },
    body: write(body),
  }
}
