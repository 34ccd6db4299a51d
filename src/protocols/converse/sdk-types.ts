import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { ConverseWire } from './schema.ts'

/** The bodies on the wire. The official SDK has bytes where these have base64. */
export type ConverseSdk = AsSdk<ConverseWire>
