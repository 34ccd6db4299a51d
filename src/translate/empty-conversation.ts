import type { Message } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import { isTurn } from '../kit/conversation/turns.ts'
import { pointerOf } from '../kit/notes/path.ts'
import type { FieldNames } from '../protocol.ts'

type Place = { protocol: string; notes: Note[]; fieldNames: FieldNames }

/**
 * For a request of which no message can be sent: the upstream would refuse it, or the model would
 * respond to another question.
 * @throws TranslationError `inexpressible` at the first part that was left out; `malformed` at the
 * conversation that was empty before
 */
export function refuseEmpty(
  messages: readonly Message[],
  { protocol, notes, fieldNames }: Place,
): never {
  const turns = messages.filter(isTurn)
  const places = turns.flatMap(({ at, parts }) =>
    [at, ...parts.map(part => part.at)].flatMap(place =>
      place === undefined ? [] : [pointerOf(place)],
    ),
  )
  const lost = notes.find(
    ({ kind, path }) =>
      kind === 'dropped' && places.some(at => path === at || path.startsWith(`${at}/`)),
  )
  if (lost)
    throw new TranslationError(
      { code: 'inexpressible', protocol, path: lost.path, notes },
      `nothing of the conversation can be sent: ${lost.reason}`,
    )
  const [first] = turns
  const path =
    first?.parts[0]?.at ?? first?.at ?? `${fieldNames[''] ?? ''}/${fieldNames['turns'] ?? ''}`
  throw new TranslationError(
    { code: 'malformed', protocol, path },
    'the conversation is empty; send a message of the user that has content',
  )
}
