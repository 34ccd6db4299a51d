import type { MediaSource, Message, Part } from '../canonical/message.ts'
import type { CanonicalRequest, StateSpec } from '../canonical/request.ts'
import { flatMap } from '../kit/flat-map.ts'
import { isObject } from '../kit/json.ts'
import type { FieldNames } from '../protocol.ts'

/**
 * What a request means by an id: an earlier reply (`previous`), a stored `conversation`, one `item` of either, a stored
 * `prompt`, a `thread`, a `file`, `content` that was cached, an answer to be continued (`continuation`).
 */
export type ReferenceKind = 'previous' | 'conversation' | 'item' | 'prompt' | 'thread' | 'file' | 'content' | 'continuation'

/** Something that stands in the memory of a provider, and only there. */
export type Reference = {
  kind: ReferenceKind
  /** `''` where the wire refers by something else. */
  id: string
  /** The protocol whose provider gave the id. */
  issuer: string
  /** JSON pointer into the body. */
  path: string
  /** As it stands on the wire, where that is more than an id. */
  raw?: unknown
}

/**
 * Lookups of what ids stand for. They are synchronous, because translation is: fetch what `referencesOf` lists before.
 * `undefined`: not known here. Instructions in what they give are left out, for no wire lets them be inherited.
 */
export type Resolvers = {
  /** Everything that was said up to that reply, the reply itself included; as `historyOf` gives it. */
  resolvePrevious?: (id: string) => readonly Message[] | undefined
  resolveConversation?: (id: string) => readonly Message[] | undefined
  /** What stands in the place of a reference to one item. */
  resolveItem?: (id: string) => readonly Message[] | undefined
  /** `prompt`: with its version and variables, as it stands on the wire. */
  resolvePrompt?: (prompt: unknown) => readonly Message[] | undefined
  resolveThread?: (thread: unknown) => readonly Message[] | undefined
  /** Where the bytes of a file are. `issuer`: the protocol whose provider gave the id. */
  resolveFile?: (id: string, issuer: string) => MediaSource | undefined
}

type Place = { issuer: string; fieldNames: FieldNames }

/** All references of a request, in the order in which they are resolved. */
export function referencesIn(request: CanonicalRequest, place: Place): Reference[] {
  const found: Reference[] = []
  const note = (reference: Reference) => {
    found.push(reference)
    return undefined
  }
  walk(request, place, { state: note, item: note, file: note })
  return found
}

/**
 * The request with what the resolvers know in place of its references. `resolved` is 0 when it is the same request.
 * References that nobody knows stay, and are refused by encoders that cannot write them.
 */
export function resolveReferences(request: CanonicalRequest, resolvers: Resolvers, place: Place): { request: CanonicalRequest; resolved: number } {
  let resolved = 0
  const counted = <T>(value: T | undefined): T | undefined => {
    if (value !== undefined) resolved++
    return value
  }
  const written = walk(request, place, {
    state: reference => counted(lookUp(reference, resolvers)),
    item: ({ id }) => counted(resolvers.resolveItem?.(id)),
    file: ({ id, issuer }) => counted(resolvers.resolveFile?.(id, issuer)),
  })
  return { request: resolved > 0 ? written : request, resolved }
}

function lookUp({ kind, id, raw }: Reference, resolvers: Resolvers): readonly Message[] | undefined {
  switch (kind) {
    case 'previous':
      return resolvers.resolvePrevious?.(id)
    case 'conversation':
      return resolvers.resolveConversation?.(id)
    case 'prompt':
      return resolvers.resolvePrompt?.(raw)
    case 'thread':
      return resolvers.resolveThread?.(raw)
    case 'item':
    case 'file':
    case 'content':
    case 'continuation':
      return undefined
    default:
      return kind satisfies never
  }
}

type Visitor = {
  state(reference: Reference): readonly Message[] | undefined
  item(reference: Reference): readonly Message[] | undefined
  file(reference: Reference): MediaSource | undefined
}

const stateKinds = [
  ['thread', 'thread'],
  ['conversation', 'conversation'],
  ['previousId', 'previous'],
  ['prompt', 'prompt'],
  ['continuationToken', 'continuation'],
] as const satisfies [keyof StateSpec, ReferenceKind][]

function walk(request: CanonicalRequest, { issuer, fieldNames }: Place, visitor: Visitor): CanonicalRequest {
  const pathOf = (field: string) => `/${fieldNames[field] ?? field.replaceAll('.', '/')}`
  const { state, cache } = request
  const left: StateSpec = { ...state }
  const history: Message[] = []
  for (const [key, kind] of stateKinds) {
    const told = state?.[key]
    if (told === undefined || told === null) continue
    const path = pathOf(`state.${key}`)
    const found = visitor.state({ kind, id: idOf(told), issuer, path, ...(typeof told !== 'string' && { raw: told }) })
    if (!found) continue
    delete left[key]
    history.push(...placed(found, path))
  }
  if (cache?.contentRef !== undefined) visitor.state({ kind: 'content', id: cache.contentRef, issuer, path: pathOf('cache.contentRef') })
  const own = flatMap(request.messages, message => itemsOf(message, issuer, visitor))
  const first = own.findIndex(({ origin }) => origin !== 'instructions')
  const start = first < 0 ? own.length : first
  const messages = [...own.slice(0, start), ...history, ...own.slice(start)].map(message => ({ ...message, parts: withFiles(message.parts, visitor) }))
  const { state: _, ...rest } = request
  return { ...rest, messages, ...(Object.keys(left).length > 0 && { state: left }) }
}

/** A message that is nothing but a reference becomes what it stands for. */
function itemsOf(message: Message, issuer: string, visitor: Visitor): readonly Message[] {
  const [part] = message.parts
  if (part?.type !== 'control' || part.control !== 'item-reference') return [message]
  const path = part.at ?? message.at ?? ''
  const found = visitor.item({ kind: 'item', id: idOf(part.raw), issuer, path, raw: part.raw })
  return found ? placed(found, path) : [message]
}

function withFiles(parts: readonly Part[], visitor: Visitor): Part[] {
  return parts.map(part => {
    if (part.type === 'tool-result') return { ...part, content: withFiles(part.content, visitor) }
    if (part.type !== 'media') return part
    const { source } = part
    if (source.type === 'parts') return { ...part, source: { ...source, parts: withFiles(source.parts, visitor) } }
    if (source.type !== 'file-id') return part
    const found = visitor.file({ kind: 'file', id: source.id, issuer: source.issuer, path: part.at ?? '' })
    return found ? { ...part, source: found } : part
  })
}

/** Messages from elsewhere, without instructions: notes about them point to the reference that brought them. */
function placed(messages: readonly Message[], path: string): Message[] {
  return messages.filter(({ origin }) => origin !== 'instructions').map(message => ({ ...message, parts: partsAt(message.parts, path), at: path }))
}

function partsAt(parts: readonly Part[], at: string): Part[] {
  return parts.map(part => {
    if (part.type === 'tool-result') return { ...part, content: partsAt(part.content, at), at }
    if (part.type === 'search-result') return { ...part, parts: partsAt(part.parts, at), at }
    return { ...part, at }
  })
}

function idOf(told: unknown): string {
  if (typeof told === 'string') return told
  return isObject(told) && typeof told['id'] === 'string' ? told['id'] : ''
}
