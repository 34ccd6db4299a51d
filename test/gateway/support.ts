import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { CanonicalError } from '../../src/canonical/error.ts'
import type { GatewayConfig, Hooks } from '../../src/gateway/gateway.ts'
import type { ConnectGateway } from '../../src/hosts/connect.ts'
import { collectStream, normalizeResponse, textOf } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import { afterEachTest } from '../support/after-each.ts'
import type { Covered } from '../support/covered.ts'
import { runsAll } from '../support/sampled.ts'
import { serverOptions } from '../support/server-options.ts'
import { listenedFetchGateway, listenedGateway } from './listening.ts'

/** A request to the gateway; the path is used for the whole URL. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>

const cleanups: (() => unknown)[] = []

/** Runs when the test is over, last first. */
export function after(cleanup: () => unknown): void {
  cleanups.push(cleanup)
}

/** What upstreams of the test threw: it fails the test, and not the process. */
const thrown: unknown[] = []

afterEachTest(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  const [first] = thrown.splice(0)
  if (first !== undefined) throw first
})

/** A gateway for servers, closed after the test. */
export function mounted(config?: GatewayConfig, hooks?: Hooks): ConnectGateway {
  const handler = listenedGateway(config, hooks)
  after(() => handler.close(200))
  return handler
}

/**
 * Both hosts, as functions that ask. A close is awaited after each test, so that nothing may be
 * left running.
 */
export const hosts: [
  name: string,
  start: (config?: GatewayConfig, hooks?: Hooks) => Promise<Ask>,
][] = [
  [
    'connect',
    async (config, hooks) => {
      const url = await listen(mounted(config, hooks))
      return async (path, init) => tolerant(await fetch(url + path, init))
    },
  ],
  [
    'fetch',
    async (config, hooks) => {
      const handler = listenedFetchGateway(config, hooks)
      after(() => handler.close(200))
      return async (path, init) => {
        const request = new Request(`http://gateway.test${path}`, {
          ...init,
          ...(init?.body instanceof ReadableStream && { duplex: 'half' }),
        })
        const { signal } = request
        const response = await handler(request)
        // What a server does when its client has gone.
        if (signal.aborted) throw signal.reason
        return tolerant(response)
      }
    },
  ],
]

/**
 * Both hosts in `npm run test:all`. In `npm test` one of them, which depends on the name of the
 * file.
 */
export function hostsOf(file: string): typeof hosts {
  if (runsAll()) return hosts
  let sum = 0
  for (const letter of file.slice(file.lastIndexOf('/'))) sum += letter.charCodeAt(0)
  return hosts.filter((_, i) => i === sum % hosts.length)
}

/** The response with a `text()` that gives what came before the connection broke. */
function tolerant(response: Response): Response {
  return Object.assign(response, { text: () => textBeforeBreak(response) })
}

/** What a client reads until the stream ends, or its connection breaks. `onBreak`: it broke. */
export async function textBeforeBreak({ body }: Response, onBreak = () => {}): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true })
  } catch {
    onBreak()
  }
  return text + decoder.decode()
}

/** A server on a free port of this machine. */
export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(serverOptions, handler)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export type Upstream = {
  url: string
  /** The requests it got, in order. */
  calls: {
    method: string
    path: string
    headers: IncomingMessage['headers']
    text: string
    json: Record<string, unknown>
  }[]
  /** How many of its responses were aborted by the caller. */
  aborted: number
  sockets: Set<Socket>
}

/** An upstream that follows its scripts, request by request; the last script serves the rest. */
export async function upstream(
  ...scripts: ((response: ServerResponse, received: Upstream['calls'][number]) => unknown)[]
): Promise<Upstream> {
  const seen: Upstream = { url: '', calls: [], aborted: 0, sockets: new Set() }
  seen.url = await listen(async (request, response) => {
    seen.sockets.add(request.socket)
    response.on('close', () => {
      if (!response.writableFinished) seen.aborted++
    })
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
    const call = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text,
      json: text ? JSON.parse(text) : {},
    }
    seen.calls.push(call)
    try {
      await scripts[Math.min(seen.calls.length, scripts.length) - 1]?.(response, call)
    } catch (error) {
      thrown.push(error)
      response.destroy()
    }
  })
  return seen
}

