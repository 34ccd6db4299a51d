/**
 * Checks whether a gateway or provider responds as clients expect.
 * @module wireglot/verify
 */
import { checkAddress } from '../address/check.ts'
import { printable } from '../kit/text/text.ts'
import { type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { createSender } from './ask.ts'
import type { Check, ReportCheck } from './check.ts'
import { checkProtocol } from './generate.ts'
import { copyAgain, faultOfKey } from './key.ts'
import { checkBase, checkListing, listed } from './service.ts'

export type { Check, Result } from './check.ts'

/** What to check, and how. */
export type VerifyOptions = {
  /** Address of a gateway, or of any provider. */
  base: string
  /** The model id that the requests name. */
  model: string
  /** Sent only in the authentication header of each protocol. Absent: no key is sent. */
  key?: string
  /** Only this protocol, which must be there. Absent: all that the service offers. */
  protocol?: ProtocolName
  /** Limit for one request, in ms. Default 60,000. */
  timeoutMs?: number
  /** Called with each check as soon as it has a result. */
  onCheck?: (check: Check) => void
  /** Absent: the global `fetch`. */
  fetch?: typeof fetch
}

/** The results of all checks. */
export type Verification = {
  /** The address that was checked. */
  base: string
  /** The model that was requested. */
  model: string
  /** No check failed. */
  ok: boolean
  /** The checks in the order in which they were made. */
  checks: Check[]
}

/**
 * Sends a gateway or provider the requests of clients, and reports for each check whether it passed
 * and, if not, what to change. Makes up to five small requests in each protocol. Never rejects.
 * @example
 * import { fetchGateway } from 'wireglot/fetch'
 * import { verify } from 'wireglot/verify'
 *
 * // Any `fetch` will do: this one is a gateway in the same process.
 * const { ok } = await verify({ base: 'http://gateway', model: 'demo', fetch: fetchGateway() })
 * console.log(ok) // true
 */
export async function verify({
  base,
  model,
  key,
  protocol: only,
  timeoutMs = 60_000,
  onCheck,
  fetch: send = fetch,
}: VerifyOptions): Promise<Verification> {
  const checks: Check[] = []
  // Some services repeat the key in their errors.
  const hidden = (text: string) => (key ? text.replaceAll(key, '***') : text)
  const reporterOf =
    (scope: Check['scope']): ReportCheck =>
    (name, result, detail, { fix, ms } = {}) => {
      const check = {
        scope,
        name,
        result,
        detail: hidden(detail),
        ...(fix !== undefined && { fix: hidden(fix) }),
        ...(ms !== undefined && { ms }),
      }
      checks.push(check)
      onCheck?.(check)
      return check
    }
  const ask = createSender(send, timeoutMs, key)
  const service = checkBase(base, reporterOf('address'))
  const fault = key === undefined ? undefined : faultOfKey(key)
  // No request can be sent with it.
  if (fault !== undefined) reporterOf('service')('the key', 'failed', fault, { fix: copyAgain })
  else if (service !== undefined) {
    await checkListing({ ask, service, model, key }, reporterOf('service'))
    let offered = 0
    for (const name of only === undefined ? protocolNames : [only]) {
      const probe = {
        ask,
        service,
        protocol: protocols[name],
        model,
        key,
        wanted: only !== undefined,
        report: reporterOf(name),
      }
      if (await checkProtocol(probe)) offered++
    }
    if (offered === 0)
      reporterOf('service')('a protocol', 'failed', 'no protocol is offered at this address', {
        fix: 'The request URL must contain exactly one /v1.',
      })
  }
  return { base, model, ok: checks.every(({ result }) => result !== 'failed'), checks }
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
export function listModels({
  base,
  key,
  timeoutMs = 60_000,
  fetch: send = fetch,
}: Omit<VerifyOptions, 'model' | 'protocol' | 'onCheck'>): Promise<string[]> {
  const { service, faults } = checkAddress(base)
  if (service === undefined)
    return Promise.reject(new Error(faults.map(({ message }) => message).join(' ')))
  const fault = key === undefined ? undefined : faultOfKey(key)
  if (fault !== undefined) return Promise.reject(new Error(`${fault}. ${copyAgain}`))
  return listed({ ask: createSender(send, timeoutMs, key), service, key })
}

const marks = { passed: 'ok  ', failed: 'FAIL', warned: 'warn', skipped: '-   ' }

/**
 * One check as lines of text. Control characters of the service are escaped, since a terminal would
 * interpret them.
 * @example
 * import { fetchGateway } from 'wireglot/fetch'
 * import { checkText, verify } from 'wireglot/verify'
 *
 * const { checks } = await verify({ base: 'http://gateway', model: 'demo', fetch: fetchGateway() })
 * for (const check of checks) console.log(checkText(check)) // ok …
 */
export function checkText({ scope, name, result, detail, fix, ms }: Check): string {
  const line = `${marks[result]}  ${scope.padEnd(17)} ${name.padEnd(26)} ${printable(detail)}${ms === undefined ? '' : ` (${ms} ms)`}`
  return fix === undefined || fix === detail ? line : `${line}\n      → ${printable(fix)}`
}
