import {
  createGateway,
  type GatewayConfig,
  type GatewayRequest,
  type Transport,
} from '../gateway/gateway.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import type { ProtocolName } from '../protocols/index.ts'
import { only } from '../transports/bodies.ts'
import type { VendorName } from '../vendors/index.ts'
import { type Difference, differencesBetween } from './difference.ts'
import type { Cassette, CassetteAttempt, CassetteBody, CassetteFrame } from './format.ts'
import { recordedBy } from './record-one.ts'

/** Where a cassette is replayed to, in place of where it went then. */
export type ReplayOptions = {
  /** The protocol of the upstream. Default: that of the vendor, else as it was then. */
  to?: ProtocolName | undefined
  /** The vendor of the upstream. Default: as it was then. */
  vendor?: VendorName | undefined
  /** The upstream's name of the model. Default: as it was then. */
  model?: string | undefined
  /** Sends the request. Absent: nothing is sent, and the upstream answers as it did then. */
  send?:
    | { apiKey?: string | undefined; baseUrl?: string | undefined; transport?: Transport }
    | undefined
}

/** `now`: the exchange as it is today. `differences`: to then. Empty: there are none. */
export type Replayed = { now: Cassette; differences: Difference[] }

/**
 * Translates a cassette again, with the settings of then. Without `send` nothing is sent: the
 * upstreams answer as they did then. To another protocol they cannot, so that only the request is
 * translated.
 * @throws Error when the cassette cannot be replayed: it is shortened, or its request passed
 * unchanged
 * @example
 * import { readCassettes, replay } from 'wireglot/cassettes'
 *
 * const cassettes = await readCassettes(['cassettes']).catch(() => [])
 * for (const cassette of cassettes) console.log((await replay(cassette)).differences)
 */
export async function replay(cassette: Cassette, options: ReplayOptions = {}): Promise<Replayed> {
  const fault = faultOf(cassette)
  if (fault) throw new Error(`the cassette ${cassette.id} cannot be replayed: ${fault}`)
  const { to, vendor, model, send } = options
  const isElsewhere = to !== undefined || vendor !== undefined || model !== undefined
  const config = isElsewhere || send ? elsewhere(cassette, options) : asThen(cassette)
  const transport = send ? send.transport : answersOf(cassette, isElsewhere)
  const now = await recordedBy(
    hooks => createGateway(config, { ...hooks, logger: false, ...(transport && { transport }) }),
    requestOf(cassette),
  )
  if (!now) throw new Error(`the cassette ${cassette.id} cannot be replayed: it was refused`)
  if (isElsewhere && !send) delete now.response
  return { now, differences: differencesBetween(cassette, now) }
}

function faultOf(cassette: Cassette): string | undefined {
  const { operation, request, attempts, response } = cassette
  if (operation === 'pass') return 'its request passed unchanged'
  if (request.body.text === undefined) return 'its request has no text'
  if (namesVariables(cassette)) return 'it names a variable of the environment'
  const bodies = [request, ...attempts, ...attempts.map(one => one.response), response]
  return bodies.some(one => one?.body.leftOut) ? 'it was shortened' : undefined
}

/** A gateway would read it: a cassette of somebody else may not. */
function namesVariables(cassette: Cassette): boolean {
  const ways = cassette.attempts.map(({ channel, model, settings }) => [channel, model, settings])
  return JSON.stringify([requestedModel(cassette), ways]).includes('"env:')
}

/** Under this name there is nothing. */
const nowhere = 'https://cassette.invalid'

type Model = NonNullable<GatewayConfig['models']>[number]

/** The gateway of then, with the channels that were asked. Without any, one that nobody asks. */
function asThen(cassette: Cassette): GatewayConfig {
  const { attempts, route } = cassette
  const channels = new Map<string, GatewayConfig['channels'][number]>()
  const models = new Map<string, Model>()
  const fallbackOf = ({ channel, model }: CassetteAttempt) =>
    route.candidates.find(one => one.channel === channel && one.model === model)?.fallback
  for (const attempt of attempts) {
    const { channel: name, model, settings } = attempt
    const id = fallbackOf(attempt) ?? requestedModel(cassette)
    if (!channels.has(name)) channels.set(name, channelOf(attempt))
    const entry = models.get(id) ?? { id, ...settings.model, channels: [] }
    if (
      !entry.channels.some(
        one => typeof one !== 'string' && one.name === name && one.model === model,
      )
    )
      entry.channels.push({ name, model, priority: entry.channels.length })
    models.set(id, entry)
  }
  const [first, ...others] = models.values()
  const fallbacks = others.map(({ id }) => ({ model: id, on: anyCause }))
  return {
    ...base,
    channels: channels.size > 0 ? [...channels.values()] : [unasked],
    ...(first && { models: [{ ...first, fallbacks }, ...others] }),
    defaults: { retryWaitMs: 1, ...attempts[0]?.settings.defaults },
  }
}

