import { createOwn } from '../../kit/own.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'messages'

export { nulls, splitNulls, under } from '../../kit/own.ts'
export const { keep, ownForm, ownKeys, ownOf, ownUnder, wireOf } = createOwn(protocolName)
