import type { Note } from '../canonical/note.ts'
import { neededBy } from '../clients/index.ts'
import { isObject } from '../kit/json.ts'
import type { Protocol, StreamUsage, TranslationContext } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { translateRequest } from '../translate/request.ts'
import type { Settings } from '../translate/settings.ts'
import type { Ask, Service } from './ask.ts'
import { long } from './body.ts'
import { freshIds } from './ids.ts'
import { renamed, withMembers } from './outline.ts'
import { writtenInPieces } from './pieces.ts'
import { keepsItself } from './recall.ts'
import { withoutStreamOptions, withStreaming } from './streaming.ts'
import { saysAny, without, withoutWritten } from './unsupported.ts'
import type { Candidate } from './upstream.ts'

/** A candidate's request, ready to be sent. */
export type Prepared = {
  candidate: Candidate
  /** What `bytes` say, for the built-in upstream. */
  body?: unknown
  bytes: string | Uint8Array<ArrayBuffer>
  /** Is the upstream asked for a stream? */
  stream: boolean
  notes: Note[]
  /** For translating the answer. */
  settings: ReturnType<typeof freshIds> & Pick<Settings, 'hideUsage' | 'renewId' | 'model' | 'strict'> & { context: TranslationContext; maxEventLength: number }
}

const all: readonly Protocol[] = Object.values(protocols)

/** The protocols whose body says whether it wants a stream; in the others the address does. */
const sayingStream: ReadonlySet<Protocol> = new Set(all.filter(({ address }) => targetOf(address, true) === targetOf(address, false)))

function targetOf(address: Protocol['address'], stream: boolean): string | undefined {
  return address.target({ operation: 'generate', model: '', stream })
}

/**
 * The caller's request as this candidate takes it. Between equal protocols the bytes stay as they are, but for the
 * model name and for the wish to be told the usage.
 * @throws TranslationError, Refusal 400
 */
export function prepare(service: Service, ask: Ask, candidate: Candidate): Prepared {
  const { operation, stream } = ask
  const { entry } = candidate
  const upstreamStream = operation === 'generate' && (entry.streaming === 'both' ? stream : entry.streaming === 'only')
  return passed(service, ask, candidate, upstreamStream) ?? translated(service, ask, candidate, upstreamStream)
}

/** The request with its bytes as they came. Undefined: something inside the body has to be read or changed. */
function passed(service: Service, ask: Ask, candidate: Candidate, upstreamStream: boolean): Prepared | undefined {
  const { protocol, operation, body, recalled } = ask
  const { protocol: to, entry, channel } = candidate
  const { outline } = body
  const reads = service.config.defaults.strict || entry.unsupported.length > 0 || channel.embedded
  if (to !== protocol || reads || keepsHere(ask, candidate) || !body.isPlain) return undefined
  if (Object.keys(recalled?.resolversFor(candidate) ?? {}).length > 0) return undefined
  if (operation === 'generate' && sayingStream.has(to) && (to.wantsStream(outline) ?? false) !== upstreamStream) return undefined
  const asking = askingUsage(outline, candidate, upstreamStream)
  const bytes = edited(ask, candidate, asking)
  if (!bytes) return undefined
  return {
    candidate,
    bytes,
    stream: upstreamStream,
    notes: [],
    settings: settingsOf(service, ask, candidate, { context: { from: protocol.name, to: to.name }, hidesUsage: asking !== undefined }),
  }
}

