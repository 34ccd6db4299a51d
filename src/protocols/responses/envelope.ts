import type { ExtMap } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResponse } from '../../canonical/response.ts'
import type { Tool } from '../../canonical/tool.ts'
import { hashId } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { keep, ownForm, protocol, wireOf, words } from './own.ts'
import { encodeBody } from './request.ts'
import { tiers } from './vocabulary.ts'
import { type Options, type ResponsesReport, startWriting } from './writing.ts'

/** What an answer repeats of its request. It tells nothing that the one who asked does not know. */
export const echoKeys: ReadonlySet<string> = new Set([
  'instructions',
  'metadata',
  'parallel_tool_calls',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
  'background',
  'conversation',
  'max_output_tokens',
  'max_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'text',
  'top_logprobs',
  'truncation',
  'user',
  'image',
  'access_programs',
  'frequency_penalty',
  'presence_penalty',
  'store',
  'object',
  'output_text',
])

/** The defaults that the protocol documents, for whatever the request did not say. */
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

/** The echo of a request; with none, the defaults. */
function echoOf(request: CanonicalRequest | undefined, options: Options = {}): JsonObject {
  if (!request) return echoDefaults
  const w = startWriting('output', ownForm(request.ext) !== undefined, Object.assign({}, options, { openResponses: true, onUnresolvable: 'note' as const }))
  const wire = encodeBody(remembered(request), w)
  const echo: JsonObject = { ...echoDefaults }
  for (const key of echoKeys) if (key !== 'object' && wire[key] != null) echo[key] = wire[key]
  const { text } = echo
  if (isObject(text) && !text['format']) echo['text'] = { format: { type: 'text' }, ...text }
  return echo
}

/** Of a request what its answers repeat, as the provider does: what opens a server of tools is left out, for replies are kept and logged where requests are not. */
export function remembered({ messages, tools, ext, ...request }: CanonicalRequest): CanonicalRequest {
  const { fields, form } = ext?.[protocol] ?? {}
  const told = Object.fromEntries(Object.entries(fields ?? {}).filter(([key]) => echoKeys.has(key)))
  return {
    ...request,
    messages: messages.filter(({ origin }) => origin === 'instructions'),
    ...(tools && { tools: tools.map(covered) }),
    ...(ext && keep(told, {}, form)),
  }
}

function covered(tool: Tool): Tool {
  if (tool.type === 'opaque') return { ...tool, raw: withoutSecrets(tool.raw) }
  if (tool.type !== 'server') return tool
  const { mcp: _, ...rest } = tool
  return { ...rest, raw: withoutSecrets(tool.raw) }
}

function withoutSecrets(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  const { type, tools, container, environment } = tool
  if (type === 'namespace' && Array.isArray(tools)) return { ...tool, tools: tools.map(withoutSecrets) }
  if (type !== 'mcp')
    return { ...tool, ...(isObject(container) && { container: sealedOff(container) }), ...(isObject(environment) && { environment: sealedOff(environment) }) }
  const { authorization: _, ...rest } = tool
  const { headers } = rest
  return isObject(headers) ? { ...rest, headers: Object.fromEntries(Object.keys(headers).map(name => [name, redacted])) } : rest
}

const redacted = '<redacted>'

/** A container, without the values of the secrets that its requests may carry. */
function sealedOff(container: JsonObject): JsonObject {
  const { network_policy: policy } = container
  if (!isObject(policy) || !Array.isArray(policy['domain_secrets'])) return container
  const secrets = policy['domain_secrets'].map(secret => (isObject(secret) && 'value' in secret ? { ...secret, value: redacted } : secret))
  return { ...container, network_policy: { ...policy, domain_secrets: secrets } }
}

/** The part of a `response` object that is the same in all snapshots of one answer. Plain data. */
export type Envelope = {
  id: string
  createdAt: number
  model: string
  own: boolean
  ext?: ExtMap
  echo: JsonObject
  serviceTier?: string
  completedAt?: number
}

type Start = Pick<CanonicalResponse, 'id' | 'model' | 'createdAt' | 'serviceTier' | 'ext'>

