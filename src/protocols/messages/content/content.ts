import type {
  Message,
  Part,
  Place,
  SearchResultPart,
  ServerToolPart,
  TextPart,
} from '../../../canonical/message.ts'
import type { Tool } from '../../../canonical/tool.ts'
import { foreignPart } from '../../../kit/conversation/foreign-parts.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { rawOf, withoutPlace } from '../../../kit/conversation/without-place.ts'
import { decodeEnabled, unknownOfEnabled } from '../../../kit/fields/enabled.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writtenRefusal, writtenResult, writtenText } from '../../../kit/fields/written.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { partsOfBlocks } from '../../../kit/signatures/block-parts.ts'
import { carrier } from '../../../kit/signatures/carried.ts'
import { joinId, splitId } from '../../../kit/signatures/envelope.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { keep, type MessagesReport, protocolName, wireOf, withInner } from '../own.ts'
import { isModelled, type MessagesBlockOf, type MessagesRawBlock } from '../schema.ts'
import { controlBlocks, serverBlocks, serverToolOfName } from '../vocabulary.ts'
import type { MessagesFound, MessagesWrittenBlock, MessagesWrittenBlockOf } from '../written.ts'
import { keepMarked } from './cache.ts'
import { decodeCall, decodeResult, encodeCall, encodeResult, proxyFieldOf } from './calls.ts'
import { byOrigin, decodeCitation, encodeCitation, encodeCited } from './citations.ts'
import { decodeMedia, encodeMedia } from './media.ts'
import {
  carrierOf,
  decodeRedacted,
  decodeThinking,
  encodeCarrier,
  encodeReasoning,
  phaseBlock,
} from './reasoning.ts'
import { decodeTool } from './tools.ts'
import { marked, type Writing } from './writing.ts'

// ---- wire → canonical

/** Content of a message, a tool result or a response. A string becomes one text part. */
export function decodeContent(
  content: string | readonly MessagesRawBlock[] | null | undefined,
  at: Place,
  report: MessagesReport,
): Part[] {
  if (!content) return []
  if (typeof content === 'string') return [{ type: 'text', text: content, at }]
  return partsOfBlocks(content, at, {
    report,
    carrierOf,
    isCall: ({ type }) => type === 'tool_use',
    decode: (block, here) => decodeBlock(block, here, report),
  })
}

/** Decodes a block that `MessagesBlock` has checked. */
export function decodeBlock(block: MessagesRawBlock, at: Place, report: MessagesReport): Part {
  if (!isModelled(block)) return decodeOther(block, at, report)
  switch (block.type) {
    case 'text':
      return decodeText(block, at)
    case 'image':
    case 'document':
      return decodeMedia(block, at, (content, inside) => decodeContent(content, inside, report))
    case 'search_result': {
      const { source, title, content, citations } = block
      const parts = decodeContent(content, below(at, 'content'), report)
      const part: SearchResultPart = omitUndefined({
        type: 'search-result' as const,
        source,
        title,
        parts,
        citations: decodeEnabled(citations),
        at,
      })
      return keepMarked(
        part,
        block,
        resultKeys,
        withInner(undefined, 'citations', unknownOfEnabled(citations)),
      )
    }
    case 'thinking':
      return decodeThinking(block, at)
    case 'redacted_thinking':
      return decodeRedacted(block, at)
    case 'tool_use':
      return decodeCall(block, at, report)
    case 'tool_result':
      return decodeResult(block, at, decodeContent(block.content, below(at, 'content'), report))
    default:
      return block satisfies never
  }
}

const resultKeys = keysOf<MessagesBlockOf<'search_result'>>()(
  'type source title content citations cache_control',
)
const textKeys = keysOf<MessagesBlockOf<'text'>>()('type text citations cache_control')

function decodeText(block: MessagesBlockOf<'text'>, at: Place): TextPart {
  const part: TextPart = { type: 'text', text: block.text, at }
  if (block.citations?.length) part.citations = block.citations.map(decodeCitation)
  return keepMarked(part, block, textKeys)
}

