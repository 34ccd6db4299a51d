import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { GenerateContentWire } from './schema.ts'

/**
 * The bodies on the wire. The official SDK arranges requests in another way, and adds getters to
 * responses.
 */
export type GenerateContentSdk = AsSdk<GenerateContentWire>
