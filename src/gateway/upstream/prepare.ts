import { neededBy } from '../../clients/index.ts'
import { mergeOptions, optionsFor } from '../../kit/fields/option-groups.ts'
import { writeExact } from '../../kit/json/digits.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol, StreamUsage, TranslationContext } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { refuseForeign } from '../../translate/foreign.ts'
import { hasOddTools } from '../../translate/passes/own-tools.ts'
import { translateRequest } from '../../translate/request.ts'
import { type TokenLimits, withinLimits } from '../../translate/token-limits.ts'
import { hasAnyField, without, withoutWritten } from '../../translate/unsupported.ts'
import { refusedIn } from '../../vendors/settings.ts'
import { hasTools } from '../asked.ts'
import { long } from '../body/body.ts'
import { serializeInChunks } from '../body/chunks.ts'
import { atOnce, longWorkFrom, pause, withPauses } from '../body/long-work.ts'
import { renamed, withMembers } from '../body/outline.ts'
import { bridgeOf } from '../bridge.ts'
import { socketFor, vendorRules } from '../channel.ts'
import { reasonOf, reject } from '../error.ts'
import { freshIds } from '../ids.ts'
import type { RequestContext, Service } from '../request-context.ts'
import { keepsItself } from '../stored/recall.ts'
import type { Deployment } from './catalog.ts'
import { type Shape, shapeOf } from './learned.ts'
import type { Prepared } from './opened.ts'

import { setsFields, withSetFields } from './set-fields.ts'
import { withoutStreamOptions, withStreaming } from './streaming.ts'

const all: readonly Protocol[] = Object.values(protocols)

/**
 * The protocols whose body has the field that asks for a stream; in the others the address does.
 */
const streamFlagInBody: ReadonlySet<Protocol> = new Set(
  all.filter(({ address }) => targetOf(address, true) === targetOf(address, false)),
)

function targetOf(address: Protocol['address'], stream: boolean): string | undefined {
  return address.target({ operation: 'generate', model: '', stream })
}

/**
 * Translates the caller's request for a candidate. Between equal protocols the bytes stay as they
 * are, except for the model name and the option that asks for usage. `dropped`: fields that the
 * upstream has refused of this very request.
 * @throws TranslationError, GatewayError 400
 */
export async function prepare(
  service: Service,
  incoming: RequestContext,
  candidate: Deployment,
  dropped: readonly string[] = [],
): Promise<Prepared> {
  const { body } = incoming
  refuseUnsuitable(incoming, candidate)
  const sending = { upstreamStream: isStreamed(incoming, candidate), dropped }
  const same = passed(service, incoming, candidate, sending)
  if (same) return same
  if ((body.length ?? 0) < longWorkFrom) return translated(service, incoming, candidate, sending)
  // Parsed again when it is its turn.
  body.forget?.()
  return service.longWork(async () => {
    if (incoming.request.signal.aborted) throw reasonOf(incoming.request.signal)
    await pause()
    await body.parse?.()
    await pause()
    const prepared = await translated(service, incoming, candidate, sending)
    await pause()
    return prepared
  })
}

/**
 * Refuses what no server of the caller's protocol should get, also where its bytes would pass: a
 * body of another protocol, or one without the output limit that its protocol requires.
 * @throws TranslationError, GatewayError 400
 */
function refuseUnsuitable(incoming: RequestContext, candidate: Deployment): void {
  const { operation, protocol, body } = incoming
  const { outline } = body
  if (operation !== 'generate' || candidate.protocol !== protocol || !isObject(outline)) return
  if (setsFields(incoming, candidate)) return
  refuseForeign(outline, protocol, all)
  const { maxOutputTokens: limit = '' } = protocol.fieldNames
  if (protocol.outputLimit && (outline[limit] ?? null) === null)
    throw reject(400, 'invalid_request', `${limit}: a request says how many tokens it wants`, {
      param: limit,
    })
}

/** Is the upstream asked for a stream? */
function isStreamed(
  { operation, stream }: RequestContext,
  { entry, channel, protocol }: Deployment,
): boolean {
  if (operation !== 'generate') return false
  if (entry.streaming === 'only' || socketFor(channel, protocol, operation)) return true
  return entry.streaming === 'both' && stream
}

type Sending = { upstreamStream: boolean; dropped: readonly string[] }

/**
 * The request with its original bytes. Undefined: something inside the body has to be read or
 * changed.
 */
