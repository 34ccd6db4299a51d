import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { clientConfig, clientNames } from '../clients/index.ts'
import type { GatewayState, LearnedFields } from '../gateway/gateway.ts'
import { isMatch, overlap } from '../gateway/upstream/patterns.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { nesting } from '../kit/json/scan.ts'
import { noteCatalog } from '../notes.ts'
import { isProtocolName, protocols } from '../protocols/index.ts'
import { LearnedQuery, RecordQuery, UsageQuery } from '../records/filters.ts'
import type {
  AdminSources,
  ListedChannel,
  ListedModel,
  RecordFilter,
  RecordRow,
  Records,
} from '../records/index.ts'
import {
  type ApiResponse,
  bodyOf,
  callOf,
  found,
  ok,
  Refused,
  valid,
} from '../records/json-calls.ts'
import type { Access, Gatekeeper } from './access.ts'
import type { Exchanges } from './exchanges.ts'
import { sentProtocols } from './protocols.ts'
import type { RecordSource } from './recent.ts'
import { examine } from './translate/examine.ts'
import { examples } from './translate/examples.ts'
import { kinds } from './translate/recognize.ts'

/** In UTF-16 units: a text is translated six times. */
const longestText = 2_000_000
/** In bytes, of a body with such a text. */
const longestBody = 8 * 1024 * 1024
const deepest = 256

const name = z.string().min(1).max(200)
const Translated = z.strictObject({
  text: z.string(),
  protocol: z
    .string()
    .refine(isProtocolName, `expected one of ${Object.keys(protocols).join(', ')}`)
    .optional(),
  kind: z.enum(kinds).optional(),
})
const Verified = z.strictObject({ model: name })
const Configured = z.strictObject({
  base: z.url({ protocol: /^https?$/ }).max(2000),
  model: name.optional(),
})

export type ApiParts = {
  gatekeeper: Gatekeeper
  exchanges: Exchanges
  source: RecordSource
  /** Of a client. Absent: no budgets are kept. */
  budgetsOf: Records['budgetsOf'] | undefined
  state: AdminSources['state']
  learned(): LearnedFields
  models: AdminSources['models']
  verify: AdminSources['verify']
  cassette: ((id: string) => Promise<string | undefined>) | undefined
  /** `keepsRecords`: in a database, and not only in memory. */
  about: {
    isDemo: boolean
    canManageKeys: boolean
    keepsRecords: boolean
    keepsCassettes: boolean
  }
}

/** Handles a call of the page. @throws Refused */
export async function handleCall(request: IncomingMessage, parts: ApiParts): Promise<ApiResponse> {
  const access = await parts.gatekeeper.decide(request)
  const { route, id, query } = callOf(request, '/console/api/')
  switch (route) {
    case 'GET session':
      return ok(session(access, parts))
    case 'POST translate':
      return ok(await translate(request))
    case 'GET clients':
      return ok({
        clients: clientSettings(valid(Configured, query), await parts.state(), parts.models?.()),
      })
    case 'GET notes':
      return ok({ notes: noteCatalog })
    case 'GET exchanges/id':
      return ok(exchangeFor(access, parts, id))
    case 'GET records': {
      const { limit, cursor, ...filter } = valid(RecordQuery, query)
      const { records, ...more } = await parts.source.find(
        visible(access, omitUndefined(filter)),
        limit,
        cursor,
      )
      return ok({
        records: access.role === 'operator' ? records : records.map(withoutConfiguration),
        ...more,
      })
    }
    case 'GET usage': {
      const { by, total, ...filter } = valid(UsageQuery, query)
      if (access.role === 'client' && by !== undefined && by !== 'model')
        throw new Refused(403, 'only the operator sees channels, keys and groups')
      const wanted = visible(access, omitUndefined(filter))
      return ok(
        total ? { sums: await parts.source.total(wanted, by) } : await parts.source.sum(wanted, by),
      )
    }
    case 'GET models':
      return ok({ models: modelsFor(access, found(parts.models?.()), parts.learned()) })
    case 'GET budgets':
      if (access.role === 'operator') return ok({})
      return ok((await parts.budgetsOf?.(access.identity)) ?? {})
    default:
      return handleOperatorCall(request, { access, parts, route, id, query })
  }
}

type OperatorCall = {
  access: Access
  parts: ApiParts
  route: string
  id: string
  query: Record<string, string>
}

