import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  collectStream,
  normalizeResponse,
  reasoningOf,
  textOf,
  toolCallsOf,
} from '../../src/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  type Exchange,
  recordedProtocols,
  recordedSessions,
  type Session,
  shared,
  skipReason,
} from '../corpus/data.ts'
import { listenedGateway } from '../gateway/listening.ts'
import { serverOptions } from '../support/server-options.ts'
import { type Failure, type Script, startUpstream, wireOf } from '../support/upstreams/index.ts'

/**
 * Real clients' runs, request by request and over sockets, with an upstream of another protocol
 * that refuses illegal requests and sends what the recorded one sent. The client's next request is
 * the recorded one, with the parts that it echoes replaced by what it got here.
 */
const pairs = recordedProtocols().flatMap(client =>
  protocolNames.filter(served => served !== client).map(served => ({ client, served })),
)

describe.skipIf(!shared).each(pairs)(
  `runs of real clients of $client, served by $served (${skipReason})`,
  ({ client, served }) => {
    const sessions = recordedSessions().filter(({ protocol }) => protocol === client)

    test.each(sessions)('$name', async session => {
      const stage = await setStage(served, session)
      try {
        const echoes = new Map<string, string>()
        for (const [index, exchange] of session.exchanges.entries())
          await replay(stage, exchange, echoes, `${session.name}#${index + 1}`)
        expect(new Set(stage.ids).size).toBe(stage.ids.length)
      } finally {
        await stage.close()
      }
    })
  },
)

type Stage = {
  client: ProtocolName
  served: ProtocolName
  url: string
  /** Every request that the upstream took or refused. */
  received: unknown[]
  /** What the upstream says next. */
  next: Script | Failure | undefined
  /**
   * Of the responses that the client got, as far as they have one: those of an upstream may repeat.
   */
  ids: string[]
  /**
   * The last request without a thread, and its response: a client continues from it after a refused
   * thread.
   */
  reported: Record<string, unknown>
  close(): Promise<void>
}

async function setStage(served: ProtocolName, { protocol, exchanges }: Session): Promise<Stage> {
  const upstream = await startUpstream(served, body => called(stage.next, served, body))
  const refers = exchanges.some(
    ({ request: { body } }) => isRecord(body) && body['previous_response_id'] != null,
  )
  const mounted = listenedGateway({
    auth: 'none',
    channels: [
      { name: 'up', protocols: [served], baseUrl: upstream.url, apiKey: 'upstream-secret' },
    ],
    models: [{ id: '*', channels: [{ name: 'up' }] }],
    defaults: { retries: 0 },
    ...(refers && { store: { memory: true as const } }),
  })
  const server = createServer(serverOptions, mounted)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const stage: Stage = {
    client: protocol,
    served,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: upstream.requests,
    next: undefined,
    ids: [],
    reported: {},
    async close() {
      await mounted.close(100)
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await upstream.close()
    },
  }
  return stage
}

async function replay(
  stage: Stage,
  { request: sent, response: recorded }: Exchange,
  echoes: Map<string, string>,
  name: string,
): Promise<void> {
  const strict = strictOf(stage.client)
  const before = stage.received.length
  const message =
    recorded.status === 200 &&
    sent.method === 'POST' &&
    protocols[stage.client].address.match(sent.path)?.operation === 'generate'
      ? await readRecorded(stage.client, recorded)
      : undefined
  stage.next = message
    ? scriptOf(stage.client, message)
    : {
        status: recorded.status,
        type: 'invalid_request_error',
        message: 'Reported by the upstream.',
        retryAfter: recorded.headers['retry-after'] ?? '',
      }
  const put =
    isRecord(sent.body) && sent.body['thread'] !== undefined
      ? await unthreaded(stage, sent, name)
      : sent.body
  const body =
    put === undefined
      ? undefined
      : JSON.stringify(put, (_, value) =>
          typeof value === 'string' ? (echoes.get(value) ?? value) : value,
        )
  const got = await send(stage.url, { ...sent, body })

  expect(got.status, `${name}: ${got.text.slice(0, 500)}`).toBe(recorded.status)
  if (!message) {
    if (got.status >= 400 && sent.method === 'POST') {
      expect(strict.checkError(JSON.parse(got.text)), name).toEqual([])
      expect(got.text).toContain('Reported by the upstream.')
      expect(got.headers['retry-after']).toBe(recorded.headers['retry-after'])
    }
    return
  }
  expect(stage.received.length, name).toBe(before + 1)
  expectSignaturesBack(stage.served, body, stage.received.at(-1), [...echoes.values()])

  const streamed = recorded.events !== undefined
  if (streamed) {
    const wires = framesOf(got.text).map(({ wire }) => wire)
    expect(strict.checkStream(wires), name).toEqual([])
    expect(strict.outcome(wires), name).toBe('success')
  } else expect(strict.checkResponse(JSON.parse(got.text)), name).toEqual([])
  const received = await read(
    stage.client,
    streamed ? { text: got.text } : { body: JSON.parse(got.text) },
  )
  const meant = meaningOf(stage.client, message)
  expect(meaningOf(stage.client, received), name).toEqual({
    ...meant,
    reasoning: expect.stringContaining(meant.reasoning),
  })
  const { id } = normalizeResponse(received, { protocol: stage.client })
  if (id !== undefined) stage.ids.push(id)
  if (isRecord(put) && isRecord(received))
    stage.reported = {
      ...put,
      messages: [...listOf(put['messages']), { role: 'assistant', content: received['content'] }],
    }
  const [theirs, ours] = [echoed(stage.client, message), echoed(stage.client, received)]
  for (const [key, values] of theirs)
    for (const [i, value] of values.entries()) echoes.set(value, ours.get(key)?.[i] ?? value)
}

