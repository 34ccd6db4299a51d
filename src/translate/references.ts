import type { MediaSource, Message, Part, Place } from '../canonical/message.ts'
import type { CanonicalRequest, StateSpec } from '../canonical/request.ts'
import { isObject } from '../kit/json/json.ts'
import { pointerOf } from '../kit/notes/path.ts'
import { append } from '../kit/text/append.ts'
import { flatMap } from '../kit/text/flat-map.ts'
import type { FieldNames } from '../protocol.ts'

/**
 * What an id in a request refers to: an earlier response (`previous`), a stored `conversation`, one
 * `item` of either, a stored `prompt`, a `thread`, a `file`, cached `content`, or a response to be
 * continued (`continuation`).
 */
export type ReferenceKind =
  | 'previous'
  | 'conversation'
  | 'item'
  | 'prompt'
  | 'thread'
  | 'file'
  | 'content'
  | 'continuation'

/** Something that is stored by a provider, and only there. */
export type Reference = {
  kind: ReferenceKind
  /** `''`: the reference on the wire is no id; see `raw`. */
  id: string
  /** The protocol of the provider that issued the id. */
  issuer: string
  /** JSON pointer into the body. */
  path: string
  /** The reference as on the wire, when that is more than an id. */
  raw?: unknown
}

/**
 * Functions that return what an id refers to; undefined: unknown. They are synchronous, because
 * translation is: fetch what `referencesOf` lists beforehand. Instructions among the returned
 * messages are ignored, since no protocol inherits them.
 */
export type Resolvers = {
  /** The conversation up to and including that response: `messages` of `historyOf`. */
  resolvePrevious?: (id: string) => readonly Message[] | undefined
  /** The messages of a stored conversation. */
  resolveConversation?: (id: string) => readonly Message[] | undefined
  /** The item as messages. */
  resolveItem?: (id: string) => readonly Message[] | undefined
  /** `prompt`: with its version and variables, in its wire form. */
  resolvePrompt?: (prompt: unknown) => readonly Message[] | undefined
  /** The messages of a thread. `thread`: as it is on the wire. */
  resolveThread?: (thread: unknown) => readonly Message[] | undefined
  /** The contents of a file. `issuer`: the protocol of the provider that issued the id. */
  resolveFile?: (id: string, issuer: string) => MediaSource | undefined
}

type Body = { issuer: string; fieldNames: FieldNames }

/** All references of a request, in the order in which they are resolved. */
export function referencesIn(request: CanonicalRequest, place: Body): Reference[] {
  const found: Reference[] = []
  const note = (reference: Reference) => {
    found.push(reference)
    return undefined
  }
  walk(request, place, { state: note, item: note, file: note })
  return found
}

/**
 * The request with its references replaced by what the resolvers return. `resolved`: how many; with
 * 0 it is the same object. Unknown references stay, and encoders that cannot write them refuse
 * them.
 */
export function resolveReferences(
  request: CanonicalRequest,
  resolvers: Resolvers,
  place: Body,
): { request: CanonicalRequest; resolved: number } {
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

function lookUp(
  { kind, id, raw }: Reference,
  resolvers: Resolvers,
): readonly Message[] | undefined {
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

function walk(
  request: CanonicalRequest,
  { issuer, fieldNames }: Body,
  visitor: Visitor,
): CanonicalRequest {
  const pathOf = (field: string) => `/${fieldNames[field] ?? field.replaceAll('.', '/')}`
  const { state, cache } = request
  const left: StateSpec = { ...state }
  const history: Message[] = []
  for (const [key, kind] of stateKinds) {
    const value = state?.[key]
    if (value === undefined || value === null) continue
    const path = pathOf(`state.${key}`)
    const found = visitor.state({
      kind,
      id: idOf(value),
      issuer,
      path,
      ...(typeof value !== 'string' && { raw: value }),
    })
    if (!found) continue
    delete left[key]
    append(history, placed(found, path))
  }
  if (cache?.contentRef !== undefined)
    visitor.state({
      kind: 'content',
      id: cache.contentRef,
      issuer,
      path: pathOf('cache.contentRef'),
    })
  const own = flatMap(request.messages, message => itemsOf(message, issuer, visitor))
  const first = own.findIndex(({ origin }) => origin !== 'instructions')
  const start = first < 0 ? own.length : first
  const messages = [...own.slice(0, start), ...history, ...own.slice(start)].map(message => ({
    ...message,
    parts: withFiles(message.parts, visitor),
  }))
  const { state: _, ...rest } = request
  return { ...rest, messages, ...(Object.keys(left).length > 0 && { state: left }) }
}

/** A message that consists of a reference is replaced by what it refers to. */
function itemsOf(message: Message, issuer: string, visitor: Visitor): readonly Message[] {
  const [part] = message.parts
  if (part?.type !== 'control' || part.control !== 'item-reference') return [message]
  const path = pointerOf(part.at ?? message.at ?? '')
  const found = visitor.item({ kind: 'item', id: idOf(part.raw), issuer, path, raw: part.raw })
  return found ? placed(found, path) : [message]
}

function withFiles(parts: readonly Part[], visitor: Visitor): Part[] {
  return parts.map(part => {
    if (part.type === 'tool-result') return { ...part, content: withFiles(part.content, visitor) }
    if (part.type !== 'media') return part
    const { source } = part
    if (source.type === 'parts')
      return { ...part, source: { ...source, parts: withFiles(source.parts, visitor) } }
    if (source.type !== 'file-id') return part
    const found = visitor.file({
      kind: 'file',
      id: source.id,
      issuer: source.issuer,
      path: pointerOf(part.at ?? ''),
    })
    return found ? { ...part, source: found } : part
  })
}

/** Resolved messages without instructions. Notes about them point to the reference. */
function placed(messages: readonly Message[], path: Place): Message[] {
  return messages
    .filter(({ origin }) => origin !== 'instructions')
    .map(message => ({ ...message, parts: partsAt(message.parts, path), at: path }))
}

function partsAt(parts: readonly Part[], at: Place): Part[] {
  return parts.map(part => {
    if (part.type === 'tool-result') return { ...part, content: partsAt(part.content, at), at }
    if (part.type === 'search-result') return { ...part, parts: partsAt(part.parts, at), at }
    return { ...part, at }
  })
}

function idOf(value: unknown): string {
  if (typeof value === 'string') return value
  return isObject(value) && typeof value['id'] === 'string' ? value['id'] : ''
}