function passed(
  service: Service,
  incoming: RequestContext,
  candidate: Deployment,
  { upstreamStream, dropped }: Sending,
): Prepared | undefined {
  const { protocol, body, recalled } = incoming
  const { protocol: to, entry, channel } = candidate
  if (to !== protocol) return undefined
  const { outline } = body
  const { unsupported, shape } = refusedBy(service, incoming, candidate, { body: outline, dropped })
  const { strict } = service.config.defaults
  if (strict || channel.embedded || entry.unsupported.length > 0) return undefined
  if (withinLimits(outline, protocol, limitsOf(incoming, candidate)).body !== outline)
    return undefined
  if (hasAnyField(outline, unsupported)) return undefined
  if (setsFields(incoming, candidate) || isDemanding(incoming, candidate)) return undefined
  if (keepsHere(incoming, candidate) || !body.isPlain) return undefined
  if (Object.keys(recalled?.resolversFor(candidate) ?? {}).length > 0) return undefined
  if (hasOtherFlag(outline, incoming, candidate, upstreamStream)) return undefined
  if (bridgeOf(incoming, candidate)) return undefined
  const asking = askingUsage(outline, candidate, { isStream: upstreamStream, unsupported })
  const bytes = edited(incoming, candidate, asking)
  if (!bytes) return undefined
  return {
    candidate,
    bytes,
    stream: upstreamStream,
    notes: [],
    ...(dropped.length > 0 && { shape: shape() }),
    settings: responseSettings(service, incoming, candidate, {
      context: { from: protocol.name, to: to.name, ...usageOf(outline, to) },
      hidesUsage: asking !== undefined,
    }),
  }
}

/** Does the body ask for a stream where none is wanted, or the other way round? */
const hasOtherFlag = (
  body: unknown,
  { operation }: RequestContext,
  { protocol }: Deployment,
  wanted: boolean,
): boolean =>
  operation === 'generate' &&
  streamFlagInBody.has(protocol) &&
  (protocol.wantsStream(body) ?? false) !== wanted

/** Of copies that are made for another model name. */
const isSameButModel = (one: unknown, other: unknown): boolean =>
  isObject(one) &&
  isObject(other) &&
  Object.keys({ ...one, ...other }).every(key => key === 'model' || one[key] === other[key])

async function translated(
  service: Service,
  incoming: RequestContext,
  candidate: Deployment,
  { upstreamStream, dropped }: Sending,
): Promise<Prepared> {
  const { protocol, body } = incoming
  const { protocol: to, entry, channel } = candidate
  // `without` decodes the body, too, but cannot name the sender.
  if (to !== protocol && entry.unsupported.length > 0) refuseForeign(body.value, protocol, all)
  const refused = (written: unknown) => {
    const by = refusedBy(service, incoming, candidate, { body: written, dropped })
    return { ...by, unsupported: [...entry.unsupported, ...by.unsupported] }
  }
  const own = to === protocol ? refused(body.outline) : undefined
  const fitting = withinLimits(body.value, protocol, limitsOf(incoming, candidate))
  const less = without(fitting.body, protocol, own?.unsupported ?? entry.unsupported)
  const adjusted = { ...less, notes: [...fitting.notes, ...less.notes] }
  const settings = requestSettings(service, incoming, candidate)
  const { context, ...encoded } = translateRequest(adjusted.body, protocol, to, all, settings)
  const { unsupported, shape } = own ?? refused(encoded.body)
  const sources = { to, caller: protocol, body: body.value, notes: encoded.notes }
  const { body: wire, notes } =
    to === protocol ? encoded : withoutWritten(encoded.body, unsupported, sources)
  const counted = asCount(wire, incoming, candidate)
  const sent = hasOtherFlag(wire, incoming, candidate, upstreamStream)
    ? withStreaming(counted, to, upstreamStream)
    : counted
  const asking = askingUsage(sent, candidate, { isStream: upstreamStream, unsupported })
  const unset = withUsage(sent, incoming, candidate, asking)
  const set = setsFields(incoming, candidate) ? withSetFields(unset, candidate) : undefined
  const whole = set ? set.body : unset
  // The bytes are still valid unless signatures of other providers were removed, a history was
  // inserted, or the vendor or the configuration wants something else.
  const isKept =
    whole === unset &&
    to === protocol &&
    (context.request === undefined || isSameButModel(wire, adjusted.body)) &&
    sent === wire &&
    adjusted.body === body.value &&
    !isDemanding(incoming, candidate)
  const kept = isKept ? edited(incoming, candidate, asking) : undefined
  return {
    candidate,
    ...(channel.embedded && { body: whole }),
    bytes: kept ?? (await written(whole, body.length ?? 0)),
    stream: upstreamStream,
    notes: [...adjusted.notes, ...notes, ...(set?.notes ?? [])],
    ...(dropped.length > 0 && { shape: shape() }),
    settings: responseSettings(service, incoming, candidate, {
      context,
      hidesUsage: asking !== undefined,
    }),
  }
}

