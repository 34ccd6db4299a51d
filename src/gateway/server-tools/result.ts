import type {
  Citation,
  ServerToolPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/message.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, parseObject } from '../../kit/json/json.ts'
import { protocols } from '../../protocols/index.ts'
import type { ServerToolName, ServerToolResult } from '../hooks.ts'

/** A page that a tool has found. */
export type Found = { url: string; title?: string; text?: string }

/** What a tool returned. `error`: it has failed. */
export type Returned = { text: string; found: Found[]; error?: true }

/** In UTF-16 units: what a model reads of a result, an address, and a title. */
const longestText = 200_000
const longestUrl = 4096
const longestTitle = 500
const mostPages = 50

export const failed = (text: string): Returned => ({ text, found: [], error: true })

/**
 * What a hook returned, checked and bounded: it is the application's. `isAllowed`: may the client
 * get pages of this address?
 */
export function returnedOf(
  result: ServerToolResult | undefined,
  isAllowed: (url: string) => boolean = () => true,
): Returned {
  if (typeof result === 'string') return { text: short(result), found: [] }
  const { text, results } = isObject(result) ? result : {}
  const all = Array.isArray(results) ? results.slice(0, mostPages).flatMap(foundOf) : []
  const found = all.filter(({ url }) => isAllowed(url))
  const said = typeof text === 'string' ? text : ''
  const pages = found
    .filter(({ url, text: of }) => of !== undefined || !said.includes(url))
    .map(({ title, url, text: of }) => [title, url, of].filter(Boolean).join('\n'))
  const whole = [said, ...pages].filter(part => part !== '').join('\n\n')
  return { text: short(whole) || 'Nothing was found.', found }
}

const short = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}\n[The rest is left out.]` : text

function foundOf(one: unknown): Found[] {
  const { url, title, text } = isObject(one) ? one : {}
  if (typeof url !== 'string' || url.length > longestUrl) return []
  return [
    {
      url,
      ...omitUndefined({
        title: typeof title === 'string' ? title.slice(0, longestTitle) : undefined,
        text: typeof text === 'string' ? text : undefined,
      }),
    },
  ]
}

/** For the model. */
export const resultPart = (
  { id, name }: ToolCallPart,
  { text, error }: Returned,
): ToolResultPart => ({
  type: 'tool-result',
  kind: 'function',
  callId: id,
  name,
  content: [{ type: 'text', text }],
  ...(error && { isError: true }),
})

/**
 * For the client: a search in the words of responses, which the encoders of all protocols know.
 * None: there is no such form, as for a page that was read.
 */
export function webParts(
  { id, input }: ToolCallPart,
  tool: ServerToolName,
  { found, error }: Returned,
): ServerToolPart[] {
  const { query } = parseObject(input) ?? {}
  if (tool !== 'web_search' || typeof query !== 'string') return []
  const sources = found.map(({ url }) => ({ type: 'url', url }))
  const results = found.map(({ url, title = url }) => ({ url, title }))
  return [
    {
      type: 'server-tool',
      phase: 'call+result',
      tool,
      id: `ws_${id}`,
      protocol: protocols.responses.name,
      raw: {
        type: 'web_search_call',
        id: `ws_${id}`,
        status: error ? 'failed' : 'completed',
        action: { type: 'search', query, sources },
        ...(results.length > 0 && { results }),
      },
    },
  ]
}

/** The pages whose addresses the text contains, each with the place of its first mention. */
export function citationsIn(text: string, found: Iterable<Found>): Citation[] {
  return [...found].flatMap(({ url, title }) => {
    const at = placeOf(url, text)
    if (at < 0) return []
    const start = [...text.slice(0, at)].length
    return [
      {
        kind: 'url',
        url,
        ...omitUndefined({ title }),
        start,
        end: start + [...url].length,
        protocol: 'gateway',
        raw: {},
      } as const,
    ]
  })
}

/** The first mention of an address that is not the beginning of a longer one. */
function placeOf(url: string, text: string): number {
  let at = text.indexOf(url)
  while (at >= 0 && /^[.,;:!?]*[\w/%#?&=~-]/.test(text.slice(at + url.length, at + url.length + 9)))
    at = text.indexOf(url, at + 1)
  return at
}
