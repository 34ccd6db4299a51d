import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { ConfigError, type GatewayState, type LearnedFields } from '../gateway/gateway.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { type AdminChannels, handleChannels } from './admin-channels.ts'
import { ChannelError } from './channels.ts'
import type { Database } from './database.ts'
import { LearnedQuery, RecordQuery, text, UsageQuery } from './filters.ts'
import {
  type ApiResponse,
  bodyOf,
  callOf,
  createComparison,
  found,
  ok,
  Refused,
  rejectOtherSites,
  sendJson,
  shownKey,
  valid,
} from './json-calls.ts'
import { KeyError, type Keys } from './keys.ts'
import { type Price, type Prices, priceOf } from './prices.ts'
import { findRecords, sumUsage } from './queries.ts'
import { budgetNames, type Groups, noSpending, type Spending } from './spending.ts'
import { type DollarLimits, unpricedModels } from './unpriced.ts'
import type { Writer } from './writer.ts'

/** What the admin API shows of a gateway. Calls whose function is absent are 404. */
export type AdminSources = {
  /** Of all processes that serve together. */
  state(): GatewayState | Promise<GatewayState>
  /** The configured models. None: every id goes to all channels. */
  models?(): readonly ListedModel[]
  /**
   * Checks a channel with one of its models, by the upstream's name. Undefined: there is no such
   * channel.
   */
  verify?(channel: string, model: string): Promise<object | undefined>
  /** The fields that upstreams have refused. */
  learned?(): LearnedFields
  /** The channels, and those that are added while the gateway runs. */
  channels?: AdminChannels
}

/**
 * A configured model. `streaming`: what the gateway requests from the upstream. `groups`: those that
 * see it; keys without a group see every model. Whatever is absent is not known.
 */
export type ListedModel = {
  id: string
  aliases: readonly string[]
  contextTokens?: number
  maxOutputTokens?: number
  streaming?: 'both' | 'only' | 'never'
  groups?: readonly string[]
  channels: readonly ListedChannel[]
}

/**
 * A channel of a model. `model`: the upstream's name. `refused`: the request fields that are left
 * out, because the configuration or the vendor's profile says so. `price`: in US dollars for a
 * million tokens.
 */
export type ListedChannel = {
  name: string
  model: string
  protocols?: readonly string[]
  refused?: readonly string[]
  price?: Price
}

type Parts = AdminSources & {
  database: Database
  keys: Keys
  writer: Writer
  adminKey: string
  prices(): Prices
  groups(): Groups
  spending(): Promise<{ keys: Map<string, Spending>; groups: Map<string, Spending> }>
  warn(details: object, message: string): void
}

/** Handles the paths under `/admin/`. False: another path. */
export type Admin = (request: IncomingMessage, response: ServerResponse) => boolean

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const money = z.number().min(0)
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
const givenLimits = Object.fromEntries(
  Object.entries(limits).map(([name, type]) => [name, type.nullable().optional()]),
) as {
  [Name in keyof typeof limits]: z.ZodOptional<z.ZodNullable<(typeof limits)[Name]>>
}
const NewKey = z.strictObject({ name: z.string(), ...givenLimits })
const ChangedKey = z.strictObject({ disabled: z.boolean().optional(), ...givenLimits })
const Verified = z.strictObject({ model: text })

/**
 * The admin API, as JSON. It takes the admin key as `Authorization: Bearer` or `x-admin-key`, never
 * from a cookie, and no request of another site.
 */
export function createAdmin(parts: Parts): Admin {
  const isAdmin = createComparison(parts.adminKey)
  return (request, response) => {
    const { url = '' } = request
    if (!url.startsWith('/admin/')) return false
    sendJson(response, handle(request, parts, isAdmin), error => {
      if (error instanceof KeyError || error instanceof ChannelError)
        return { status: statusOf[error.reason], body: { error: { message: error.message } } }
      if (error instanceof ConfigError)
        return { status: 400, body: { error: { message: wordsOf(error) } } }
      parts.warn({ error }, 'a call of the admin API failed')
      return { status: 503, body: { error: { message: 'the database cannot be reached' } } }
    })
    return true
  }
}

