import { checkAddress } from '../address/check.ts'
import { idsInAny } from '../address/listed.ts'
import { isVersion, urlOf } from '../address/paths.ts'
import { isObject, type JsonObject, parseJson } from '../kit/json/json.ts'
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { type Asker, gist, type Heard, isHtml, mendOf } from './ask.ts'
import type { Point, Tell } from './point.ts'

type Offer = {
  ask: Asker
  service: string
  key: string | undefined
  /** The authentication header. Absent: that of each protocol is tried until one is accepted. */
  protocol?: Protocol
}

/** The answer to the listing request, and the protocol whose authentication header was used. */
async function askListing({ ask, service, key, protocol }: Offer): Promise<{ heard: Heard; shownAs: Protocol }> {
  const url = urlOf(service, '/v1/models')
  const askAs = async (shownAs: Protocol) => ({ heard: await ask(url, { headers: shownAs.address.upstreamHeaders(key, undefined) }), shownAs })
  const [first, ...others] = protocol ? [protocol] : Object.values(protocols)
  const answer = await askAs(first as Protocol)
  for (const other of others) {
    // A provider that expects another header reports a missing key.
    if (!isRefused(answer.heard)) break
    const again = await askAs(other)
    if (!isRefused(again.heard)) return again
  }
  return answer
}

const isRefused = ({ status }: Heard) => status === 401 || status === 403

/** The address that paths are appended to: unchanged if it may end in the service's own version. */
export function checkBase(base: string, tell: Tell): string | undefined {
  const { root, faults, service } = checkAddress(base)
  const wrong = faults.filter(({ severe }) => severe)
  for (const { rule, message } of faults.filter(({ severe }) => !severe)) tell(rule, 'warned', message, { mend: message })
  if (wrong.length > 0) tell('the address', 'failed', base, { mend: wrong.map(({ message }) => message).join(' ') })
  else tell('the address', 'passed', root ?? base)
  return service
}

/** GET /v1/models: is this the API, is the key valid, is the model listed? */
export async function checkListing({ model, ...offer }: Offer & { model: string }, tell: Tell): Promise<Point | undefined> {
  const { heard, shownAs } = await askListing(offer)
  const url = heard.asked
  const ms = heard.totalMs
  const failed = (name: string, told: string) => tell(name, 'failed', told, { mend: mendOf(heard), ms })
  if (heard.failure !== undefined) return failed('the service answers', `${url}: ${heard.failure}`)
  tell('the service answers', 'passed', `GET ${url}: status ${heard.status}`, { ms })
  const versions = new URL(heard.final).pathname.split('/').filter(isVersion).length
  if (heard.final !== url) failed('the final URL', `redirected to ${heard.final}`)
  else
    tell(
      'the final URL',
      versions === 1 ? 'passed' : 'failed',
      `${heard.final} has ${versions === 1 ? 'one version' : `${versions} versions`}`,
      versions === 1 ? {} : { mend: 'The URL must contain exactly one /v1.' },
    )
  const body = parseJson(heard.text)
  if (isHtml(heard) || !isObject(body)) {
    const name = 'JSON, not a page'
    if (heard.status === 404 && !isHtml(heard))
      return tell(name, 'warned', `${gist(heard)}: this service lists no models`, { mend: 'Clients that offer a choice of models will have none.' })
    return failed(name, isHtml(heard) ? `a web page, with status ${heard.status}` : `no JSON, with status ${heard.status}`)
  }
  tell('JSON, not a page', 'passed', heard.type || 'JSON')
  const told = isObject(body['error']) || typeof body['detail'] === 'string' || body['type'] === 'error' || typeof body['message'] === 'string'
  if (heard.status < 300 === told)
    failed('status and body agree', heard.status < 300 ? `status ${heard.status} with an error in it` : `status ${heard.status} without an error that says why`)
  else tell('status and body agree', 'passed', told ? `status ${heard.status}, and the body says why` : `status ${heard.status}`)
  if (heard.status === 404)
    return tell('the listing', 'warned', gist(heard), { mend: 'This service lists no models: clients that offer a choice of models will have none.' })
  if (heard.status !== 200) return failed(isRefused(heard) ? 'the key' : 'the listing', gist(heard))
  tell('the key', 'passed', offer.key === undefined ? 'none was asked for' : 'accepted')
  const ids = await idsOf(body, { ...offer, protocol: shownAs })
  if (ids.includes(model)) tell('the model is listed', 'passed', model)
  else
    tell('the model is listed', 'warned', `«${model}» is not among ${ids.length}: ${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ' …' : ''}`, {
      mend: 'Copy the id from the listing; where names are patterns or aliases, the requests below decide.',
    })
  return offer.key === undefined ? undefined : checkWrongKey({ ...offer, protocol: shownAs }, tell)
}

async function checkWrongKey(offer: Offer, tell: Tell): Promise<Point> {
  const name = 'a wrong key is refused'
  const { heard } = await askListing({ ...offer, key: 'wireglot-verify-is-not-a-key' })
  if (isRefused(heard)) return tell(name, 'passed', `status ${heard.status}`, { ms: heard.totalMs })
  return tell(name, 'warned', gist({ ...heard, text: '' }), {
    ms: heard.totalMs,
    mend: 'Whoever finds the address is told the models: give the service keys, or let it listen on this machine alone.',
  })
}

/** The model ids that a service lists. @throws Error whose message says what to change */
export async function listed(offer: Offer): Promise<string[]> {
  const { heard, shownAs } = await askListing(offer)
  const body = parseJson(heard.text)
  if (heard.status !== 200 || !isObject(body)) throw new Error(`${heard.asked}: ${gist({ ...heard, text: isHtml(heard) ? '' : heard.text })}. ${mendOf(heard)}`)
  return idsOf(body, { ...offer, protocol: shownAs })
}

/** The ids of a listing, including further pages if this is the first one. */
async function idsOf(page: JsonObject, { ask, service, key, protocol: { address } }: Offer & { protocol: Protocol }): Promise<string[]> {
  const goesOn = page['has_more'] === true || typeof page['nextPageToken'] === 'string'
  if (!goesOn || address.listing === undefined) return idsInAny(page)
  const heard = await ask(urlOf(service, address.listing), { headers: address.upstreamHeaders(key, undefined) })
  const all = heard.status === 200 ? idsInAny(parseJson(heard.text)) : []
  return all.length > 0 ? all : idsInAny(page)
}
