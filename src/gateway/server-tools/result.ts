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

/** What a hook returned, checked: it is the application's. */
export function returnedOf(result: ServerToolResult | undefined): Returned {
  if (typeof result === 'string') return { text: result, found: [] }
  const { text, results } = isObject(result) ? result : {}
  const found = Array.isArray(results) ? results.flatMap(foundOf) : []
  const pages = found.map(({ title, url, text: of }) =>
    [title, url, of].filter(line => line !== undefined && line !== '').join('\n'),
  )
  const whole = [...(typeof text === 'string' && text !== '' ? [text] : []), ...pages].join('\n\n')
  return { text: whole || 'Nothing was found.', found }
}

function foundOf(one: unknown): Found[] {
  if (!isObject(one) || typeof one['url'] !== 'string') return []
  const { url, title, text } = one
  return [
    {
      url,
      ...omitUndefined({
        title: typeof title === 'string' ? title : undefined,
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
 * Undefined: there is no such form, as for a page that was read.
 */
export function clientPart(
  { id, input }: ToolCallPart,
  tool: ServerToolName,
  { found, error }: Returned,
): ServerToolPart | undefined {
  const { query } = parseObject(input) ?? {}
  if (tool !== 'web_search' || typeof query !== 'string') return undefined
  const sources = found.map(({ url }) => ({ type: 'url', url }))
  const results = found.map(({ url, title = url }) => ({ url, title }))
  return {
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
  }
}

/** The pages whose addresses the text contains, each with the place of its first mention. */
export function citationsIn(text: string, found: readonly Found[]): Citation[] {
  return found.flatMap(({ url, title }) => {
    const at = text.indexOf(url)
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
