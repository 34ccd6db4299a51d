/**
 * The gateway as `(Request) → Promise<Response>`, for Hono, Next, Bun, Deno and workers.
 * @module wireglot/fetch
 */

import { checkOptions } from '../gateway/check-options.ts'
import { reject } from '../gateway/error.ts'
import { ConfigError, createGateway, type GatewayConfig, type Hooks } from '../gateway/gateway.ts'
import type { GatewayResponse } from '../gateway/request.ts'
import { baseOf } from './base.ts'
import { errorFlushed } from './error-flush.ts'

export {
  type Attempt,
  type BodyCall,
  type BodyChange,
  ConfigError,
  type ConfigFault,
  type Exchange,
  type GatewayConfig,
  type GatewayError,
  type HookRequest,
  type Hooks,
  type Identity,
  type Logger,
  type Peers,
  reject,
  type ServerToolCall,
  type ServerToolInput,
  type ServerToolName,
  type ServerToolResult,
  type ServerTools,
  type Store,
  type StreamCall,
  type UsageRecord,
} from '../gateway/gateway.ts'

/**
 * A function with the parameters of `fetch`. `close` refuses new requests and waits up to `graceMs`
 * milliseconds (default 10,000) for those in progress.
 */
export type FetchGateway = {
  (request: Request | URL | string, init?: RequestInit): Promise<Response>
  /**
   * Refuses new requests and waits up to `graceMs` milliseconds (default 10,000) for those in
   * progress.
   */
  close(graceMs?: number): Promise<void>
}

/**
 * The gateway for Hono, Next, Bun, Deno and workers. Other paths get 404. `basePath`: the path that
 * it is mounted at, if the framework does not remove it from the URL. Default `''`.
 * @throws ConfigError when the configuration is invalid, an option is unknown, or there are neither
 * keys nor `"auth": "none"` and there is no hook `authenticate`: local clients cannot be recognized
 * here
 * @example
 * import { fetchGateway } from 'wireglot/fetch'
 *
 * const gateway = fetchGateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
 * console.log((await gateway('http://localhost/v1/models')).status) // 200
 */
export function fetchGateway(
  config?: GatewayConfig,
  hooks?: Hooks<Request>,
  options: { basePath?: string } = {},
): FetchGateway {
  checkOptions(options, ['basePath'])
  const { basePath = '' } = options
  if (typeof basePath !== 'string' || !/^($|\/)/.test(basePath))
    throw new ConfigError('options.basePath', 'expected a path that begins with /')
  const inner = createGateway(config, hooks)
  if (inner.localOnly && config !== undefined)
    throw new ConfigError('keys', 'expected keys, or "auth": "none"')
  const prefix = basePath.replace(/(?<!\/)\/+$/, '')
  const handler = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const request =
      typeof input === 'string' || input instanceof URL || isInit(init)
        ? new Request(input, init)
        : input
    const { pathname, searchParams, protocol, host } = new URL(request.url)
    const left = new AbortController()
    const leave = () => left.abort()
    if (request.signal.aborted) leave()
    else request.signal.addEventListener('abort', leave, { once: true })
    const response = await inner.handle({
      method: request.method,
      path: pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname,
      query: searchParams,
      headers: Object.fromEntries(request.headers),
      body: { bytes: bytesOf(request, leave) },
      signal: left.signal,
      base: baseOf({ isEncrypted: protocol === 'https:', host, mount: prefix }, name =>
        request.headers.get(name),
      ),
      // Without a configuration there is only the demo, which anybody may use.
      local: config === undefined,
      raw: request,
    })
    return responseOf(response, request, leave)
  }
  return Object.assign(handler, { close: inner.close })
}

/**
 * Servers pass values of their own as second argument: the environment, the parameters of a route.
 */
function isInit(value: unknown): value is RequestInit {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['method', 'headers', 'body', 'signal'].some(key => key in value)
  )
}

function responseOf(
  { status, headers, body }: GatewayResponse,
  { method }: Request,
  leave: () => void,
): Response {
  if (method === 'HEAD' || status === 204 || status === 205)
    return new Response(null, { status, headers })
  if (typeof body === 'string' || body instanceof Uint8Array)
    return new Response(body, { status, headers })
  const encoder = new TextEncoder()
  const iterator = body[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next().catch(async (error: unknown) => {
          await errorFlushed()
          throw error
        })
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
      },
      async cancel() {
        leave()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}

/**
 * What is not read is left to the server: to cancel it closes the connection in some hosts, before
 * the response is sent, and is an uncaught error in others.
 */
async function* bytesOf(
  { body, bodyUsed }: Request,
  leave: () => void,
): AsyncGenerator<Uint8Array> {
  if (!body) return
  if (bodyUsed || body.locked)
    throw reject(
      500,
      'internal',
      'the application has read the body before the gateway: let it read `request.clone()`',
    )
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      leave()
      throw error
    })
    if (done) return
    yield value
  }
}
