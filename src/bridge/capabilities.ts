import type { Capabilities } from '../models/capabilities.ts'
import { knownModel } from '../models/index.ts'
import type { ProtocolName } from '../protocols/index.ts'
import { vendors } from '../vendors/index.ts'
import { factsFor } from '../vendors/settings.ts'
import type { Vendor } from '../vendors/vendor.ts'

/** A server and a model of it. `own`: what the user says of them, which takes precedence. */
export type Served = {
  vendor?: Vendor | keyof typeof vendors | undefined
  protocol?: ProtocolName | undefined
  model?: string | undefined
  own?: Capabilities | undefined
}

/** What is known of a model on this server. */
export function capabilitiesOf({ vendor, protocol, model, own }: Served): Capabilities {
  const profile = typeof vendor === 'string' ? vendors[vendor] : vendor
  const input = knownModel(model)?.model.input
  const facts = profile
    ? profile.endpoints.flatMap(one =>
        protocol === undefined || one.protocol === protocol
          ? factsFor(profile, one.protocol, model)
          : [],
      )
    : []
  return Object.assign(
    {},
    input && { input },
    ...facts.map(({ capabilities }) => capabilities),
    own,
  )
}
