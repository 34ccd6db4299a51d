import type { ExtMap } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { Tool } from '../../../canonical/tool.ts'
import { isObject, type JsonObject, only } from '../../../kit/json/json.ts'
import { startWriting } from '../content/writing.ts'
import type { Options } from '../options.ts'
import { fieldsOf, protocolName } from '../own.ts'
import { encodeBody } from '../request/request.ts'

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
export function echoOf(request: CanonicalRequest | undefined, options: Options = {}): JsonObject {
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
