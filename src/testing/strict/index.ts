import { nameFault } from '../../kit/text/similar.ts'
import type { ProtocolName } from '../../protocols/index.ts'
import { strict as chatCompletions } from './chat-completions.ts'
import { strict as converse } from './converse.ts'
import type { Strict } from './faults.ts'
import { strict as generateContent } from './generate-content.ts'
import { strict as messages } from './messages.ts'
import { strict as responses } from './responses.ts'

export type { Strict } from './faults.ts'

/** Validators by protocol. They use nothing of the codecs, so that they are independent of them. */
const validators = new Map<string, Strict>(
  Object.entries({
    'chat-completions': chatCompletions,
    responses,
    messages,
    'generate-content': generateContent,
    converse,
  } satisfies Record<ProtocolName, Strict>),
)

/**
 * @throws RangeError for a protocol without a validator
 * @example
 * import { strictOf } from 'wireglot/testing'
 *
 * console.log(strictOf('messages').checkRequest({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })[0]) // /max_tokens: missing
 */
export function strictOf(protocol: string): Strict {
  const known = validators.get(protocol)
  if (!known) throw new RangeError(`protocol: ${nameFault(protocol, [...validators.keys()])}`)
  return known
}
