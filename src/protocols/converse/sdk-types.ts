import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { ConverseWire } from './schema.ts'

/** The bodies of this protocol as the official SDK has them. */
export type ConverseSdk = AsSdk<ConverseWire>