/**
 * A thread on the server is refused with the code that the client recognizes; then it sends the
 * whole conversation.
 */
async function unthreaded(
  stage: Stage,
  sent: Exchange['request'],
  name: string,
): Promise<Record<string, unknown>> {
  const { thread: _, ...body } = sent.body as Record<string, unknown>
  const got = await send(stage.url, { ...sent, body: JSON.stringify(sent.body) })
  expect(got.status, name).toBe(400)
  expect(JSON.parse(got.text), name).toMatchObject({
    type: 'error',
    error: { details: { error_code: 'thread_unsupported_request' } },
  })
  return {
    ...stage.reported,
    ...body,
    messages: [...listOf(stage.reported['messages']), ...listOf(body['messages'])],
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Signatures that the client sends back reach the upstream unchanged. */
function expectSignaturesBack(
  served: ProtocolName,
  sent: string | undefined,
  received: unknown,
  echoes: readonly string[],
): void {
  if (!echoes.some(value => value.startsWith('xs1.') && sent?.includes(value))) return
  const text = JSON.stringify(received)
  const { signature } = wireOf(served)
  // A server that signs nothing has none: the envelopes of its reasoning are empty inside.
  if (signature !== undefined) expect(text).toContain(signature)
  expect(text).not.toContain('xs1.')
}

async function readRecorded(
  protocol: ProtocolName,
  { body, events = [] }: Exchange['response'],
): Promise<unknown> {
  // A response may repeat its request, which adds nothing here.
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (_, one: unknown) => (isRecord(one) && '$echo_of' in one ? [] : one)),
    )
  if (body !== undefined) return plain(body)
  const text = events.map(
    ({ event, data }) =>
      `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(plain(data))}\n\n`,
  )
  return read(protocol, { text: text.join('') })
}

async function read(
  protocol: ProtocolName,
  response: { text: string } | { body: unknown },
): Promise<unknown> {
  return 'body' in response
    ? response.body
    : (await collectStream([response.text], { protocol })).body
}

/** A response in a form that any protocol can express. */
function scriptOf(protocol: ProtocolName, message: unknown): Script {
  const { text, reasoning, calls } = meaningOf(protocol, message)
  const script: Script = { text, ending: 'stop' }
  if (reasoning !== '' || hasReasoning(protocol, message))
    script.reasoning = reasoning || 'Thinking it over.'
  if (calls.length > 0)
    script.calls = calls.map(({ id, name, input, freeform }) => ({
      id,
      name,
      args: typeof input === 'string' ? input : JSON.stringify(input),
      freeform,
    }))
  return script
}

function meaningOf(protocol: ProtocolName, body: unknown) {
  const response = normalizeResponse(body, { protocol })
  const calls = toolCallsOf(response).map(({ id, name, namespace, input, kind }) => ({
    id,
    name,
    ...(namespace !== undefined && { namespace }),
    freeform: kind === 'freeform',
    input,
  }))
  return { text: textOf(response), reasoning: reasoningOf(response), calls }
}

/** Some show only a signature of it. */
const hasReasoning = (protocol: ProtocolName, response: unknown) =>
  normalizeResponse(response, { protocol }).candidates.some(({ messages }) =>
    messages.some(({ parts }) =>
      parts.some(
        part => part.type === 'reasoning' || ('signature' in part && part.signature !== undefined),
      ),
    ),
  )

/** Calls are for the tools that the upstream got, whatever their names became. */
function called(next: Stage['next'], served: ProtocolName, body: unknown): Script | Failure {
  if (!next)
    return { status: 500, type: 'server_error', message: 'nothing was to be requested here' }
  if ('status' in next || !next.calls) return next
  const tools = wireOf(served).toolsOf(body)
  return {
    ...next,
    calls: next.calls.map(call => {
      const fitting = tools.filter(
        ({ name }) =>
          name === call.name || name.endsWith(`_${call.name}`) || name.endsWith(`.${call.name}`),
      )
      const [tool] = fitting
      if (!tool || fitting.length > 1)
        throw new Error(
          `${fitting.length} tools for ${call.name} among ${tools.map(({ name }) => name).join(', ')}`,
        )
      if (!call.freeform || tool.freeform) return { ...call, name: tool.name }
      return {
        ...call,
        name: tool.name,
        args: JSON.stringify({ [tool.field]: call.args }),
        freeform: false,
      }
    }),
  }
}

/** What a client may send back of a response without interpreting it, in order, by path. */
function echoed(protocol: ProtocolName, response: unknown): Map<string, string[]> {
  const found = new Map<string, string[]>()
  JSON.stringify(response, function (this: Record<string, unknown>, key, value: unknown) {
    if (typeof value === 'string' && value !== '' && wireOf(protocol).echoed.includes(key)) {
      const place = `${String(this['type'])}/${key}`
      found.set(place, [...(found.get(place) ?? []), value])
    }
    return value
  })
  return found
}

type Got = { status: number; headers: Record<string, unknown>; text: string }

/** With every header that was recorded, also those that `fetch` keeps to itself. */
function send(
  base: string,
  {
    method,
    path,
    headers,
    body,
  }: { method: string; path: string; headers: Record<string, string>; body: string | undefined },
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const { 'accept-encoding': _, ...rest } = headers
    const upgrade =
      rest['upgrade'] === undefined
        ? {}
        : { connection: 'upgrade', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
    const call = request(
      base + path,
      {
        method,
        headers: {
          ...rest,
          ...upgrade,
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        },
      },
      response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
