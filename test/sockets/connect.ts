import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { WebSocket } from 'ws'
import { after, until } from '../gateway/support.ts'

export type Event = Record<string, unknown> & { type: string }

/** A connection of the official client. */
export type Client = {
  socket: ResponsesWS
  /** All events so far. */
  events: Event[]
  /** Sends a message and waits for the last event of its response. */
  ask(message: Record<string, unknown>): Promise<Event>
}

const endings = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** Rejects when the connection is refused or lost while a response is awaited. */
export async function connectSdk(base: string, apiKey = 'none'): Promise<Client> {
  const socket = new ResponsesWS(new OpenAI({ baseURL: `${base}/v1`, apiKey }))
  after(() => socket.close())
  const events: Event[] = []
  let failure: unknown
  socket.on('event', event => events.push(event as unknown as Event))
  socket.on('error', error => {
    if (!(error as { error?: unknown }).error) failure = error
  })
  socket.on('close', code => {
    failure ??= new Error(`closed with ${code}`)
  })
  await until(() => failure !== undefined || socket.socket?.readyState === 1)
  if (failure) throw failure
  return {
    socket,
    events,
    async ask(message) {
      const from = events.length
      socket.send({ type: 'response.create', ...message } as never)
      await until(
        () => failure !== undefined || events.slice(from).some(({ type }) => endings.has(type)),
      )
      const last = events.slice(from).find(({ type }) => endings.has(type))
      if (!last) throw failure
      return last
    },
  }
}

/** A connection without a client library around it. */
export type Raw = {
  socket: WebSocket
  messages: Event[]
  closed: Promise<{ code: number; reason: string }>
}

export async function connectRaw(
  base: string,
  {
    headers = {},
    path = '/v1/responses',
  }: { headers?: Record<string, string>; path?: string } = {},
): Promise<Raw> {
  const socket = new WebSocket(base.replace(/^http/, 'ws') + path, { headers })
  after(() => socket.terminate())
  const messages: Event[] = []
  socket.on('message', data => messages.push(JSON.parse(String(data)) as Event))
  const closed = new Promise<{ code: number; reason: string }>(resolve =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return { socket, messages, closed }
}

/** The status that a handshake is refused with, and the body. */
export async function refusedHandshake(
  base: string,
  headers: Record<string, string> = {},
  path = '/v1/responses',
): Promise<{ status: number | undefined; body: string }> {
  const socket = new WebSocket(base.replace(/^http/, 'ws') + path, { headers })
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('it was opened')))
    socket.once('error', reject)
    socket.once('unexpected-response', (_, response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += String(chunk)
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
  })
}
