import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { GenerateContentWire } from './schema.ts'

/** A request of generate-content that wireglot writes. */
export interface GenerateContentRequest extends AsSdk<GenerateContentWire['request']> {}

/** A complete response of generate-content that wireglot writes, or the body of an error. */
export type GenerateContentResponse = AsSdk<GenerateContentWire['response']>

/** The data of an event of generate-content that wireglot writes. */
export type GenerateContentEvent = AsSdk<GenerateContentWire['event']>

/** The body of an error of generate-content. */
export type GenerateContentError = AsSdk<GenerateContentWire['error']>

/**
 * The bodies on the wire. The official SDK arranges requests in another way, and adds getters to
 * responses.
 */
export type GenerateContentSdk = {
  request: GenerateContentRequest
  response: GenerateContentResponse
  event: GenerateContentEvent
  error: GenerateContentError
}
