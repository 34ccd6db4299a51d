import { nesting } from '../../kit/json/scan.ts'
import type { ModelInfo } from '../../protocol.ts'
import { isProtocolName, protocols } from '../../protocols/index.ts'
import { readJson, tooDeep } from '../body/body.ts'
import { refuse } from '../error.ts'
import type { Identity, UsageRecord } from '../hooks.ts'
import type { Settled } from '../options.ts'
import { type GatewayAnswer, type GatewayRequest, jsonAnswer } from '../request.ts'

/** The page for browsers and its requests. The page itself is public; all data that it shows needs a key. */
export type Playground = {
  page(): Promise<GatewayAnswer>
  /** The models of a key, and its latest usage records. */
  state(identity: Identity, models: readonly ModelInfo[]): Promise<GatewayAnswer>
  /** @throws Refusal */
  translate(request: GatewayRequest): Promise<GatewayAnswer>
  /** Keeps the usage record of an exchange, until newer ones replace it. */
  remember(record: UsageRecord): void
}

/** The number of usage records that are kept, of all keys together. */
const remembered = 500
/** The number of its records that a key can see. */
const shown = 50
/** The longest text that may be pasted, in UTF-16 units: it is translated six times. */
const longestText = 2_000_000

export function createPlayground({ bodyLimitBytes, depthLimit }: Settled['defaults']): Playground {
  const records: UsageRecord[] = []
  const load = () => import('../../page/index.ts')
  return {
    async page() {
      const { html, headers } = (await load()).page()
      return { status: 200, headers, body: html }
    },
    async state(identity, models) {
      const { examples } = await load()
      const usage = records
        .filter(record => isOwn(record, identity))
        .slice(-shown)
        .reverse()
        .map(withoutConfiguration)
      return jsonAnswer({ models, usage, examples: examples() }, { 'cache-control': 'no-store' })
    },
    async translate(request) {
      const { value } = await readJson(request, { bodyLimitBytes, depthLimit })
      const { text, protocol, kind } = asked(value)
      if (nesting(text, depthLimit) > depthLimit) throw tooDeep(depthLimit)
      const { examine, kinds } = await load()
      const known = kinds.find(one => one === kind)
      if (kind !== undefined && known === undefined) throw refuse(400, 'invalid_request', `the kind is one of ${kinds.join(', ')}`, { param: 'kind' })
      return jsonAnswer(await examine(text, { now: Math.floor(Date.now() / 1000), ...(protocol && { protocol }), ...(known && { kind: known }) }), {
        'cache-control': 'no-store',
      })
    },
    remember(record) {
      records.push(record)
      if (records.length > remembered) records.shift()
    },
  }
}

function asked(value: unknown) {
  const { text, protocol, kind } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (typeof text !== 'string') throw refuse(400, 'invalid_request', 'expected what was pasted, a string', { param: 'text' })
  if (text.length > longestText) throw refuse(413, 'too_large', `the text is longer than ${longestText} characters`, { param: 'text' })
  if (protocol !== undefined && (typeof protocol !== 'string' || !isProtocolName(protocol)))
    throw refuse(400, 'invalid_request', `the protocol is one of ${Object.keys(protocols).join(', ')}`, { param: 'protocol' })
  return { text, kind, protocol: protocol === undefined ? undefined : protocols[protocol] }
}

/** A key sees only its own records; clients without a name share those of their group. The same rule applies to stored replies. */
const isOwn = ({ key, group }: UsageRecord, identity: Identity) => key === identity.name && (key !== undefined || group === identity.group)

/** A record without channel and upstream model, since clients must not see the configuration of the gateway. */
function withoutConfiguration({
  time,
  requestId,
  modelAsked,
  protocolIn,
  protocolOut,
  stream,
  status,
  failure,
  usage,
  firstByteMs,
  totalMs,
  attempts,
  notes,
}: UsageRecord) {
  return { time, requestId, modelAsked, protocolIn, protocolOut, stream, status, failure, usage, firstByteMs, totalMs, attempts, notes }
}
