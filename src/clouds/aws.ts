import type { AwsV4Signer } from 'aws4fetch'
import type { Transport, TransportCall, TransportResponse } from '../transports/transport.ts'
import { changed, discard, peeked, unlessAborted } from './call.ts'
import { missing, reasonOf } from './packages.ts'
import { createRenewing, type Lease, type Renewing } from './renewing.ts'
import { type AwsKeys, type AwsSettings, CloudAuthError } from './settings.ts'

type Signer = typeof AwsV4Signer

/** Refusals after which other credentials may help. */
const refusedKeys =
  /ExpiredToken|UnrecognizedClient|InvalidClientTokenId|security token included in the request is (?:expired|invalid)/i
/** Refusals because of the time of the signature. */
const refusedTime =
  /InvalidSignature|RequestTimeTooSkewed|RequestExpired|Signature expired|Signature not yet current/i
/** A difference of clocks that AWS accepts; below it the time is not the reason. */
const acceptedSkewMs = 4 * 60_000

/**
 * Signs every call with Signature Version 4. After a refusal because of its keys or its time, a
 * call is signed again and sent once more.
 */
export function signing(
  settings: AwsSettings,
  transport: Transport,
  now: () => number = Date.now,
): Transport {
  const keys = keysOf(settings, now)
  const derived = new Map<string, ArrayBuffer>()
  let skewMs = 0
  let signer: Promise<Signer> | undefined

  async function send(call: TransportCall, current: AwsKeys): Promise<TransportResponse> {
    signer ??= import('aws4fetch').then(({ AwsV4Signer }) => AwsV4Signer)
    const signed = await sign(await signer, call, {
      ...current,
      ...placeOf(call.url, settings),
      time: now() + skewMs,
      cache: derived,
    })
    // One entry per day, region and set of keys.
    if (derived.size > 20) derived.clear()
    const response = await transport.send(signed)
    const secrets = [
      current.secretAccessKey,
      ...(current.sessionToken === undefined ? [] : [current.sessionToken]),
    ]
    return { ...response, secrets }
  }

  return {
    async send(call) {
      const first = await unlessAborted(keys.get(), call)
      const refused = await send(call, first)
      if (refused.status !== 403 && refused.status !== 401 && refused.status !== 400) return refused
      const { text, response } = await peeked(refused)
      const reason = `${response.headers['x-amzn-errortype'] ?? ''} ${text}`
      const others = await helpAgainst(reason, response, call, first)
      if (!others) return response
      await discard(response)
      const again = await send(call, others)
      return { ...again, secrets: [...(refused.secrets ?? []), ...(again.secrets ?? [])] }
    },
  }

  /** The keys for a second attempt. Undefined: it would be refused, too. */
  async function helpAgainst(
    reason: string,
    { headers }: TransportResponse,
    call: TransportCall,
    refused: AwsKeys,
  ): Promise<AwsKeys | undefined> {
    if (refusedTime.test(reason)) {
      const difference = Date.parse(headers['date'] ?? '') - now()
      if (Math.abs(difference - skewMs) > acceptedSkewMs) {
        skewMs = difference
        return refused
      }
    }
    if (!refusedKeys.test(reason) && !refusedTime.test(reason)) return undefined
    return unlessAborted(keys.replace(refused), call)
  }
}

/** What a signature is made of. `time`: in milliseconds since the epoch. */
type Signing = AwsKeys & {
  region: string
  service: string
  time: number
  cache?: Map<string, ArrayBuffer>
}

/** The call with its signature in its headers. Only headers that no proxy changes are signed. */
export async function sign(
  Signer: Signer,
  call: TransportCall,
  { time, sessionToken, ...signing }: Signing,
): Promise<TransportCall> {
  const { headers, body, method, url } = call
  const type = headers['content-type']
  const signed = await new Signer({
    ...signing,
    ...(sessionToken !== undefined && { sessionToken }),
    method,
    url,
    headers: type === undefined ? {} : { 'content-type': type },
    ...(body !== undefined && { body }),
    allHeaders: true,
    datetime: new Date(time).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  }).sign()
  return changed(call, { headers: { ...headers, ...Object.fromEntries(signed.headers) } })
}

/**
 * Region and service that a signature is for: those of the settings, else those in the host name.
 */
export function placeOf(
  url: string,
  { region, service }: Pick<AwsSettings, 'region' | 'service'>,
): { region: string; service: string } {
  const labels = new URL(url).hostname.split('.')
  const named = labels.find(label => /^[a-z]{2}(?:-[a-z]+){1,3}-\d$/.test(label))
  const known = region ?? named
  if (known === undefined)
    throw new CloudAuthError('the region for signatures is unknown: set "region" in "aws"')
  return {
    region: known,
    service: service ?? (labels[0]?.startsWith('bedrock-mantle') ? 'bedrock-mantle' : 'bedrock'),
  }
}

function keysOf(
  { profile, accessKeyId, secretAccessKey, sessionToken }: AwsSettings,
  now: () => number,
): Renewing<AwsKeys> {
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const fixed = { accessKeyId, secretAccessKey, sessionToken }
    return createRenewing(async () => ({ value: fixed }), now)
  }
  let chain: Promise<Chain> | undefined
  return createRenewing(async isForced => {
    chain ??= openChain(profile)
    try {
      const provide = await chain
      return leaseOf(await provide({ forceRefresh: isForced }))
    } catch (error) {
      chain = undefined
      throw error instanceof CloudAuthError
        ? error
        : new CloudAuthError(`no credentials of AWS: ${reasonOf(error)}`)
    }
  }, now)
}

type Identity = AwsKeys & { expiration?: Date }
type Chain = (options: { forceRefresh: boolean }) => Promise<Identity>

/**
 * The credential chain of AWS: environment, shared files and SSO, web identity, container,
 * instance.
 */
async function openChain(profile: string | undefined): Promise<Chain> {
  const needed = missing('@aws-sdk/credential-providers')
  const { fromNodeProviderChain }: Partial<typeof import('@aws-sdk/credential-providers')> =
    await import('@aws-sdk/credential-providers').catch(needed)
  return (fromNodeProviderChain ?? needed())(profile === undefined ? {} : { profile }) as Chain
}

function leaseOf({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  expiration,
}: Identity): Lease<AwsKeys> {
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: expiration?.getTime() }
}
