import { dotted } from '../../kit/notes/path.ts'
import type { Protocol, StoredResponses } from '../../protocol.ts'
import { referencesOf } from '../../translate/history.ts'
import type { Reference, Resolvers } from '../../translate/references.ts'
import type { Signal } from '../../transports/abort-controller.ts'
import { ChangedBody } from '../body/body.ts'
import { GatewayError, reasonOf, reject } from '../error.ts'
import type { Identity } from '../hooks.ts'
import type { RequestContext, Service } from '../request-context.ts'
import type { Deployment } from '../upstream/catalog.ts'
import type { Kept, ResponseStore } from './response-store.ts'

/**
 * Does the candidate's provider store responses itself, and understand the caller's references to
 * them?
 */
export function keepsItself({ channel, protocol }: Deployment, caller: Protocol): boolean {
  return protocol === caller && !channel.embedded && caller.address.stored !== undefined
}

const bringHistory: ReadonlySet<Reference['kind']> = new Set(['previous', 'conversation', 'item'])

/**
 * Looks up the references of a request, and removes the candidates that cannot resolve all of them.
 * The one whose provider stores the response comes first. Items that are stored here are inserted
 * into the body, since the meaning of an item may depend on its neighbour.
 * @throws GatewayError when no candidate is left
 */
export async function recall(
  { responseStore }: Service,
  received: RequestContext,
  owner: Identity,
): Promise<RequestContext> {
  const { protocol, candidates } = received
  const { stored } = protocol.address
  const signatures = responseStore?.signatures
    ? await storedSignaturesFor(responseStore, received, owner)
    : new Map<string, string>()
  const always = {
    storedSignature: (callId: string) => signatures.get(callId),
    keeps: responseStore !== undefined && stored?.wantsToKeep(received.body.outline) === true,
  }
  const able = candidates.filter(candidate => keepsItself(candidate, protocol))
  // When the provider resolves everything, the request need not be decoded.
  const isAsked = stored && (responseStore || able.length < candidates.length)
  if (isAsked) await received.body.parse?.()
  const mayRefer = isAsked && stored.mayRefer(received.body.value)
  const referred = mayRefer ? historyIn(received.body.value, protocol) : []
  // The new key comes first: see "What V8 punishes" in docs/performance.md.
  if (!stored || referred.length === 0)
    return { recalled: { known: {}, resolversFor: () => ({}), ...always }, ...received }

  const { responses, items } = await lookUp(responseStore, referred, {
    stored,
    owner,
    signal: received.request.signal,
  })
  const incoming =
    items.size === 0
      ? received
      : {
          ...received,
          body: new ChangedBody(received.body, value => stored.inFull(value, id => items.get(id))),
        }
  const references = referred.filter(({ kind, id }) => kind !== 'item' || !items.has(id))
  const isWithProvider = (reference: Reference, { channel }: Deployment) =>
    responses.get(reference)?.channel === channel.name
  const knows = (candidate: Deployment) =>
    references.every(reference => {
      const kept = responses.get(reference)
      if (kept?.messages) return true
      return keepsItself(candidate, protocol) && (!kept || isWithProvider(reference, candidate))
    })
  const resolvers = (isHere: (reference: Reference) => boolean): Resolvers => {
    const byId = new Map(
      references.flatMap(one =>
        one.kind === 'previous' && isHere(one)
          ? [[one.id, responses.get(one)?.messages] as const]
          : [],
      ),
    )
    return byId.size > 0 ? { resolvePrevious: id => byId.get(id) } : {}
  }
  const chosen = candidates.filter(knows)
  if (chosen.length === 0)
    throw unknownOf(
      references.find(reference => !responses.get(reference)?.messages) ?? references[0],
      protocol,
      responseStore,
    )
  const rank = (candidate: Deployment) =>
    references.some(reference => isWithProvider(reference, candidate)) ? 0 : 1
  return {
    ...incoming,
    candidates: chosen.sort((a, b) => rank(a) - rank(b)),
    recalled: {
      known: resolvers(() => true),
      resolversFor: candidate =>
        resolvers(
          reference => !(keepsItself(candidate, protocol) && isWithProvider(reference, candidate)),
        ),
      ...always,
    },
  }
}

/** The references of a request. None if it is invalid: its translation will report the fault. */
function historyIn(body: unknown, protocol: Protocol): Reference[] {
  try {
    return referencesOf(body, protocol, {}).filter(({ kind }) => bringHistory.has(kind))
  } catch {
    return []
  }
}

/**
 * What is stored here of a request's references: responses that it continues, and items by their
 * ids.
 */
type Found = { responses: Map<Reference, Kept>; items: Map<string, unknown> }

async function lookUp(
  responseStore: ResponseStore | undefined,
  references: readonly Reference[],
  { stored, owner, signal }: { stored: StoredResponses; owner: Identity; signal: Signal },
): Promise<Found> {
  const found: Found = { responses: new Map(), items: new Map() }
  if (!responseStore) return found
  const idsOf = (kind: Reference['kind']) =>
    references.flatMap(one => (one.kind === kind ? [one.id] : []))
  const holders = await each(idsOf('item'), signal, id => responseStore.responseOf(owner, id))
  const responses = await each([...idsOf('previous'), ...holders.values()], signal, id =>
    responseStore.response(owner, id),
  )
  for (const reference of references) {
    const { kind, id } = reference
    const kept = responses.get(kind === 'item' ? (holders.get(id) ?? '') : id)
    if (kind === 'previous' && kept) found.responses.set(reference, kept)
    const item = kind === 'item' ? stored.itemOf(kept?.body, id) : undefined
    if (item !== undefined) found.items.set(id, item)
  }
  return found
}

async function storedSignaturesFor(
  responseStore: ResponseStore,
  { protocol, body, request }: RequestContext,
  owner: Identity,
): Promise<Map<string, string>> {
  return each(protocol.signatureStorage?.keysOf(body.value) ?? [], request.signal, id =>
    responseStore.signature(owner, id),
  )
}

/** How many look-ups of one request may be under way at once. */
const mostAtOnce = 16

/**
 * What is found under the ids, looked up side by side.
 * @throws GatewayError when the store fails or the client has left; then nothing more is looked up
 */
async function each<T>(
  ids: Iterable<string>,
  signal: Signal,
  find: (id: string) => Promise<T | undefined>,
): Promise<Map<string, T>> {
  const found = new Map<string, T>()
  const rest = [...new Set(ids)].reverse()
  const findRest = async () => {
    for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
      const value = await find(id)
      if (value !== undefined) found.set(id, value)
      if (signal.aborted) throw reasonOf(signal)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(mostAtOnce, rest.length) }, findRest))
  } finally {
    rest.length = 0
  }
  return found
}

function unknownOf(
  reference: Reference | undefined,
  { address }: Protocol,
  responseStore: ResponseStore | undefined,
): GatewayError {
  const { kind = 'previous', id = '', path = '' } = reference ?? {}
  if (responseStore && address.stored && (kind === 'previous' || kind === 'item'))
    return new GatewayError(address.stored.unknown(kind, id))
  const mend =
    kind !== 'conversation' && !responseStore
      ? 'send the whole conversation, or let the gateway store responses (`store`)'
      : 'send the whole conversation'
  const message = `${dotted(path)} refers to what only a provider of this protocol keeps, and no channel of this model is one: ${mend}`
  // Clients know this code, and then send the whole conversation.
  if (address.stored && kind === 'previous')
    return new GatewayError({ ...address.stored.unknown(kind, id), message }, { failure: 'client' })
  return reject(400, 'unsupported', message, { param: dotted(path) })
}
