import { expect, test } from 'vitest'
import { collectEvent, startCollecting } from '../../src/canonical/collect.ts'
import { translateRequest } from '../../src/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { textOf } from '../../src/sse/bytes.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import { type Script, wireOf } from '../support/upstreams/index.ts'
import { hosts, one, post, sendJson, sendStream, upstream } from './support.ts'

/**
 * JavaScript rounds integers beyond 2^53. Both round to the same number, the second of which is
 * exact.
 */
const ids = ['9007199254740993', '-9007199254740992', '12345678901234567890', '1e400'] as const
/** JSON with the numbers instead of their marks, also where it is inside a string. */
const withNumbers = (json: string): string =>
  json.replaceAll(/\\*"@(\d)\\*"/g, (_, nth) => ids[Number(nth)] ?? '')

const marked = '{"a":"@0","deep":[{"b":"@1"},["@2"]],"c":"@3"}'
const args = withNumbers(marked)
const schema = { type: 'object', properties: { a: { type: 'integer', default: '@2' } } }
const reply: Script = { calls: [{ id: 'call_1', name: 'look', args: marked }], ending: 'stop' }

const start = hosts[0]?.[1] ?? expect.fail('no host')
const pairs = protocolNames.flatMap(from => protocolNames.map(to => [from, to] as const))

/** The path and body of a request whose history has a call. */
function requestOf(client: ProtocolName, stream: boolean): [path: string, body: string] {
  const chat = {
    model: 'm',
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    messages: [
      { role: 'user' as const, content: 'Hi' },
      {
        role: 'assistant' as const,
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function' as const,
            function: { name: 'look', arguments: marked },
          },
        ],
      },
      { role: 'tool' as const, tool_call_id: 'call_1', content: 'ok' },
    ],
    tools: [{ type: 'function' as const, function: { name: 'look', parameters: schema } }],
  }
  const { body, context } = translateRequest(chat, { from: 'chat-completions', to: client })
  const target = protocols[client].address.target({ operation: 'generate', model: 'm', stream })
  return [context.path ?? target ?? '', withNumbers(JSON.stringify(body))]
}

function responseOf(server: ProtocolName): string {
  return withNumbers(JSON.stringify(wireOf(server).response(reply)))
}

function streamOf(server: ProtocolName): string[] {
  const calls = [
    { id: 'call_1', name: 'look', args: server === 'generate-content' ? marked : args },
  ]
  return wireOf(server)
    .stream({ ...reply, calls })
    .map(withNumbers)
}

/** The arguments of the call in a stream, as its client reads them. */
function argsIn(stream: Uint8Array, client: ProtocolName): string | undefined {
  const into = startCollecting()
  createStreamReader(protocols[client], {}, event => collectEvent(into, event)).push(stream)
  const parts = into.response.candidates.flatMap(one => one.messages.flatMap(({ parts }) => parts))
  return parts.flatMap(part => (part.type === 'tool-call' ? [part.input] : []))[0]
}

async function asked(client: ProtocolName, server: ProtocolName, stream: boolean) {
  const send = stream ? sendStream(streamOf(server)) : sendJson(200, responseOf(server))
  const seen = await upstream(send)
  const model = { id: 'm', channels: [{ name: 'up', model: 'real' }] }
  const defaults = { notesHeader: true }
  const ask = await start(one(seen.url, server as 'messages', { defaults }, model))
  const [path, body] = requestOf(client, stream)
  const response = await ask(path, post(body))
  const received = new Uint8Array(await response.arrayBuffer())
  expect(response.status, textOf(received)).toBe(200)
  const sent = seen.calls[0]?.text ?? ''
  return { sent, received, notes: response.headers.get('wireglot-notes') ?? '' }
}

test.each(pairs)('keep their digits in a request: %s → %s', async (client, server) => {
  const { sent, notes } = await asked(client, server, false)
  const unquoted = sent.replaceAll('\\', '')
  expect(unquoted).toContain(args)
  expect(unquoted).toContain('"default":12345678901234567890')
  expect(notes).not.toContain('tool-call.number')
})

test.each(pairs)('keep their digits in a complete response: %s ← %s', async (client, server) => {
  const { received, notes } = await asked(client, server, false)
  expect(textOf(received).replaceAll('\\', '')).toContain(args)
  expect(notes).not.toContain('tool-call.number')
})

test.each(pairs)('keep their digits in a stream: %s ← %s', async (client, server) => {
  const { received } = await asked(client, server, true)
  expect(argsIn(received, client)).toBe(args)
})

test.each(protocolNames.filter(name => name !== 'converse'))(
  'and all else of an event that names the model stays as it is written: %s',
  async protocol => {
    const odd = (frame: string) =>
      frame.replace(/^data: \{/m, 'data: { "odd" : [1.0, 1e5, 12345678901234567890],')
    const text = streamOf(protocol).map(odd).join('')
    const named = (model: string) =>
      text.replaceAll(/"(model|modelVersion)":"[^"]*"/g, `"$1":"${model}"`)
    const seen = await upstream(sendStream([named('real')]))
    const model = { id: 'm', channels: [{ name: 'up', model: 'real' }] }
    const ask = await start(one(seen.url, protocol, {}, model))
    const [path, body] = requestOf(protocol, true)
    expect(await (await ask(path, post(body))).text()).toBe(named('m'))
  },
)
