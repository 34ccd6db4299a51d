import { TranslationError } from '../errors.ts'
import type { ProtocolFacts } from '../protocol.ts'

/**
 * Refuses a request that shows signs of another protocol and none of its own, or that has its
 * conversation where only others have one.
 * @throws TranslationError `malformed`; its message names the right path
 */
export function refuseForeign(
  body: unknown,
  own: ProtocolFacts,
  known: Iterable<ProtocolFacts>,
): void {
  const { shared, maybe, request } = own.detect(body)
  if (shared || request.length > 0) return
  const likely: ProtocolFacts[] = []
  for (const other of known) {
    if (other === own) continue
    const found = other.detect(body)
    const [sign] = found.request
    // A sign that bodies of `own` may bear too refuses nothing that was sent to its own path.
    if (sign !== undefined && !(maybe && found.weak)) refuse(own, [other], ` (${sign})`)
    if (found.maybe) likely.push(other)
  }
  if (!maybe && likely.length > 0) refuse(own, likely, '')
}

function refuse(own: ProtocolFacts, theirs: readonly ProtocolFacts[], sign: string): never {
  const [names, paths] = [
    theirs.map(({ name }) => name),
    theirs.map(({ address }) => address.path),
  ].map(words => words.join(' or '))
  throw new TranslationError(
    { code: 'malformed', protocol: own.name, path: '' },
    `this is a request of the ${names} protocol${sign}; its path is ${paths}`,
  )
}
