import { describe, expect, test } from 'vitest'
import { createAccessLog, type LogFormat } from '../../src/operations/access-log.ts'
import { createOperations } from '../../src/operations/index.ts'
import {
  listen,
  mounted,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  until,
  upstream,
} from './support.ts'

/** A gateway with one key and its access log. */
async function logged(log: LogFormat) {
  const { url: upstreamUrl } = await upstream(sendJson(200, responses.messages))
  const lines: string[] = []
  const operations = createOperations({
    state: () => handler.state(),
    log,
    out: line => lines.push(line),
  })
  const { auth: _, ...config } = one(upstreamUrl, 'messages')
  const handler = mounted(
    { ...config, keys: [{ name: 'alice', key: 'client-key' }] },
    { logger: operations.logger },
  )
  const url = await listen(
    (request, response) =>
      void (operations.handle(request, response) || handler(request, response)),
  )
  const metrics = async () => (await fetch(`${url}/metrics`)).text()
  const ask = async (path: string, init: RequestInit = {}, key = 'client-key') => {
    const headers = { ...init.headers, authorization: `Bearer ${key}` }
    const before = lines.length
    await (await fetch(url + path, { ...init, headers })).text()
    await until(() => lines.length > before)
    return lines.at(-1) ?? ''
  }
  return { ask, metrics }
}

const json = async (line: Promise<string>) => JSON.parse(await line) as Record<string, unknown>

describe('a line of the access log', () => {
  test('has the method, the path without its query, and what was wrong', async () => {
    const { ask } = await logged('json')
    expect(await json(ask(`${paths.messages}?beta=true`, post(requests.messages)))).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      protocolIn: 'messages',
      status: 200,
    })
    expect(await json(ask('/v1/v1/messages', post(requests.messages)))).toMatchObject({
      path: '/v1/v1/messages',
      protocolIn: 'none',
      status: 404,
      failure: 'client',
      error: expect.stringContaining('exactly one /v1'),
    })
    expect(
      await json(ask(paths['chat-completions'], post({ model: 'm', messages: 5 }))),
    ).toMatchObject({
      key: 'alice',
      status: 400,
      error: 'chat-completions at /messages: expected a list',
    })
    expect(await json(ask(paths.messages, post(requests.messages), 'other'))).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      status: 401,
      error: 'the API key is not valid',
    })
  })

  test('ends with what was wrong where people read it', async () => {
    const { ask } = await logged('pretty')
    expect(await ask('/llm/v1/messages', post(requests.messages))).toMatch(
      /^\S+ {2}404 {2}POST \/llm\/v1\/messages {2}- {2}- {2}- {2}- {2}\d+ ms {2}client {2}No such path: \/llm\/v1\/messages\./,
    )
    expect(await ask(paths.messages, post({ ...requests.messages, model: 'other' }))).toMatch(
      / {2}404 {2}POST \/v1\/messages {2}alice {2}messages {2}other {2}- {2}\d+ ms {2}client {2}there is no model 'other' here; /,
    )
    expect(await ask(paths.messages, post(requests.messages))).toMatch(
      /^\S+ {2}200 {2}POST \/v1\/messages {2}alice {2}messages {2}m@up {2}3→2 tokens {2}\d+ ms$/,
    )
  })

  test('of a listing, the settings of clients or an unknown path has no protocol, and neither have their metrics', async () => {
    const { ask, metrics } = await logged('json')
    for (const path of ['/v1/models', '/v1/models/m', '/client-config', '/', '/other'])
      expect(await json(ask(path))).toMatchObject({ path, protocolIn: 'none' })
    await ask(paths.messages, post(requests.messages))
    const text = await metrics()
    expect(text).toContain(
      'wireglot_requests_total{protocol="none",channel="none",model="none",status="200"} 4',
    )
    expect(text).toContain(
      'wireglot_requests_total{protocol="none",channel="none",model="none",status="404"} 1',
    )
    expect(text).toContain(
      'wireglot_requests_total{protocol="messages",channel="up",model="m",status="200"} 1',
    )
    expect(text).not.toContain('protocol="chat-completions"')
  })
})

const record = {
  time: '2031-01-01T12:00:00.000Z',
  requestId: 'req_1',
  method: 'POST',
  path: '/v1/messages',
  protocolIn: 'messages',
  stream: false,
  status: 404,
  totalMs: 1,
  attempts: 0,
  notes: 0,
  failure: 'client',
}

function lineOf(format: LogFormat, more: object): string {
  const lines: string[] = []
  const logger = createAccessLog(format, { out: line => lines.push(line), err() {} })
  logger.info({ ...record, ...more }, 'exchange')
  return lines.join('\n')
}

describe.each(['json', 'pretty'] as const)('as %s, a text of a client', format => {
  test.each([
    ['path', { path: '/a\n12:00:00  200  POST /forged\u001b[2J\u2028\u202e' }],
    ['method', { method: 'GE\r\nT' }],
    ['error', { errorMessage: 'one\ntwo\u0000\u009b' }],
    ['model', { requestedModel: 'm\nforged' }],
    ['key', { key: 'alice\nforged' }],
  ])('forges no further line and runs nothing in a terminal: %s', (_, more) => {
    const line = lineOf(format, more)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not be there
    expect(line).not.toMatch(/[\u0000-\u001f]/)
    if (format === 'pretty') expect(line).not.toMatch(/[\u007f-\u009f\u2028\u202e]/)
  })

  test('is cut', () => {
    const line = lineOf(format, { path: `/${'x'.repeat(9000)}`, errorMessage: 'y'.repeat(9000) })
    expect(line.length).toBeLessThan(1000)
  })

  test('shows no key', () => {
    const key = 'sk-0123456789abcdefghij'
    const line = lineOf(format, { path: `/${key}/v1`, errorMessage: `No such path: /${key}/v1` })
    expect(line).toContain('/***/v1')
    expect(line).not.toContain(key)
  })
})

test('information that is no request is written next to the warnings, unless the log is off', () => {
  for (const [format, expected] of [
    ['json', 1],
    ['pretty', 1],
    ['off', 0],
  ] as const) {
    const written: string[] = []
    const logger = createAccessLog(format, { out() {}, err: line => written.push(line) })
    logger.info({}, 'the configuration was reloaded')
    expect(written).toHaveLength(expected)
    if (written[0]) expect(JSON.parse(written[0])).toMatchObject({ level: 'info' })
  }
})
