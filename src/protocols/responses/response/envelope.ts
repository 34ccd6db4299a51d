import type { ExtMap, ToolCallPart } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { CanonicalResponse } from '../../../canonical/response.ts'
import type { Tool } from '../../../canonical/tool.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge, only } from '../../../kit/json/json.ts'
import { type PlacedTier, tierIn } from '../../../kit/response/usage.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { takeName, type UsedNames } from '../../../kit/text/free-names.ts'
import { startWriting } from '../content/writing.ts'
import type { Options } from '../options.ts'
import { fieldsOf, protocolName, type ResponsesReport } from '../own.ts'
import { encodeBody } from '../request/request.ts'
import { tiers } from '../vocabulary.ts'
import type {
  ResponsesFailure,
  ResponsesWrittenItem,
  ResponsesWrittenResponse,
  ResponsesWrittenUsage,
} from '../written.ts'

/** The documented defaults of fields that the request left out. */
const echoDefaults: JsonObject = {
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  background: false,
  max_output_tokens: null,
  max_tool_calls: null,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  text: { format: { type: 'text' } },
  top_logprobs: 0,
  truncation: 'disabled',
  user: null,
  frequency_penalty: 0,
  presence_penalty: 0,
  store: false,
}

/** Fields that a response repeats from its request. The client knows them already. */
export const echoKeys: ReadonlySet<string> = new Set([
  ...Object.keys(echoDefaults),
  'conversation',
  'prompt',
  'prompt_cache_options',
  'prompt_cache_retention',
  'image',
  'access_programs',
  'object',
  'output_text',
])

/**
 * The echo of a request; without a request, the defaults. Secrets are left out here too, because
 * callers can build a context themselves.
 */
function echoOf(request: CanonicalRequest | undefined, options: Options = {}): JsonObject {
  if (!request) return echoDefaults
  const writing = startWriting(
    'output',
    request.source?.protocol === protocolName,
    Object.assign({}, options, { onUnresolvable: 'note' as const }),
  )
  const wire: JsonObject = encodeBody(remembered(request), writing)
  const echo: JsonObject = { ...echoDefaults }
  for (const key of echoKeys) if (key !== 'object' && wire[key] != null) echo[key] = wire[key]
  const { text, reasoning, tools } = echo
  if (isObject(text)) echo['text'] = { ...text, format: completeFormat(text['format']) }
  if (isObject(reasoning)) echo['reasoning'] = { effort: null, summary: null, ...reasoning }
  if (Array.isArray(tools)) echo['tools'] = tools.map(completeTool)
  return echo
}

/**
 * Clients that check responses require every key of these objects, with null where the request left
 * it out.
 */
const completeFormat = (format: unknown) => {
  if (!isObject(format)) return { type: 'text' }
  return format['type'] === 'json_schema'
    ? { description: null, schema: null, strict: false, ...present(format) }
    : format
}

const completeTool = (tool: unknown): unknown => {
  if (!isObject(tool)) return tool
  if (tool['type'] === 'namespace' && Array.isArray(tool['tools']))
    return { ...tool, tools: tool['tools'].map(completeTool) }
  return tool['type'] === 'function'
    ? { description: null, parameters: null, strict: null, ...present(tool) }
    : tool
}

const present = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value != null))

/**
 * The fields of a request that its responses repeat, as the provider does, without secrets:
 * responses are stored and logged where requests are not.
 */
export function remembered(request: CanonicalRequest): CanonicalRequest {
  // Only keys that the copy already has are set: new ones would give each copy a hidden class of
  // its own in V8, 2 µs for each request.
  const kept = { ...request }
  if (kept.source) kept.source = { protocol: kept.source.protocol }
  kept.messages = request.messages.filter(({ origin }) => origin === 'instructions')
  if (kept.tools) kept.tools = kept.tools.map(covered)
  if (kept.ext) kept.ext = repeatable(kept.ext)
  return kept
}

function repeatable(ext: ExtMap): ExtMap {
  const fields = fieldsOf(ext)
  return fields ? { [protocolName]: { fields: only(fields, [...echoKeys]) } } : {}
}

function covered(tool: Tool): Tool {
  if (tool.type === 'opaque') return { ...tool, raw: withoutSecrets(tool.raw) }
  if (tool.type !== 'server') return tool
  const { mcp: _, ...rest } = tool
  return { ...rest, raw: withoutSecrets(tool.raw) }
}

/** A tool without the credentials of an MCP server and the secrets of a container. */
function withoutSecrets(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  const { type, tools, container, environment } = tool
  if (type === 'namespace' && Array.isArray(tools))
    return { ...tool, tools: tools.map(withoutSecrets) }
  if (type !== 'mcp')
    return {
      ...tool,
      ...(isObject(container) && { container: sealedOff(container) }),
      ...(isObject(environment) && { environment: sealedOff(environment) }),
    }
  const { authorization: _, ...rest } = tool
  const { headers } = rest
  return isObject(headers)
    ? { ...rest, headers: Object.fromEntries(Object.keys(headers).map(name => [name, redacted])) }
    : rest
}

const redacted = '<redacted>'

/** A container without the values of the secrets that it adds to its network requests. */
function sealedOff(container: JsonObject): JsonObject {
  const { network_policy: policy } = container
  if (!isObject(policy) || !Array.isArray(policy['domain_secrets'])) return container
  const secrets = policy['domain_secrets'].map(secret =>
    isObject(secret) && 'value' in secret ? { ...secret, value: redacted } : secret,
  )
  return { ...container, network_policy: { ...policy, domain_secrets: secrets } }
}

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
