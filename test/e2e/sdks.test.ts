import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { clientOf, type Question } from '../support/clients/index.ts'
import { sampled } from '../support/sampled.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from './gateway.ts'

const lookup = {
  name: 'lookup',
  schema: { type: 'object', properties: { q: { type: 'string' } }, additionalProperties: false },
}
const responseSchema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const pairs = protocolNames.flatMap(caller =>
  protocolNames.flatMap(upstream => [true, false].map(stream => ({ caller, upstream, stream }))),
)

let gateway: GatewayToAll

beforeAll(async () => {
  gateway = await startGatewayToAll(protocolNames)
})

afterAll(() => gateway.close())

describe.each(sampled(pairs, 7))(
  'the official client of $caller, streaming: $stream, to an upstream of $upstream',
  ({ caller, upstream, stream }) => {
    const client = clientOf(caller)
    const question = (scenario: string, more: Partial<Question> = {}): Question => ({
      model: modelBehind(upstream),
      ask: `scenario:${scenario}`,
      stream,
      ...more,
    })
    const results = (_: string, input: unknown) => `RESULT-${(input as { q?: string }).q ?? 'none'}`
    const reported = (error: unknown) => {
      const { status, message } = error as { status?: number; message: string }
      return { status: client.statusOf?.(error) ?? status, message }
    }
    const received = () => gateway.upstreams.get(upstream)?.requests.length

    test('receives a text, every character of it', async () => {
      expect(await client.converse(gateway.base, question('text'))).toMatchObject({
        text: 'Hello, wörld 🎉',
        calls: [],
      })
    })

    test('runs a tool loop over two turns', async () => {
      expect(
        await client.converse(gateway.base, question('tool', { tools: [lookup] }), results),
      ).toMatchObject({
        text: 'Found RESULT-one and RESULT-two',
        rounds: 3,
      })
    })

    test('runs parallel calls and gives both results back', async () => {
      expect(
        await client.converse(gateway.base, question('parallel', { tools: [lookup] }), results),
      ).toMatchObject({
        text: 'Found RESULT-one and RESULT-two',
        rounds: 2,
      })
    })

    test('gets parallel calls with their own ids and arguments', async () => {
      const { calls } = await client.converse(
        gateway.base,
        question('parallel', { tools: [lookup] }),
      )
      expect(calls).toEqual([
        { id: 'call_1', name: 'lookup', input: { q: 'one' } },
        { id: 'call_2', name: 'lookup', input: { q: 'two' } },
      ])
    })

    test('runs a call without arguments as one with an empty object', async () => {
      const inputs: unknown[] = []
      await client.converse(gateway.base, question('noargs', { tools: [lookup] }), (_, input) => {
        inputs.push(input)
        return 'RESULT-none'
      })
      expect(inputs).toEqual([{}])
    })

    test('gets JSON when it requests a schema', async () => {
      const { text } = await client.converse(
        gateway.base,
        question('json', { schema: responseSchema }),
      )
      expect(JSON.parse(text)).toEqual({ a: 'b' })
      expect(JSON.stringify(gateway.upstreams.get(upstream)?.requests.at(-1))).toMatch(
        /"json_schema"|"responseJsonSchema"/,
      )
    })

    test('sees that the length limit was reached', async () => {
      const { text, stop } = await client.converse(gateway.base, question('long'))
      expect(text).toBe('As far as')
      expect(stop).toMatch(/^(length|max_tokens|max_output_tokens|MAX_TOKENS)$/)
    })

    test('shows a refusal as a refusal, and a response as none', async () => {
      const { refused, text } = await client.converse(gateway.base, question('refuse'))
      expect(refused || (client.refusalsAreText && text === 'I cannot help with that.')).toBe(true)
      expect(await client.converse(gateway.base, question('text'))).toMatchObject({
        refused: false,
      })
    })

    test('sees a rate limit as one, with the time to wait', async () => {
      const before = received()
      const error = await client
        .converse(gateway.base, question('limited'))
        .catch((thrown: unknown) => thrown)
      expect(reported(error)).toEqual({
        status: 429,
        message: expect.stringContaining('Slow down'),
      })
      expect(client.retryAfterOf(error)).toBe('3')
      expect(received()).toBe((before ?? 0) + 1)
    })

    test('sees a refused request as one', async () => {
      const error = await client
        .converse(gateway.base, question('bad'))
        .catch((thrown: unknown) => thrown)
      expect(reported(error)).toEqual({
        status: 400,
        message: expect.stringContaining('No such parameter'),
      })
    })

    test('sees an upstream that is down', async () => {
      const error = await client
        .converse(gateway.base, question('down'))
        .catch((thrown: unknown) => thrown)
      expect(reported(error)).toEqual({
        status: 503,
        message: expect.stringContaining('Down for now'),
      })
    })

    if (!stream) return

    test('never takes a broken stream for a response', async () => {
      await expect(client.converse(gateway.base, question('error'))).rejects.toThrow(/Broke down/)
    })

    test('never takes a truncated stream for a response', async () => {
      await expect(client.converse(gateway.base, question('cut'))).rejects.toThrow()
    })
  },
)
