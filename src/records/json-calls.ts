import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'

/** The status and the message of a refused call. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type ApiResponse = { status: number; body: unknown }

export const ok = (body: unknown): ApiResponse => ({ status: 200, body })

/** Sends a response as JSON. `failure`: the response for what was thrown; `Refused` has its own. */
export function sendJson(
  response: ServerResponse,
  result: Promise<ApiResponse>,
  failure: (error: unknown) => ApiResponse,
): void {
  result
    .catch((error: unknown) =>
      error instanceof Refused
        ? { status: error.status, body: { error: { message: error.message } } }
        : failure(error),
    )
    .then(({ status, body }) => {
      const text = JSON.stringify(body)
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'",
      })
      response.end(text)
    })
}

/**
 * A browser sends one of the two headers, or both. The scheme does not count: a proxy may have
 * ended TLS.
 * @throws Refused 403
 */
export function rejectOtherSites({
  headers: { 'sec-fetch-site': site, origin, host },
}: IncomingMessage): void {
  const isOther =
    site === undefined
      ? origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)
      : site !== 'same-origin' && site !== 'none'
  if (isOther) throw new Refused(403, 'requests of other sites are refused')
}

/** The key of a call: `Authorization: Bearer` or `x-admin-key`, never a cookie. */
export function shownKey({ headers }: IncomingMessage): string | undefined {
  const shown = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? headers['x-admin-key']
  return typeof shown === 'string' ? shown : undefined
}

/** Compares with a secret. The time does not depend on it. */
export function createComparison(secret: string): (shown: string | undefined) => boolean {
  const wanted = digest(secret)
  return shown => shown !== undefined && timingSafeEqual(digest(shown), wanted)
}

/** Of equal length, for the comparison. */
const digest = (secret: string) => createHash('sha256').update(secret).digest()

/**
 * What is called under a path: `route` is the method with the steps of the rest, where `id` stands
 * for the second one, as in `POST keys/id/rotate`. Empty: there is no second one. @throws Refused
 * 400 or 414
 */
export function callOf(
  { url = '', method }: IncomingMessage,
  under: string,
): { route: string; id: string; query: Record<string, string> } {
  if (url.length > 4096) throw new Refused(414, 'the URL is too long')
  const { pathname, searchParams } = new URL(url, 'http://host')
  const [resource = '', id, ...rest] = pathname.slice(under.length).split('/').map(decoded)
  const steps = id === undefined ? [resource] : [resource, 'id', ...rest]
  return {
    route: `${method} ${steps.join('/')}`,
    id: id ?? '',
    query: Object.fromEntries(searchParams),
  }
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    throw new Refused(400, 'the path is not encoded properly')
  }
}

/** @throws Refused 404 if there is nothing */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Refused(404, 'there is nothing here')
  return value
}

/** @throws Refused 400 */
export function valid<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Refused(
    400,
    `${issue?.path.join('.') || 'the request'}: ${issue?.message ?? 'is invalid'}`,
  )
}

/** The JSON of a body of at most `longest` bytes. @throws Refused 400, 413 or 415 */
export async function bodyOf(request: IncomingMessage, longest = 64 * 1024): Promise<unknown> {
  // A form of another site cannot send this type.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new Refused(415, 'expected content-type: application/json')
  let size = 0
  const chunks: Buffer[] = []
  // Read to its end, or the connection would take no further request.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= longest) chunks.push(chunk)
  }
  if (size > longest) throw new Refused(413, 'the body is too long')
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new Refused(400, 'the body is not JSON')
  }
}
