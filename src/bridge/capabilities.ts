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
  const facts = profile
    ? profile.endpoints.flatMap(one =>
        protocol === undefined || one.protocol === protocol
          ? factsFor(profile, one.protocol, model)
          : [],
      )
    : []
  return Object.assign(
    {},
    isTextOnly(model) && { input: ['text', 'file'] },
    ...facts.map(({ capabilities }) => capabilities),
    own,
  )
}

/**
 * Is the model known to read text alone? Files are no medium of a model: many servers take the text
 * out of them.
 */
const isTextOnly = (model: string | undefined): boolean =>
  knownModel(model)?.model.input?.every(one => one === 'text') === true