/** Where an envelope takes what the source did not tell. Plain data. */
export type Fallbacks = { id: string; createdAt?: number; model?: string; echo: JsonObject; tier?: string }

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

/** Notes: a time or a model that nobody told. */
export function startEnvelope({ id, model, createdAt, serviceTier, ext }: Start, from: Fallbacks, report: ResponsesReport): Envelope {
  const form = ownForm(ext)
  const own = form !== undefined
  const at = createdAt ?? from.createdAt
  if (at === undefined && !own) report.add('response.created', '/created_at')
  if (model === undefined && !own) report.add('response.model', '/model')
  const known = id === undefined || id === '' ? (own ? '' : from.id) : id
  return {
    id: own || known.startsWith('resp_') ? known : `resp_${known}`,
    createdAt: own ? (at ?? 0) : Math.floor(at ?? 0),
    model: model ?? from.model ?? (own ? '' : 'unknown'),
    own,
    echo: isObject(form?.['echo']) ? form['echo'] : from.echo,
    ...(ext && { ext }),
    ...tierOf(serviceTier ?? (own ? undefined : from.tier), own, report),
  }
}

/** A tier under its name here; other providers have some that this one has not. */
export function tierOf(serviceTier: string | undefined, own: boolean, report: ResponsesReport): { serviceTier?: string } {
  if (serviceTier === undefined) return {}
  if (own || tiers.has(serviceTier)) return { serviceTier }
  report.once('tier.nearest', '', 'serviceTier')
  return { serviceTier: 'default' }
}

type Outcome = { status: unknown; output: JsonObject[]; error?: unknown; incomplete?: unknown; usage?: JsonObject | null }

/** What stands for these where nobody told them is blank. */
const unsaid: ReadonlySet<string> = new Set(['created_at', 'model', 'id'])

/** A `response` object. */
export function snapshot(envelope: Envelope, { status, output, error, incomplete, usage }: Outcome): JsonObject {
  const { id, createdAt, model, own, ext, echo, serviceTier, completedAt } = envelope
  const known = {
    id,
    created_at: createdAt,
    model,
    status,
    output,
    error,
    incomplete_details: incomplete,
    usage,
    service_tier: serviceTier,
    completed_at: completedAt,
  }
  if (own) {
    const form = ownForm(ext)
    const told = isObject(form?.['echo']) ? form['echo'] : echo
    const wire = wireOf({ ...told, ...known, error: error ?? form?.['error'] }, ext)
    const { nothing, absent } = form ?? {}
    if (isObject(nothing)) for (const key in nothing) if (key === 'status' || isBlank(wire[key])) wire[key] = null
    for (const key of words(absent)) if (key === 'status' || (unsaid.has(key) && isBlank(wire[key]))) delete wire[key]
    return wire
  }
  const fields = ext?.[protocol]?.fields
  return {
    ...fields,
    object: 'response',
    ...echo,
    ...known,
    service_tier: serviceTier ?? 'default',
    completed_at: completedAt ?? null,
    error: error ?? null,
    incomplete_details: incomplete ?? null,
    usage: usage ?? null,
  }
}

const isBlank = (value: unknown) => value === '' || value === 0 || value === undefined

/** The id of a call, made another where an earlier call of the answer has it. */
export function callIdOf(id: string, used: string[], at: string | undefined, report: ResponsesReport): string {
  let chosen = id
  for (let count = 2; used.includes(chosen); count++) chosen = `${id.slice(0, 60)}_${count}`
  if (chosen !== id) report.add('tool-call.id-twice', at, 'id')
  used.push(chosen)
  return chosen
}

/** The wanted id of an item where it is one of this protocol and free, else one made from the answer's id and the item's place. */
export function itemIdOf(wanted: string | undefined, prefix: string, { id, own }: Pick<Envelope, 'id' | 'own'>, used: string[]): string {
  const usable = own && wanted !== undefined && wanted !== '' && !used.includes(wanted)
  let chosen = usable ? wanted : prefix + hashId(`${id}/${used.length}`)
  while (used.includes(chosen)) chosen = prefix + hashId(`${chosen}/${used.length}`)
  used.push(chosen)
  return chosen
}
