import type { Note } from '../canonical/note.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import { withoutWire } from '../kit/fields/source.ts'
import { isObject } from '../kit/json/json.ts'
import { readBody } from '../kit/json/wrong-input.ts'
import { holdsEnvelope } from '../kit/signatures/envelope.ts'
import type {
  ClientHalf,
  Protocol,
  ProtocolFacts,
  TranslationContext,
  UpstreamHalf,
} from '../protocol.ts'
import { refuseEmpty } from './empty-conversation.ts'
import { encodeRequest } from './encode.ts'
import { fitRequest } from './fitting.ts'
import { refuseForeign } from './foreign.ts'
import { refuseTooMany } from './limits.ts'
import { hasOddTools } from './passes/own-tools.ts'
import { type Resolvers, resolveReferences } from './references.ts'
import { type Exactness, placesIn, refuseIfStrict, type Settings, withDigits } from './settings.ts'

/**
 * `isPlain`: the body is known to contain no wrapped signatures. `foreignSignatures`: of every
 * protocol; `wrap`: the upstream opens them itself. `fitsVendor`: the options are demands of the
 * server, which apply between equal protocols, too.
 */
type Wrapping = { isPlain?: boolean; foreignSignatures?: 'drop' | 'wrap'; fitsVendor?: boolean }

type Given = Settings & Resolvers & Wrapping & Exactness
type Translated = { body: unknown; notes: Note[]; context: TranslationContext }

/**
 * A request of one protocol → the same request of another. Between equal protocols the body is
 * returned as it is, except for the model name, and is not even decoded unless `strict` is set. It
 * is rewritten only when it contains wrapped signatures of another provider that the upstream does
 * not open, or when a resolver knows one of its references.
 * @throws TranslationError `malformed`, `inexpressible`
 */
export function translateRequest(
  body: unknown,
  from: Protocol,
  to: Protocol,
  known: Iterable<ProtocolFacts>,
  settings: Given,
): Translated {
  return from === to
    ? readBody(from.name, body, () => translateOwn(body, from, settings))
    : translateForeign(body, from, to, known, settings)
}

function translateOwn(body: unknown, from: Protocol, settings: Given): Translated {
  const { strict, model, isPlain = false, fitsVendor = false } = settings
  const reading = optionsFor(from, settings)
  const resolvedOf = (wire: unknown) =>
    resolves(settings)
      ? resolveReferences(from.decodeRequest(wire, reading).value, settings, {
          issuer: from.name,
          fieldNames: from.fieldNames,
        }).resolved
      : 0
  // A resolver that knows an id says by that that the provider does not know it.
  const holdsForeign =
    !isPlain && settings.foreignSignatures !== 'wrap' && holdsEnvelope(body, from.name)
  const bridged = bridgedBy(body, from, settings)
  const isOdd = () => fitsVendor && hasOddTools(body, from, modelIn(body, from, settings), reading)
  if (holdsForeign || bridged?.isChanged || resolvedOf(body) > 0 || isOdd())
    return rewritten(body, from, from, settings, holdsForeign)
  if (strict) from.decodeRequest(body, reading)
  const named = model === undefined ? body : from.withModel(body, model)
  const met = fitsVendor
    ? fitRequest({ body: named, notes: [] }, from, reading, { caller: from, body })
    : { body: named, notes: [] }
  refuseIfStrict(met.notes, strict, from.name)
  return { ...met, context: { from: from.name, to: from.name, ...bridged?.context } }
}

/** The model of a request, which may stand in its path. */
export function modelIn(
  body: unknown,
  { address }: Protocol,
  { model, path }: Pick<Settings, 'model' | 'path'>,
): string | undefined {
  const named = model ?? (path === undefined ? undefined : address.match(path)?.model)
  if (named !== undefined || !isObject(body)) return named
  return typeof body['model'] === 'string' ? body['model'] : undefined
}

/**
 * Does the bridge change the request? `context`: what it needs for the response. Undefined: it has
 * nothing to do with either.
 */
