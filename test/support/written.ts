import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CodecOptions, Encoded, Protocol } from '../../src/protocol.ts'
import { encodeRequest } from '../../src/translate/encode.ts'

/**
 * A request as the protocol writes it, without repaired tool pairs unless the options ask for them:
 * many tests look at one half of a pair.
 */
export function written(
  request: CanonicalRequest,
  to: Protocol,
  options: CodecOptions & Record<string, unknown> = {},
): Encoded<unknown> {
  return encodeRequest(request, to, { repair: 'keep', ...options })
}
