import type { CacheTtl, MediaPart, Message, Part, ReasoningPart, Signature, TextPart, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { unwrapSignature, wrapSignature } from '../../kit/envelope.ts'
import { wrapInput } from '../../kit/freeform.ts'
import { isObject, type JsonObject, parseObject } from '../../kit/json.ts'
import { decodeCache, encodeCache, type Mark } from './cache.ts'
import { decodeCitation, encodeCited } from './citations.ts'
import type { MessagesReport } from './notes.ts'
import { keep, nulls, ownForm, ownKeys, ownUnder } from './own.ts'
import { isModelled, type MessagesBlock, type MessagesRawBlock } from './schema.ts'
import { decodeTool } from './tools.ts'
import { controlBlocks, name, serverBlocks, serverToolOfName } from './vocabulary.ts'

type Block<Type extends MessagesBlock['type']> = Extract<MessagesBlock, { type: Type }>

// ---- wire → canonical

/** Content of a message, a tool result or a reply. A string is one text part; `form` tells which it was. */
export function decodeContent(content: string | readonly MessagesRawBlock[], at: string, report: MessagesReport): { parts: Part[]; form: 'string' | 'blocks' } {
  if (typeof content === 'string') return { parts: content ? [{ type: 'text', text: content, at }] : [], form: 'string' }
  const parts: Part[] = []
  let waiting: { signature: Signature; at: string } | undefined
  content.forEach((block, index) => {
    const here = `${at}/${index}`
    const carrier = carrierOf(block)
    if (carrier?.attach === 'next') waiting = { signature: carrier.signature, at: here }
    else if (carrier) {
      const owner = ownerOf(carrier.attach, parts)
      if (owner) owner.signature = carrier.signature
      else report.add('reasoning.carrier-lost', here)
    } else {
      const part = decodeBlock(block, here, report)
      if (waiting) part.signature = waiting.signature
      waiting = undefined
      parts.push(part)
    }
  })
  if (waiting) report.add('reasoning.carrier-lost', waiting.at)
  return { parts, form: 'blocks' }
}

/** A block that stands in for the signature of a part that has no place for one. */
export function carrierOf(block: MessagesRawBlock): { signature: Signature; attach: string } | undefined {
  if (block.type !== 'redacted_thinking' || typeof block['data'] !== 'string') return undefined
  const { signature, attach } = unwrapSignature(block['data']) ?? {}
  return signature && attach !== undefined ? { signature, attach } : undefined
}

/** `prev`: the part before; `r2`: the third reasoning part; `c:<id>`: a call by its id. */
function ownerOf(attach: string, parts: readonly Part[]): Part | undefined {
  if (attach === 'prev') return parts.at(-1)
  if (attach.startsWith('c:')) return parts.find(part => part.type === 'tool-call' && part.id === attach.slice(2))
  return /^r\d+$/.test(attach) ? parts.filter(part => part.type === 'reasoning')[Number(attach.slice(1))] : undefined
}

/** A block that `MessagesBlock` has checked. */
export function decodeBlock(block: MessagesRawBlock, at: string, report: MessagesReport): Part {
  if (!isModelled(block)) return decodeOther(block, at)
  switch (block.type) {
    case 'text':
      return decodeText(block, at)
    case 'image':
    case 'document':
      return decodeMedia(block, at, report)
    case 'search_result': {
      const { type: _, source, title, content, citations, cache_control, ...fields } = block
      const { parts } = decodeContent(content, `${at}/content`, report)
      const cache = decodeCache(cache_control)
      const cited = decodeEnabled(citations)
      return {
        type: 'search-result',
        source,
        title,
        parts,
        ...cited.known,
        ...cache.known,
        at,
        ...keep({ ...fields, ...cited.fields, ...cache.fields }, { ...cited.nothing, ...cache.nothing }),
      }
    }
    case 'thinking': {
      const { type: _, thinking, signature, ...fields } = block
      return { ...decodeReasoning(thinking, signature ?? ''), at, ...keep(fields, signature ? {} : defined({ signature })) }
    }
    case 'redacted_thinking': {
      const { type: _, data, ...fields } = block
      const envelope = unwrapSignature(data)
      const signature: Signature = envelope?.signature ?? { value: data, issuer: name, form: 'redacted' }
      return { type: 'reasoning', segments: [], redacted: true, signature, ...defined({ id: envelope?.id }), at, ...keep(fields, {}) }
    }
    case 'tool_use':
      return decodeToolUse(block, at)
    case 'tool_result': {
      const { type: _, tool_use_id: callId, content, is_error, toolset_name, cache_control, ...fields } = block
      const { parts, form } = decodeContent(content ?? [], `${at}/content`, report)
      const cache = decodeCache(cache_control)
      return {
        type: 'tool-result',
        callId,
        kind: 'function',
        content: parts,
        ...defined({ isError: is_error ?? undefined, toolset: toolset_name ?? undefined }),
        ...cache.known,
        at,
        ...keep(
          { ...fields, ...cache.fields },
          { ...nulls({ is_error, toolset_name, content }), ...cache.nothing },
          { content: content == null ? 'absent' : form },
        ),
      }
    }
    default:
      return block satisfies never
  }
}

function decodeText({ type: _, text, citations, cache_control, ...fields }: Block<'text'>, at: string): TextPart {
  const cache = decodeCache(cache_control)
  const nothing = citations?.length === 0 ? { citations } : nulls({ citations })
  const cited = citations?.length ? { citations: citations.map(decodeCitation) } : {}
  return { type: 'text', text, ...cited, ...cache.known, at, ...keep({ ...fields, ...cache.fields }, { ...nothing, ...cache.nothing }) }
}

/** Text and signature of a thinking block; an envelope tells where joined segments are to be cut again. */
export function decodeReasoning(thinking: string, signature: string): ReasoningPart {
  const envelope = signature ? unwrapSignature(signature) : undefined
  const segments = cut(thinking, envelope?.lengths).map(text => ({ kind: 'summary' as const, text }))
  const proof: Signature | undefined = envelope?.signature ?? (signature ? { value: signature, issuer: name, form: 'thinking' } : undefined)
  return { type: 'reasoning', segments, ...defined({ signature: proof, id: envelope?.id }) }
}

const between = '\n\n'

function cut(text: string, lengths: readonly number[] | undefined): string[] {
  if (!text) return []
  if (!lengths || lengths.reduce((sum, length) => sum + length, 0) + between.length * (lengths.length - 1) !== text.length) return [text]
  let start = 0
  return lengths.map(length => {
    const piece = text.slice(start, start + length)
    start += length + between.length
    return piece
  })
}

function decodeToolUse({ type: _, id, name: called, input, caller, toolset_name, cache_control, ...fields }: Block<'tool_use'>, at: string): ToolCallPart {
  const cache = decodeCache(cache_control)
  const direct = isDirect(caller)
  const spelled = input === undefined ? 'absent' : typeof input === 'string' ? 'string' : isObject(input) ? undefined : 'value'
  return {
    type: 'tool-call',
    id,
    idOrigin: 'wire',
    name: called,
    kind: 'function',
    input: input === undefined ? '' : typeof input === 'string' ? input : JSON.stringify(input),
    ...defined({ caller: direct ? undefined : (caller ?? undefined), toolset: toolset_name ?? undefined }),
    ...cache.known,
    at,
    ...keep(
      { ...fields, ...cache.fields },
      { ...nulls({ caller, toolset_name }), ...(direct && { caller }), ...cache.nothing },
      { ...(spelled && { input: spelled }) },
    ),
  }
}

/** Called by the model itself, which is what an absent caller means. */
function isDirect(caller: unknown): boolean {
  return isObject(caller) && caller['type'] === 'direct' && Object.keys(caller).length === 1
}

type Enabled = { [key: string]: unknown; enabled?: boolean | null | undefined }

/** Whether an answer may cite this; unknown keys stand under the name of the object. */
function decodeEnabled(citations: Enabled | null | undefined): { known: { citations?: { enabled?: boolean } }; fields: JsonObject; nothing: JsonObject } {
  if (!citations) return { known: {}, fields: {}, nothing: nulls({ citations }) }
  const { enabled, ...rest } = citations
  return {
    known: { citations: defined({ enabled: enabled ?? undefined }) },
    fields: Object.keys(rest).length > 0 ? { citations: rest } : {},
    nothing: enabled === null ? { citations: { enabled } } : {},
  }
}

function decodeMedia(block: Block<'image'> | Block<'document'>, at: string, report: MessagesReport): Part {
  const { source } = decodeSource(block.source, at, report)
  const isOdd = block.type === 'image' && (source?.known.type === 'text' || source?.known.type === 'parts')
  if (!source || isOdd) return { type: 'opaque', protocol: name, raw: block, at }
  const from = block.source as JsonObject
  const spelled = { source: block.source['type'] === 'content' && typeof from['content'] === 'string' ? 'string' : undefined, more: source.more }
  if (block.type === 'image') {
    const { type: _, source: __, cache_control, ...fields } = block
    const cache = decodeCache(cache_control)
    return {
      type: 'media',
      kind: 'image',
      source: source.known,
      ...cache.known,
      at,
      ...keep({ ...fields, ...cache.fields }, cache.nothing, { ...defined(spelled) }),
    }
  }
  const { type: _, source: __, title, context, citations, cache_control, ...fields } = block
  const cache = decodeCache(cache_control)
  const cited = decodeEnabled(citations)
  return {
    type: 'media',
    kind: 'document',
    source: source.known,
    ...defined({ title: title ?? undefined, context: context ?? undefined }),
    ...cited.known,
    ...cache.known,
    at,
    ...keep({ ...fields, ...cited.fields, ...cache.fields }, { ...nulls({ title, context }), ...cited.nothing, ...cache.nothing }, { ...defined(spelled) }),
  }
}

/** Undefined: a kind of source that nobody modelled. `more`: its unknown keys. */
function decodeSource(wire: MessagesRawBlock, at: string, report: MessagesReport): { source?: { known: MediaPart['source']; more?: JsonObject } } {
  const { type, media_type: mime, data, url, file_id: id, content, ...unknown } = wire
  const rest = { ...unknown, ...nulls({ media_type: mime }) }
  const more = Object.keys(rest).length > 0 ? { more: rest } : {}
  const named = typeof mime === 'string' ? { mime } : {}
  if (type === 'base64' && typeof data === 'string') return { source: { known: { type: 'base64', data, ...named }, ...more } }
  if (type === 'text' && typeof data === 'string' && typeof mime === 'string') return { source: { known: { type: 'text', text: data, mime }, ...more } }
  if (type === 'url' && typeof url === 'string') return { source: { known: { type: 'url', url }, ...more } }
  if (type === 'file' && typeof id === 'string') return { source: { known: { type: 'file-id', id, issuer: name }, ...more } }
  if (type === 'content' && (typeof content === 'string' || Array.isArray(content))) {
    const { parts } = decodeContent(content as string | MessagesRawBlock[], `${at}/source/content`, report)
    return { source: { known: { type: 'parts', parts }, ...more } }
  }
  return {}
}

function decodeOther(block: MessagesRawBlock, at: string): Part {
  const { type } = block
  if (type === 'server_tool_use')
    return { type: 'server-tool', phase: 'call', tool: serverToolOfName(block['name']), id: textOf(block['id']), protocol: name, raw: block, at }
  const server = serverBlocks.get(type)
  if (server) return { type: 'server-tool', ...server, id: textOf(block['id'] ?? block['tool_use_id']), protocol: name, raw: block, at }
  const control = controlBlocks.get(type)
  if (control) {
    const added =
      control === 'tool-addition' && isObject(block['tool']) && isObject(block['tool']['input_schema']) ? [decodeTool(block['tool'], `${at}/tool`)] : undefined
    return { type: 'control', control, protocol: name, raw: block, ...defined({ tools: added }), at }
  }
  return { type: 'opaque', protocol: name, raw: block, at }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

// ---- canonical → wire

/** What writing a part needs to know. */
export type Writing = {
  report: MessagesReport
  /** Requests go to a provider, which checks signatures; replies go to a client, which keeps whatever it is given. */
  to: 'provider' | 'client'
  /** The message came from this protocol, and its blocks are written as they stood. */
  native: boolean
  callId(id: string, at: string | undefined): string
  toolName(name: string, namespace: string | undefined, at: string | undefined): string
  /** Ids of the calls in the request: what a result says of its tool stands there. A reply need not have the call. */
  called?: ReadonlySet<string>
  unsigned: 'drop' | 'text'
  /** Citations of a user's text, and documents of an assistant, are refused by the newest version. */
  newest: boolean
  unresolvable(part: Part, field?: string): void
  marks: Mark[]
  place: Mark['place']
}

/** Parts of one message → blocks. Text without content vanishes, unless it stood so on this wire. */
export function encodeParts(parts: readonly Part[], writing: Writing, role: Message['role']): MessagesRawBlock[] {
  return parts.flatMap(part => {
    const blocks = encodePart(part, writing, role)
    const carried = part.type === 'reasoning' ? undefined : carrier(part, writing)
    if (!carried) return blocks
    // A signature without any block to stand beside is a reasoning block of its own.
    if (blocks.length === 0) return [carried()]
    return part.type === 'text' ? [...blocks, carried('prev')] : [carried('next'), ...blocks]
  })
}

/** A signature on a part without a place for it travels in a block of its own, toward clients. */
function carrier({ signature, at }: Part, { report, to }: Writing): ((attach?: 'next' | 'prev') => MessagesRawBlock) | undefined {
  if (!signature) return undefined
  if (to === 'client') return attach => encodeCarrier(signature, attach)
  report.add('reasoning.foreign-signature', at, 'signature')
  return undefined
}

export function encodeCarrier(signature: Signature, attach?: string): MessagesRawBlock {
  return { type: 'redacted_thinking', data: wrapSignature({ signature, ...defined({ attach }) }) }
}

export function encodePart(part: Part, writing: Writing, role: Message['role']): MessagesRawBlock[] {
  const { report } = writing
  switch (part.type) {
    case 'text':
      return encodeText(part, writing, role)
    case 'refusal': {
      const { text, logprobs, type: _, at, ext, cache, signature: __, ...rest } = part
      report.rest({ ...rest, ...(logprobs && { logprobs }) }, at)
      report.ext(ext, at)
      if (!text) return []
      report.add('refusal.as-text', at)
      return [{ ...(writing.to === 'client' && { citations: null }), type: 'text', text, ...mark(cache, part, writing) }]
    }
    case 'reasoning':
      return encodeReasoning(part, writing)
    case 'tool-call':
      return [encodeCall(part, writing)]
    case 'tool-result':
      return [encodeResult(part, writing)]
    case 'media':
      return encodeMedia(part, writing, role)
    case 'search-result': {
      const { type: _, source, title, parts, citations, cache, at, ext, signature: __, ...rest } = part
      report.rest(rest, at)
      report.ext(ext, at)
      const content = encodeParts(parts, writing, role)
      return [
        {
          ...ownKeys(part),
          type: 'search_result',
          source,
          title,
          content,
          ...(citations && { citations: { ...ownUnder(part, 'citations'), ...citations } }),
          ...mark(cache, part, writing),
        },
      ]
    }
    case 'server-tool':
      if (part.protocol === name && isObject(part.raw)) return [part.raw as MessagesRawBlock]
      report.add('server-tool.dropped', part.at)
      return []
    case 'control':
      if (part.protocol === name && isObject(part.raw)) return [part.raw as MessagesRawBlock]
      if (part.control === 'item-reference' || part.control === 'compaction') writing.unresolvable(part)
      else if (!(part.control === 'tool-addition' && part.tools)) report.add('part.unsupported', part.at)
      return []
    case 'opaque':
      if (part.protocol === name && isObject(part.raw)) return [part.raw as MessagesRawBlock]
      report.add('part.unknown', part.at)
      return []
    default:
      return part satisfies never
  }
}

/** The cache mark of a part, which the limit on marks may take back later. */
export function mark(cache: { ttl?: CacheTtl } | undefined, node: Part, { report, marks, place }: Writing): { cache_control?: JsonObject } {
  if (!cache) return {}
  const holder = { cache_control: encodeCache(cache, ownUnder(node, 'cache_control'), () => report.add('cache.ttl', node.at, 'cache.ttl')) }
  marks.push({ wire: holder.cache_control, at: node.at, place })
  return holder
}

function encodeText(part: TextPart, writing: Writing, role: Message['role']): MessagesRawBlock[] {
  const { report, native, to, newest } = writing
  const { type: _, text, citations, logprobs, cache, signature: __, at, ext, ...rest } = part
  report.rest({ ...rest, ...(logprobs && { logprobs }) }, at)
  report.ext(ext, at)
  if (!native && (!text || (to === 'provider' && !text.trim()))) {
    if (text) report.add('text.blank', at)
    for (const _citation of citations ?? []) report.add('citation.foreign', at, 'citations')
    return []
  }
  const own = citations?.filter(({ protocol }) => protocol === name) ?? []
  const foreign = citations?.filter(({ protocol }) => protocol !== name) ?? []
  const nulled = !native && to === 'client' ? { citations: null } : {}
  if (to === 'client' && foreign.length > 0) return encodeCited(text, own, foreign, part, report)
  for (const _citation of foreign) report.add('citation.foreign', at, 'citations')
  const refused = newest && role === 'user' && own.length > 0
  if (refused) report.add('citation.version', at, 'citations')
  return [
    {
      ...nulled,
      ...ownKeys(part),
      type: 'text',
      text,
      ...(own.length > 0 && !refused && { citations: own.map(({ raw }) => raw) }),
      ...mark(cache, part, writing),
    },
  ]
}

function encodeReasoning(part: ReasoningPart, writing: Writing): MessagesRawBlock[] {
  const { report, to } = writing
  const { type: _, segments, redacted, id, signature, cache, at, ext, ...rest } = part
  report.rest({ ...rest, ...(cache && { cache }) }, at)
  report.ext(ext, at)
  const text = segments.map(segment => segment.text).join(between)
  const own = signature?.issuer === name
  if (to === 'provider') {
    if (id !== undefined && own) report.once('message.envelope', at, 'id')
    if (own && signature) {
      if (segments.length > 1) report.add('reasoning.joined', at)
      return redacted && !text
        ? [{ ...ownKeys(part), type: 'redacted_thinking', data: signature.value }]
        : [{ ...ownKeys(part), type: 'thinking', thinking: text, signature: signature.value }]
    }
    if (!signature && writing.native) return [{ ...ownKeys(part), type: 'thinking', thinking: text }]
    if (!signature && !text) return []
    if (writing.unsigned === 'text' && text) {
      report.add('reasoning.as-text', at)
      if (signature) report.add('reasoning.foreign-signature', at, 'signature')
      return [{ type: 'text', text: `<thinking>${text}</thinking>` }]
    }
    report.add(signature ? 'reasoning.foreign-signature' : 'reasoning.unsigned', at)
    return []
  }
  if (!signature && !text && !writing.native) {
    report.rest({ itemId: id }, at)
    return []
  }
  const lengths = segments.length > 1 ? segments.map(segment => segment.text.length) : undefined
  const value = !signature ? undefined : own && !lengths && id === undefined ? signature.value : wrapSignature({ signature, ...defined({ id, lengths }) })
  if (redacted && !text && value !== undefined) return [{ ...ownKeys(part), type: 'redacted_thinking', data: value }]
  if (lengths && value === undefined) report.add('reasoning.joined', at)
  if (value === undefined && !writing.native) report.once('reasoning.signature-empty', '/content')
  return [{ ...(!writing.native && { signature: '' }), ...ownKeys(part), type: 'thinking', thinking: text, ...(value !== undefined && { signature: value }) }]
}

function encodeCall(part: ToolCallPart, writing: Writing): MessagesRawBlock {
  const { report, native, to } = writing
  const {
    type: _,
    id,
    idOrigin: __,
    itemId,
    name: called,
    namespace,
    kind,
    input,
    caller,
    async,
    toolset,
    status,
    cache,
    signature: ___,
    at,
    ext,
    ...rest
  } = part
  report.rest({ ...rest, ...(async !== undefined && { async }) }, at)
  report.ext(ext, at)
  if (itemId !== undefined || status !== undefined) report.once('message.envelope', at)
  const own = isObject(ownForm(part)) ? ownForm(part)?.['input'] : undefined
  const foreignCaller = caller !== undefined && !ext?.[name] && !native
  if (foreignCaller) report.add('field.unsupported', at, 'caller')
  return {
    ...(!native && to === 'client' && { caller: { type: 'direct' } }),
    ...ownKeys(part),
    type: 'tool_use',
    id: writing.callId(id, at),
    name: writing.toolName(called, namespace, at),
    ...(own === 'absent' && !input ? {} : { input: own === 'string' ? input : own === 'value' ? parseValue(input) : encodeInput(part, kind, report) }),
    ...(caller !== undefined && !foreignCaller && { caller }),
    ...(toolset !== undefined && { toolset_name: toolset }),
    ...mark(cache, part, writing),
  }
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Arguments as the object that this wire demands. */
function encodeInput({ input, at }: ToolCallPart, kind: ToolCallPart['kind'], report: MessagesReport): JsonObject {
  if (kind === 'freeform') {
    report.add('freeform.wrapped', at)
    return parseObject(wrapInput(input)) ?? {}
  }
  if (!input.trim()) return {}
  const object = parseObject(input)
  if (object) return object
  report.add('tool-call.input', at, 'input')
  return isNull(input) ? {} : { __raw: input }
}

/** Some models say `null` for no arguments. */
export function isNull(input: string): boolean {
  return input.trim() === 'null'
}

function encodeResult(part: ToolResultPart, writing: Writing): MessagesRawBlock {
  const { report, native } = writing
  const {
    type: _,
    callId,
    name: called,
    namespace,
    kind: __,
    content,
    structured: ___,
    isError,
    itemId,
    caller,
    toolset,
    status,
    cache,
    signature: ____,
    at,
    ext,
    ...rest
  } = part
  const said = writing.called?.has(callId) ? {} : defined({ name: called, namespace })
  report.rest({ ...rest, ...said, ...(caller !== undefined && { caller }) }, at)
  report.ext(ext, at)
  if (itemId !== undefined || status !== undefined) report.once('message.envelope', at)
  const blocks = encodeParts(content, writing, 'user')
  const spelled = ownForm(part)?.['content']
  const only = blocks.length === 1 ? blocks[0] : undefined
  const plain = only?.type === 'text' && Object.keys(only).length === 2 && typeof only['text'] === 'string' ? only['text'] : undefined
  const written =
    blocks.length === 0 ? (spelled === 'string' ? '' : spelled === 'blocks' ? [] : undefined) : spelled !== 'blocks' && plain !== undefined ? plain : blocks
  return {
    ...ownKeys(part),
    type: 'tool_result',
    tool_use_id: writing.callId(callId, native ? undefined : at),
    ...(written !== undefined && { content: written }),
    ...(isError !== undefined && (isError || ext?.[name]) && { is_error: isError }),
    ...(toolset !== undefined && { toolset_name: toolset }),
    ...mark(cache, part, writing),
  }
}

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function encodeMedia(part: MediaPart, writing: Writing, role: Message['role']): MessagesRawBlock[] {
  const { report, to, native } = writing
  const { type: _, kind, source, filename, title, context, detail, citations, transcript, cache, signature: __, at, ext, ...rest } = part
  const inResult = to === 'client' && role === 'assistant'
  if (kind === 'audio' && transcript) {
    report.add('media.transcript', at)
    return [{ type: 'text', text: transcript }]
  }
  if (inResult && !native && !ext?.[name]) {
    report.add('media.unsupported', at)
    return []
  }
  const block = encodeSource(part, writing)
  if (!block) return []
  report.rest({ ...rest, ...(transcript !== undefined && { transcript }) }, at)
  report.ext(ext, at)
  if (detail !== undefined && detail !== 'auto') report.add('media.detail', at, 'detail')
  const wire = { ...ownKeys(part), ...block }
  if (block.type === 'image') {
    if (title !== undefined) report.add('field.unsupported', at, 'title')
    if (filename !== undefined) report.add('field.unsupported', at, 'filename')
    return [{ ...wire, ...mark(cache, part, writing) }]
  }
  if (filename !== undefined && title === undefined) report.add('media.filename-as-title', at, 'filename')
  else if (filename !== undefined && filename !== title) report.add('field.unsupported', at, 'filename')
  if (writing.newest && role === 'assistant') {
    report.add('media.unsupported', at)
    return []
  }
  return [
    {
      ...wire,
      ...defined({ title: title ?? filename, context, citations: citations && { ...ownUnder(part, 'citations'), ...citations } }),
      ...mark(cache, part, writing),
    },
  ]
}

/** The block without its common fields. */
function encodeSource(part: MediaPart, writing: Writing): MessagesRawBlock | undefined {
  const { kind, source, at } = part
  const { report } = writing
  const more = ownForm(part)?.['more']
  const extra = isObject(more) ? more : {}
  const type = kind === 'image' ? 'image' : 'document'
  const refuse = () => {
    report.add('media.unsupported', at)
    return undefined
  }
  if (kind === 'audio' || kind === 'video') return refuse()
  switch (source.type) {
    case 'base64': {
      const { mime, data } = source
      const native = part.ext?.[name] !== undefined || writing.native
      if (native) return { type, source: { ...extra, type: 'base64', ...defined({ media_type: mime }), data } }
      const isImage = mime !== undefined && imageTypes.has(mime)
      if (type === 'image' || isImage) return isImage ? { type: 'image', source: { ...extra, type: 'base64', media_type: mime, data } } : refuse()
      if (mime === undefined || mime === 'application/pdf') return { type, source: { ...extra, type: 'base64', media_type: mime ?? 'application/pdf', data } }
      const text = mime.startsWith('text/') || mime === 'application/json' ? fromBase64(data) : undefined
      if (text === undefined) return refuse()
      report.add('media.file-as-document', at)
      return { type, source: { type: 'text', media_type: 'text/plain', data: text } }
    }
    case 'url':
      return { type, source: { ...extra, type: 'url', url: source.url } }
    case 'file-id':
      if (source.issuer === name) return { type, source: { ...extra, type: 'file', file_id: source.id } }
      writing.unresolvable(part)
      return undefined
    case 'text':
      return { type: 'document', source: { ...extra, type: 'text', media_type: source.mime, data: source.text } }
    case 'parts': {
      const first = source.parts[0]
      const plain = ownForm(part)?.['source'] === 'string' ? (first?.type === 'text' ? first.text : '') : undefined
      return { type: 'document', source: { ...extra, type: 'content', content: plain ?? encodeParts(source.parts, writing, 'user') } }
    }
    case 'reference':
      return refuse()
    default:
      return source satisfies never
  }
}

function fromBase64(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(data), char => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}
