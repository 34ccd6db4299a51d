import { describe, expect, test } from 'vitest'
import { explain, prefixBreakBetween } from '../../src/cassettes/index.ts'
import { translateRequest } from '../../src/index.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { only } from '../../src/transports/bodies.ts'
import { answering, asked, configFor, exchangeOf, model, postOf, recorded } from './support.ts'

describe('explains', () => {
  test('what was changed and why, with advice', async () => {
    const { path, body } = asked('chat-completions', false)
    const { cassettes } = await recorded(
      configFor('messages'),
      [
        {
          path,
          init: postOf({
            ...body,
            seed: 7,
            max_completion_tokens: undefined,
            max_tokens: undefined,
          }),
        },
      ],
      { hooks: { transport: answering('messages', { stream: false }) } },
    )
    const text = explain(cassettes).join('\n')
    expect(text).toContain(
      'a client sent POST /v1/chat/completions in the protocol chat-completions.',
    )
    expect(text).toContain(
      `Attempt 1: the channel up was asked for ${model} in messages, and answered with the status 200`,
    )
    expect(text).toMatch(/^Lost \(.*\): \/seed\. /m)
    expect(text).toMatch(/^Added \(max-tokens\.default\): .*\n {2}What to do: /m)
    expect(text).toMatch(
      /^Times: reading and translating the request \d+ ms; waiting for the upstream \d+ ms; .* in all \d+ ms\.$/m,
    )
    expect(text).toContain(
      'Tokens: in 12000, read from the cache 10000, written to the cache 0, out 900, for reasoning 120.',
    )
  })

  test('that nothing was lost', async () => {
    const { cassette } = await exchangeOf('messages', 'messages', { stream: true })
    expect(explain([cassette])).toContain('Nothing was translated, and nothing was lost.')
  })

  test('which channels failed, were left alone or cut off', async () => {
    const names = ['one', 'two']
    const config = {
      ...configFor('messages'),
      channels: names.map(name => ({
        name,
        protocols: ['messages' as const],
        baseUrl: `https://${name}.test`,
        breaker: { failures: 1 },
      })),
      models: [{ id: model, channels: names.map((name, priority) => ({ name, priority })) }],
    }
    const { path, body } = asked('messages', true)
    const request = { path, init: postOf(body) }
    const up = answering('messages', { stream: true, cut: 9 })
    const { cassettes } = await recorded(config, [request, request], {
      hooks: {
        transport: {
          send: async call =>
            call.url.includes('two')
              ? up.send(call)
              : {
                  status: 500,
                  headers: { 'content-type': 'application/json' },
                  body: only('{"type":"error","error":{"type":"api_error","message":"broken"}}'),
                },
        },
      },
    })
    const [first = [], second = []] = cassettes.map(one => explain([one]))
    expect(first).toContain('These channels may serve it, in this order: one, two.')
    expect(first.join('\n')).toMatch(/^Attempt 1: .* failed after \d+ ms: 500 upstream_status, /m)
    expect(first.join('\n')).toMatch(/^Attempt 2: the channel two .*; its response was cut off\.$/m)
    expect(second.join('\n')).toContain('The channel one got no request: it had failed too often')
  })
})

/** Requests of one conversation, in the words of a protocol. */
const turnsOf = (name: (typeof protocolNames)[number], questions: string[], system = 'be brief') =>
  translateRequest(
    {
      model,
      max_tokens: 100,
      system,
      messages: questions.flatMap((content, i) => [
        ...(i > 0 ? [{ role: 'assistant' as const, content: 'I see.' }] : []),
        { role: 'user' as const, content },
      ]),
      tools: [{ name: 'look', description: 'looks', input_schema: { type: 'object' } }],
    },
    { from: 'messages', to: name },
  ).body as object

describe.each(protocolNames)('the prefix of prompts in %s', name => {
  const long = 'a long story '.repeat(300)
  const cassettesOf = async (...bodies: object[]) => {
    const path =
      protocols[name].address.target({ operation: 'generate', model, stream: false }) ?? ''
    const { cassettes } = await recorded(
      configFor(name),
      bodies.map(body => ({ path, init: postOf(body) })),
      { hooks: { transport: answering(name, { stream: false }) } },
    )
    return cassettes
  }

  test('is whole when the next turn follows', async () => {
    const cassettes = await cassettesOf(turnsOf(name, [long]), turnsOf(name, [long, 'and then?']))
    expect(explain(cassettes).at(-1)).toMatch(/^The prompt begins with all of that of req_/)
  })

  test('breaks where an earlier message is another one', async () => {
    const [one, other] = await cassettesOf(
      turnsOf(name, ['hello', long, 'go on']),
      turnsOf(name, ['hello', `${long}changed`, 'go on', 'more']),
    )
    if (!one || !other) throw new Error('nothing was recorded')
    const broken = prefixBreakBetween(one, other)
    expect(broken?.path).toMatch(/^\/(messages|input|contents)\/\d/)
    expect(broken?.offset).toBe(long.length)
    expect(broken?.kept).toBeLessThan(200)
    expect(broken?.lost).toBeGreaterThan(1_000)
  })

  test('breaks at the instructions', async () => {
    const cassettes = await cassettesOf(
      turnsOf(name, [long], 'today is Monday'),
      turnsOf(name, [long, 'more'], 'today is Tuesday'),
    )
    const lines = explain(cassettes).slice(-3)
    expect(lines[0]).toMatch(/^The prompt differs from that of req_\w+ at \/\w+.*, letter 9: /)
    expect(lines[1]).toContain('Monday')
    expect(lines[2]).toContain('Tuesday')
  })
})

test('each request is read a few times, however many there are', async () => {
  const { cassette } = await exchangeOf('chat-completions', 'messages', { stream: false })
  const { text } = cassette.request.body
  let reads = 0
  const all = Array.from({ length: 60 }, () => {
    const copy = structuredClone(cassette)
    Object.defineProperty(copy.request.body, 'text', {
      get() {
        reads++
        return text
      },
    })
    return copy
  })
  expect(explain(all).length).toBeGreaterThan(60)
  expect(reads).toBeLessThan(200)
})

test('what clients and upstreams have written moves nothing in a terminal', async () => {
  const { cassette } = await exchangeOf('chat-completions', 'messages', { stream: false })
  cassette.request.path += '\u001b[2J'
  cassette.notes.push({ kind: 'dropped', path: '/\u001b]0;x\u0007', code: 'x', reason: '\u009b' })
  for (const line of explain([cassette])) expect(line).toMatch(/^\P{Cc}*$/u)
})