/** The most tokens of the model, by the configuration and by what is known about it. */
function limitsOf(
  { protocol: caller }: RequestContext,
  { channel, protocol, model, entry }: Deployment,
): TokenLimits {
  const { limits } = vendorRules(channel, protocol, { model, caller })
  const configured = entry.maxOutputTokens
  return configured === undefined
    ? limits
    : { ...limits, output: Math.min(configured, limits.output ?? Infinity) }
}

/** The request as the upstream counts its tokens. */
function asCount(
  wire: unknown,
  { operation, protocol }: RequestContext,
  { protocol: to, model }: Deployment,
): unknown {
  const { counting } = to.address
  const isTranslated = operation === 'count-tokens' && to !== protocol
  return isTranslated && counting && isObject(wire) ? counting.ask(wire, model) : wire
}

/**
 * The request with the stream options that it is sent with. Encoders ask for usage themselves.
 * Between equal protocols the caller's own setting stays.
 */
function withUsage(
  wire: unknown,
  { protocol }: RequestContext,
  { protocol: to, channel }: Deployment,
  asking: Asking,
): unknown {
  const isRefused = to !== protocol && to.streamUsage !== undefined && !channel.streamUsage
  return asking?.wire ?? (isRefused ? withoutStreamOptions(wire, to) : wire)
}

/** Settings for translating the request. */
function requestSettings(
  { responseStore, config: { defaults } }: Service,
  incoming: RequestContext,
  candidate: Deployment,
): Parameters<typeof translateRequest>[4] {
  const { protocol, operation, body, model, recalled } = incoming
  const { protocol: to, entry, channel } = candidate
  const { now, newId } = freshIds()
  const limit = to.outputLimit?.defaults(entry.maxOutputTokens ?? defaults.maxOutputTokens)
  const ofAgent = isOfForeignAgent(incoming, to) ? to.agentDefaults : undefined
  const signatures =
    responseStore?.signatures &&
    recalled &&
    protocol.signatureStorage?.reading(recalled.storedSignature)
  return {
    now,
    newId,
    path: incoming.request.path,
    keepsDigits: true,
    ...(defaults.strict && { strict: defaults.strict }),
    ...((candidate.model !== model || to !== protocol) && { model: candidate.model }),
    ...(to === protocol && body.isPlain && { isPlain: true }),
    ...(channel.vendor && { fitsVendor: true }),
    ...bridgeOf(incoming, candidate),
    ...mergeOptions(
      groupOf(protocol, demanding(operation, protocol)),
      groupOf(to, limit),
      ofAgent,
      neededBy(incoming.request.headers['user-agent']),
      vendorRules(channel, to, { model: candidate.model, caller: protocol }).options,
      channel.options,
      entry.options,
      groupOf(protocol, signatures),
    ),
    ...recalled?.resolversFor(candidate),
    ...(keepsHere(incoming, candidate) && { keepsResponse: true }),
  }
}

/** A request with tools is one of an agent. */
const isOfForeignAgent = (
  { operation, protocol, body: { outline } }: RequestContext,
  to: Protocol,
): boolean => operation === 'generate' && to !== protocol && hasTools(outline)

/** Does the vendor want anything in the body to be different? A long body is parsed for that. */
function isDemanding(
  { operation, body }: RequestContext,
  { protocol, channel, entry, model }: Deployment,
): boolean {
  if (operation !== 'generate' || !channel.vendor || !protocol.fitRequest) return false
  const { options } = vendorRules(channel, protocol, { model, caller: protocol })
  if (Object.keys(options).length === 0) return false
  const wanted = optionsFor(protocol, mergeOptions(options, channel.options, entry.options))
  const named = protocol.withModel(body.value, model)
  return (
    protocol.fitRequest(named, wanted).wire !== body.value ||
    hasOddTools(named, protocol, model, wanted)
  )
}

/**
 * The fields that the vendor refuses, and those that this upstream has refused, of this request or
 * of one like it.
 */
