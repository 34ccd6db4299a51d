import type { Cloud } from '../../clouds/index.ts'
import type { Transport } from '../../transports/transport.ts'
import { GatewayError } from '../error.ts'
import type { ChannelEntry } from '../options.ts'
import type { Service } from '../request-context.ts'

/**
 * Sends calls by the transport, and calls to a channel with a cloud through that cloud, whose code
 * is loaded with the first one.
 */
export function createSend(transport: Transport, log: Service['log']): Service['send'] {
  const clouds = new Map<string, Promise<Cloud>>()
  return (channel, call, onNotes) => {
    const { cloud } = channel
    if (!cloud) return transport.send(call)
    let opened = clouds.get(channel.name)
    if (!opened) {
      opened = import('../../clouds/index.ts').then(({ createCloud }) =>
        createCloud(cloud, transport),
      )
      clouds.set(channel.name, opened)
    }
    return opened
      .then(one => one.send(call, onNotes))
      .catch((error: unknown) => Promise.reject(withoutCredentials(error, channel, log)))
  }
}

/**
 * The client's own key is not the reason, so it gets no 401. What the credential library says is
 * for the log alone.
 */
function withoutCredentials(error: unknown, { name }: ChannelEntry, log: Service['log']): unknown {
  if (!(error instanceof Error) || error.name !== 'CloudAuthError') return error
  log('error', { channel: name, reason: error.message }, 'a channel has no credentials')
  const message = `the gateway has no credentials for the channel ${name}; its log has the reason`
  return new GatewayError(
    { status: 503, kind: 'unavailable', message },
    { failure: 'upstream_network' },
  )
}
