import { describe, expect, test } from 'vitest'
import {
  hostsOf,
  one,
  type Protocol,
  pathOf,
  post,
  requests,
  responses,
  streams,
  upstream,
} from './support.ts'

const protocols = Object.keys(requests) as Protocol[]

const received = (client: Protocol, stream: boolean) =>
  [
    pathOf(client, { stream }),
    post({ ...requests[client], ...(client !== 'generate-content' && stream && { stream }) }),
  ] as const

const all = protocols.flatMap(client => protocols.map(served => [client, served] as const))

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(all)(
    'streams events that come as application/json: %s from %s',
    async (client, served) => {
      const { url } = await upstream(async response => {
        response.writeHead(200, { 'content-type': 'application/json' })
        for (const frame of streams[served]) response.write(frame)
        response.end()
      })
      const right = await (await start(one(await plainly(served), served)))(
        ...received(client, true),
      )
      const response = await (await start(one(url, served)))(...received(client, true))
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      const [text, expected] = [await response.text(), await right.text()]
      expect(text.length).toBeGreaterThan(100)
      expect(withoutIds(text)).toBe(withoutIds(expected))
    },
  )

  test.each(all)(
    'streams a JSON response that comes as text/event-stream: %s from %s',
    async (client, served) => {
      const { url } = await upstream(
        response =>
          void response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .end(JSON.stringify(responses[served])),
      )
      const response = await (await start(one(url, served)))(...received(client, true))
      expect(response.status).toBe(200)
      const text = await response.text()
      expect(text).toMatch(/^(event|data): /m)
      expect(text).not.toMatch(/"error":\s*\{/)
    },
  )

  test.each(all)(
    'collects events into JSON when no stream was requested: %s from %s',
    async (client, served) => {
      const { url } = await upstream(
        response =>
          void response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(streams[served].join('')),
      )
      const response = await (await start(one(url, served)))(...received(client, false))
      expect(response.status).toBe(200)
      expect(await response.json()).toBeTypeOf('object')
    },
  )
})

/** An upstream that sends the same stream under its right content type. */
const plainly = async (served: Protocol) =>
  (
    await upstream(
      response =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(streams[served].join('')),
    )
  ).url

/** Ids and times are made anew for each response. */
const withoutIds = (text: string) =>
  text.replaceAll(
    /"(id|item_id|response_id|responseId|created|created_at|createTime|completed_at)":("[^"]*"|\d+)/g,
    '"$1":0',
  )
