import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from './gateway.ts'

const stateless = protocolNames.filter(name => name !== 'responses')
let gateway: GatewayToAll
let openai: OpenAI

beforeAll(async () => {
  gateway = await startGatewayToAll(stateless, { store: { memory: true } })
  openai = new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey: 'test', maxRetries: 0 })
})

afterAll(() => gateway.close())

describe.each(stateless)(
  'the official client of responses, with %s behind the gateway',
  upstream => {
    const model = modelBehind(upstream)
    const lookup = {
      type: 'function' as const,
      name: 'lookup',
      parameters: { type: 'object', properties: { q: { type: 'string' } } },
      strict: false,
    }

    test('runs a tool loop that sends nothing but results', async () => {
      let response = await openai.responses.create({
        model,
        input: 'scenario:tool',
        tools: [lookup],
      })
      for (let rounds = 1; rounds < 5; rounds++) {
        const calls = response.output.filter(item => item.type === 'function_call')
        if (calls.length === 0) break
        const input = calls.map(({ call_id, arguments: text }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: `RESULT-${JSON.parse(text).q}`,
        }))
        response = await openai.responses.create({
          model,
          input,
          tools: [lookup],
          previous_response_id: response.id,
        })
      }
      expect(response.output_text).toBe('Found RESULT-one and RESULT-two')
    })

    test('continues from a stream', async () => {
      const stream = openai.responses.stream({ model, input: 'scenario:text' })
      const { id, output_text: message } = await stream.finalResponse()
      const next = await openai.responses.create({
        model,
        input: 'scenario:text',
        previous_response_id: id,
      })
      expect(message).toBe('Hello, wörld 🎉')
      expect(next.previous_response_id).toBe(id)
      expect(JSON.stringify(gateway.upstreams.get(upstream)?.requests.at(-1))).toContain(
        'Hello, wörld 🎉',
      )
    })

    test('reads, lists and deletes', async () => {
      const response = await openai.responses.create({
        model,
        input: [
          { role: 'user', content: 'scenario:text' },
          { role: 'user', content: 'please' },
        ],
      })
      const { output_text: _, ...body } = response
      expect(await openai.responses.retrieve(response.id)).toMatchObject(body)
      const texts: unknown[] = []
      for await (const item of openai.responses.inputItems.list(response.id, {
        order: 'asc',
        limit: 1,
      }))
        texts.push('content' in item && item.content)
      expect(texts).toEqual([
        [{ type: 'input_text', text: 'scenario:text' }],
        [{ type: 'input_text', text: 'please' }],
      ])
      await openai.responses.delete(response.id)
      await expect(openai.responses.retrieve(response.id)).rejects.toThrow(NotFoundError)
      const refused = await openai.responses
        .create({ model, input: 'x', previous_response_id: response.id })
        .catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(BadRequestError)
      expect(refused).toMatchObject({
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      })
    })
  },
)
