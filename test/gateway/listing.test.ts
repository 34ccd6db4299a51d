import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hostsOf, one, sendJson, upstream, wait } from './support.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

const listing = (...ids: string[]) =>
  sendJson(200, { object: 'list', data: ids.map(id => ({ id, object: 'model' })) })

test.each(hostsOf(import.meta.url))(
  'keeps the last models of an upstream while its listing fails: through %s',
  async (_, start) => {
    const seen = await upstream(
      listing('a', 'b'),
      sendJson(503, {}),
      response => response.destroy(),
      listing('c'),
    )
    const ask = await start(one(seen.url, 'chat-completions', {}, { id: '*' }))
    const ids = async () =>
      ((await (await ask('/v1/models')).json()) as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      )
    const found: string[][] = []
    for (let minute = 0; minute < 4; minute++) {
      found.push(await ids())
      await wait(1)
      vi.advanceTimersByTime(61_000)
    }
    expect(found).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['c']])
    expect(seen.calls.length).toBe(4)
  },
)

test.each(hostsOf(import.meta.url))(
  'asks an upstream once a minute, also when the clock jumps: through %s',
  async (_, start) => {
    const seen = await upstream(listing('a'), listing('b'))
    const ask = await start(one(seen.url, 'chat-completions', {}, { id: '*' }))
    for (const jumpMs of [0, 3_600_000, -7_200_000]) {
      vi.setSystemTime(Date.now() + jumpMs)
      await (await ask('/v1/models')).json()
    }
    expect(seen.calls.length).toBe(1)
    vi.advanceTimersByTime(61_000)
    await (await ask('/v1/models')).json()
    expect(seen.calls.length).toBe(2)
  },
)

test.each(hostsOf(import.meta.url))(
  'reports an error when no model can be listed because the upstream failed: through %s',
  async (_, start) => {
    const seen = await upstream(response => response.destroy(), sendJson(401, {}), listing())
    const ask = await start(one(seen.url, 'chat-completions', {}, { id: '*' }))
    const statuses: number[] = []
    const messages: string[] = []
    for (let minute = 0; minute < 3; minute++) {
      const response = await ask('/v1/models')
      statuses.push(response.status)
      messages.push(
        ((await response.json()) as { error?: { message: string } }).error?.message ?? '',
      )
      vi.advanceTimersByTime(61_000)
    }
    expect(statuses).toEqual([502, 502, 200])
    expect(messages[0]).toMatch(
      /^no models can be listed; channel up: the upstream could not be reached/,
    )
    expect(messages[1]).toBe(
      'no models can be listed; channel up: the upstream refused its listing with status 401',
    )
  },
)

test.each(hostsOf(import.meta.url))(
  'lists nothing when the upstream has no listing: through %s',
  async (_, start) => {
    const seen = await upstream(sendJson(404, {}))
    const ask = await start(one(seen.url, 'chat-completions', {}, { id: '*' }))
    expect(await (await ask('/v1/models')).json()).toMatchObject({ object: 'list', data: [] })
  },
)

test.each(hostsOf(import.meta.url))(
  'lists the other models when one upstream fails: through %s',
  async (_, start) => {
    const seen = await upstream(sendJson(503, {}))
    const config = one(seen.url, 'chat-completions', {}, { id: '*' })
    const ask = await start({
      ...config,
      models: [...(config.models ?? []), { id: 'fixed', channels: [{ name: 'up' }] }],
    })
    expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'fixed' }] })
  },
)

test.each(hostsOf(import.meta.url))(
  'lists the demo model of a configuration without models: through %s',
  async (_, start) => {
    const ask = await start({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
    expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'demo' }] })
  },
)
