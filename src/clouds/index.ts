import type { Transport } from '../transports/transport.ts'
import { signing } from './aws.ts'
import type { CloudSettings } from './settings.ts'

/** A transport for one channel that sends every call as its cloud requires. */
export function createCloud({ auth }: CloudSettings, transport: Transport): Transport {
  return auth?.aws ? signing(auth.aws, transport) : transport
}
