import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { GeminiWire } from './schema.ts'

/** The bodies of this protocol as the official SDK has them. */
export type GeminiSdk = AsSdk<GeminiWire>
