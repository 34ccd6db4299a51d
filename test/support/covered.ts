import type { ProtocolName } from '../../src/protocols/index.ts'

/**
 * The protocols that the lists of known failures cover, each of which has a row for every one of
 * them. A newer protocol is covered by the properties and by its own tests, and gets rows when its
 * failures become known.
 */
export const covered = [
  'chat-completions',
  'responses',
  'messages',
  'generate-content',
] as const satisfies readonly ProtocolName[]

export type Covered = (typeof covered)[number]
