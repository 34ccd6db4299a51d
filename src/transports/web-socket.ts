import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { only } from './bodies.ts'
import { Chunks } from './chunks.ts'
import { plainHeaders } from './plain-headers.ts'
import type { SocketMessages, TransportCall, TransportResponse } from './transport.ts'
import { loadWs } from './ws.ts'

/**
 * `headers`: of the response to the handshake; empty after the first request. `openedAt`: Unix
 * milliseconds. `timer`: closes the connection while it is idle.
 */
type Connection = {
  web: WebSocket
  socket: Socket
  name: string
  headers: Record<string, string>
  openedAt: number
  timer?: NodeJS.Timeout
}

/** As long as HTTP connections: an older one may have been dropped without a sign. */
const idleMs = 30_000
/** Providers close connections after 60 minutes, also during a response. */
const oldestMs = 50 * 60_000

/**
 * Calls over WebSocket. A connection takes one request at a time and is used again after a complete
 * response.
 */
type SocketCalls = {
  send(call: TransportCall, messages: SocketMessages): Promise<TransportResponse>
  close(): void
}

export function createSocketCalls(): SocketCalls {
  const open = new Set<Connection>()
  const idle = new Set<Connection>()

  function keep(connection: Connection): void {
    const { web, socket, openedAt } = connection
    connection.headers = {}
    if (web.readyState !== web.OPEN || Date.now() - openedAt > oldestMs) return void web.close()
    // An idle connection does not keep the process alive.
    socket.unref()
    connection.timer = setTimeout(() => web.close(), idleMs).unref()
    idle.add(connection)
  }

  function takeIdle(name: string): Connection | undefined {
    for (const connection of idle) {
      const { web, socket, timer } = connection
      if (connection.name !== name || web.readyState !== web.OPEN) continue
      idle.delete(connection)
      clearTimeout(timer)
      socket.ref()
      return connection
    }
    return undefined
  }

  return {
    async send(call, messages) {
      const name = nameOf(call)
      const kept = takeIdle(name)
      if (kept) return exchange(kept, call, { messages, keep })
      const connection = await connect(call, name)
      if ('status' in connection) return connection
      open.add(connection)
      connection.web.once('close', () => {
        clearTimeout(connection.timer)
        open.delete(connection)
        idle.delete(connection)
      })
      return exchange(connection, call, { messages, keep })
    },
    close() {
      for (const { web } of open) web.terminate()
    },
  }
}

/** Requests with the same name may use the same connection. Each request has a trace of its own. */
function nameOf({ url, headers }: TransportCall): string {
  const { traceparent, tracestate, ...shared } = headers
  return `${url} ${JSON.stringify(Object.entries(shared).toSorted(([one], [other]) => (one < other ? -1 : 1)))}`
}

/** A new connection, or the response that refuses it. Rejects if there is neither. */
async function connect(call: TransportCall, name: string): Promise<Connection | TransportResponse> {
  const { WebSocket } = await loadWs()
  const signal = call.stop ?? call.signal
  if (signal.aborted) throw signal.reason
  const { 'content-type': _, accept: __, ...headers } = call.headers
  return new Promise((resolve, reject) => {
    const web = new WebSocket(call.url.replace(/^http/, 'ws'), {
      headers,
      perMessageDeflate: false,
      ...(call.connectMs > 0 && { handshakeTimeout: call.connectMs }),
    })
    const stop = () => {
      web.terminate()
      reject(signal.reason)
    }
    const removeAbortListener = () => signal.removeEventListener('abort', stop)
    signal.addEventListener('abort', stop, { once: true })
    let accepted: IncomingMessage | undefined
    web.once('upgrade', response => {
      accepted = response
    })
    web.once('open', () => {
      removeAbortListener()
      if (accepted)
        resolve({
          web,
          socket: accepted.socket,
          name,
          headers: plainHeaders(accepted.headers),
          openedAt: Date.now(),
        })
    })
    web.once('unexpected-response', (_, response) => {
      removeAbortListener()
      const { statusCode: status = 502 } = response
      if (status < 300)
        reject(failure('the upstream did not accept a WebSocket connection', 'NO_WEBSOCKET'))
      else resolve({ status, headers: plainHeaders(response.headers), body: response })
    })
    // For the whole life of the connection: without a listener, an error would end the process.
    // `close` follows.
    web.on('error', error => {
      removeAbortListener()
      reject(/timed out/.test(error.message) ? failure(error.message, 'ETIMEDOUT') : error)
    })
  })
}

/**
 * Sends one request. The response begins with the first message; an error as the first message is
 * an HTTP error.
 */
function exchange(
  connection: Connection,
  call: TransportCall,
  { messages, keep }: { messages: SocketMessages; keep: (connection: Connection) => void },
): Promise<TransportResponse> {
  const signal = call.stop ?? call.signal
  const { web, headers } = connection
  return new Promise((resolve, reject) => {
    let isOver = false
    let hasBegun = false
    const chunks = new Chunks({
      pause: () => isOver || web.pause(),
      resume: () => isOver || web.resume(),
      destroy: () => leave(false),
    })
    function leave(isReusable: boolean): void {
      if (isOver) return
      isOver = true
      signal.removeEventListener('abort', stop)
      web.off('message', receive)
      web.off('close', lost)
      web.resume()
      if (isReusable) keep(connection)
      else web.terminate()
    }
    function fail(error: unknown): void {
      leave(false)
      if (hasBegun) chunks.fail(error)
      else reject(error)
    }
    const stop = () => fail(signal.reason)
    const lost = (code: number) =>
      fail(failure(`the connection was closed (${code})`, 'ECONNRESET'))
    function receive(data: RawData): void {
      const { frame, ends, refusal } = messages.event(String(data))
      if (refusal && !hasBegun) {
        leave(false)
        resolve({
          status: refusal.status,
          headers: { 'content-type': 'application/json', ...refusal.headers },
          body: only(refusal.body),
        })
        return
      }
      if (!hasBegun)
        resolve({
          status: 200,
          headers: { ...headers, 'content-type': 'text/event-stream' },
          body: chunks,
        })
      hasBegun = true
      chunks.push(Buffer.from(frame))
      if (!ends) return
      leave(refusal === undefined)
      chunks.end()
    }
    if (signal.aborted) return void stop()
    signal.addEventListener('abort', stop, { once: true })
    web.on('message', receive)
    web.on('close', lost)
    web.send(messages.message(textOf(call.body)), error => error && fail(error))
  })
}

const textOf = (body: TransportCall['body']) =>
  typeof body === 'string' ? body : new TextDecoder().decode(body)

const failure = (message: string, code: string) => Object.assign(new Error(message), { code })