export function sendJson(status: number, body: unknown, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/**
 * The chunks one after another; a number waits so many milliseconds, a function until its promise
 * resolves, `cut` breaks the connection.
 */
export function sendStream(
  chunks: readonly (string | number | (() => Promise<unknown>))[],
  { cut = false } = {},
) {
  return async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // The head is sent with the first chunk: no silence between them, however busy the machine is.
    if (typeof chunks[0] !== 'string') response.flushHeaders()
    for (const part of chunks)
      if (typeof part === 'number') await wait(part)
      else if (typeof part === 'function') await part()
      else await new Promise(resolve => response.write(part, resolve))
    if (cut) response.destroy()
    else response.end()
  }
}

/** Waits at least so long. Data on sockets until then has been received, also on a busy machine. */
export async function wait(ms: number): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, ms))
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
}

/** Waits until something holds. The bound is wide: how fast the machine is decides nothing. */
export async function until(holds: () => boolean, ms = 60_000): Promise<void> {
  for (const end = Date.now() + ms; !holds(); await wait(5))
    if (Date.now() > end) throw new Error(`not so after ${ms} ms`)
}

/** Reads a response, and returns what it has read so far. */
export function reading(result: Promise<Response>): { received(): string; whole: Promise<string> } {
  let received = ''
  const read = async () => {
    const { body } = await result
    const decoder = new TextDecoder()
    try {
      for await (const chunk of body ?? []) received += decoder.decode(chunk, { stream: true })
    } catch {
      // The connection broke: what came before it counts.
    }
    return received
  }
  return { received: () => received, whole: read() }
}

export function post(
  body: unknown,
  headers: Record<string, string> = {},
  more: RequestInit = {},
): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...more,
  }
}

/** One model `m` at one upstream. */
export function one(
  url: string,
  protocol: Protocol,
  more: Partial<GatewayConfig> = {},
  model: object = {},
  channel: object = {},
): GatewayConfig {
  return {
    auth: 'none',
    channels: [
      { name: 'up', protocols: [protocol], baseUrl: url, apiKey: 'upstream-secret', ...channel },
    ],
    models: [{ id: 'm', channels: [{ name: 'up' }], ...model }],
    ...more,
    defaults: { retries: 0, ...more.defaults },
  }
}

export type Protocol = Covered

/** The URL of each protocol for a complete response of the model `m`. */
export const paths: Record<Protocol, string> = {
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  'generate-content': '/v1beta/models/m:generateContent',
}

