import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { GatewayState } from '../gateway/gateway.ts'
import { defined } from '../kit/fields/defined.ts'
import type { Database } from './database.ts'
import { KeyError, type Keys } from './keys.ts'
import { type Price, type Prices, priceOf } from './prices.ts'
import { dimensions, findRecords, sumUsage } from './queries.ts'
import type { Writer } from './writer.ts'

/** What the admin API shows of a gateway. Calls whose function is absent are 404. */
export type AdminSources = {
  state(): GatewayState
  /** The configured models. `model`: the upstream's name. None: every id goes to all channels. */
  models?(): readonly { id: string; aliases: readonly string[]; channels: readonly { name: string; model: string }[] }[]
  /** Checks a channel with one of its models, by the upstream's name. Undefined: there is no such channel. */
  verify?(channel: string, model: string): Promise<object | undefined>
}

type Parts = AdminSources & { database: Database; keys: Keys; writer: Writer; adminKey: string; prices(): Prices; warn(details: object, message: string): void }

/** Answers the paths under `/admin/`. False: another path. */
export type Admin = (request: IncomingMessage, response: ServerResponse) => boolean

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const money = z.number().min(0)
/** PostgreSQL holds no U+0000 in texts. */
const text = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\0]*$/, 'expected no U+0000')
const limits = {
  group: text,
  models: z.array(text).max(1000),
  requestsPerMinute: count,
  tokensPerMinute: count,
  tokensPerDay: count,
  tokensPerMonth: count,
  dollarsPerDay: money,
  dollarsPerMonth: money,
  expiresAt: z.iso.datetime({ offset: true }),
}
const NewKey = z.strictObject({ name: z.string(), ...z.object(limits).partial().shape })
const ChangedKey = z.strictObject({
  disabled: z.boolean().optional(),
  ...(Object.fromEntries(Object.entries(limits).map(([name, type]) => [name, type.nullable().optional()])) as {
    [Name in keyof typeof limits]: z.ZodOptional<z.ZodNullable<(typeof limits)[Name]>>
  }),
})
const Verified = z.strictObject({ model: text })

const time = z.coerce.number().int().min(0).max(8.64e15).optional()
const filter = { from: time, to: time, key: text.optional(), model: text.optional(), channel: text.optional() }
const RecordQuery = z.strictObject({
  ...filter,
  status: z.coerce.number().int().min(100).max(599).optional(),
  failed: z.stringbool().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: text.optional(),
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
        if (error instanceof KeyError) return { status: statusOf[error.reason], body: { error: { message: error.message } } }
        parts.warn({ error }, 'a call of the admin API failed')
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

const statusOf = { taken: 409, missing: 404, invalid: 400 }

type Answer = { status: number; body: unknown }

async function answer(request: IncomingMessage, parts: Parts, wanted: Buffer): Promise<Answer> {
  const { method = 'GET', url = '', headers } = request
  if (isOtherSite(headers)) throw new Refused(403, 'requests of other sites are refused')
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  const shown = bearer ?? headers['x-admin-key']
  if (typeof shown !== 'string' || !timingSafeEqual(digest(shown), wanted)) throw new Refused(401, 'the admin key is missing or wrong')
  if (url.length > 4096) throw new Refused(414, 'the URL is too long')
  const { pathname, searchParams } = new URL(url, 'http://host')
  const [, , resource, name, action] = pathname.split('/').map(decoded)
  const query = Object.fromEntries(searchParams)
  const { database, keys, writer } = parts
  const route = `${method} ${resource}${name === undefined ? '' : '/name'}${action === undefined ? '' : `/${action}`}`
  switch (route) {
    case 'GET state':
      return ok({ ...parts.state(), droppedRecords: writer.dropped(), waitingRecords: writer.waiting() })
    case 'GET models':
      return ok({ models: found(parts.models?.()).map(model => ({ ...model, channels: model.channels.map(channel => priced(channel, parts.prices())) })) })
    case 'POST channels/name/verify': {
      const { model } = valid(Verified, await bodyOf(request))
      return ok(found(await parts.verify?.(name ?? '', model)))
    }
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
      return found<Answer>(undefined)
  }
}

/** A browser tells one of the two headers, or both. The scheme does not count: a proxy may have ended TLS. */
function isOtherSite({ 'sec-fetch-site': site, origin, host }: IncomingMessage['headers']): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)
}

const ok = (body: unknown): Answer => ({ status: 200, body })

function priced<Channel extends { model: string }>(channel: Channel, prices: Prices): Channel & { price?: Price } {
  const price = priceOf(channel.model, prices)
  return { ...channel, ...(price && { price }) }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Refused(404, 'there is nothing here')
  return value
}

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
