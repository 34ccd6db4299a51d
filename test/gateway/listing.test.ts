import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hosts, one, sendJson, upstream, wait } from './support.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const listing = (...ids: string[]) => sendJson(200, { object: 'list', data: ids.map(id => ({ id, object: 'model' })) })

test.each(hosts)('an upstream whose listing fails for a while has the models that it had: through %s', async (_, start) => {
  const seen = await upstream(listing('a', 'b'), sendJson(503, {}), response => response.destroy(), listing('c'))
  const ask = await start(one(seen.url, 'chat-completions', {}, { id: '*' }))
  const ids = async () => ((await (await ask('/v1/models')).json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  const found: string[][] = []
  for (let minute = 0; minute < 4; minute++) {
    found.push(await ids())
    await wait(1)
    vi.setSystemTime(Date.now() + 61_000)
  }
  expect(found).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['c']])
  expect(seen.calls.length).toBe(4)
})
