import { omitUndefined } from '../kit/fields/omit.ts'
import type { ProtocolName } from '../protocols/index.ts'
import type { TransportResponse } from '../transports/transport.ts'
import { credentialsOf } from './admission/credential.ts'
import {
  hookRequest,
  type Tape,
  type TapedCall,
  type TapedChannel,
  type TapedSettings,
} from './hooks.ts'
import type { ParsedConfig } from './options.ts'
import type { GatewayRequest, GatewayResponse } from './request.ts'
import type { Route } from './route.ts'
import type { Deployment } from './upstream/catalog.ts'
import { secretsOf } from './upstream/redact.ts'

type Chunk = Uint8Array | string

type TapedRoute = Extract<Route, { kind: TapedCall['operation'] }>

const isTaped = (route: Route): route is TapedRoute =>
  route.kind === 'generate' ||
  route.kind === 'count-tokens' ||
  route.kind === 'compact' ||
  route.kind === 'pass'

type Begun = { requestId: string; route: Route; request: GatewayRequest }
type Taping = {
  hook: (call: TapedCall) => Tape | undefined
  secrets: readonly string[]
  log(level: 'warn', details: object, message: string): void
}

/**
 * Begins a tape. A tape that throws is reported and gets nothing more: it must not be in the way of
 * an answer.
 */
export function startTape(
  { hook, secrets, log }: Taping,
  { requestId, route, request }: Begun,
): Tape | undefined {
  if (!isTaped(route) || request.method !== 'POST') return undefined
  let tape: Tape | undefined
  const failed = (error: unknown) => {
    tape = undefined
    log('warn', { hook: 'tape', error }, 'a hook failed')
  }
  try {
    tape = hook({
      requestId,
      protocol: route.protocol.name as ProtocolName,
      operation: route.kind,
      query: request.query,
      request: hookRequest(request),
      secrets: [
        ...secrets,
        ...credentialsOf(route.protocol.address, request.headers, request.query),
      ],
    })
  } catch (error) {
    failed(error)
  }
  return (
    tape &&
    (event => {
      try {
        tape?.(event)
      } catch (error) {
        failed(error)
      }
    })
  )
}

/** The response to the client, of which the tape gets everything that the host takes. */
export function tapedResponse(tape: Tape, response: GatewayResponse): GatewayResponse {
  const { status, headers, body } = response
  tape({ type: 'respond', status, headers })
  if (typeof body === 'string' || body instanceof Uint8Array) {
    tape({ type: 'responded', chunk: body })
    tape({ type: 'respond.end', broken: false })
    return response
  }
  const heard = listened(
    body,
    chunk => tape({ type: 'responded', chunk }),
    broken => tape({ type: 'respond.end', broken }),
  )
  return { ...response, body: heard }
}

/** The response of an upstream, of which the tape gets everything that is read. */
export function tapedUpstream(
  tape: Tape,
  attempt: number,
  response: TransportResponse,
): TransportResponse {
  const { status, headers } = response
  tape({ type: 'receive', attempt, status, headers })
  const body = listened(
    response.body,
    chunk => tape({ type: 'received', attempt, chunk }),
    broken => tape({ type: 'receive.end', attempt, broken }),
  )
  return { ...response, body }
}

/**
 * Not a generator: the `return` of a generator waits for a chunk that is pending. What is heard is
 * heard before the reader gets it.
 */
function listened(
  body: AsyncIterable<Chunk>,
  hear: (chunk: Chunk) => void,
  over: (broken: boolean) => void,
): AsyncIterable<Chunk> {
  const got = ({ done, value }: IteratorResult<Chunk>) => (done ? over(false) : hear(value))
  const failed = () => over(true)
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]()
      return {
        next() {
          const next = chunks.next()
          next.then(got, failed)
          return next
        },
        async return() {
          await chunks.return?.()
          return { value: undefined, done: true }
        },
      }
    },
  }
}

export const tapedChannel = ({ channel, model, protocol }: Deployment): TapedChannel => ({
  channel: channel.name,
  model,
  protocol: protocol.name as ProtocolName,
})

/** See `TapedSettings`. */
export function tapedSettings(
  { channel, entry, link, protocol }: Deployment,
  { strict, maxOutputTokens, retries }: ParsedConfig['defaults'],
): TapedSettings {
  const { options, set, setIfAbsent, streamUsage, embedded, vendor } = channel
  const { unsupported, streaming, bridge, capabilities } = entry
  return {
    channel: omitUndefined({
      vendor: vendor?.name,
      protocols: embedded ? undefined : [protocol.name],
      options,
      set,
      setIfAbsent,
      streamUsage,
      embedded,
    }),
    model: omitUndefined({
      unsupported,
      streaming,
      bridge,
      capabilities,
      contextTokens: entry.contextTokens,
      maxOutputTokens: entry.maxOutputTokens,
      set: entry.set || link.set ? { ...entry.set, ...link.set } : undefined,
      setIfAbsent:
        entry.setIfAbsent || link.setIfAbsent
          ? { ...entry.setIfAbsent, ...link.setIfAbsent }
          : undefined,
    }),
    defaults: { strict, maxOutputTokens, retries },
  }
}

/** All secrets that a configuration contains. */
export function secretsOfConfig({
  keys,
  channels,
  adminKey,
  proxy,
  limits,
  store,
  records,
  compaction,
}: ParsedConfig): string[] {
  const found = new Set<string>()
  const add = (secret: unknown) => {
    if (typeof secret === 'string' && secret !== '') found.add(secret)
  }
  for (const { key } of keys) add(key)
  add(adminKey)
  add(compaction?.key)
  for (const channel of channels) {
    for (const secret of secretsOf(channel)) add(secret)
    for (const cloud of Object.values(channel.auth ?? {}))
      for (const [name, value] of Object.entries(cloud ?? {}))
        if (/key|secret|token|credentials/i.test(name)) add(value)
    add(passwordIn(channel.proxy))
  }
  const redis = 'redis' in limits ? limits.redis : undefined
  const database = records && 'url' in records ? records.url : undefined
  for (const url of [proxy, redis, store?.redis, database]) add(passwordIn(url))
  return [...found]
}

/** As it is written there, which is how it would appear in a text. */
function passwordIn(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).password : undefined
}