/** The same for another model, or for a stream: one protocol says both in its path. */
export function pathOf(
  protocol: Protocol,
  { model = 'm', stream = false }: { model?: string; stream?: boolean } = {},
): string {
  if (protocol !== 'generate-content') return paths[protocol]
  return `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

/** Path and request: the smallest one of a protocol, and additional fields. */
export function asking(
  protocol: Protocol,
  { model, stream, ...more }: { model?: string; stream?: boolean; [key: string]: unknown } = {},
  headers: Record<string, string> = {},
): [path: string, init: RequestInit] {
  const reported = {
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
  }
  return [
    pathOf(protocol, reported),
    post(
      { ...requests[protocol], ...(protocol !== 'generate-content' && reported), ...more },
      headers,
    ),
  ]
}

/** Did an upstream hear a call for a stream? */
export const isStreaming = (
  protocol: Protocol,
  call: Upstream['calls'][number] | undefined,
): boolean =>
  protocol === 'generate-content'
    ? call?.path.includes(':streamGenerateContent') === true
    : call?.json['stream'] === true

/** What a body says when a user says this. */
export function saying(protocol: Protocol, text: string): Record<string, unknown> {
  if (protocol === 'responses') return { input: text }
  return protocol === 'generate-content'
    ? { contents: [{ role: 'user', parts: [{ text }] }] }
    : { messages: [{ role: 'user', content: text }] }
}

/** The smallest request of each protocol. */
export const requests: Record<Protocol, Record<string, unknown>> = {
  'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
}

const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}

const response = {
  id: 'resp_1', object: 'response', created_at: 1, completed_at: 2, status: 'completed', incomplete_details: null, model: 'm', previous_response_id: null,
  instructions: null, output: [item], error: null, tools: [], tool_choice: 'auto', truncation: 'disabled', parallel_tool_calls: true,
  text: { format: { type: 'text' } }, top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, temperature: 1, reasoning: null,
  usage: { input_tokens: 3, input_tokens_details: { cached_tokens: 0 }, output_tokens: 2, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 5 },
  max_output_tokens: null, max_tool_calls: null, store: false, background: false, service_tier: 'default', metadata: {}, safety_identifier: null,
  prompt_cache_key: null,
} // biome-ignore format: one wire object

const generated = (text: string, finishReason?: string) => ({
  candidates: [
    {
      content: { role: 'model', parts: [{ text }] },
      ...(finishReason && { finishReason }),
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: 3,
    ...(finishReason && { candidatesTokenCount: 2 }),
    totalTokenCount: finishReason ? 5 : 3,
  },
  modelVersion: 'm',
  responseId: 'k0yW',
})

/** A response with "Hello". */
export const responses: Record<Protocol, Record<string, unknown>> = {
  'chat-completions': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello', refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  },
  responses: response,
  messages: {
    ...message,
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
  },
  'generate-content': generated('Hello', 'STOP'),
}

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
})

const named = (event: { type: string }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** The same as streams, frame by frame. */
export const streams: Record<Protocol, string[]> = {
  'chat-completions': [
    ...[
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
    ].map(one => `data: ${JSON.stringify(one)}\n\n`),
    'data: [DONE]\n\n',
  ],
  responses: [
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...response, status: 'in_progress', output: [], usage: null, completed_at: null },
    },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      sequence_number: 2,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    {
      type: 'response.output_text.delta',
      sequence_number: 3,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'Hel',
      logprobs: [],
    },
    {
      type: 'response.output_text.delta',
      sequence_number: 4,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'lo',
      logprobs: [],
    },
    {
      type: 'response.output_text.done',
      sequence_number: 5,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      text: 'Hello',
      logprobs: [],
    },
    {
      type: 'response.content_part.done',
      sequence_number: 6,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      part: item.content[0],
    },
    { type: 'response.output_item.done', sequence_number: 7, output_index: 0, item },
    { type: 'response.completed', sequence_number: 8, response },
  ].map(named),
  messages: [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  ].map(named),
  'generate-content': [generated('Hel'), generated('l'), generated('o'), generated('', 'STOP')].map(
    one => `data: ${JSON.stringify(one)}\n\n`,
  ),
}

/** A stream up to "Hel". */
export const half = (protocol: Protocol): string[] =>
  streams[protocol].slice(0, streams[protocol].findIndex(frame => frame.includes('Hel')) + 1)

/** A failure inside a stream, as each upstream says it. */
export const failures: Record<Protocol, string> = {
  'chat-completions':
    'data: {"error":{"message":"Overheated","type":"server_error","param":null,"code":null}}\n\n',
  responses:
    'event: error\ndata: {"type":"error","sequence_number":9,"code":"server_error","message":"Overheated","param":null}\n\n',
  messages:
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overheated"}}\n\n',
  'generate-content':
    'data: {"error":{"code":503,"message":"Overheated","status":"UNAVAILABLE"}}\n\n',
}

/** The data of a stream's frames, parsed where they are JSON. */
export function dataOf(text: string): unknown[] {
  return text
    .split('\n\n')
    .flatMap(frame =>
      frame
        .split('\n')
        .filter(line => line.startsWith('data: '))
        .map(line => line.slice(6)),
    )
    .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
}

/** What a stream says in the end. Rejects when it was cut off. */
export async function sent(text: string, protocol: Protocol): Promise<string> {
  const { body } = await collectStream([text], { protocol })
  return textOf(normalizeResponse(body, { protocol }))
}

/** What a stream says that it failed with. */
export function failureIn(text: string, protocol: Protocol): CanonicalError | undefined {
  const reader = createStreamReader(protocols[protocol], {}, () => {})
  reader.push(text)
  reader.end()
  return reader.seen.error
}

const names = Object.keys(paths) as Protocol[]

/**
 * Every client with every upstream in `npm run test:all`. In `npm test` every client with the
 * upstream of its own protocol and that of the next.
 */
export const pairs = names.flatMap((client, i) =>
  names
    .filter((_, nth) => runsAll() || nth === i || nth === (i + 1) % names.length)
    .map(served => [client, served] as const),
)
