/**
 * Checks whether a gateway or provider responds as clients expect.
 * @module wireglot/verify
 */
import { checkAddress } from '../address/check.ts'
import { printable } from '../kit/text/text.ts'
import { type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { createSender } from './ask.ts'
import { checkProtocol } from './generate.ts'
import type { Point, ReportPoint } from './point.ts'
import { checkBase, checkListing, listed } from './service.ts'

export type { Point, Result } from './point.ts'

/** What to check, and how. */
export type VerifyOptions = {
  /** Address of a gateway, or of any provider. */
  base: string
  model: string
  /** Sent only in the authentication header of each protocol. Absent: no key is sent. */
  key?: string
  /** Only this protocol, which must be there. Absent: all that the service offers. */
  protocol?: ProtocolName
  /** Limit for one request, in ms. Default 60,000. */
  timeoutMs?: number
  /** Called with each point when it is checked. */
  onPoint?: (point: Point) => void
  /** Absent: the global `fetch`. */
  fetch?: typeof fetch
}

/** `ok`: no point failed. */
export type Verification = { base: string; model: string; ok: boolean; points: Point[] }

/**
 * Sends a gateway or provider the requests of clients, and reports for each point whether it holds and, if not, what to change.
 * Makes up to five small requests in each protocol. Never rejects.
 * @example
 * import { fetchGateway } from 'wireglot/fetch'
 * import { verify } from 'wireglot/verify'
 *
 * // Any `fetch` will do: this one is a gateway in the same process.
 * const { ok } = await verify({ base: 'http://gateway', model: 'demo', fetch: fetchGateway() })
 * console.log(ok) // true
 */
export async function verify({ base, model, key, protocol: only, timeoutMs = 60_000, onPoint, fetch: send = fetch }: VerifyOptions): Promise<Verification> {
  const points: Point[] = []
  // Some services repeat the key in their errors.
  const hidden = (text: string) => (key ? text.replaceAll(key, '***') : text)
  const reporterOf =
    (of: Point['of']): ReportPoint =>
    (name, result, detail, { mend, ms } = {}) => {
      const point = { of, name, result, detail: hidden(detail), ...(mend !== undefined && { mend: hidden(mend) }), ...(ms !== undefined && { ms }) }
      points.push(point)
      onPoint?.(point)
      return point
    }
  const ask = createSender(send, timeoutMs, key)
  const service = checkBase(base, reporterOf('address'))
  if (service !== undefined) {
    await checkListing({ ask, service, model, key }, reporterOf('service'))
    let offered = 0
    for (const name of only === undefined ? protocolNames : [only]) {
      const probe = { ask, service, protocol: protocols[name], model, key, wanted: only !== undefined, report: reporterOf(name) }
      if (await checkProtocol(probe)) offered++
    }
    if (offered === 0)
      reporterOf('service')('a protocol', 'failed', 'no protocol is offered at this address', {
        mend: 'Check the address: it should have exactly one /v1 when a client asks.',
      })
  }
  return { base, model, ok: points.every(({ result }) => result !== 'failed'), points }
}

/**
 * The model ids that a service lists for a key.
 * @throws Error whose message says what to change
 * @example
 * import { fetchGateway } from 'wireglot/fetch'
 * import { listModels } from 'wireglot/verify'
 *
 * console.log(await listModels({ base: 'http://gateway', fetch: fetchGateway() })) // … 'demo' …
 */
export function listModels({ base, key, timeoutMs = 60_000, fetch: send = fetch }: Omit<VerifyOptions, 'model' | 'protocol' | 'onPoint'>): Promise<string[]> {
  const { service, faults } = checkAddress(base)
  if (service === undefined) return Promise.reject(new Error(faults.map(({ message }) => message).join(' ')))
  return listed({ ask: createSender(send, timeoutMs, key), service, key })
}

const marks = { passed: 'ok  ', failed: 'FAIL', warned: 'warn', skipped: '-   ' }

/**
 * One point as lines of text. Control characters of the service are escaped, since a terminal would interpret them.
 * @example
 * import { fetchGateway } from 'wireglot/fetch'
 * import { pointText, verify } from 'wireglot/verify'
 *
 * const { points } = await verify({ base: 'http://gateway', model: 'demo', fetch: fetchGateway() })
 * for (const point of points) console.log(pointText(point)) // ok …
 */
export function pointText({ of, name, result, detail, mend, ms }: Point): string {
  const line = `${marks[result]}  ${of.padEnd(17)} ${name.padEnd(26)} ${printable(detail)}${ms === undefined ? '' : ` (${ms} ms)`}`
  return mend === undefined || mend === detail ? line : `${line}\n      → ${printable(mend)}`
}
