import { createOwn } from '../../kit/own.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'chat-completions'

export { splitNulls, under } from '../../kit/own.ts'
export const { keep, ownForm, ownOf, wireOf } = createOwn(protocolName)
