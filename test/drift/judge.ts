import {
  createStreamTranslator,
  translateError,
  translateRequest,
  translateResponse,
} from '../../src/api.ts'
import type { Note } from '../../src/canonical/note.ts'
import { TranslationError } from '../../src/errors.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { covers } from '../support/cross.ts'
import { saysNothing } from '../support/loss.ts'
import { arranged, streamed } from './arrange.ts'
import type { Site } from './walk.ts'

export type Kind = 'request' | 'response' | 'event' | 'error'

/**
 * mapped: the value changes the translated body · noted: a note points at it · unknown: the note
 * says that the codec does not know it · refused: the body cannot be translated with it ·
 * unreadable: the codec takes it for malformed · lost: none of these.
 */
export type Verdict = 'mapped' | 'noted' | 'unknown' | 'refused' | 'unreadable' | 'lost'

type Pair = { from: ProtocolName; to: ProtocolName }
type Outcome = { sent: string; notes: Note[] }

/** What becomes of one thing on the way to another protocol. */
export function judge(kind: Kind, site: Site, { from, to }: Pair): Verdict {
  if (saysNothing(`${from} → ${to} ${kind} ${site.path.replaceAll(/\/\d+(?=\/|$)/g, '/*')}`))
    return 'mapped'
  const { body, path, others } = arranged(from, kind, site)
  const after = outcome(kind, body, { from, to })
  if (typeof after === 'string') return after
  if (kind === 'event') {
    const before = throughStream(streamed(from, body, true), { from, to })
    const news = after.notes.filter(
      note =>
        note.kind !== 'synthesized' &&
        !before.notes.some(other => canonicalJson(other) === canonicalJson(note)),
    )
    if (news.length > 0) return news.some(isUnknown) ? 'unknown' : 'noted'
    if (path === '') return before.sent === after.sent ? 'lost' : 'mapped'
  } else if (covers(after.notes, path))
    return after.notes.some(note => isUnknown(note) && covers([note], path)) ? 'unknown' : 'noted'
  const befores = others
    .map(other => outcome(kind, other, { from, to }))
    .filter(before => typeof before !== 'string')
  if (befores.every(before => before.sent !== after.sent)) return 'mapped'
  if (hasNoteInside(after.notes, path)) return after.notes.some(isUnknown) ? 'unknown' : 'noted'
  return befores.some(
    before =>
      before.sent === after.sent && canonicalJson(before.notes) === canonicalJson(after.notes),
  )
    ? 'lost'
    : 'noted'
}

const isUnknown = ({ code }: Note) => code.endsWith('.unknown')

const hasNoteInside = (notes: Note[], path: string) =>
  notes.some(
    ({ kind, path: at }) => kind !== 'synthesized' && path !== '' && at.startsWith(`${path}/`),
  )

function outcome(
  kind: Kind,
  body: unknown,
  { from, to }: Pair,
): Outcome | 'refused' | 'unreadable' {
  try {
    if (kind === 'event') return throughStream(streamed(from, body), { from, to })
    if (kind === 'error') {
      const { notes, ...error } = translateError({ status: 400, body }, { from, to })
      return { sent: canonicalJson(error), notes }
    }
    if (kind === 'request') {
      const {
        body: wire,
        notes,
        context,
      } = translateRequest(body, { from, to, onUnresolvable: 'note' })
      return { sent: canonicalJson([wire, context.path ?? null]), notes }
    }
    const { body: wire, notes } = translateResponse(body, { from, to })
    return { sent: canonicalJson(wire), notes }
  } catch (error) {
    if (TranslationError.is(error)) return error.code === 'malformed' ? 'unreadable' : 'refused'
    throw error
  }
}

function throughStream(events: unknown[], { from, to }: Pair): Outcome {
  const translator = createStreamTranslator({ from, to })
  const { write } = protocols[from].frames
  const sent = events.map(event => translator.push(write(event))).join('') + translator.end()
  return { sent, notes: translator.notes }
}
