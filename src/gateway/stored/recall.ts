import { dotted } from '../../kit/notes/path.ts'
import type { Protocol, StoredReplies } from '../../protocol.ts'
import { referencesOf } from '../../translate/history.ts'
import type { Reference, Resolvers } from '../../translate/references.ts'
import type { Signal } from '../../transports/stopper.ts'
import type { Ask, Service } from '../ask.ts'
import { ChangedBody } from '../body/body.ts'
import { Refusal, reasonOf, refuse } from '../error.ts'
import type { Identity } from '../hooks.ts'
import type { Candidate } from '../upstream/catalog.ts'
import type { Kept, ReplyStore } from './reply-store.ts'

/** Does the candidate's provider store replies itself, and understand the caller's references to them? */
export function keepsItself({ channel, protocol }: Candidate, caller: Protocol): boolean {
  return protocol === caller && !channel.embedded && caller.address.stored !== undefined
}

const bringHistory: ReadonlySet<Reference['kind']> = new Set(['previous', 'conversation', 'item'])

/**
 * Looks up the references of a request, and removes the candidates that cannot resolve all of them. The one whose provider stores the
 * reply comes first. Items that are stored here are inserted into the body, since the meaning of an item may depend on its neighbour.
 * @throws Refusal when no candidate is left
 */
export async function recall({ replyStore }: Service, came: Ask, owner: Identity): Promise<Ask> {
  const { protocol, candidates } = came
  const { stored } = protocol.address
  const proofs = replyStore?.signatures ? await proofsOf(replyStore, came, owner) : new Map<string, string>()
  const always = { proof: (callId: string) => proofs.get(callId), keeps: replyStore !== undefined && stored?.wantsToKeep(came.body.value) === true }
  const able = candidates.filter(candidate => keepsItself(candidate, protocol))
  // When the provider resolves everything, the request need not be decoded.
  const mayRefer = (replyStore || able.length < candidates.length) && stored?.mayRefer(came.body.value)
  const referred = mayRefer ? historyIn(came.body.value, protocol) : []
  // The new key comes first: see "What V8 punishes" in docs/performance.md.
  if (!stored || referred.length === 0) return { recalled: { known: {}, resolversFor: () => ({}), ...always }, ...came }

  const { replies, items } = await lookUp(replyStore, referred, { stored, owner, signal: came.request.signal })
  const ask = items.size === 0 ? came : { ...came, body: new ChangedBody(came.body, value => stored.inFull(value, id => items.get(id))) }
  const references = referred.filter(({ kind, id }) => kind !== 'item' || !items.has(id))
  const isWithProvider = (reference: Reference, { channel }: Candidate) => replies.get(reference)?.channel === channel.name
  const knows = (candidate: Candidate) =>
    references.every(reference => {
      const kept = replies.get(reference)
      if (kept?.messages) return true
      return keepsItself(candidate, protocol) && (!kept || isWithProvider(reference, candidate))
    })
  const resolvers = (isHere: (reference: Reference) => boolean): Resolvers => {
    const byId = new Map(references.flatMap(one => (one.kind === 'previous' && isHere(one) ? [[one.id, replies.get(one)?.messages] as const] : [])))
    return byId.size > 0 ? { resolvePrevious: id => byId.get(id) } : {}
  }
  const chosen = candidates.filter(knows)
  if (chosen.length === 0) throw unknownOf(references.find(reference => !replies.get(reference)?.messages) ?? references[0], protocol, replyStore)
  const rank = (candidate: Candidate) => (references.some(reference => isWithProvider(reference, candidate)) ? 0 : 1)
  return {
    ...ask,
    candidates: chosen.sort((a, b) => rank(a) - rank(b)),
    recalled: {
      known: resolvers(() => true),
      resolversFor: candidate => resolvers(reference => !(keepsItself(candidate, protocol) && isWithProvider(reference, candidate))),
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

/** What is stored here of a request's references: replies that it continues, and items by their ids. */
type Found = { replies: Map<Reference, Kept>; items: Map<string, unknown> }

async function lookUp(
  replyStore: ReplyStore | undefined,
  references: readonly Reference[],
  { stored, owner, signal }: { stored: StoredReplies; owner: Identity; signal: Signal },
): Promise<Found> {
  const found: Found = { replies: new Map(), items: new Map() }
  if (!replyStore) return found
  const idsOf = (kind: Reference['kind']) => references.flatMap(one => (one.kind === kind ? [one.id] : []))
  const holders = await each(idsOf('item'), signal, id => replyStore.replyOf(owner, id))
  const replies = await each([...idsOf('previous'), ...holders.values()], signal, id => replyStore.reply(owner, id))
  for (const reference of references) {
    const { kind, id } = reference
    const kept = replies.get(kind === 'item' ? (holders.get(id) ?? '') : id)
    if (kind === 'previous' && kept) found.replies.set(reference, kept)
    const item = kind === 'item' ? stored.itemOf(kept?.body, id) : undefined
    if (item !== undefined) found.items.set(id, item)
  }
  return found
}

async function proofsOf(replyStore: ReplyStore, { protocol, body, request }: Ask, owner: Identity): Promise<Map<string, string>> {
  return each(protocol.keptProofs?.keysOf(body.value) ?? [], request.signal, id => replyStore.signature(owner, id))
}

/** How many look-ups of one request may be under way at once. */
const mostAtOnce = 16

/** What is found under the ids, looked up side by side. @throws Refusal when the store fails or the client has left; then nothing more is looked up */
async function each<T>(ids: Iterable<string>, signal: Signal, find: (id: string) => Promise<T | undefined>): Promise<Map<string, T>> {
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

function unknownOf(reference: Reference | undefined, { address }: Protocol, replyStore: ReplyStore | undefined): Refusal {
  const { kind = 'previous', id = '', path = '' } = reference ?? {}
  if (replyStore && address.stored && (kind === 'previous' || kind === 'item')) return new Refusal(address.stored.unknown(kind, id))
  const mend = kind !== 'conversation' && !replyStore ? 'send the whole conversation, or let the gateway keep replies (`store`)' : 'send the whole conversation'
  return refuse(400, 'unsupported', `${dotted(path)} refers to what only a provider of this protocol keeps, and no channel of this model is one: ${mend}`, {
    param: dotted(path),
  })
}
