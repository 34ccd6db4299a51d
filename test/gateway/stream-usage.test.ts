import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { protocols } from '../../src/protocols/index.ts'
import { createTextPassThrough } from '../../src/translate/pass-through.ts'
import { covered } from '../support/covered.ts'
import { sampled } from '../support/sampled.ts'
import {
  asking as askingFor,
  dataOf,
  hostsOf,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  until,
  upstream,
} from './support.ts'

const counts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const extra = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: counts })}\n\n`
const frames = [
  ...streams['chat-completions'].slice(0, -1),
  extra,
  ...streams['chat-completions'].slice(-1),
]
const path = paths['chat-completions']
const asking = (more: object = {}) =>
  post({ ...requests['chat-completions'], stream: true, ...more })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('a streamed chat request asks for counts, and a client that did not ask does not see them', async () => {
    const records: UsageRecord[] = []
    const seen = await upstream(sendStream(frames))
    const ask = await start(one(seen.url, 'chat-completions'), {
      onUsage: record => void records.push(record),
    })
    const text = await (await ask(path, asking())).text()
    expect(seen.calls[0]?.json).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(text).toBe(streams['chat-completions'].join(''))
    await until(() => records.length === 1)
    expect(records[0]?.usage).toMatchObject({ input: 3, output: 2 })
  })

  test('returns counts to a client that requested them', async () => {
    const seen = await upstream(sendStream(frames))
    const ask = await start(one(seen.url, 'chat-completions'))
    const text = await (await ask(path, asking({ stream_options: { include_usage: true } }))).text()
    expect(text).toBe(frames.join(''))
  })

  test.each([
    ['that requested them', { stream_options: { include_usage: true } }, true],
    ['that did not', {}, false],
  ])('an upstream that answers a stream with JSON counts for a client %s', async (_, more, has) => {
    const seen = await upstream(sendJson(200, { ...responses['chat-completions'], usage: counts }))
    const ask = await start(one(seen.url, 'chat-completions'))
    const text = await (await ask(path, asking(more))).text()
    expect(text).toContain('data: [DONE]')
    expect(text.includes('"prompt_tokens":3')).toBe(has)
  })

  test('adds one field and keeps the other bytes', async () => {
    const seen = await upstream(sendStream(frames))
    const ask = await start(one(seen.url, 'chat-completions'))
    const text =
      '{ "model": "m","stream" : true, "odd": 12345678901234567890, "messages":[{"role":"user","content":"Hi"}] }'
    await (await ask(path, post(text))).text()
    expect(seen.calls[0]?.text).toBe(`{"stream_options":{"include_usage":true},${text.slice(1)}`)
  })

  test('keeps other stream options', async () => {
    const seen = await upstream(sendStream(frames))
    const ask = await start(one(seen.url, 'chat-completions'))
    await (await ask(path, asking({ stream_options: { include_obfuscation: false } }))).text()
    expect(seen.calls[0]?.json['stream_options']).toEqual({
      include_obfuscation: false,
      include_usage: true,
    })
  })

  test('adds the field when the model name is replaced', async () => {
    const seen = await upstream(sendStream(frames))
    const ask = await start(
      one(
        seen.url,
        'chat-completions',
        {},
        { id: 'nick', channels: [{ name: 'up', model: 'real' }] },
      ),
    )
    const text = await (await ask(path, asking({ model: 'nick' }))).text()
    expect(seen.calls[0]?.json).toMatchObject({
      model: 'real',
      stream_options: { include_usage: true },
    })
    expect(dataOf(text).filter(event => event !== '[DONE]')).toEqual(
      dataOf(streams['chat-completions'].slice(0, -1).join('')).map(event => ({
        ...(event as object),
        model: 'nick',
      })),
    )
    expect(await sent(text, 'chat-completions')).toBe('Hello')
  })

  test('a channel whose server refuses the field does not get it', async () => {
    const seen = await upstream(sendStream(streams['chat-completions']))
    const ask = await start(one(seen.url, 'chat-completions', {}, {}, { streamUsage: false }))
    expect(await (await ask(path, asking())).text()).toBe(streams['chat-completions'].join(''))
    expect(seen.calls[0]?.json).not.toHaveProperty('stream_options')
  })

  test.each(covered.filter(name => name !== 'chat-completions'))(
    'streams for a client of %s request counts, but not at such a channel',
    async from => {
      const seen = await upstream(sendStream(frames))
      for (const channel of [{}, { streamUsage: false }]) {
        const ask = await start(one(seen.url, 'chat-completions', {}, {}, channel))
        await (await ask(...askingFor(from, { stream: true }))).text()
      }
      const [received, spared] = seen.calls.map(({ json }) => json)
      expect(received).toMatchObject({ stream: true, stream_options: { include_usage: true } })
      expect(spared).toMatchObject({ stream: true })
      expect(spared).not.toHaveProperty('stream_options')
    },
  )

  test.each(covered)(
    'a model that never streams is given no options of streams by a client of %s',
    async from => {
      const reported = {
        'chat-completions': { include_usage: true },
        responses: { include_obfuscation: false },
      }[from as string]
      const seen = await upstream(sendJson(200, responses['chat-completions']))
      const ask = await start(one(seen.url, 'chat-completions', {}, { streaming: 'never' }))
      await (
        await ask(
          ...askingFor(from, { stream: true, ...(reported && { stream_options: reported }) }),
        )
      ).text()
      expect(seen.calls[0]?.json['stream'] ?? false).toBe(false)
      expect(seen.calls[0]?.json).not.toHaveProperty('stream_options')
    },
  )

  test.each(covered)(
    'a stream that is collected for a client of %s requests counts',
    async from => {
      const seen = await upstream(sendStream(frames))
      const ask = await start(one(seen.url, 'chat-completions', {}, { streaming: 'only' }))
      await (await ask(...askingFor(from))).text()
      expect(seen.calls[0]?.json).toMatchObject({
        stream: true,
        stream_options: { include_usage: true },
      })
    },
  )

  test('a stream that is collected for a client that wanted JSON has counts, too', async () => {
    const seen = await upstream(sendStream(frames))
    const ask = await start(one(seen.url, 'chat-completions', {}, { streaming: 'only' }))
    expect(await (await ask(path, post(requests['chat-completions']))).json()).toMatchObject({
      usage: counts,
    })
    expect(seen.calls[0]?.json).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
  })
})

test.each([
  ['line feeds', '\n'],
  ['carriage returns', '\r'],
  ['both', '\r\n'],
])('counts are left out of any split of the stream: %s', (_, lineEnd) => {
  const spelled = (all: readonly string[]) => all.join('').replaceAll('\n', lineEnd)
  // The LF of a blank line may stay when its frame is left out.
  const linesOf = (text: string) => text.split(/[\r\n]+/).filter(Boolean)
  const text = spelled(frames)
  for (const whole of [
    text,
    text.trimEnd(),
    spelled([...frames.slice(0, -2), ...frames.slice(-1), extra]),
  ])
    for (const cut of sampled(Array.from({ length: whole.length + 1 }, (_, at) => at))) {
      const filter = createTextPassThrough(protocols['chat-completions'], { hideUsage: true })
      const out = filter.push(whole.slice(0, cut)) + filter.push(whole.slice(cut)) + filter.end()
      expect(linesOf(out)).toEqual(linesOf(spelled(streams['chat-completions'])))
    }
})
