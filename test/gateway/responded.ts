import { expect } from 'vitest'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  type hosts,
  isStreaming,
  one,
  type Protocol,
  paths,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  type Upstream,
  upstream,
} from './support.ts'

export const all = Object.keys(paths) as Protocol[]
export const others = Object.fromEntries(
  all.map(client => [client, all.filter(served => served !== client)]),
) as Record<Protocol, Protocol[]>

/** An upstream that responds with "Hello", complete or streamed, and the requests that it got. */
export const hello = (protocol: Protocol) =>
  upstream((response, call) =>
    isStreaming(protocol, call)
      ? sendStream(streams[protocol])(response)
      : sendJson(200, responses[protocol])(response),
  )

type Start = (typeof hosts)[number][1]

/**
 * Sends a request to an upstream of each other protocol: it gets a legal request, and the client a
 * legal response with "Hello".
 */
export async function responded(
  start: Start,
  client: Protocol,
  { stream, ...body }: { stream?: boolean; [key: string]: unknown },
  headers: Record<string, string> = {},
  query = '',
): Promise<Upstream[]> {
  const seen: Upstream[] = []
  for (const served of others[client]) {
    const up = await hello(served)
    seen.push(up)
    const ask = await start(one(up.url, served, {}, { id: '*' }))
    const [path, init] = asking(
      client,
      { ...(stream !== undefined && { stream }), ...body },
      headers,
    )
    const response = await ask(path + query, init)
    const text = await response.text()
    expect(response.status, `${served}: ${text}`).toBe(200)
    expect(strictOf(served).checkRequest(up.calls[0]?.json), served).toEqual([])
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const wires = framesOf(text).map(({ wire }) => wire)
      expect(strictOf(client).checkStream(wires)).toEqual([])
      expect(await sent(text, client)).toBe('Hello')
    } else expect(strictOf(client).checkResponse(JSON.parse(text))).toEqual([])
  }
  return seen
}
