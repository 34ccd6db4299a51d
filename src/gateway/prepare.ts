import type { Note } from '../canonical/note.ts'
import { isObject } from '../kit/json.ts'
import type { Protocol, TranslationContext } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { translateRequest } from '../translate/request.ts'
import type { Settings } from '../translate/settings.ts'
import { without, withStreaming } from './adjust.ts'
import type { Ask, Service } from './ask.ts'
import { freshIds } from './ids.ts'
import { keepsItself } from './recall.ts'
import { renamedText } from './rename.ts'
import { textOf } from './text.ts'
import type { Candidate } from './upstream.ts'

/** A candidate's request, ready to be sent. */
export type Prepared = {
  candidate: Candidate
  body: unknown
  /** The same as it goes over the wire. */
  bytes: string | Uint8Array<ArrayBuffer>
  /** Is the upstream asked for a stream? */
  stream: boolean
  notes: Note[]
  /** For translating the answer. */
  settings: ReturnType<typeof freshIds> & Pick<Settings, 'hideUsage' | 'renewId' | 'model' | 'strict'> & { context: TranslationContext; maxEventLength: number }
}

const all: readonly Protocol[] = Object.values(protocols)

/**
 * The caller's request as this candidate takes it. Between equal protocols the bytes stay as they are, but for the
 * model name.
 * @throws TranslationError
 */
export function prepare(
  { config: { defaults }, memory, isRepeated }: Service,
  { protocol, operation, body, model, stream, recalled }: Ask,
  candidate: Candidate,
): Prepared {
  const { protocol: to, entry } = candidate
  const renamed = candidate.model !== model
  const upstreamStream = operation === 'generate' && (entry.streaming === 'both' ? stream : entry.streaming === 'only')
  const adjusted = without(body.value, protocol, entry.unsupported)
  const keepsHere = recalled?.keeps === true && !keepsItself(candidate, protocol)
  const translated = translateRequest(adjusted.body, protocol, to, all, {
    ...freshIds(),
    ...(defaults.strict && { strict: defaults.strict }),
    ...((renamed || to !== protocol) && { model: candidate.model }),
    ...(body.isPlain && { isPlain: true }),
    ...demanding(operation, protocol),
    ...to.outputLimit?.usual(entry.maxOutputTokens ?? defaults.maxOutputTokens),
    ...candidate.channel.options,
    ...entry.options,
    ...recalled?.resolversFor(candidate),
    ...(keepsHere && { keepsReply: true }),
    ...(memory?.signatures && recalled && protocol.keptProofs?.reading(recalled.proof)),
  })
  const saysStream = to.address.target({ operation, model: '', stream: true }) === to.address.target({ operation, model: '', stream: false })
  const says = to.wantsStream(translated.body) ?? false
  const { counting } = to.address
  const isCounted = operation === 'count-tokens' && to !== protocol
  const asked = isCounted && counting && isObject(translated.body) ? counting.ask(translated.body, candidate.model) : translated.body
  const sent = operation === 'generate' && saysStream && says !== upstreamStream ? withStreaming(asked, to, upstreamStream) : asked
  const asking =
    to === protocol && upstreamStream && candidate.channel.streamUsage && to.streamUsage?.isAsked(sent) === false ? to.streamUsage.ask(sent) : undefined
  // What was read was written anew: proofs of other providers are taken out, or a history is put in.
  const unread = translated.context.request === undefined
  const onlyRenamed = () =>
    unread && sent === translated.body && adjusted.body === body.value && body.bytes && (!asking || asking.added)
      ? edited(textOf(body.bytes), renamed ? nameIn(sent, candidate.model) : undefined, asking?.added)
      : undefined
  const whole = asking?.wire ?? sent
  return {
    candidate,
    body: whole,
    bytes: whole === body.value ? (body.bytes ?? JSON.stringify(whole)) : (onlyRenamed() ?? JSON.stringify(whole)),
    stream: upstreamStream,
    notes: [...adjusted.notes, ...translated.notes],
    settings: {
      ...freshIds(),
      ...(memory?.signatures && protocol.keptProofs?.writing),
      ...(defaults.strict && { strict: defaults.strict }),
      ...candidate.channel.options,
      ...entry.options,
      context: translated.context,
      maxEventLength: defaults.eventLimit,
      ...(asking && { hideUsage: true }),
      renewId: keepsHere || isRepeated,
      ...(renamed && { model }),
    },
  }
}

/** Some write the name with more before it. */
const nameIn = (body: unknown, model: string) => (isObject(body) && typeof body['model'] === 'string' ? body['model'] : model)

/** The text with another model name and one more field at its beginning; undefined: it has to be written anew. */
function edited(text: string, model: string | undefined, added: Record<string, unknown> | undefined): string | undefined {
  const named = model === undefined ? text : renamedText(text, model)
  if (named === undefined || !added) return named
  const first = named.indexOf('{') + 1
  const empty = /^\s*\}/.test(named.slice(first, first + 64))
  return `${named.slice(0, first)}${JSON.stringify(added).slice(1, -1)}${empty ? '' : ','}${named.slice(first)}`
}

/** Counting needs no limit for an answer that nobody makes. */
export function demanding(operation: Ask['operation'], { outputLimit }: Protocol): object {
  return operation === 'generate' ? { ...outputLimit?.demanded } : {}
}
