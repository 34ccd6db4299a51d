import type { SocketWire } from '../protocol.ts'
import type { ProtocolName } from './index.ts'
import { socket as responses } from './responses/socket.ts'

/**
 * The protocols that are also spoken over WebSocket, at the path of HTTP. Not in the registry: only
 * gateways need them.
 */
export const sockets: Partial<Record<ProtocolName, SocketWire>> = { responses }

/** Undefined: the protocol is not spoken over WebSocket. */
export const socketOf = ({ name }: { name: string }): SocketWire | undefined =>
  Object.hasOwn(sockets, name) ? sockets[name as ProtocolName] : undefined