const base = { auth: 'none' } as const
const anyCause: ('context' | 'input' | 'overloaded' | 'quota' | 'refused')[] = [
  'context',
  'input',
  'overloaded',
  'quota',
  'refused',
]
const unasked: GatewayConfig['channels'][number] = { name: 'unasked', embedded: 'demo' }

/** The demo model answered by itself; now its answer is that of then. */
function channelOf({ channel: name, protocol, settings }: CassetteAttempt) {
  const { embedded: _, ...channel } = settings.channel
  return {
    protocols: [protocol],
    ...channel,
    name,
    baseUrl: `${nowhere}/${encodeURIComponent(name)}`,
  }
}

function elsewhere(cassette: Cassette, options: ReplayOptions): GatewayConfig {
  const { to, vendor, send } = options
  const last = cassette.attempts.at(-1)
  const own = to === undefined && vendor === undefined ? last?.settings : undefined
  // The key of a vendor goes to no address of a file.
  const named = vendor ?? (send || own ? last?.vendor : undefined)
  const sentTo = send && (send.baseUrl ?? (named === undefined ? baseOf(last) : undefined))
  const channel = omitUndefined({
    ...own?.channel,
    name: 'replay',
    vendor: named,
    protocols: to === undefined ? own && last && [last.protocol] : [to],
    baseUrl: send ? sentTo : nowhere,
    apiKey: send?.apiKey,
  })
  const { embedded: _, ...plain } = channel as typeof channel & { embedded?: unknown }
  const id = requestedModel(cassette)
  return {
    ...base,
    channels: [plain as GatewayConfig['channels'][number]],
    models: [
      {
        id,
        ...own?.model,
        channels: [{ name: 'replay', model: options.model ?? last?.model ?? id }],
      },
    ],
    defaults: { ...last?.settings.defaults, retries: 0 },
  }
}

/** @throws Error when the attempt has no address */
function baseOf(attempt: CassetteAttempt | undefined): string {
  if (!attempt || !URL.canParse(attempt.url))
    throw new Error('the cassette has no address of an upstream: name a vendor or a base URL')
  const { origin, pathname } = new URL(attempt.url)
  return origin + pathname.replace(/\/v1(?:beta|alpha)?\/.*$|\/model\/.*$/s, '')
}

const requestedModel = ({ record, attempts }: Cassette): string => {
  const named = record?.['requestedModel']
  return typeof named === 'string' ? named : (attempts[0]?.model ?? 'unknown')
}

/** Each channel answers as it did then, attempt by attempt. */
function answersOf({ attempts }: Cassette, isElsewhere: boolean): Transport {
  const left = [...attempts]
  return {
    async send({ url }) {
      const { pathname } = new URL(url)
      const next = left.findIndex(({ channel }) =>
        pathname.startsWith(`/${encodeURIComponent(channel)}/`),
      )
      const [attempt] = next < 0 || isElsewhere ? [] : left.splice(next, 1)
      if (!attempt?.response) throw new Error('the upstream gave no answer')
      const { status, headers, body } = attempt.response
      return { status, headers, body: chunksOf(body) }
    },
  }
}

/** The body as it came. `wait`: called with the time of each event. */
export async function* chunksOf(
  { text, base64, frames, isCut }: CassetteBody,
  wait?: (atMs: number) => Promise<unknown>,
): AsyncGenerator<string | Uint8Array> {
  if (text !== undefined) yield text
  if (base64 !== undefined) yield Buffer.from(base64, 'base64')
  for (const { atMs, text: chunk } of atOnce(frames ?? [])) {
    await wait?.(atMs)
    yield chunk
  }
  if (isCut) throw new Error('the connection was broken off')
}

/** Events that came at once. */
function atOnce(frames: readonly CassetteFrame[]): CassetteFrame[] {
  const chunks: CassetteFrame[] = []
  for (const { atMs, text } of frames) {
    const last = chunks.at(-1)
    if (last?.atMs === atMs) last.text += text
    else chunks.push({ atMs, text })
  }
  return chunks
}

/** Headers about the bytes, which are not those of the file. */
const ofBytes = /^(content-(encoding|length)|transfer-encoding|connection|host)$/

/** As the client sent it. */
function requestOf({ request }: Cassette): GatewayRequest {
  const { method, path, query, headers, body } = request
  const bytes = new TextEncoder().encode(body.text)
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ofBytes.test(name))),
    body: { bytes: only(bytes) },
    signal: new AbortController().signal,
    local: true,
  }
}