function decodeOther(block: MessagesRawBlock, at: Place, report: MessagesReport): Part {
  const { type } = block
  if (type === 'server_tool_use')
    return {
      type: 'server-tool',
      phase: 'call',
      tool: serverToolOfName(block['name']),
      id: textOf(block['id']),
      protocol: protocolName,
      raw: block,
      at,
    }
  const server = serverBlocks.get(type)
  if (server)
    return {
      type: 'server-tool',
      ...server,
      id: textOf(block['id'] ?? block['tool_use_id']),
      protocol: protocolName,
      raw: block,
      at,
    }
  const control = controlBlocks.get(type)
  if (control) {
    const tools =
      control === 'tool-addition' ? addedTools(block['tool'], below(at, 'tool')) : undefined
    return {
      type: 'control',
      control,
      protocol: protocolName,
      raw: block,
      ...omitUndefined({ tools }),
      at,
    }
  }
  const foreign = foreignPart(block, at, protocolName)
  if (foreign) {
    report.add('part.foreign', at)
    return keep(foreign.part, Object.keys(foreign.rest).length > 0 ? foreign.rest : undefined)
  }
  return { type: 'opaque', protocol: protocolName, raw: block, at }
}

/** The tools that a `tool_addition` defines. Undefined: it only refers to a tool. */
function addedTools(tool: unknown, at: Place): Tool[] | undefined {
  if (!isObject(tool)) return undefined
  const { definition } = tool
  if (isObject(definition)) return [decodeTool(definition, below(at, 'definition'))]
  return isObject(tool['input_schema']) ? [decodeTool(tool, at)] : undefined
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

// ---- canonical → wire

/** Parts of one message → blocks. Blank text is left out, unless it came from this protocol. */
export function encodeParts(
  parts: readonly Part[],
  writing: Writing,
  role: Message['role'],
): MessagesWrittenBlock[] {
  return flatMap(parts, part => encodeWithCarrier(part, writing, role))
}

/** The blocks of a part, with a carrier block for a signature that has no place on them. */
export function encodeWithCarrier(
  part: Part,
  writing: Writing,
  role: Message['role'],
): MessagesWrittenBlock[] {
  const blocks = encodePart(part, writing, role)
  if (part.type === 'reasoning') {
    for (const block of blocks) writing.carriers?.set(block, part.at)
    return blocks
  }
  const carried = proxyFieldOf(part, writing) ? undefined : carrier(part, writing, encodeCarrier)
  if (!carried) return blocks
  // The signature of a part without blocks becomes a block of its own, except that of media.
  if (part.type === 'media' && blocks.length === 0) return []
  if (part.type !== 'text') return blocks.length === 0 ? [carried()] : [carried('next'), ...blocks]
  if (writing.endsInText && blocks.filter(({ type }) => type === 'text').length === 1)
    return [carried('next'), ...blocks]
  const behind = carried(blocks.length === 0 ? 'text' : 'prev')
  writing.carriers?.set(behind, part.at)
  return [...blocks, behind]
}

function encodePart(part: Part, writing: Writing, role: Message['role']): MessagesWrittenBlock[] {
  const { report } = writing
  switch (part.type) {
    case 'text':
      return encodeText(part, writing, role)
    case 'refusal': {
      const { text, phase, at } = part
      report.node(part, writtenRefusal)
      if (!text) return []
      report.add('refusal.as-text', at)
      return [
        ...(phase && writing.opens ? [phaseBlock(phase)] : []),
        marked<MessagesWrittenBlockOf<'text'>>({ type: 'text', text }, part, writing),
      ]
    }
    case 'reasoning':
      if (writing.native || role === 'assistant' || part.signature?.issuer !== protocolName)
        return encodeReasoning(part, writing)
      report.add('part.unsupported', part.at)
      return []
    case 'tool-call':
      return [encodeCall(part, writing)]
    case 'tool-result': {
      if (writing.to === 'client') {
        report.add('part.unsupported', part.at)
        return []
      }
      return [encodeResult(part, encodeParts(part.content, writing, 'user'), writing)]
    }
    case 'media':
      return encodeMedia(part, role, writing, parts => encodeParts(parts, writing, 'user'))
    case 'search-result': {
      const { source, title, parts, citations, ext } = part
      report.node(part, writtenResult)
      const content = encodeParts(parts, writing, role)
      return [
        marked(
          wireOf<MessagesWrittenBlockOf<'search_result'>>(
            { type: 'search_result', source, title, content, citations },
            ext,
          ),
          part,
          writing,
        ),
      ]
    }
    case 'server-tool':
    case 'control':
    case 'opaque': {
      const raw = rawOf(part, protocolName)
      const isSearch = part.type === 'server-tool' && isTranslatedSearch(part)
      if (raw && (!isSearch || writing.to === 'client' || writing.opens)) return [asRead(raw)]
      const search =
        part.type === 'server-tool' && writing.to === 'client' ? encodeSearch(part) : undefined
      if (search) {
        report.add('server-tool.search', part.at)
        return search
      }
      withoutPlace(part, writing)
      return []
    }
    default:
      return part satisfies never
  }
}

/** Of a text without citations: shared, because most have none. */
const none: ReturnType<typeof byOrigin> = [[], []]

function encodeText(
  part: TextPart,
  writing: Writing,
  role: Message['role'],
): MessagesWrittenBlock[] {
  const { report, native, to, opens } = writing
  const { text, citations, cache, signature, phase, at, ext } = part
  report.node(part, writtenText)
  if (phase && !opens) report.rest({ phase }, at)
  // An empty text with a signature is that of a carrier block: only the carrier is written again.
  if (native && !text && signature) return []
  const front = phase && opens ? [phaseBlock(phase)] : []
  const [own, foreign] = citations ? byOrigin(citations) : none
  const cited =
    to === 'client' && (foreign.length > 0 || (!text && !native && citations))
      ? encodeCited(part, report)
      : []
  if (cited.length > 0)
    return [
      ...front,
      ...cited.map((block, index) =>
        index === cited.length - 1 ? marked(block, part, writing) : block,
      ),
    ]
  if (!native && (!text || (to === 'provider' && !text.trim()))) {
    // Leaving out an empty text loses nothing, unless it is an instruction or has a cache mark.
    if (text || role === 'system' || cache) report.add('text.blank', at)
    if (to === 'provider')
      for (const _citation of citations ?? []) report.add('citation.foreign', at, 'citations')
    return []
  }
  for (const _citation of foreign) report.add('citation.foreign', at, 'citations')
  const kept =
    own.length > 0 ? flatMap(own, citation => encodeCitation(citation, report)) : undefined
  return [
    ...front,
    marked(
      wireOf<MessagesWrittenBlockOf<'text'>>({ type: 'text', text, citations: kept }, ext),
      part,
      writing,
    ),
  ]
}

/**
 * The blocks of a web search that another provider has run, for a client. Undefined: it has no form
 * here, such as an opened page. The id names the issuer, because Anthropic refuses results without
 * its encrypted content (see `isTranslatedSearch`).
 */
function encodeSearch({
  tool,
  phase,
  id: called,
  protocol,
  raw,
}: ServerToolPart): MessagesWrittenBlock[] | undefined {
  const { action, results } = isObject(raw) ? raw : {}
  if (
    tool !== 'web_search' ||
    phase !== 'call+result' ||
    !isObject(action) ||
    action['type'] !== 'search'
  )
    return undefined
  const query = queryOf(action)
  if (query === undefined) return undefined
  const id = joinId(`srvtoolu_${hashId(called)}`, { value: tool, issuer: protocol })
  const found = Array.isArray(results) && results.length > 0 ? results : action['sources']
  return [
    {
      type: 'server_tool_use',
      id,
      name: 'web_search',
      input: { query },
      caller: { type: 'direct' },
    },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: Array.isArray(found) ? flatMap(found, encodeFound) : [],
      caller: { type: 'direct' },
    },
  ]
}

function queryOf({ query, queries }: JsonObject): string | undefined {
  if (typeof query === 'string' && query) return query
  const several = Array.isArray(queries)
    ? queries.filter(one => typeof one === 'string' && one !== '')
    : []
  return several.length > 0 ? several.join('; ') : undefined
}

function encodeFound(found: unknown): MessagesFound[] {
  if (!isObject(found) || typeof found['url'] !== 'string') return []
  const { url, title } = found
  return [
    {
      type: 'web_search_result',
      url,
      title: typeof title === 'string' && title ? title : url,
      encrypted_content: '',
      page_age: null,
    },
  ]
}

/** Is it a block that `encodeSearch` wrote? A provider of this protocol must not get it. */
const isTranslatedSearch = ({ id }: ServerToolPart): boolean => splitId(id).signature !== undefined