const statusOf = {
  taken: 409,
  configured: 409,
  full: 409,
  unencrypted: 409,
  missing: 404,
  invalid: 400,
}

/** The caller gave a part of a configuration, and knows no paths of the whole. */
const wordsOf = ({ faults }: ConfigError) => faults.map(({ message }) => message).join('; ')

async function handle(
  request: IncomingMessage,
  parts: Parts,
  isAdmin: (shown: string | undefined) => boolean,
): Promise<ApiResponse> {
  rejectOtherSites(request)
  if (!isAdmin(shownKey(request))) throw new Refused(401, 'the admin key is missing or wrong')
  const { route, id: name, query } = callOf(request, '/admin/')
  const { database, keys, writer } = parts
  switch (route) {
    case 'GET state':
      return ok({
        ...(await parts.state()),
        droppedRecords: writer.dropped(),
        waitingRecords: writer.waiting(),
      })
    case 'GET models':
      return ok({
        models: found(parts.models?.()).map(model => ({
          ...model,
          channels: model.channels.map(channel => priced(channel, parts.prices())),
        })),
      })
    case 'POST channels/id/verify': {
      const { model } = valid(Verified, await bodyOf(request))
      return ok(found(await parts.verify?.(name, model)))
    }
    case 'GET learned':
      return ok({ learned: found(parts.learned?.()).all() })
    case 'DELETE learned':
      return ok({
        forgotten: found(parts.learned?.()).forget(omitUndefined(valid(LearnedQuery, query))),
      })
    case 'GET records': {
      const { limit, cursor, ...wantedRecords } = valid(RecordQuery, query)
      await writer.flush()
      return ok(await findRecords(database, omitUndefined(wantedRecords), limit, cursor))
    }
    case 'GET usage': {
      const { by, total, ...wantedUsage } = valid(UsageQuery, query)
      await writer.flush()
      return ok(await sumUsage(database, omitUndefined(wantedUsage), by, total))
    }
    case 'GET keys':
      return ok(await listed(parts))
    case 'POST keys': {
      const { name: wantedName, ...wantedLimits } = valid(NewKey, await bodyOf(request))
      const created = await keys.create(wantedName, omitUndefined(wantedLimits))
      return { status: 201, body: { ...created, ...unpricedOf(created, parts) } }
    }
    case 'PATCH keys/id':
      return ok(await keys.change(name, omitUndefined(valid(ChangedKey, await bodyOf(request)))))
    case 'POST keys/id/rotate':
      return ok(await keys.rotate(name))
    case 'DELETE keys/id':
      await keys.delete(name)
      return ok({ deleted: true })
    default:
      return found(await handleChannels(request, { route, name, channels: parts.channels }))
  }
}

function priced<Channel extends { model: string }>(
  channel: Channel,
  prices: Prices,
): Channel & { price?: Price } {
  const price = priceOf(channel.model, prices)
  return { ...channel, ...(price && { price }) }
}

/** The keys and the groups with budgets, with what each has used. */
async function listed(parts: Parts) {
  const used = await parts.spending()
  const keys = (await parts.keys.list()).map(key => ({
    ...key,
    used: used.keys.get(key.id) ?? noSpending(),
    ...unpricedOf(key, parts),
  }))
  const groups = Object.entries(parts.groups())
    .filter(([, group]) => budgetNames.some(name => group[name] !== undefined))
    .map(([name, group]) => ({
      name,
      ...group,
      used: used.groups.get(name) ?? noSpending(),
      ...unpricedOf(group, parts),
    }))
  return { keys, ...(groups.length > 0 && { groups }) }
}

/** The models that the budget in dollars of a key or a group does not count. */
function unpricedOf(
  { group, ...limits }: DollarLimits & { group?: string },
  { models, prices, groups }: Parts,
): { unpriced?: string[] } {
  const seen = group === undefined ? undefined : groups()[group]?.models
  const unpriced = unpricedModels(limits, models?.() ?? [], prices(), seen)
  return unpriced.length > 0 ? { unpriced } : {}
}
