import type { Message } from '../canonical/message.ts'
import { dotted } from '../kit/path.ts'
import type { Protocol } from '../protocol.ts'
import { referencesOf } from '../translate/history.ts'
import type { Reference, Resolvers } from '../translate/references.ts'
import type { Ask, Service } from './ask.ts'
import { Refusal, refuse } from './error.ts'
import type { Identity } from './hooks.ts'
import type { Kept, Memory } from './store.ts'
import type { Candidate } from './upstream.ts'

/** Does the candidate's provider keep replies itself, and understand the caller's references to them? */
export function keepsItself({ channel, protocol }: Candidate, caller: Protocol): boolean {
  return protocol === caller && !channel.embedded && caller.address.stored !== undefined
}

const bringHistory: ReadonlySet<Reference['kind']> = new Set(['previous', 'conversation', 'item'])

/**
 * The request with what is known of its references, and with those candidates only that can follow them all; one whose
 * provider keeps the reply goes first.
 * @throws Refusal when none can
 */
export async function recall({ memory }: Service, ask: Ask, owner: Identity): Promise<Ask> {
  const { protocol, body, candidates } = ask
  const proofs = memory?.signatures ? await proofsOf(memory, ask, owner) : new Map<string, string>()
  const told = { proof: (callId: string) => proofs.get(callId), keeps: memory !== undefined && wantsToKeep(ask) }
  const able = candidates.filter(candidate => keepsItself(candidate, protocol))
  // Where all is the provider's business, the request is not even read.
  const mayRefer = (memory || able.length < candidates.length) && protocol.address.stored?.mayRefer(body.value)
  const references = mayRefer ? historyIn(body.value, protocol) : []
  // The new key stands first: see "Speed" in docs/architecture.md.
  if (references.length === 0) return { recalled: { known: {}, resolversFor: () => ({}), ...told }, ...ask }

  const found = new Map<Reference, Found>()
  for (const reference of references) {
    const kept = memory && (await lookUp(memory, { reference, protocol, owner }))
    if (kept) found.set(reference, kept)
  }
  const isWithProvider = (reference: Reference, { channel }: Candidate) => found.get(reference)?.kept.channel === channel.name
  const knows = (candidate: Candidate) =>
    references.every(reference => {
      const recalled = found.get(reference)
      if (recalled?.messages) return true
      return keepsItself(candidate, protocol) && (!recalled || isWithProvider(reference, candidate))
    })
  const resolvers = (isHere: (reference: Reference) => boolean): Resolvers => {
    const here = (kind: Reference['kind']) => {
      const byId = new Map(references.flatMap(one => (one.kind === kind && isHere(one) ? [[one.id, found.get(one)?.messages] as const] : [])))
      return byId.size > 0 ? (id: string) => byId.get(id) : undefined
    }
    const [resolvePrevious, resolveItem] = [here('previous'), here('item')]
    return { ...(resolvePrevious && { resolvePrevious }), ...(resolveItem && { resolveItem }) }
  }
  const chosen = candidates.filter(knows)
  if (chosen.length === 0) throw unknownOf(references.find(reference => !found.get(reference)?.messages) ?? references[0], protocol, memory)
  const rank = (candidate: Candidate) => (references.some(reference => isWithProvider(reference, candidate)) ? 0 : 1)
  return {
    ...ask,
    candidates: chosen.sort((a, b) => rank(a) - rank(b)),
    recalled: {
      known: resolvers(() => true),
      resolversFor: candidate => resolvers(reference => !(keepsItself(candidate, protocol) && isWithProvider(reference, candidate))),
      ...told,
    },
  }
}

/** A request's references to earlier replies. None in a body that cannot be read: translating it will say what is wrong. */
function historyIn(body: unknown, protocol: Protocol): Reference[] {
  try {
    return referencesOf(body, protocol, {}).filter(({ kind }) => bringHistory.has(kind))
  } catch {
    return []
  }
}

type Found = { kept: Kept; messages?: Message[] | undefined }

async function lookUp(
  memory: Memory,
  { reference: { kind, id }, protocol, owner }: { reference: Reference; protocol: Protocol; owner: Identity },
): Promise<Found | undefined> {
  if (kind === 'previous') {
    const kept = await memory.reply(owner, id)
    return kept && { kept, messages: kept.messages }
  }
  const reply = kind === 'item' ? await memory.replyOf(owner, id) : undefined
  const kept = reply === undefined ? undefined : await memory.reply(owner, reply)
  const only = kept && protocol.address.stored?.only(kept.body, id)
  return kept && only ? { kept, messages: protocol.decodeResponse(only).value.candidates[0]?.messages } : undefined
}

function wantsToKeep({ protocol, body }: Ask): boolean {
  if (!protocol.address.stored) return false
  try {
    return protocol.decodeRequest(body.value).value.state?.store !== false
  } catch {
    return false
  }
}

async function proofsOf(memory: Memory, { protocol, body }: Ask, owner: Identity): Promise<Map<string, string>> {
  const ids = [...new Set(protocol.keptProofs?.keysOf(body.value))]
  const texts = await Promise.all(ids.map(id => memory.signature(owner, id)))
  return new Map(ids.flatMap((id, index) => (texts[index] === undefined ? [] : [[id, texts[index]]])))
}

function unknownOf(reference: Reference | undefined, { address }: Protocol, memory: Memory | undefined): Refusal {
  const { kind = 'previous', id = '', path = '' } = reference ?? {}
  if (memory && address.stored && (kind === 'previous' || kind === 'item')) return new Refusal(address.stored.unknown(kind, id))
  const mend = kind !== 'conversation' && !memory ? 'send the whole conversation, or let the gateway keep replies (`store`)' : 'send the whole conversation'
  return refuse(400, 'unsupported', `${dotted(path)} refers to what only a provider of this protocol keeps, and no channel of this model is one: ${mend}`, {
    param: dotted(path),
  })
}
