import { expect } from 'vitest'
import { framesOf } from '../support/run.ts'
import { strictOf } from '../support/strict/index.ts'
import { type hosts, one, type Protocol, paths, post, replies, said, sendJson, sendStream, streams, type Upstream, upstream } from './support.ts'

export const others: Record<Protocol, [Protocol, Protocol]> = {
  'chat-completions': ['responses', 'messages'],
  responses: ['chat-completions', 'messages'],
  messages: ['chat-completions', 'responses'],
}
export const all = Object.keys(paths) as Protocol[]

/** An upstream that answers «Hello», whole or streamed, and what it was asked. */
export const hello = (protocol: Protocol) =>
  upstream((response, { json }) => (json['stream'] === true ? sendStream(streams[protocol])(response) : sendJson(200, replies[protocol])(response)))

type Start = (typeof hosts)[number][1]

/** Asks an upstream of each other protocol: it gets a legal request, and the client an answer that is legal and says «Hello». */
export async function answered(start: Start, client: Protocol, body: object, headers: Record<string, string> = {}, query = ''): Promise<Upstream[]> {
  const seen: Upstream[] = []
  for (const served of others[client]) {
    const up = await hello(served)
    seen.push(up)
    const ask = await start(one(up.url, served, {}, { id: '*' }))
    const response = await ask(paths[client] + query, post(body, headers))
    const text = await response.text()
    expect(response.status, `${served}: ${text}`).toBe(200)
    expect(strictOf(served).checkRequest(up.calls[0]?.json), served).toEqual([])
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const wires = framesOf(text).map(({ wire }) => wire)
      expect(strictOf(client).checkStream(wires)).toEqual([])
      expect(await said(text, client)).toBe('Hello')
    } else expect(strictOf(client).checkResponse(JSON.parse(text))).toEqual([])
  }
  return seen
}
