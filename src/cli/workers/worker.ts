import type { GatewayConfig, GatewayState, Hooks, Peers, Store } from '../../gateway/gateway.ts'
import { isObject } from '../../kit/json/json.ts'
import type { MetricsText, MetricValues } from '../../operations/index.ts'
import type { OpenEmbedded, StatementResult } from '../../records/embedded.ts'
import { createLink, type End, type Handlers, type Link } from './link.ts'

/** The process that has started this worker, and has what all workers share. */
export type Primary = {
  /** Is this the worker that says to people what all of them would say? */
  isFirst: boolean
  peers: Peers
  /** Where all workers store responses. Absent: not in memory. */
  storeFor(settings: GatewayConfig): Pick<Hooks, 'store'>
  openEmbedded: OpenEmbedded
  /** Do all workers ask clients for keys of the database? `found`: what this one has found. */
  asksForKeys(found: boolean): Promise<boolean>
  /** Of all workers together. */
  metrics(): Promise<MetricsText>
  sources: { state(): Promise<GatewayState> }
  /** This worker listens. `lines`: for people. */
  started(lines: readonly string[], serving: Serving): void
  /** This worker cannot serve. */
  failed(message: string): Promise<unknown>
  /** This worker has finished. */
  leave(): void
}

/** What the primary asks a worker for. */
type Serving = {
  reload(): void
  stop(): void
  state(): GatewayState
  metrics(): Promise<MetricValues>
}

/** `isFirst`: of all workers. */
export function createPrimary(other: End, isFirst: boolean): Primary {
  const receivers = new Set<(message: object) => void>()
  const handlers: Handlers = {
    receive(message: object) {
      for (const receive of receivers) receive(message)
    },
  }
  const link = createLink(other, handlers)
  const peers: Peers = {
    count: (...counted) => link.call('count', ...counted) as ReturnType<Peers['count']>,
    send: message => link.send('send', message),
    listen(receive) {
      receivers.add(receive)
      return () => void receivers.delete(receive)
    },
  }
  return {
    isFirst,
    peers,
    storeFor(settings) {
      const { store } = isObject(settings) ? settings : {}
      return store?.memory ? { store: storeOf(link, store.memoryLimitBytes) } : {}
    },
    async openEmbedded(file, libsql) {
      await link.call('open', file, libsql)
      return {
        async turn() {
          const id = await link.call('turn', file)
          return {
            run: (sql, values) => link.call('run', id, sql, values) as Promise<StatementResult>,
            release: () => link.send('release', id),
          }
        },
        // Other workers use it.
        async close() {},
      }
    },
    asksForKeys: found => link.call('asksForKeys', found) as Promise<boolean>,
    metrics: () => link.call('metrics') as Promise<MetricsText>,
    sources: {
      state: async () => stateOfAll((await link.call('states')) as GatewayState[]),
    },
    started(lines, serving) {
      Object.assign(handlers, serving)
      link.send('started', lines)
    },
    failed: message => link.call('failed', message),
    leave: () => process.disconnect(),
  }
}

const storeOf = (link: Link, limitBytes: number | undefined): Store => ({
  get: key => link.call('get', limitBytes, key),
  set: (key, value, ttlMs) => link.call('set', limitBytes, key, value, ttlMs),
  delete: key => link.call('delete', limitBytes, key),
})

/** Breakers are the same in all, unless they have changed just now. */
function stateOfAll([first, ...others]: readonly GatewayState[]): GatewayState {
  if (!first) throw new Error('no worker responds')
  return {
    ...first,
    inProgress: others.reduce((sum, { inProgress }) => sum + inProgress, first.inProgress),
    channels: first.channels.map((channel, index) => ({
      ...others.map(({ channels }) => channels[index]).find(one => one?.lastError !== undefined),
      ...channel,
    })),
  }
}
