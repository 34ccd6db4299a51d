import { expect, test } from 'vitest'
import { createGateway, type Store } from '../../src/gateway/gateway.ts'
import { PlainAbortController } from '../../src/transports/abort-controller.ts'
import { after, one, paths, post, requests, responses, sendJson, upstream } from './support.ts'

/** How many look-ups of one request may be under way at once. */
const bound = 16

/** A store whose look-ups wait until they are let go. */
function slowStore() {
  const entries = new Map<string, string>()
  const seen = {
    entries,
    lookups: 0,
    waiting: [] as (() => void)[],
    most: 0,
    respond: (key: string): unknown => entries.get(key),
  }
  const store: Store = {
    get: key => {
      seen.lookups++
      return new Promise((resolve, reject) => {
        seen.waiting.push(() => {
          try {
            resolve(seen.respond(key))
          } catch (error) {
            reject(error)
          }
        })
        seen.most = Math.max(seen.most, seen.waiting.length)
      })
    },
    set: (key, value) => void entries.set(key, value),
    delete: key => void entries.delete(key),
  }
  const letGo = async () => {
    for (const go of seen.waiting.splice(0)) go()
    await new Promise(setImmediate)
  }
  return { seen, store, letGo }
}

/**
 * A gateway that stores forty responses, and a request that refers to an item of each and to the
 * last response twice.
 */
async function forty() {
  const up = await upstream(sendJson(200, responses['chat-completions']))
  const { seen, store, letGo } = slowStore()
  const gateway = createGateway(
    one(up.url, 'chat-completions', { store: { memory: true, signatures: true } }),
    { store },
  )
  after(() => gateway.close(0))
  const client = new PlainAbortController()
  const response = async (body: unknown, path = paths.responses) => {
    const { method = '', body: text } = post(body)
    const bytes = (async function* () {
      yield new TextEncoder().encode(String(text))
    })()
    const reported = await gateway.handle({
      method,
      path,
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json' },
      body: { bytes },
      signal: client,
      local: true,
    })
    return {
      status: reported.status,
      body: JSON.parse(await new Response(reported.body as BodyInit).text()),
    }
  }
  const ids: string[] = []
  for (let nth = 0; nth < 40; nth++)
    ids.push((await response(requests.responses)).body.output[0].id)
  const referring = {
    model: 'm',
    input: [...ids, ids[39]].map(id => ({ type: 'item_reference', id })),
  }
  return { up, seen, letGo, client, response, referring }
}

/** Lets lookups proceed until the response is there. */
async function responded<T>(response: Promise<T>, letGo: () => Promise<void>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  response.then(over, over)
  while (!isOver) await letGo()
  return response
}

test('looks up referenced items in parallel, each once, with a limit', async () => {
  const { up, seen, letGo, response, referring } = await forty()
  const { status } = await responded(response(referring), letGo)
  expect(status).toBe(200)
  expect(seen.most).toBe(bound)
  expect(seen.lookups).toBe(2 * 40)
  expect(up.calls.at(-1)?.text.match(/Hello/g)).toHaveLength(41)
})

test('looks up signatures of calls in parallel, with a limit', async () => {
  const { seen, letGo, response } = await forty()
  const turn = (id: string) => [
    {
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'x' },
  ]
  const turns = Array.from({ length: 100 }, (_, nth) => turn(`call_${nth}`))
  const body = {
    ...requests['chat-completions'],
    messages: [{ role: 'user', content: 'Hi' }, ...turns.flat()],
  }
  expect((await responded(response(body, paths['chat-completions']), letGo)).status).toBe(200)
  expect([seen.lookups, seen.most]).toEqual([100, bound])
})

test('stops lookups when the client disconnects', async () => {
  const { up, seen, letGo, client, response, referring } = await forty()
  const responding = response(referring)
  while (seen.lookups === 0) await new Promise(setImmediate)
  const { lookups: received } = seen
  client.abort()
  await responded(responding, letGo)
  expect(seen.lookups).toBe(received)
  expect(up.calls).toHaveLength(40)
})

test('stops lookups when the store fails', async () => {
  const { seen, letGo, response, referring } = await forty()
  seen.respond = () => {
    throw new Error('away')
  }
  expect((await responded(response(referring), letGo)).status).toBe(503)
  await letGo()
  expect(seen.lookups).toBe(bound)
})
