import type { Note } from '../canonical/note.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Protocol, TranslationContext } from '../protocol.ts'
import type { Settings } from './settings.ts'

/** Options that change nothing in a request of the usual kind: there is nothing in it that they are about. */
const indifferent = new Set('model path now newId context isPlain renewId hideUsage maxEventLength truncated onUnresolvable foreignProofs'.split(' '))

/**
 * Translates a request of the usual kind without the canonical model. With parsing and writing, 1 KB takes half as long and 150 KB three
 * quarters of the time. Undefined: the request, or an option, is not usual. `test/laws/usual.test.ts` holds that nobody can tell.
 */
export function translateUsual(
  body: unknown,
  from: Protocol,
  to: Protocol,
  settings: Settings,
): { body: unknown; notes: Note[]; context: TranslationContext } | undefined {
  if (!from.usual || !to.usual) return undefined
  for (const name in settings) {
    const isIndifferent = indifferent.has(name) || from.usual.indifferent?.has(name) || to.usual.indifferent?.has(name) || name.startsWith('resolve')
    if (!isIndifferent) return undefined
  }
  const { model, path } = settings
  const asked = from.usual.read(body, path)
  const written = asked && to.usual.write(model === undefined ? asked : { ...asked, model })
  if (!written) return undefined
  const request: CanonicalRequest = { messages: [] }
  if (asked.model !== undefined) request.model = asked.model
  if (asked.stream !== undefined) request.stream = { enabled: asked.stream, ...(asked.wantsUsage && { includeUsage: true }) }
  if (asked.mayCall) request.toolChoice = { mode: 'auto' }
  const context: TranslationContext = { from: from.name, to: to.name, request: Object.assign(request, asked.remembered) }
  if (written.path) context.path = written.path
  return { body: written.wire, notes: written.notes, context }
}
