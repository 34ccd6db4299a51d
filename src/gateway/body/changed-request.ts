import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Protocol } from '../../protocol.ts'
import type { GatewayRequest } from '../request.ts'
import { ChangedBody, type ReadBody } from './body.ts'

/** A body of this protocol, and the request whose path belongs to it. */
type Written = { protocol: Protocol; body: ReadBody; request: Pick<GatewayRequest, 'path'> }

/** The request in the model of all protocols. @throws TranslationError `malformed` */
export const decoded = ({ protocol, body, request: { path } }: Written): CanonicalRequest =>
  protocol.decodeRequest(body.value, { path }).value

/** The body with another request in the same protocol. The change is made when it is read. */
export function changedRequest(
  { protocol, body, request: { path } }: Written,
  change: (request: CanonicalRequest) => CanonicalRequest,
): ReadBody {
  return new ChangedBody(body, wire => {
    const { value } = protocol.decodeRequest(wire, { path })
    return protocol.encodeRequest(change(value), { path }).wire
  })
}
