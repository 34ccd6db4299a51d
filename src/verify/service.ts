import { checkAddress } from '../address/check.ts'
import { idsInAny } from '../address/listed.ts'
import { isVersion, urlOf } from '../address/paths.ts'
import { isObject, type JsonObject, parseJson } from '../kit/json/json.ts'
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { fixFor, gist, isHtml, type Received, type Sender } from './ask.ts'
import type { Check, ReportCheck } from './check.ts'

type Offer = {
  ask: Sender
  service: string
  key: string | undefined
  /** The authentication header. Absent: that of each protocol is tried until one is accepted. */
  protocol?: Protocol
}

/** The response to the listing request, and the protocol whose authentication header was used. */
async function askListing({
  ask,
  service,
  key,
  protocol,
}: Offer): Promise<{ received: Received; shownAs: Protocol }> {
  const url = urlOf(service, '/v1/models')
  const askAs = async (shownAs: Protocol) => ({
    received: await ask(url, { headers: shownAs.address.upstreamHeaders(key, undefined) }),
    shownAs,
  })
  const [first, ...others] = protocol ? [protocol] : Object.values(protocols)
  const response = await askAs(first as Protocol)
  for (const other of others) {
    // A provider that expects another header reports a missing key.
    if (!isRefused(response.received)) break
    const again = await askAs(other)
    if (!isRefused(again.received)) return again
  }
  return response
}

const isRefused = ({ status }: Received) => status === 401 || status === 403

/** The address that paths are appended to: unchanged if it may end in the service's own version. */
export function checkBase(base: string, report: ReportCheck): string | undefined {
  const { root, faults, service } = checkAddress(base)
  const wrong = faults.filter(({ severe }) => severe)
  for (const { rule, message } of faults.filter(({ severe }) => !severe))
    report(rule, 'warned', message, { fix: message })
  if (wrong.length > 0)
    report('the address', 'failed', base, { fix: wrong.map(({ message }) => message).join(' ') })
  else report('the address', 'passed', root ?? base)
  return service
}

/** GET /v1/models: is this the API, is the key valid, is the model listed? */
export async function checkListing(
  { model, ...offer }: Offer & { model: string },
  report: ReportCheck,
): Promise<Check | undefined> {
  const { received, shownAs } = await askListing(offer)
  const url = received.requestedUrl
  const ms = received.totalMs
  const failed = (name: string, detail: string) =>
    report(name, 'failed', detail, { fix: fixFor(received), ms })
  if (received.failure !== undefined)
    return failed('the service responds', `${url}: ${received.failure}`)
  report('the service responds', 'passed', `GET ${url}: status ${received.status}`, { ms })
  const versions = new URL(received.final).pathname.split('/').filter(isVersion).length
  if (received.final !== url) failed('the final URL', `redirected to ${received.final}`)
  else
    report(
      'the final URL',
      versions === 1 ? 'passed' : 'failed',
      `${received.final} has ${versions === 1 ? 'one version' : `${versions} versions`}`,
      versions === 1 ? {} : { fix: 'The URL must contain exactly one /v1.' },
    )
  const body = parseJson(received.text)
  if (isHtml(received) || !isObject(body)) {
    const name = 'JSON, not a page'
    if (received.status === 404 && !isHtml(received))
      return report(name, 'warned', `${gist(received)}: this service lists no models`, {
        fix: 'Clients that offer a choice of models will have none.',
      })
    return failed(
      name,
      isHtml(received)
        ? `a web page, with status ${received.status}`
        : `no JSON, with status ${received.status}`,
    )
  }
  report('JSON, not a page', 'passed', received.type || 'JSON')
  const hasError =
    isObject(body['error']) ||
    typeof body['detail'] === 'string' ||
    body['type'] === 'error' ||
    typeof body['message'] === 'string'
  if (received.status < 300 === hasError)
    failed(
      'status and body agree',
      received.status < 300
        ? `status ${received.status} with an error in it`
        : `status ${received.status} without an error that says why`,
    )
  else
    report(
      'status and body agree',
      'passed',
      hasError ? `status ${received.status}, and the body says why` : `status ${received.status}`,
    )
  if (received.status === 404)
    return report('the listing', 'warned', gist(received), {
      fix: 'This service lists no models: clients that offer a choice of models will have none.',
    })
  if (received.status !== 200)
    return failed(isRefused(received) ? 'the key' : 'the listing', gist(received))
  report('the key', 'passed', offer.key === undefined ? 'none was requested' : 'accepted')
  const ids = await idsOf(body, { ...offer, protocol: shownAs })
  if (ids.includes(model)) report('the model is listed', 'passed', model)
  else
    report(
      'the model is listed',
      'warned',
      `"${model}" is not among ${ids.length}: ${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ' …' : ''}`,
      {
        fix: 'Copy the id from the listing; where names are patterns or aliases, the requests below decide.',
      },
    )
  return offer.key === undefined
    ? undefined
    : checkWrongKey({ ...offer, protocol: shownAs }, report)
}

async function checkWrongKey(offer: Offer, report: ReportCheck): Promise<Check> {
  const name = 'a wrong key is refused'
  const { received } = await askListing({ ...offer, key: 'wireglot-verify-is-not-a-key' })
  if (isRefused(received))
    return report(name, 'passed', `status ${received.status}`, { ms: received.totalMs })
  return report(name, 'warned', gist({ ...received, text: '' }), {
    ms: received.totalMs,
    fix: 'Everyone who finds the address can list the models: give the service keys, or let it listen on this machine only.',
  })
}

/** The model ids that a service lists. @throws Error whose message says what to change */
export async function listed(offer: Offer): Promise<string[]> {
  const { received, shownAs } = await askListing(offer)
  const body = parseJson(received.text)
  if (received.status !== 200 || !isObject(body))
    throw new Error(
      `${received.requestedUrl}: ${gist({ ...received, text: isHtml(received) ? '' : received.text })}. ${fixFor(received)}`,
    )
  return idsOf(body, { ...offer, protocol: shownAs })
}

/** The ids of a listing, including further pages if this is the first one. */
async function idsOf(
  page: JsonObject,
  { ask, service, key, protocol: { address } }: Offer & { protocol: Protocol },
): Promise<string[]> {
  const hasMore = page['has_more'] === true || typeof page['nextPageToken'] === 'string'
  if (!hasMore || address.listing === undefined) return idsInAny(page)
  const received = await ask(urlOf(service, address.listing), {
    headers: address.upstreamHeaders(key, undefined),
  })
  const all = received.status === 200 ? idsInAny(parseJson(received.text)) : []
  return all.length > 0 ? all : idsInAny(page)
}
