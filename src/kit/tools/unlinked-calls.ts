import type { Place } from '../../canonical/message.ts'
import { createFault } from '../errors/fault.ts'
import { isObject } from '../json/json.ts'
import { below } from '../notes/path.ts'

/**
 * Some servers answer with calls that have no id, but a client that sends back such a call has a
 * fault. `key`: of the id.
 * @throws TranslationError `malformed`
 */
export function refuseUnlinked(call: unknown, key: string, at: Place, protocol: string): void {
  if (isObject(call) && (call[key] === undefined || call[key] === null))
    throw createFault(protocol)(below(at, key), 'missing, expected text')
}
