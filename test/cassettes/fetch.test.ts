import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { expected, requestOf } from '../../bench/fixtures.ts'
import type { Cassette } from '../../src/cassettes/index.ts'
import { collectStream, normalizeResponse, textOf, toolCallsOf } from '../../src/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { cassetteFetch } from '../../src/testing/index.ts'
import { only } from '../../src/transports/bodies.ts'
import {
  asked,
  bytesOf,
  configFor,
  exchangeOf,
  filesOf,
  model,
  postOf,
  recorded,
} from './support.ts'

const cassettes = new Map<string, Cassette>()
const nameOf = (from: ProtocolName, stream: boolean) => `${from} ${stream}`

beforeAll(async () => {
  for (const from of protocolNames)
    for (const stream of [false, true]) {
      const { cassette } = await exchangeOf(from, 'messages', { stream, size: 'agent' })
      cassettes.set(nameOf(from, stream), cassette)
    }
}, 60_000)

/** Others send it anyway. */
const usageIn = (name: ProtocolName, stream: boolean) =>
  name === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {}

const kinds = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(protocolNames)('a client of %s', name => {
  describe.each(kinds)('that wants its response %s', (_, wantsStream) => {
    const askFrom = async (from: ProtocolName, stream: boolean, change = '') => {
      const cassette = cassettes.get(nameOf(from, stream))
      if (!cassette) throw new Error('nothing was recorded')
      const { path } = asked(name, wantsStream, 'agent')
      const wire = requestOf(protocols[name], 'agent') as object
      const body =
        'stream' in wire ? { ...wire, stream: wantsStream, ...usageIn(name, wantsStream) } : wire
      const text = JSON.stringify(body)
      const play = cassetteFetch([cassette])
      return play(
        `https://api.test${path}`,
        postOf(JSON.parse(change ? text.replace('quick', change) : text)),
      )
    }

    test.each(
      protocolNames.flatMap(from => kinds.map(([kind, stream]) => [from, kind, stream] as const)),
    )('is answered from a cassette of %s, recorded %s', async (from, _kind, stream) => {
      const response = await askFrom(from, stream)
      const bytes = await bytesOf(response)
      expect({ status: response.status, text: bytes.toString() }).toMatchObject({ status: 200 })
      const body = wantsStream
        ? (await collectStream([bytes], { protocol: name })).body
        : JSON.parse(bytes.toString())
      const got = normalizeResponse(body, { protocol: name })
      expect(textOf(got)).toBe(textOf(expected.agent))
      expect(toolCallsOf(got).map(call => call.name)).toEqual(['write_file', 'run'])
      expect(got.usage).toMatchObject({ input: 12_000, output: 900 })
    })

    test('gets the bytes that a client of its protocol got then', async () => {
      const bytes = await bytesOf(await askFrom(name, wantsStream))
      const { body } = cassettes.get(nameOf(name, wantsStream))?.response ?? {}
      const recordedText = body?.frames?.map(frame => frame.text).join('') ?? body?.text ?? ''
      const { framing } = protocols[name]
      const text = framing && wantsStream ? String(framing.decode()(bytes)) : bytes.toString()
      expect(text.replaceAll(/^id: frame.*\n/gm, '')).toBe(recordedText)
    })

    test('is told what differs', async () => {
      const response = await askFrom('messages', wantsStream, 'slow')
      expect(response.status).toBe(404)
      const message = await response.text()
      expect(message).toMatch(
        /no cassette answers this request\. The nearest is req_\w+, which differs at [^,]+, letter \d+: recorded /,
      )
      expect(message).toContain('quick faulen')
      expect(message).toContain('slow faulen')
    })
  })
})

