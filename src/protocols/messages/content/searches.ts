import type { ServerToolPart } from '../../../canonical/message.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { joinId, splitId } from '../../../kit/signatures/envelope.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { MessagesFound, MessagesWrittenBlock } from '../schema.ts'

/**
 * The blocks of a web search that another provider has run, for a client. Undefined: it has no form
 * here, such as an opened page. The id names the issuer, because Anthropic refuses results without
 * its encrypted content (see `isTranslatedSearch`).
 */
export function encodeSearch({
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
export const isTranslatedSearch = ({ id }: ServerToolPart): boolean =>
  splitId(id).signature !== undefined
