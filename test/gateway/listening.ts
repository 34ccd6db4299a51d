import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import type { GatewayConfig, Hooks } from '../../src/gateway/gateway.ts'
import { type ConnectGateway, gateway } from '../../src/hosts/connect.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { afterEachTest } from '../support/after-each.ts'

/**
 * Every gateway of a test is checked: its output, except to the client's code, must contain no key
 * and nothing of a conversation.
 */

/** All output of the gateways of this test: logs, records, notes, headers, error bodies. */
const emitted: unknown[] = []

/**
 * Keys and prompts that the tests plant; the first is the key of every upstream. The last two are
 * what the scripted upstreams hear.
 */
const upstreamKey = 'upstream-secret'
const planted = new RegExp(`${upstreamKey}|client-secret|planted|scenario:|RESULT-`)

afterEachTest(() => {
  const message = JSON.stringify(emitted.splice(0))
  const found = planted.exec(message)
  expect(
    found && message.slice(Math.max(0, found.index - 80), found.index + 80),
    'a secret in a log, a record, a note, a header or an error',
  ).toBeNull()
})

/** A gateway for servers. The caller closes it. */
export function listenedGateway(config?: GatewayConfig, hooks?: Hooks): ConnectGateway {
  const handler = gateway(config, overheard(hooks))
  const listened: typeof handler = Object.assign(
    (...[request, response, next]: Parameters<typeof handler>) => {
      listenTo(response)
      handler(request, response, next)
    },
    {
      upgrade: handler.upgrade,
      close: handler.close,
      localOnly: handler.localOnly,
      state: handler.state,
      learned: handler.learned,
      identify: handler.identify,
    },
  )
  return listened
}

export function listenedFetchGateway(
  config?: GatewayConfig,
  hooks?: Hooks,
  options?: { basePath?: string },
): ReturnType<typeof fetchGateway> {
  const handler = fetchGateway(config, overheard(hooks), options)
  return Object.assign(
    async (...received: Parameters<typeof handler>) => overhear(await handler(...received)),
    { close: handler.close },
  )
}

function overheard({ logger, onUsage, onNotes, ...hooks }: Hooks = {}): Hooks {
  const log = (level: 'info' | 'warn' | 'error') => (details: object, message: string) => {
    emitted.push(flat(details), message)
    if (logger) logger[level](details, message)
  }
  return {
    ...hooks,
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    onUsage(record, request) {
      emitted.push(record)
      return onUsage?.(record, request)
    },
    onNotes(notes, exchange, request) {
      emitted.push(notes, exchange)
      return onNotes?.(notes, exchange, request)
    },
  }
}

/** Errors hide from JSON, and so do their causes. */
const flat = (details: object): unknown[] =>
  Object.entries(details).map(([key, value]) => [
    key,
    value instanceof Error ? reported(value) : value,
  ])
const reported = ({ message, stack, cause }: Error): unknown[] => [
  message,
  stack,
  cause instanceof Error ? reported(cause) : String(cause),
]

/**
 * A response may repeat the request, but never the key of the upstream; an error repeats neither.
 */
function createEar(status: () => number): (chunk: unknown) => void {
  const decoder = new TextDecoder('latin1')
  let tail = ''
  return chunk => {
    const bytes = chunk instanceof Uint8Array ? decoder.decode(chunk) : ''
    const text = typeof chunk === 'string' ? chunk : bytes
    const message = tail + text
    if (status() >= 400) emitted.push(text)
    if (message.includes(upstreamKey)) emitted.push(upstreamKey)
    tail = message.slice(1 - upstreamKey.length)
  }
}

function listenTo(response: ServerResponse): void {
  const hear = createEar(() => response.statusCode)
  const { writeHead, write, end } = response
  Object.assign(response, {
    writeHead(...args: Parameters<typeof writeHead>) {
      emitted.push(args)
      return writeHead.apply(response, args)
    },
    write(...args: Parameters<typeof write>) {
      hear(args[0])
      return write.apply(response, args)
    },
    end(...args: Parameters<typeof end>) {
      hear(args[0])
      return end.apply(response, args)
    },
  })
}

/** Records what the test reads, when it reads it. */
function overhear(response: Response): Response {
  const { status, headers, body } = response
  emitted.push([...headers])
  if (!body) return response
  const reader = body.getReader()
  const hear = createEar(() => status)
  const listened = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        hear(value)
        controller.enqueue(value)
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(listened, { status, headers })
}