describe('matches', () => {
  const openAi = (files: string | readonly (string | Cassette)[]) =>
    new OpenAI({ apiKey: 'sk-none', fetch: cassetteFetch(files), maxRetries: 0 })

  const conversation = async () => {
    const { path } = asked('chat-completions', false)
    const say = (content: string) =>
      postOf({ model, messages: [{ role: 'user', content: 'Hello' }], metadata: { content } })
    const answers = ['first', 'second']
    return recorded(
      configFor('chat-completions'),
      [
        { path, init: say('a') },
        { path, init: say('b') },
      ],
      {
        hooks: {
          transport: {
            send: async () => ({
              status: 200,
              headers: { 'content-type': 'application/json' },
              body: only(
                JSON.stringify({
                  id: 'c',
                  object: 'chat.completion',
                  created: 1,
                  model,
                  choices: [
                    {
                      index: 0,
                      finish_reason: 'stop',
                      message: { role: 'assistant', content: answers.shift() },
                    },
                  ],
                }),
              ),
            }),
          },
        },
      },
    )
  }

  test('equal requests in the order of the cassettes, and tells which are unused', async () => {
    const { folder, cassettes: both } = await conversation()
    const play = cassetteFetch(folder)
    const client = new OpenAI({ apiKey: 'none', fetch: play, maxRetries: 0 })
    const ask = async () => {
      const { choices } = await client.chat.completions.create({
        model: 'any',
        messages: [{ role: 'user', content: 'Hello' }],
        temperature: 0,
      })
      return choices[0]?.message.content
    }
    expect(await play.unused()).toEqual(both.map(({ id }) => id))
    expect(await ask()).toBe('first')
    expect(await play.unused()).toEqual([both[1]?.id])
    expect([await ask(), await ask()]).toEqual(['second', 'second'])
    expect(await play.unused()).toEqual([])
  })

  test('a request with a secret that was replaced, and an image that was left out', async () => {
    const secret = 'sk-proj-0123456789abcdefghij'
    const messages = [
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: `my key is ${secret}` },
          {
            type: 'image_url' as const,
            image_url: { url: `data:image/png;base64,${Buffer.alloc(500, 1).toString('base64')}` },
          },
        ],
      },
    ]
    const { folder } = await recorded(
      configFor('messages'),
      [{ path: '/v1/chat/completions', init: postOf({ model, messages }) }],
      {
        hooks: {
          transport: {
            send: async () => ({
              status: 200,
              headers: {},
              body: only(
                '{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}',
              ),
            }),
          },
        },
      },
    )
    const { choices } = await openAi(filesOf(folder)).chat.completions.create({ model, messages })
    expect(choices[0]?.message.content).toBe('ok')
  })

  test('errors, in the words of the client', async () => {
    const { path, body } = asked('messages', false)
    const { cassettes: failed } = await recorded(
      configFor('messages'),
      [{ path, init: postOf(body) }],
      {
        hooks: {
          transport: {
            send: async () => ({
              status: 429,
              headers: { 'content-type': 'application/json' },
              body: only(
                '{"type":"error","error":{"type":"rate_limit_error","message":"too fast"}}',
              ),
            }),
          },
        },
      },
    )
    const chat = asked('chat-completions', false).body as never
    await expect(openAi(failed).chat.completions.create(chat)).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('too fast'),
    })
  })

  test('nothing where there is no cassette', async () => {
    const chat = asked('chat-completions', false).body as never
    await expect(openAi([]).chat.completions.create(chat)).rejects.toThrow(
      /no cassette answers this request: there are none/,
    )
  })

  test('a stream that was cut, which breaks', async () => {
    const { cassette } = await exchangeOf('messages', 'messages', { stream: true, cut: 9 })
    const client = new Anthropic({
      apiKey: 'none',
      fetch: cassetteFetch([cassette]),
      maxRetries: 0,
    })
    const stream = client.messages.stream(asked('messages', true).body as never)
    await expect(stream.finalMessage()).rejects.toThrow()
  })
})

test('a stream comes with its times, or faster', async () => {
  const { cassette } = await exchangeOf('messages', 'messages', { stream: true })
  const { response } = cassette
  if (!response?.body.frames) throw new Error('nothing was recorded')
  response.body.frames = response.body.frames.map((frame, i) => ({
    ...frame,
    atMs: response.atMs + i * 20,
  }))
  const lengthMs = (response.body.frames.length - 1) * 20
  const took = async (options: { speed?: number }) => {
    const { path, body } = asked('messages', true)
    const began = performance.now()
    await bytesOf(await cassetteFetch([cassette], options)(`https://api.test${path}`, postOf(body)))
    return performance.now() - began
  }
  expect(await took({ speed: 1 })).toBeGreaterThan(lengthMs * 0.9)
  expect(await took({ speed: 4 })).toBeGreaterThan(lengthMs * 0.2)
  expect(await took({})).toBeLessThan(lengthMs * 0.9)
})
