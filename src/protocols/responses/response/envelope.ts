import type { ExtMap, ToolCallPart } from '../../../canonical/message.ts'
import type { CanonicalResponse } from '../../../canonical/response.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { type JsonObject, merge } from '../../../kit/json/json.ts'
import { type PlacedTier, tierIn } from '../../../kit/response/usage.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { takeName, type UsedNames } from '../../../kit/text/free-names.ts'
import type { ResponsesReport } from '../notes.ts'
import type { Options } from '../options.ts'
import { fieldsOf, protocolName } from '../own.ts'
import type {
  ResponsesFailure,
  ResponsesWrittenItem,
  ResponsesWrittenResponse,
  ResponsesWrittenUsage,
} from '../schema.ts'
import { tiers } from '../vocabulary.ts'
import { echoOf } from './echo.ts'

/**
 * The fields of a `response` object that are the same in all snapshots of one response. Plain data.
 */
export type Envelope = {
  id: string
  createdAt: number
  model: string
  native: boolean
  ext?: ExtMap
  echo: JsonObject
  serviceTier?: string
  completedAt?: number
}

type Start = Pick<
  CanonicalResponse,
  | 'id'
  | 'model'
  | 'createdAt'
  | 'serviceTier'
  | 'usage'
  | 'transformations'
  | 'echo'
  | 'ext'
  | 'source'
>

/** Values for an envelope's fields that the source left out. Plain data. */
export type Fallbacks = {
  id: string
  createdAt?: number
  model?: string
  echo: JsonObject
  tier?: string
}

export function fallbacks(options: Options = {}): Fallbacks {
  const request = options.context?.request
  const { now, newId } = options
  const tier = request?.serviceTier?.tier
  return {
    id: newId ? newId('resp_') : 'resp_0',
    echo: echoOf(request, options),
    ...(now !== undefined && { createdAt: now }),
    ...(request?.model !== undefined && { model: request.model }),
    ...(tier !== undefined && tier !== 'auto' && { tier }),
  }
}

/** Notes: a missing id, time or model. */
export function startEnvelope(
  { id, model, createdAt, serviceTier, usage, transformations, echo, ext, source }: Start,
  from: Fallbacks,
  report: ResponsesReport,
): Envelope {
  const native = source?.protocol === protocolName
  const at = createdAt ?? from.createdAt
  if (!id) report.add('response.id', '/id')
  if (at === undefined) report.add('response.created', '/created_at')
  if (model === undefined) report.add('response.model', '/model')
  const known = id || from.id
  const tier = tierIn(serviceTier, usage)
  return {
    id: native || known.startsWith('resp_') ? known : `resp_${known}`,
    createdAt: native ? (at ?? 0) : Math.floor(at ?? 0),
    model: model ?? from.model ?? 'unknown',
    native,
    echo: native
      ? { ...from.echo, ...echo, ...omitUndefined({ input_transformations: transformations }) }
      : from.echo,
    ...(ext && { ext }),
    ...tierOf(tier.tier === undefined ? tierIn(from.tier, undefined) : tier, native, report),
  }
}

/** The service tier. One that only another provider has becomes `default`, which is noted. */
export function tierOf(
  { tier, field }: PlacedTier,
  native: boolean,
  report: ResponsesReport,
): { serviceTier?: string } {
  if (tier === undefined) return {}
  if (native || tiers.has(tier)) return { serviceTier: tier }
  report.once('tier.nearest', '', field)
  return { serviceTier: 'default' }
}

type Outcome = {
  status: string
  output: ResponsesWrittenItem[]
  error?: ResponsesFailure | null
  incomplete?: unknown
  usage?: ResponsesWrittenUsage | null
}

/** A `response` object. */
export function snapshot(
  envelope: Envelope,
  { status, output, error = null, incomplete = null, usage = null }: Outcome,
): ResponsesWrittenResponse {
  const { id, createdAt, model, ext, echo, serviceTier = 'default', completedAt = null } = envelope
  const known: ResponsesWrittenResponse = {
    object: 'response',
    ...echo,
    id,
    created_at: createdAt,
    model,
    status,
    output,
    service_tier: serviceTier,
    completed_at: completedAt,
    error,
    incomplete_details: incomplete,
    usage,
  }
  const fields = fieldsOf(ext)
  if (!fields) return known
  // A known field may hold what only this protocol can express, such as an error of a response that
  // did not fail.
  const wire: ResponsesWrittenResponse = asRead(merge(known, fields))
  if (error !== null) wire.error = error
  if (incomplete !== null) wire.incomplete_details = incomplete
  return wire
}

/** The id of a call, changed if an earlier call of the response has it. `call`: as it came. */
export function callIdOf(
  id: string,
  used: UsedNames,
  call: Pick<ToolCallPart, 'id' | 'at'> | undefined,
  report: ResponsesReport,
): string {
  const stem = id.slice(0, 60)
  const chosen = takeName(used, id, stem, nth => `${stem}_${nth}`)
  // One that came without an id has none that is there twice.
  if (chosen !== id && call?.id !== '') report.add('tool-call.id-twice', call?.at, 'id')
  return chosen
}

/**
 * The ids of the items so far. `count`: of the items, of which some servers give several one id.
 * Plain data.
 */
export type UsedIds = { ids: Set<string>; count: number }

export const startIds = (): UsedIds => ({ ids: new Set(), count: 0 })

export function useId(used: UsedIds, id: string): string {
  used.ids.add(id)
  used.count++
  return id
}

/**
 * The wanted id of an item if it is of this protocol and not in use, else one made from the
 * response's id and the item's place.
 */
export function itemIdOf(
  wanted: string | undefined,
  prefix: string,
  { id, native }: Pick<Envelope, 'id' | 'native'>,
  used: UsedIds,
): string {
  const { ids, count } = used
  const usable = native && wanted !== undefined && wanted !== '' && !ids.has(wanted)
  let chosen = usable ? wanted : prefix + hashId(`${id}/${count}`)
  while (ids.has(chosen)) chosen = prefix + hashId(`${chosen}/${count}`)
  return useId(used, chosen)
}
