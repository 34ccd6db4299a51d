import type { Place } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'

/** Makes the errors of what a protocol reads. */
export const createFault =
  (protocol: string) =>
  (path: Place, message: string, code: 'malformed' | 'out-of-order' = 'malformed') =>
    new TranslationError({ code, protocol, path }, message)
