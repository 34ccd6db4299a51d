import type { Message } from '../canonical/message.ts'
import { TranslationError } from '../errors.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import type { Protocol } from '../protocol.ts'
import { type Reference, type Resolvers, referencesIn, resolveReferences } from './references.ts'
import type { Settings } from './settings.ts'

/** The references of a request to data stored by its provider. Nothing is looked up. */
export function referencesOf(body: unknown, protocol: Protocol, settings: Settings): Reference[] {
  return referencesIn(protocol.decodeRequest(body, optionsFor(protocol, settings)).value, {
    issuer: protocol.name,
    fieldNames: protocol.fieldNames,
  })
}

/**
 * `id`: of the response, by which the next request refers to it. `messages`: the conversation
 * including the response, as plain JSON.
 */
export type History = { id?: string; messages: Message[] }

const bringHistory: ReadonlySet<Reference['kind']> = new Set([
  'previous',
  'conversation',
  'item',
  'thread',
])

/**
 * What to store of an exchange for a request that continues it. Both bodies are in the client's
 * protocol. Instructions are left out: by the specification they are not inherited.
 * @throws TranslationError `malformed`; `inexpressible` when the request itself continues something
 * unknown
 */
export function historyOf(
  request: unknown,
  response: unknown,
  protocol: Protocol,
  { onUnresolvable, ...settings }: Settings & Resolvers,
): History {
  const place = { issuer: protocol.name, fieldNames: protocol.fieldNames }
  const decoded = resolveReferences(
    protocol.decodeRequest(request, optionsFor(protocol, settings)).value,
    settings,
    place,
  ).request
  const missing = referencesIn(decoded, place).find(({ kind }) => bringHistory.has(kind))
  if (missing && onUnresolvable !== 'note')
    throw new TranslationError(
      { code: 'inexpressible', protocol: protocol.name, path: missing.path },
      "no resolver knows what the request continues: pass `resolvePrevious` or `resolveConversation`, or set `onUnresolvable: 'note'`",
    )
  const { id, candidates } = protocol.decodeResponse(response, optionsFor(protocol, settings)).value
  const messages = decoded.messages.filter(({ origin }) => origin !== 'instructions')
  return {
    ...(id !== undefined && { id }),
    messages: [...messages, ...(candidates[0]?.messages ?? [])],
  }
}
