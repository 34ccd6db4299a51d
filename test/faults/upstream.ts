import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { type Script, wireOf } from '../support/upstreams/index.ts'

/**
 * What a cell's upstream would say if nothing went wrong, and the means to let it go wrong byte by
 * byte.
 */
export type Act = {
  socket: Socket
  /** Is a stream requested? */
  stream: boolean
  /** The default body: one JSON, or all frames. */
  body: Buffer
  /** The same as text, and how text is sent: of some protocols in binary frames. */
  text: string
  framed(text: string): Buffer
  /** The same frame by frame; one for a complete response. */
  frames: Buffer[]
  /** The default content type. */
  type: string
  /** What another cell's upstream would say. */
  other: Buffer
  /** Resolves when the bytes are written, or no longer read. */
  send(bytes: Uint8Array | string): Promise<void>
  /** Resolves when the caller has gone. */
  gone: Promise<void>
}

export type Play = (act: Act) => unknown

/** `over`: it sent everything, or its caller disconnected. */
export type Call = { over: boolean; bytes: number }

export type RawUpstream = {
  url: string
  /** By cell, in order. */
  calls: Map<string, Call[]>
  /** What it plays for a cell. */
  plays: Map<string, Play>
  sockets: Set<Socket>
  close(): Promise<void>
}

export const scriptOf = (cell: string): Script => ({
  text: `Hello, wörld 🎉 ${cell}`,
  calls: [{ id: `call_${cell}`, name: 'lookup', args: `{"q":"${cell}"}` }],
  ending: 'stop',
})

/** A server of one protocol that writes its responses by hand, so that they can be wrong. */
export async function startRaw(protocol: string): Promise<RawUpstream> {
  const wire = wireOf(protocol)
  const { framing } = protocols[protocol as ProtocolName]
  const framed = (text: string) => Buffer.from(framing ? framing.encode()(text) : text)
  const calls = new Map<string, Call[]>()
  const plays = new Map<string, Play>()
  const sockets = new Set<Socket>()

  async function serve(socket: Socket, path: string, received: string): Promise<void> {
    const [, cell = ''] =
      /cell-(\w+)/.exec(path) ?? /"model":\s*"[^"]*cell-(\w+)"/.exec(received) ?? []
    const stream =
      typeof wire.path === 'function'
        ? wire.path(path)?.stream === true
        : /"stream":\s*true/.test(received)
    const reported = (id: string) =>
      stream
        ? wire.stream(scriptOf(id)).map(framed)
        : [Buffer.from(JSON.stringify(wire.response(scriptOf(id))))]
    const call: Call = { over: false, bytes: 0 }
    calls.set(cell, [...(calls.get(cell) ?? []), call])
    const gone = new Promise<void>(resolve => {
      if (socket.destroyed) resolve()
      else socket.once('close', () => resolve())
    })
    void gone.then(() => {
      call.over = true
    })
    const send = (bytes: Uint8Array | string) =>
      new Promise<void>(resolve => {
        if (socket.destroyed || socket.writableEnded) return resolve()
        call.bytes += bytes.length
        const left = () => resolve()
        socket.once('close', left)
        socket.write(bytes, () => {
          socket.off('close', left)
          resolve()
        })
      })
    const frames = reported(cell)
    await plays.get(cell)?.({
      socket,
      stream,
      frames,
      body: Buffer.concat(frames),
      text: (stream
        ? wire.stream(scriptOf(cell))
        : [JSON.stringify(wire.response(scriptOf(cell)))]
      ).join(''),
      framed: text => (stream ? framed(text) : Buffer.from(text)),
      type: stream ? (framing?.contentType ?? 'text/event-stream') : 'application/json',
      other: Buffer.concat(reported('zzz')),
      send,
      gone,
    })
    call.over = true
  }

  const server = createServer(socket => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    // Calls over one connection all look whether it closes.
    socket.setMaxListeners(0)
    let held = Buffer.alloc(0)
    socket.on('data', chunk => {
      held = Buffer.concat([held, chunk])
      for (;;) {
        const end = held.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = held.subarray(0, end).toString()
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        if (held.length < end + 4 + length) return
        const received = held.subarray(end + 4, end + 4 + length).toString()
        held = held.subarray(end + 4 + length)
        void serve(socket, head.split(' ')[1] ?? '', received)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    plays,
    sockets,
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
