import type { Place } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { TranslationError } from '../../errors.ts'
import type { CodecOptions } from '../../protocol.ts'

/**
 * A request is refused when it needs a tool that only another provider has: without it the model
 * would get another question. With `onUnresolvable: 'note'` it is not, and the caller has to note
 * what is left out.
 * @throws TranslationError `inexpressible`
 */
export function refuseForeignTools(
  needed: 'forced tool' | 'tools of the request',
  place: { protocol: string; path: Place; notes?: Note[] },
  { onUnresolvable }: CodecOptions,
): void {
  if (onUnresolvable !== 'note')
    throw new TranslationError(
      { code: 'inexpressible', ...place },
      `only another provider runs the ${needed}: leave it out, or set \`onUnresolvable: 'note'\``,
    )
}
