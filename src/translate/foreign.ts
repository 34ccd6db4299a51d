import { TranslationError } from '../errors.ts'
import type { Protocol } from '../protocol.ts'

/**
 * Refuses a request that shows signs of another protocol and none of its own.
 * @throws TranslationError `malformed`; its message names the right path
 */
export function refuseForeign(body: unknown, own: Protocol, known: Iterable<Protocol>): void {
  const { shared, request } = own.detect(body)
  if (shared || request.length > 0) return
  for (const other of known) {
    if (other === own) continue
    const [sign] = other.detect(body).request
    if (sign !== undefined)
      throw new TranslationError(
        { code: 'malformed', protocol: own.name, path: '' },
        `this is a request of the ${other.name} protocol (${sign}); its path is ${other.address.path}`,
      )
  }
}
