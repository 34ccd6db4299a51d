import type { Signal } from '../transports/stopper.ts'
import type { Headers } from './headers.ts'

/** One HTTP request, as a host gives it. Header names are lower case. */
export type GatewayRequest = {
  method: string
  /** Without query, beginning with `/`, relative to where the gateway is mounted. */
  path: string
  query: URLSearchParams
  headers: Headers
  body: RequestBody
  /** Fires when the client has gone. */
  signal: Signal
  /** The URL that the gateway is mounted at, for messages to people: `http://host/mount`. */
  base?: string
  /** The client's network address, by which wrong keys are counted. Absent: the host cannot tell. */
  address?: string
  /** Does the client run on the same machine? Absent: the host cannot tell. */
  local?: boolean
}

/** `parsed`: a body parser of the application has read it before us. */
export type RequestBody = { bytes: AsyncIterable<Uint8Array> } | { parsed: unknown }

/** What the host has to send. A text body is sent whole; a body in pieces is sent as it comes. */
export type GatewayAnswer = {
  status: number
  headers: Headers
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<string | Uint8Array>
}

export function jsonAnswer(body: unknown, headers: Headers = {}): GatewayAnswer {
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}
