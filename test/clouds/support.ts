import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SignatureV4 } from '@smithy/signature-v4'
import { vi } from 'vitest'
import type { Hooks } from '../../src/gateway/gateway.ts'
import { listen } from '../gateway/support.ts'

export type Received = { path: string; headers: IncomingMessage['headers']; text: string }

/** A server of a cloud on a real socket. `calls`: what it received, in order. */
export async function server(
  handle: (received: Received, response: ServerResponse) => unknown,
): Promise<{ url: string; calls: Received[] }> {
  const calls: Received[] = []
  const url = await listen(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
    const received = { path: request.url ?? '', headers: request.headers, text }
    calls.push(received)
    await handle(received, response)
  })
  return { url, calls }
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export type Keys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

class Sha256 {
  readonly #made
  constructor(secret?: unknown) {
    this.#made =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string)
  }
  update(data: string | Uint8Array) {
    this.#made.update(data)
  }
  async digest() {
    return new Uint8Array(this.#made.digest())
  }
  reset() {}
}
export const sha256 = Sha256 as never

/**
 * Refuses a call as AWS does, with the signer of AWS as the judge. Undefined: the signature is
 * right. `keys`: those that are valid now. `clock`: the time of the server.
 */
export async function refusalOfSignature(
  { path, headers, text }: Received,
  {
    keys,
    service,
    region,
    clock = Date.now,
  }: { keys: Keys[]; service: string; region: string; clock?: () => number },
): Promise<{ type: string; message: string } | undefined> {
  const authorization = headers['authorization'] ?? ''
  const [, id, , day, place, name] =
    /Credential=([^/]+)(\/)(\d{8})\/([^/]+)\/([^/]+)\/aws4_request/.exec(authorization) ?? []
  const token = headers['x-amz-security-token']
  const known = keys.find(one => one.accessKeyId === id)
  if (!known || known.sessionToken !== token)
    return {
      type: 'ExpiredTokenException',
      message: 'The security token included in the request is expired',
    }
  if (place !== region || name !== service)
    return {
      type: 'InvalidSignatureException',
      message: `Credential should be scoped to a valid region, not '${place}'.`,
    }
  const date = String(headers['x-amz-date'])
  const signedAt = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  )
  if (Math.abs(signedAt - clock()) > 5 * 60_000)
    return {
      type: 'InvalidSignatureException',
      message: `Signature expired: ${date} is now earlier than it may be`,
    }
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
  const signed = Object.fromEntries(
    names.filter(one => !one.startsWith('x-amz-')).map(one => [one, String(headers[one])]),
  )
  const signer = new SignatureV4({
    credentials: known,
    region,
    service,
    sha256,
    applyChecksum: false,
  })
  const request = {
    method: 'POST',
    protocol: 'http:',
    hostname: String(headers.host),
    path,
    query: {},
    headers: signed,
    body: text,
  }
  const { headers: right } = await signer.sign(request, { signingDate: new Date(signedAt) })
  if (day !== date.slice(0, 8) || right['authorization'] !== authorization)
    return {
      type: 'InvalidSignatureException',
      message: `The Canonical String should have been x-amz-security-token:${token}`,
    }
  return undefined
}

/** Everything that a gateway logs, records and reports, as text. */
export function listening(): { hooks: Hooks; text(): string } {
  const logged: unknown[] = []
  const log = (details: object, message: string) =>
    void logged.push(
      Object.values(details).map(one => (one instanceof Error ? [one.message, one.stack] : one)),
      details,
      message,
    )
  return {
    hooks: {
      logger: { info: log, warn: log, error: log },
      onUsage: record => void logged.push(record),
      onAttempt: attempt => void logged.push({ ...attempt, body: undefined }),
    },
    text: () => JSON.stringify(logged),
  }
}

/** No credentials of this machine: neither its environment nor its files. */
export function withoutAws(): void {
  for (const name of [
    'AWS_PROFILE',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_REGION',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_ROLE_ARN',
  ])
    vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere/config')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere/credentials')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
}
