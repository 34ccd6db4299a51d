import { TranslationError } from '../errors.ts'
import type { Detection, Protocol } from '../protocol.ts'

/**
 * Refuses a body that bears unmistakable signs of another protocol and none of its own.
 * @throws TranslationError `malformed` with the path that the body belongs to
 */
export function refuseForeign(body: unknown, own: Protocol, kind: Exclude<keyof Detection, 'shared'>, known: Iterable<Protocol>): void {
  const { shared, [kind]: signs } = own.detect(body)
  if (shared || signs.length > 0) return
  for (const other of known) {
    if (other === own) continue
    const [sign] = other.detect(body)[kind]
    if (sign !== undefined)
      throw new TranslationError(
        { code: 'malformed', protocol: own.name, path: '' },
        `this is a ${kind} of the ${other.name} protocol (${sign}); its path is ${other.address.path}`,
      )
  }
}
