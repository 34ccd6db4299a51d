import { createFault } from '../../kit/errors/fault.ts'
import { createOwn } from '../../kit/fields/own.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'messages'

/** The path of its main endpoint. */
export const path = '/v1/messages'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf, ownUnder, wireOf } = createOwn(protocolName)
export const fault = createFault(protocolName)
