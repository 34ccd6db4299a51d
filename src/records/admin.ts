import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { GatewayState } from '../gateway/gateway.ts'
import { defined } from '../kit/fields/defined.ts'
import type { Database } from './database.ts'
import { KeyError, type Keys } from './keys.ts'
import { dimensions, findRecords, sumUsage } from './queries.ts'
import type { Writer } from './writer.ts'

type Parts = { database: Database; keys: Keys; writer: Writer; adminKey: string; state: () => GatewayState }

/** Answers the paths under `/admin/`. False: another path. */
export type Admin = (request: IncomingMessage, response: ServerResponse) => boolean

const count = z.number().min(0).finite()
const limits = {
  group: z.string().min(1).max(200).optional(),
  models: z.array(z.string().min(1).max(200)).max(1000).optional(),
  requestsPerMinute: count.optional(),
  tokensPerMinute: count.optional(),
  tokensPerDay: count.optional(),
  tokensPerMonth: count.optional(),
  dollarsPerDay: count.optional(),
  dollarsPerMonth: count.optional(),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
}
const NewKey = z.strictObject({ name: z.string().regex(/^[\w .@-]{1,100}$/, 'expected up to 100 letters, digits, spaces and .@_-'), ...limits })
const ChangedKey = z.strictObject({ disabled: z.boolean().optional(), ...limits })

const text = z.string().min(1).max(200).optional()
const time = z.coerce.number().int().min(0).max(8.64e15).optional()
const filter = { from: time, to: time, key: text, model: text, channel: text }
const RecordQuery = z.strictObject({
  ...filter,
  status: z.coerce.number().int().min(100).max(599).optional(),
  failed: z.stringbool().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().max(300).optional(),
})
const UsageQuery = z.strictObject({ ...filter, by: z.enum(dimensions).optional() })

/** The status and the message of a refused call. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * The admin API, as JSON. It takes the admin key as `Authorization: Bearer` or `x-admin-key`, never from a cookie, and no request of another
 * site.
 */
export function createAdmin(parts: Parts): Admin {
  const wanted = digest(parts.adminKey)
  return (request, response) => {
    const { url = '' } = request
    if (!url.startsWith('/admin/')) return false
    answer(request, parts, wanted)
      .catch((error: unknown): Answer => {
        if (error instanceof Refused) return { status: error.status, body: { error: { message: error.message } } }
        if (error instanceof KeyError) return { status: error.reason === 'taken' ? 409 : 404, body: { error: { message: error.message } } }
        return { status: 503, body: { error: { message: 'the database cannot be reached' } } }
      })
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
    return true
  }
}

type Answer = { status: number; body: unknown }

async function answer(request: IncomingMessage, parts: Parts, wanted: Buffer): Promise<Answer> {
  const { method = 'GET', url = '', headers } = request
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new Refused(403, 'requests of other sites are refused')
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  const shown = bearer ?? headers['x-admin-key']
  if (typeof shown !== 'string' || !timingSafeEqual(digest(shown), wanted)) throw new Refused(401, 'the admin key is missing or wrong')
  if (url.length > 4096) throw new Refused(414, 'the URL is too long')
  const { pathname, searchParams } = new URL(url, 'http://host')
  const [, , resource, name, action] = pathname.split('/').map(decoded)
  const query = Object.fromEntries(searchParams)
  const { database, keys, writer, state } = parts
  const route = `${method} ${resource}${name === undefined ? '' : '/name'}${action === undefined ? '' : `/${action}`}`
  switch (route) {
    case 'GET state':
      return ok({ ...state(), droppedRecords: writer.dropped() })
    case 'GET records': {
      const { limit, cursor, ...wantedRecords } = valid(RecordQuery, query)
      await writer.flush()
      return ok(await findRecords(database, defined(wantedRecords), limit, cursor))
    }
    case 'GET usage': {
      const { by, ...wantedUsage } = valid(UsageQuery, query)
      await writer.flush()
      return ok(await sumUsage(database, defined(wantedUsage), by))
    }
    case 'GET keys':
      return ok({ keys: await keys.list() })
    case 'POST keys': {
      const { name: wantedName, ...wantedLimits } = valid(NewKey, await bodyOf(request))
      return { status: 201, body: await keys.create(wantedName, defined(wantedLimits)) }
    }
    case 'PATCH keys/name':
      return ok(await keys.change(name ?? '', defined(valid(ChangedKey, await bodyOf(request)))))
    case 'POST keys/name/rotate':
      return ok(await keys.rotate(name ?? ''))
    case 'DELETE keys/name':
      await keys.delete(name ?? '')
      return ok({ deleted: true })
    default:
      throw new Refused(404, 'there is no such call')
  }
}

const ok = (body: unknown): Answer => ({ status: 200, body })

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    throw new Refused(400, 'the path is not encoded properly')
  }
}

function valid<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Refused(400, `${issue?.path.join('.') || 'the request'}: ${issue?.message ?? 'is invalid'}`)
}

const longestBody = 64 * 1024

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  // A form of another site cannot send this type.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) throw new Refused(415, 'expected content-type: application/json')
  let size = 0
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > longestBody) throw new Refused(413, 'the body is too long')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new Refused(400, 'the body is not JSON')
  }
}

/** Of equal length, for the comparison. */
const digest = (secret: string) => createHash('sha256').update(secret).digest()