function translated(service: Service, ask: Ask, candidate: Candidate, upstreamStream: boolean): Prepared {
  const { memory, config } = service
  const { defaults } = config
  const { protocol, operation, body, model, recalled } = ask
  const { protocol: to, entry, channel } = candidate
  const { now, newId } = freshIds()
  const adjusted = without(body.value, protocol, entry.unsupported)
  const {
    body: encoded,
    notes,
    context,
  } = translateRequest(adjusted.body, protocol, to, all, {
    now,
    newId,
    ...(defaults.strict && { strict: defaults.strict }),
    ...((candidate.model !== model || to !== protocol) && { model: candidate.model }),
    ...(to === protocol && body.isPlain && { isPlain: true }),
    ...demanding(operation, protocol),
    ...to.outputLimit?.usual(entry.maxOutputTokens ?? defaults.maxOutputTokens),
    ...channel.options,
    ...entry.options,
    ...recalled?.resolversFor(candidate),
    ...(keepsHere(ask, candidate) && { keepsReply: true }),
    ...(memory?.signatures && recalled && protocol.keptProofs?.reading(recalled.proof)),
  })
  const { body: wire, notes: told } =
    to === protocol ? { body: encoded, notes } : withoutWritten(encoded, entry.unsupported, { to, caller: protocol, body: body.value, notes })
  const { counting } = to.address
  const isCounted = operation === 'count-tokens' && to !== protocol
  const asked = isCounted && counting && isObject(wire) ? counting.ask(wire, candidate.model) : wire
  const says = to.wantsStream(wire) ?? false
  const sent = operation === 'generate' && sayingStream.has(to) && says !== upstreamStream ? withStreaming(asked, to, upstreamStream) : asked
  const asking = askingUsage(sent, candidate, upstreamStream)
  // Encoders ask for counts by themselves; what a caller says in the upstream's own protocol stays.
  const isRefused = to !== protocol && to.streamUsage !== undefined && !channel.streamUsage
  const whole = asking?.wire ?? (isRefused ? withoutStreamOptions(sent, to) : sent)
  // The bytes still say the same unless proofs of other providers were taken out, or a history was put in.
  const isKept = to === protocol && context.request === undefined && sent === wire && adjusted.body === body.value
  return {
    candidate,
    ...(channel.embedded && { body: whole }),
    bytes: (isKept ? edited(ask, candidate, asking) : undefined) ?? written(whole, body.bytes?.length ?? 0),
    stream: upstreamStream,
    notes: [...adjusted.notes, ...told],
    settings: settingsOf(service, ask, candidate, { context, hidesUsage: asking !== undefined }),
  }
}

function written(wire: unknown, length: number): string | Uint8Array<ArrayBuffer> {
  return length > long && isObject(wire) ? writtenInPieces(wire, length) : JSON.stringify(wire)
}

type Asking = ReturnType<StreamUsage['ask']> | undefined

/** How to ask for the counts of a stream. Undefined: they come unasked, are asked for already, or are not wanted. */
function askingUsage(body: unknown, { channel, entry, protocol: { streamUsage } }: Candidate, isStream: boolean): Asking {
  if (!isStream || !channel.streamUsage || streamUsage?.isAsked(body) !== false) return undefined
  const asking = streamUsage.ask(body)
  return saysAny(asking.wire, entry.unsupported) ? undefined : asking
}

/** The bytes of the body with the candidate's model name, and asking for counts where that is due. Undefined: the body has to be written anew. */
function edited({ body: { bytes, outline, members }, model }: Ask, candidate: Candidate, asking: Asking): Uint8Array<ArrayBuffer> | undefined {
  if (!bytes || !isObject(outline) || (asking && !asking.added)) return undefined
  const named = candidate.model === model ? outline : candidate.protocol.withModel(outline, candidate.model)
  if (!isObject(named)) return undefined
  const changed = Object.keys(named).filter(key => named[key] !== outline[key])
  if (changed.some(key => key !== 'model')) return undefined
  const kept = changed.length === 0 ? bytes : renamed(bytes, String(named['model']), members)
  return kept && asking?.added ? withMembers(kept, asking.added) : kept
}

/** For translating the answer. New keys stand before what is spread: see "Speed" in docs/architecture.md. */
function settingsOf(
  { config: { defaults }, memory, isRepeated }: Service,
  ask: Ask,
  candidate: Candidate,
  { context, hidesUsage }: { context: TranslationContext; hidesUsage: boolean },
): Prepared['settings'] {
  const settings: Prepared['settings'] = {
    context,
    maxEventLength: defaults.eventLimit,
    renewId: keepsHere(ask, candidate) || isRepeated,
    hideUsage: hidesUsage,
    ...freshIds(),
  }
  if (defaults.strict) settings.strict = defaults.strict
  if (candidate.model !== ask.model) settings.model = ask.model
  const proofs = memory?.signatures && ask.protocol.keptProofs?.writing
  return Object.assign(settings, proofs, neededBy(ask.request.headers['user-agent']), candidate.channel.options, candidate.entry.options)
}

const keepsHere = ({ recalled, protocol }: Ask, candidate: Candidate): boolean => recalled?.keeps === true && !keepsItself(candidate, protocol)

/** Reading options that make a request say its limit; counting tokens needs none. */
export function demanding(operation: Ask['operation'], { outputLimit }: Protocol): object {
  return operation === 'generate' ? { ...outputLimit?.demanded } : {}
}
