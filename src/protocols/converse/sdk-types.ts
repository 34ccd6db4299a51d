import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { ConverseWire } from './schema.ts'

/** A request of converse that wireglot writes. */
export interface ConverseRequest extends AsSdk<ConverseWire['request']> {}

/** A complete response of converse that wireglot writes, or the body of an error. */
export type ConverseResponse = AsSdk<ConverseWire['response']>

/** The data of an event of converse that wireglot writes. */
export type ConverseEvent = AsSdk<ConverseWire['event']>

/** The body of an error of converse. */
export type ConverseError = AsSdk<ConverseWire['error']>

/** The bodies on the wire. The official SDK has bytes where these have base64. */
export type ConverseSdk = {
  request: ConverseRequest
  response: ConverseResponse
  event: ConverseEvent
  error: ConverseError
}
