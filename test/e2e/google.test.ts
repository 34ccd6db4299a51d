import { type CallableTool, type Content, GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from './gateway.ts'

/**
 * What only Google's own client does: it runs functions by itself, keeps the history of a chat, and
 * asks for lists.
 */

let gateway: GatewayToAll

beforeAll(async () => {
  gateway = await startGatewayToAll(protocolNames)
})

afterAll(() => gateway.close())

const lookup = {
  name: 'lookup',
  parametersJsonSchema: { type: 'object', properties: { q: { type: 'string' } } },
}

const callable = (received: string[]): CallableTool => ({
  tool: async () => ({ functionDeclarations: [lookup] }),
  callTool: async calls =>
    calls.map(({ id, name = '', args }) => {
      received.push(String(args?.['q']))
      return {
        functionResponse: {
          ...(id && { id }),
          name,
          response: { output: `RESULT-${args?.['q']}` },
        },
      }
    }),
})

describe.each(protocolNames)("Google's client to an upstream of %s", upstream => {
  const model = modelBehind(upstream)
  const connect = (apiVersion?: string) =>
    new GoogleGenAI({
      apiKey: 'test',
      httpOptions: { baseUrl: gateway.base, ...(apiVersion && { apiVersion }) },
    })

  test.each(['v1', 'v1beta', 'v1alpha'])('receives a text under /%s', async version => {
    expect(
      (await connect(version).models.generateContent({ model, contents: 'scenario:text' })).text,
    ).toBe('Hello, wörld 🎉')
  })

  test('runs functions by itself, over two turns', async () => {
    const received: string[] = []
    const response = await connect().models.generateContent({
      model,
      contents: 'scenario:tool',
      config: { tools: [callable(received)] },
    })
    expect(received).toEqual(['one', 'two'])
    expect(response.text).toBe('Found RESULT-one and RESULT-two')
  })

  test('runs functions by itself in a stream', async () => {
    const received: string[] = []
    let text = ''
    for await (const chunk of await connect().models.generateContentStream({
      model,
      contents: 'scenario:parallel',
      config: { tools: [callable(received)] },
    }))
      for (const { candidates = [] } of [chunk])
        for (const part of candidates[0]?.content?.parts ?? [])
          text += part.thought ? '' : (part.text ?? '')
    expect(received).toEqual(['one', 'two'])
    expect(text).toBe('Found RESULT-one and RESULT-two')
  })

  test.each([true, false])(
    'keeps every turn of a chat in its history (streaming: %s)',
    async streaming => {
      const chat = connect().chats.create({ model })
      const say = async (message: string) => {
        if (!streaming) return void (await chat.sendMessage({ message }))
        for await (const _ of await chat.sendMessageStream({ message }));
      }
      await say('scenario:text')
      await say('And again, scenario:text')
      const sent = (contents: Content[]) =>
        contents
          .filter(({ role }) => role === 'model')
          .flatMap(({ parts = [] }) =>
            parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))),
          )
          .join('')
      expect(sent(chat.getHistory(true))).toBe('Hello, wörld 🎉Hello, wörld 🎉')
      expect(gateway.upstreams.get(upstream)?.requests.length).toBeGreaterThan(1)
    },
  )

  test('counts tokens, estimated where the upstream does not count', async () => {
    const { totalTokens } = await connect().models.countTokens({
      model,
      contents: 'How many tokens are these?',
    })
    expect(totalTokens).toBeGreaterThan(0)
    expect(totalTokens).toBeLessThan(100)
  })

  test('lists models', async () => {
    const names: unknown[] = []
    for await (const { name } of await connect().models.list()) names.push(name)
    expect(names).toContain(`models/${model}`)
  })

  test('gets a stream as one list where it does not ask for events', async () => {
    const response = await fetch(`${gateway.base}/v1beta/models/${model}:streamGenerateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': 'test' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'scenario:text' }] }] }),
    })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const events = (await response.json()) as {
      candidates: { content: Content; finishReason?: string }[]
    }[]
    const parts = events.flatMap(({ candidates }) => candidates[0]?.content.parts ?? [])
    expect(parts.map(({ text, thought }) => (thought ? '' : text)).join('')).toBe('Hello, wörld 🎉')
    expect(events.at(-1)?.candidates[0]?.finishReason).toBe('STOP')
  })

  test.each(['error', 'cut'])('a list that breaks (%s) ends in an error', async scenario => {
    const response = await fetch(`${gateway.base}/v1beta/models/${model}:streamGenerateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': 'test' },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text: `scenario:${scenario}` }] }],
      }),
    })
    const events = (await response.json()) as { error?: { code: number } }[]
    expect(events.at(-1)?.error?.code).toBeGreaterThanOrEqual(500)
  })
})