/** The calls that show how the gateway is configured. @throws Refused */
async function handleOperatorCall(
  request: IncomingMessage,
  { access, parts, route, id, query }: OperatorCall,
): Promise<ApiResponse> {
  if (access.role !== 'operator') throw new Refused(403, 'only the operator may do this')
  switch (route) {
    case 'GET records/id':
      return ok(found(await parts.source.detail(id)))
    case 'GET cassettes/id':
      return ok({ text: found(await parts.cassette?.(id)) })
    case 'GET state':
      return ok(await parts.state())
    case 'GET learned':
      return ok({ learned: parts.learned().all() })
    case 'DELETE learned':
      return ok({ forgotten: parts.learned().forget(omitUndefined(valid(LearnedQuery, query))) })
    case 'POST channels/id/verify':
      return ok(found(await parts.verify?.(id, valid(Verified, await bodyOf(request)).model)))
    default:
      return found<ApiResponse>(undefined)
  }
}

function session(access: Access, { about }: ApiParts) {
  const isOperator = access.role === 'operator'
  return {
    role: access.role,
    ...(!isOperator && access.identity.name !== undefined && { key: access.identity.name }),
    ...about,
    canManageKeys: isOperator && about.canManageKeys,
    hasRecords: isOperator || access.identity.name !== undefined,
    protocols: sentProtocols(about.isDemo),
    examples: examples(),
  }
}

/** A client sees the models of its key and group, without their channels. */
function modelsFor(access: Access, models: readonly ListedModel[], learned: LearnedFields) {
  const all = learned.all()
  const learnedOf = (id: string, channel: ListedChannel) => {
    const own = all.filter(
      one => one.entry === id && one.channel === channel.name && isMatch(channel.model, one.model),
    )
    return [...new Set(own.map(({ field }) => field))]
  }
  if (access.role === 'operator')
    return models.map(model => ({
      ...model,
      channels: model.channels.map(one => ({ ...one, learned: learnedOf(model.id, one) })),
    }))
  const { group, models: own } = access.identity
  const isSeen = ({ id, groups = [] }: ListedModel) =>
    (group === undefined || groups.includes(group)) &&
    (own === undefined || own.some(pattern => overlap(pattern, id)))
  const union = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())]
  return models.filter(isSeen).map(({ aliases: _, groups: __, channels, ...model }) => ({
    ...model,
    protocols: union(channels.map(one => one.protocols ?? [])),
    refused: union(channels.map(one => [...(one.refused ?? []), ...learnedOf(model.id, one)])),
  }))
}

/**
 * A client sees the requests of its key.
 * @throws Refused 403 for a key without a name: records cannot distinguish such clients
 */
function visible(access: Access, filter: RecordFilter): RecordFilter {
  if (access.role === 'operator') return filter
  const { name, id = '' } = access.identity
  if (filter.channel !== undefined) throw new Refused(403, 'only the operator sees channels')
  if (name === undefined)
    throw new Refused(403, 'a client without a name has no records of its own')
  return { ...filter, key: name, keyId: id }
}

const withoutConfiguration = (record: RecordRow) => ({
  ...record,
  channel: null,
  provider: null,
  modelServed: null,
  upstreamRequestId: null,
})

async function translate(request: IncomingMessage) {
  const { text, protocol, kind } = valid(Translated, await bodyOf(request, longestBody))
  if (text.length > longestText)
    throw new Refused(413, `the text is longer than ${longestText} characters`)
  if (nesting(text, deepest) > deepest)
    throw new Refused(400, `the text is nested deeper than ${deepest} levels`)
  const now = Math.floor(Date.now() / 1000)
  return examine(text, {
    now,
    ...(protocol && { protocol: protocols[protocol] }),
    ...(kind && { kind }),
  })
}

function clientSettings(
  { base, model }: z.output<typeof Configured>,
  { webSocket, publicUrl = base }: GatewayState,
  models: readonly ListedModel[] = [],
) {
  const limits = Object.fromEntries(
    models.flatMap(one => [one.id, ...one.aliases].map(id => [id, one])),
  )
  return clientNames.map(client =>
    clientConfig(client, {
      base: publicUrl,
      webSocket,
      limits,
      ...(model !== undefined && { model }),
    }),
  )
}

/**
 * Clients do not see how the gateway is configured, so they see no channel and no request to an
 * upstream.
 */
function exchangeFor(access: Access, { exchanges }: ApiParts, id: string) {
  if (access.role === 'operator') return found(exchanges.find(id))
  const { requestNotes, responseNotes, record } = found(exchanges.find(id, access.identity))
  const { channel: _, provider: __, modelServed: ___, ...shown } = record ?? {}
  return { attempts: [], requestNotes, responseNotes, ...(record && { record: shown }) }
}