function bridgedBy(
  body: unknown,
  from: Protocol,
  { bridge, model, ...settings }: Given,
): { isChanged: boolean; context: Pick<TranslationContext, 'request' | 'bridge'> } | undefined {
  if (!bridge) return undefined
  const { value } = from.decodeRequest(body, optionsFor(from, settings))
  const given = model === undefined ? value : { ...value, model }
  const { request, memory } = bridge.request(given, undefined)
  const isChanged = request !== given
  if (!isChanged && memory === undefined) return undefined
  return { isChanged, context: { request: remembered(value, from), bridge: memory } }
}

/**
 * The same between different protocols.
 * @throws TranslationError `malformed`, `inexpressible`
 */
export function translateForeign(
  body: unknown,
  from: ClientHalf,
  to: UpstreamHalf,
  known: Iterable<ProtocolFacts>,
  settings: Given,
): Translated {
  refuseForeign(body, from, known)
  return readBody(from.name, body, () => rewritten(body, from, to, settings, false))
}

/** `anew`: nothing of the body may be written as it is. */
function rewritten(
  body: unknown,
  from: ClientHalf,
  to: UpstreamHalf,
  settings: Given,
  anew: boolean,
): Translated {
  const { strict, model, keepsResponse = false, fitsVendor = false, keepsDigits = false } = settings
  const writing = optionsFor(to, settings)
  const decoded = from.decodeRequest(body, optionsFor(from, settings))
  const decodedRequest = decoded.value
  if (from.name !== to.name) refuseTooMany(decodedRequest, from.name)
  const resolved = resolves(settings)
    ? resolveReferences(decodedRequest, settings, {
        issuer: from.name,
        fieldNames: from.fieldNames,
      }).request
    : decodedRequest
  const request = keepsResponse ? withStore(resolved, undefined) : resolved
  const fieldNames = placesIn(decoded.fieldNames, from)
  const named = model === undefined ? request : { ...request, model }
  const encoded = encodeRequest(
    anew ? withoutWire(named) : named,
    to,
    Object.assign({}, writing, { fieldNames, mendsTools: from.name === to.name && fitsVendor }),
  )
  const noted = [...decoded.notes, ...encoded.notes]
  const written = { body: encoded.wire, notes: withDigits(noted, keepsDigits) }
  const { body: wire, notes } =
    from.name === to.name && !fitsVendor
      ? written
      : fitRequest(written, to, writing, { caller: from, body })
  refuseIfStrict(notes, strict, to.name)
  if (encoded.isEmpty) refuseEmpty(request.messages, { protocol: from.name, notes, fieldNames })
  return {
    body: wire,
    notes,
    context: {
      from: from.name,
      to: to.name,
      request: remembered(keepsResponse ? withStore(decodedRequest, true) : decodedRequest, from),
      ...encoded.context,
    },
  }
}

function resolves(options: Resolvers): boolean {
  for (const key in options) if (key.startsWith('resolve')) return true
  return false
}

function withStore(
  { state, ...request }: CanonicalRequest,
  store: true | undefined,
): CanonicalRequest {
  const { store: _, ...rest } = state ?? {}
  const left = { ...rest, ...(store && { store }) }
  return { ...request, ...(Object.keys(left).length > 0 && { state: left }) }
}

/**
 * What encoding the response needs of the request. No messages and no secrets: a context may be
 * stored where they must not be.
 */
function remembered(request: CanonicalRequest, from: ClientHalf): CanonicalRequest {
  const kept: CanonicalRequest = { messages: [] }
  if (request.model !== undefined) kept.model = request.model
  if (request.stream) kept.stream = request.stream
  if (request.candidateCount !== undefined) kept.candidateCount = request.candidateCount
  if (request.toolChoice) kept.toolChoice = request.toolChoice
  if (request.serviceTier) kept.serviceTier = request.serviceTier
  return Object.assign(kept, from.remembered?.(request))
}