function refusedBy(
  { learned }: Service,
  { operation, protocol: caller }: RequestContext,
  candidate: Deployment,
  { body, dropped }: { body: unknown; dropped: readonly string[] },
): { unsupported: readonly string[]; shape: () => Shape } {
  const { channel, protocol, model } = candidate
  const unsupported = refusedIn(vendorRules(channel, protocol, { model, caller }), body)
  const shape = () => shapeOf(body, operation, candidate.protocol)
  const refused = [...dropped, ...learned.of(candidate, shape)]
  return { unsupported: refused.length > 0 ? [...unsupported, ...refused] : unsupported, shape }
}

function written(
  wire: unknown,
  length: number,
): string | Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  if (length <= long || !isObject(wire)) return writeExact(wire)
  const steps = serializeInChunks(wire, length)
  return length < longWorkFrom ? atOnce(steps) : pause().then(() => withPauses(steps))
}

/** For an upstream that answers with JSON: does the client want usage in its stream? */
const usageOf = (body: unknown, { streamUsage }: Protocol): Pick<TranslationContext, 'request'> =>
  streamUsage?.isRequested(body)
    ? { request: { messages: [], stream: { enabled: true, includeUsage: true } } }
    : {}

type Asking = ReturnType<StreamUsage['ask']> | undefined

/**
 * How to ask for the usage of a stream. Undefined: the upstream sends it anyway, the request asks
 * for it already, or it is not wanted.
 */
function askingUsage(
  body: unknown,
  { channel, entry, protocol: { streamUsage } }: Deployment,
  { isStream, unsupported }: { isStream: boolean; unsupported: readonly string[] },
): Asking {
  if (!isStream || !channel.streamUsage || streamUsage?.isRequested(body) !== false)
    return undefined
  const asking = streamUsage.ask(body)
  return hasAnyField(asking.wire, [...entry.unsupported, ...unsupported]) ? undefined : asking
}

/**
 * The original bytes with the candidate's model name and, if needed, the option that asks for
 * usage. Undefined: the body has to be serialized again.
 */
function edited(
  { body: { bytes, outline, members }, model }: RequestContext,
  candidate: Deployment,
  asking: Asking,
): Uint8Array<ArrayBuffer> | undefined {
  if (!bytes || !isObject(outline) || (asking && !asking.added)) return undefined
  const named =
    candidate.model === model ? outline : candidate.protocol.withModel(outline, candidate.model)
  if (!isObject(named)) return undefined
  const changed = Object.keys(named).filter(key => named[key] !== outline[key])
  if (changed.some(key => key !== 'model')) return undefined
  const kept = changed.length === 0 ? bytes : renamed(bytes, String(named['model']), members)
  return kept && asking?.added ? withMembers(kept, asking.added) : kept
}

/**
 * Settings for translating the response. New keys come before the spread: see "What V8 punishes" in
 * docs/performance.md.
 */
function responseSettings(
  { config: { defaults }, responseStore, isRepeated }: Service,
  incoming: RequestContext,
  candidate: Deployment,
  { context, hidesUsage }: { context: TranslationContext; hidesUsage: boolean },
): Prepared['settings'] {
  const settings: Prepared['settings'] = {
    context,
    maxEventLength: defaults.eventLimit,
    renewId: keepsHere(incoming, candidate) || isRepeated,
    hideUsage: hidesUsage,
    keepsDigits: true,
    ...freshIds(),
  }
  if (context.bridge !== undefined) Object.assign(settings, bridgeOf(incoming, candidate))
  if (defaults.strict) settings.strict = defaults.strict
  if (candidate.model !== incoming.model) settings.model = incoming.model
  const signatures = responseStore?.signatures && incoming.protocol.signatureStorage?.writing
  return Object.assign(
    settings,
    mergeOptions(
      groupOf(incoming.protocol, signatures),
      neededBy(incoming.request.headers['user-agent']),
      vendorRules(candidate.channel, candidate.protocol, {
        model: candidate.model,
        caller: incoming.protocol,
      }).responseOptions,
      candidate.channel.options,
      candidate.entry.options,
    ),
  )
}

/** Options of one protocol as a group of settings. */
const groupOf = (
  { optionsKey }: Protocol,
  options: object | false | undefined,
): object | undefined => (options ? { [optionsKey]: options } : undefined)

const keepsHere = ({ recalled, protocol }: RequestContext, candidate: Deployment): boolean =>
  recalled?.keeps === true && !keepsItself(candidate, protocol)

/**
 * Options that refuse a request without an output limit, if its protocol requires one. Counting
 * tokens needs none.
 */
export function demanding(
  operation: RequestContext['operation'],
  { outputLimit }: Protocol,
): object {
  return operation === 'generate' ? { ...outputLimit?.demanded } : {}
}
