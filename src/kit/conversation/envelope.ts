import type { Message, Part, Place, Role } from '../../canonical/message.ts'
import { bookOf } from '../fields/keys.ts'
import type { Report } from '../notes/report.ts'
import type { SharedNotes } from '../notes/shared.ts'
import { hasWords } from './phases.ts'

/** What a message has besides its parts, on wires that have no place for it. */

type EnvelopeReport = Pick<Report<SharedNotes>, 'add' | 'node' | 'onceEach'>
type Ids = { id?: string | undefined; status?: Message['status'] | undefined; at?: Place }

const written = bookOf<Message>()(
  { 'message.name': 'name', 'field.unsupported': 'phase' },
  'role parts origin id status at ext',
)

/** Notes the envelope of a message of a request. */
export function noteEnvelope(message: Message, report: EnvelopeReport): void {
  const { id, status, at } = message
  report.node(message, written)
  report.onceEach('message.envelope', at, { itemId: id, status })
}

const writtenInResponse = bookOf<Message>()(
  { 'field.unsupported': 'name' },
  'role parts origin id status phase at ext',
)

/** Notes the envelope of a message of a response, whose texts carry the phase. */
export function noteResponseEnvelope(message: Message, report: EnvelopeReport): void {
  const { role, parts, phase, at } = message
  report.node(message, writtenInResponse)
  if (phase && !hasWords(parts)) report.add('field.unsupported', at, 'phase')
  noteSpeaker({ role, at }, parts, report)
  noteIds(message, report)
}

/** Notes text of another speaker than the model in a response. Most wires cannot express that. */
export function noteSpeaker(
  { role = 'assistant', at }: { role?: Role; at?: Place | undefined } = {},
  parts: readonly Part[],
  report: Pick<EnvelopeReport, 'add'>,
): void {
  if (role !== 'assistant' && role !== 'tool' && parts.some(isSpoken))
    report.add('message.role', at, 'role')
}

const isSpoken = ({ type }: Part) => type === 'text' || type === 'refusal' || type === 'media'

/** Notes the id and the status of a message, unless that says what every response does. */
export const noteIds = ({ id, status, at }: Ids, report: Pick<EnvelopeReport, 'onceEach'>): void =>
  report.onceEach('message.envelope', at, {
    itemId: id,
    status: status === 'completed' ? undefined : status,
  })
