import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from '../e2e/gateway.ts'
import { connectRaw, connectSdk, type Event } from './connect.ts'

/**
 * The official client over WebSocket, and messages in the form of Codex, to upstreams of every
 * protocol.
 */

let gateway: GatewayToAll

beforeAll(async () => {
  gateway = await startGatewayToAll(protocolNames, { webSocket: true })
})

afterAll(() => gateway.close())

const user = (text: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})
const lookup = {
  type: 'function',
  name: 'lookup',
  parameters: { type: 'object', properties: { q: { type: 'string' } } },
  strict: false,
}
const result = (output: string, call: string) => ({
  type: 'function_call_output',
  call_id: call,
  output,
})
type Response = {
  id: string
  output: { type: string; call_id?: string; arguments?: string; content?: { text: string }[] }[]
}
const responseIn = (event: Event) => event['response'] as Response
const textIn = (event: Event) =>
  responseIn(event)
    .output.flatMap(({ type, content }) =>
      type === 'message' && content ? content.map(({ text }) => text) : [],
    )
    .join('')

describe.each(protocolNames)('to an upstream of %s', upstream => {
  const model = modelBehind(upstream)
  const received = () => JSON.stringify(gateway.upstreams.get(upstream)?.requests.at(-1))

  test('sends every event of a response to the official client', async () => {
    const { ask, events } = await connectSdk(gateway.base)
    const last = await ask({ model, input: 'scenario:text' })
    expect([last.type, textIn(last)]).toEqual(['response.completed', 'Hello, wörld 🎉'])
    expect(events[0]?.type).toBe('response.created')
    expect(
      events
        .map(event => (event.type === 'response.output_text.delta' ? event['delta'] : ''))
        .join(''),
    ).toBe('Hello, wörld 🎉')
    expect(events.map(event => event['sequence_number'])).toEqual(events.map((_, index) => index))
  })

  test('continues three turns that send only new items, as Codex does, without a store', async () => {
    const { ask } = await connectSdk(gateway.base)
    const shared = {
      model,
      store: false,
      tools: [lookup],
      instructions: 'Be brief.',
      include: ['reasoning.encrypted_content'],
    }
    const warm = await ask({ ...shared, generate: false, input: [user('scenario:tool')] })
    expect([warm.type, responseIn(warm).output]).toEqual(['response.completed', []])
    const requests = gateway.upstreams.get(upstream)?.requests.length
    const first = await ask({ ...shared, previous_response_id: responseIn(warm).id, input: [] })
    expect(gateway.upstreams.get(upstream)?.requests.length).toBe((requests ?? 0) + 1)
    expect(first).toMatchObject({ type: 'response.completed' })
    const call = responseIn(first).output.find(({ type }) => type === 'function_call')
    expect(call?.arguments).toBe('{"q":"one"}')
    const second = await ask({
      ...shared,
      previous_response_id: responseIn(first).id,
      input: [result('RESULT-one', call?.call_id ?? '')],
    })
    expect(second).toMatchObject({ type: 'response.completed' })
    const next = responseIn(second).output.find(({ type }) => type === 'function_call')
    expect(received()).not.toContain('previous_response_id')
    const third = await ask({
      ...shared,
      previous_response_id: responseIn(second).id,
      input: [result('RESULT-two', next?.call_id ?? '')],
    })
    expect(textIn(third)).toBe('Found RESULT-one and RESULT-two')
    expect(received()).toContain('scenario:tool')
  })

  test.each([
    ['limited', 429, 'Slow down'],
    ['bad', 400, 'No such parameter'],
    ['down', 503, 'Down for now'],
  ])(
    'sends an error event and keeps the connection when the upstream is %s (%d)',
    async (scenario, status, message) => {
      const { ask } = await connectSdk(gateway.base)
      expect(await ask({ model, input: `scenario:${scenario}` })).toMatchObject({
        type: 'error',
        status,
        error: { message: expect.stringContaining(message) },
      })
      expect((await ask({ model, input: 'scenario:text' })).type).toBe('response.completed')
    },
  )

  test.each(['error', 'cut'])(
    'sends an error and no completed response when the upstream breaks in mid-stream (%s)',
    async scenario => {
      const { ask, events } = await connectSdk(gateway.base)
      const last = await ask({ model, input: `scenario:${scenario}` })
      expect(['error', 'response.failed']).toContain(last.type)
      if (last.type === 'error') expect(last['status']).toBeGreaterThanOrEqual(400)
      expect((await ask({ model, input: 'scenario:text' })).type).toBe('response.completed')
      expect(events.filter(({ type }) => type === 'response.completed')).toHaveLength(1)
    },
  )

  test('keeps the conversation of a connection from other connections', async () => {
    const one = await connectSdk(gateway.base)
    const { id } = responseIn(await one.ask({ model, store: false, input: 'scenario:text' }))
    const other = await connectSdk(gateway.base)
    // The upstream of the same protocol gets the reference; the others cannot resolve it.
    if (upstream !== 'responses')
      expect(
        (await other.ask({ model, store: false, previous_response_id: id, input: 'scenario:text' }))
          .type,
      ).toBe('error')
    expect(
      (await one.ask({ model, store: false, previous_response_id: id, input: 'More' })).type,
    ).toBe('response.completed')
  })
})

test('accepts the headers, fields and acknowledgements of Codex', async () => {
  const codex = {
    'openai-beta': 'responses_websockets=2026-02-06',
    originator: 'codex_exec',
    'session-id': '1',
    authorization: 'Bearer KEY',
  }
  const { socket, messages } = await connectRaw(gateway.base, { headers: codex })
  socket.send(JSON.stringify({ type: 'response.processed', response_id: 'resp_1' }))
  socket.send(
    JSON.stringify({
      type: 'response.create',
      model: modelBehind('messages'),
      input: [user('scenario:text')],
      stream: true,
      tool_choice: 'auto',
      store: false,
    }),
  )
  await expect.poll(() => messages.at(-1)?.type).toBe('response.completed')
  expect(messages.filter(({ type }) => type === 'error')).toEqual([])
})
