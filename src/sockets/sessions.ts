import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { SocketSettings } from '../gateway/gateway.ts'
import type { Share } from '../gateway/memory.ts'
import type { GatewayRequest } from '../gateway/request.ts'
import type { Protocol } from '../protocol.ts'
import { socketOf } from '../protocols/sockets.ts'
import type { PlainAbortController } from '../transports/abort-controller.ts'
import { loadWs } from '../transports/ws.ts'
import { excessBytes, type Handle, Session } from './session.ts'

/**
 * A handshake that the gateway has accepted. `left`: aborted when the connection closes. `memory`:
 * what it takes.
 */
export type Handshake = {
  request: IncomingMessage
  socket: Duplex
  head: Buffer
  handshake: GatewayRequest
  left: PlainAbortController
  memory: Share
  protocol: Protocol
}

/** The WebSocket connections of a gateway. */
export type Sessions = {
  /** Is the package `ws` installed? Warns once if not. */
  isReady(): Promise<boolean>
  /** Completes a handshake and serves the connection. Call `isReady` before. */
  open(handshake: Handshake): void
  /** Closes the connections: idle ones at once, others when their response has ended. */
  close(): void
}

/** `isKnown`: is the key of this handshake still valid? */
export function createSessions(
  settings: SocketSettings,
  gateway: { handle: Handle; isKnown: (handshake: GatewayRequest) => Promise<boolean> },
): Sessions {
  const open = new Set<Session>()
  let server: WebSocketServer | undefined
  let loading: Promise<boolean> | undefined
  let isClosing = false

  async function load(): Promise<boolean> {
    try {
      const { WebSocketServer } = await loadWs()
      server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload: settings.messageLimitBytes + excessBytes,
      })
      return true
    } catch (error) {
      process.emitWarning(
        error instanceof Error ? error.message : 'the package ws cannot be loaded',
      )
      return false
    }
  }

  return {
    isReady() {
      loading ??= load()
      return loading
    },
    open({ request, socket, head, handshake, left, memory, protocol }) {
      const wire = socketOf(protocol)
      if (!server || !wire) return void socket.destroy()
      server.handleUpgrade(request, socket, head, connection => {
        const session = new Session({
          connection,
          stream: socket,
          protocol,
          wire,
          handshake,
          left,
          memory,
          ...gateway,
          settings,
        })
        open.add(session)
        connection.once('close', () => open.delete(session))
        if (isClosing) session.close()
      })
    },
    close() {
      isClosing = true
      for (const session of open) session.close()
    },
  }
}
