import type { Signature } from '../../canonical/message.ts'
import { isNeutral } from '../../canonical/neutral.ts'
import type { CanonicalRequest, OutputFormat, ReasoningSpec } from '../../canonical/request.ts'
import { check } from '../../kit/check.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { Present } from '../../kit/own.ts'
import { below } from '../../kit/path.ts'
import { withStrictTools } from '../../kit/strict-tools.ts'
import type { Decoded, Encoded, EncodingContext } from '../../protocol.ts'
import { betasOf } from './betas.ts'
import { decodeMark, limitMarks } from './cache.ts'
import { decodeMessage, decodeSystem, encodeMessages } from './conversation.ts'
import { encodeReasoningSpec, isThinking, isUnsignedLoop, nativeReasoningSpec, type Thought } from './effort.ts'
import { areCovered } from './mcp.ts'
import { createMessagesReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, nulls, ownForm, protocolName, splitNulls, wireOf } from './own.ts'
import { MessagesRequest } from './schema.ts'
import { decodeFormat, encodeCaching, encodeFormat, encodeSampling, encodeState, encodeStop, encodeTier, encodeUser, maxTokensFor } from './settings.ts'
import { decodeToolChoice, encodeToolChoice, unknownOfToolChoice } from './tool-choice.ts'
import { decodeTool, encodeTools } from './tools.ts'
import { requestTier } from './vocabulary.ts'
import { malformed, startWriting } from './writing.ts'

/** @throws TranslationError `malformed` when the body is not a messages request */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createMessagesReport()
  const { present: body, nothing } = splitNulls(check(protocolName, MessagesRequest, wire))
  // The usual keys come last, because V8 begins its look-up there.
  const {
    top_p,
    top_k,
    stop_sequences,
    output_config,
    output_format,
    metadata,
    service_tier,
    speed,
    cache_control,
    container,
    diagnostics,
    context_management,
    compaction,
    thread,
    temperature,
    thinking,
    system,
    stream,
    max_tokens,
    tool_choice,
    tools,
    messages,
    model,
    ...unknown
  } = body
  // A limit of less than nothing is refused by servers of this protocol, and «no limit» to some of others: it is kept as unknown.
  const isLimit = max_tokens !== undefined && max_tokens >= 0
  if (options.requireMaxTokens && !isLimit) throw malformed('/max_tokens', 'a request says how many tokens it wants')
  const kept: Kept = { fields: { ...unknown, ...(!isLimit && defined({ max_tokens })) }, nothing }
  const { fields } = kept
  const cache = decodeMark(cache_control)
  const reasoning = decodeReasoning(body, kept)
  const { format, isOlder } = decodeOutput(body, kept)
  if (tool_choice) {
    const parallel = tool_choice.disable_parallel_tool_use
    keepInside(kept, 'tool_choice', unknownOfToolChoice(tool_choice), parallel === true ? {} : { ...defined({ disable_parallel_tool_use: parallel }) })
  }
  if (metadata) {
    const { user_id: _, ...rest } = metadata
    keepInside(kept, 'metadata', rest, nulls(metadata))
  }
  const tier = service_tier === undefined ? undefined : (requestTier.toOurs(service_tier) ?? service_tier)
  const { mcp_servers: servers } = fields
  const read = tools?.map((tool, index) => decodeTool(tool, below('/tools', index), servers))
  const covered = areCovered(servers, read?.map(tool => (tool.type === 'server' ? tool.mcp : undefined)) ?? [])
  if (covered) delete fields['mcp_servers']
  const value: CanonicalRequest = {
    messages: [
      ...decodeSystem(system, report, options),
      ...messages.map((message, index) => decodeMessage(message, below('/messages', index), report, options)),
    ],
    ...defined({
      model,
      tools: read,
      toolChoice: tool_choice ? decodeToolChoice(tool_choice, read) : undefined,
      parallelToolCalls: tool_choice?.disable_parallel_tool_use == null ? undefined : !tool_choice.disable_parallel_tool_use,
      output: some({ format }),
      reasoning: some(reasoning),
      sampling: some({ temperature, topP: top_p, topK: top_k }),
      maxOutputTokens: isLimit ? max_tokens : undefined,
      stop: stop_sequences,
      cache: some({ auto: cache.known.cache, diagnostics }),
      serviceTier: some({ tier, speed }),
      user: some({ safetyId: metadata?.user_id ?? undefined }),
      state: some({ container, contextManagement: context_management, thread, compaction }),
      stream: stream === undefined ? undefined : { enabled: stream },
    }),
    ...keep(
      { ...fields, ...cache.fields },
      { ...nothing, ...cache.nothing },
      {
        native: true,
        ...(covered && { servers }),
        ...(isOlder && { format: 'output_format' }),
        ...(tier !== undefined && tier === service_tier && requestTier.toWire(tier) !== tier && { tier }),
      },
    ),
  }
  return { value, notes: report.notes, ...(isOlder && { fieldNames: { 'output.format': 'output_format' } }) }
}

/** What the canonical request does not hold of a body: unknown keys, and known ones without a meaning. Both are added to. */
type Kept = { fields: JsonObject; nothing: JsonObject }

function keepInside({ fields, nothing }: Kept, key: string, rest: JsonObject, spelled: JsonObject): void {
  nothing[key] = spelled
  if (Object.keys(rest).length > 0) fields[key] = rest
}

/** How much to think, which two fields say: `thinking`, and the effort in `output_config`. */
function decodeReasoning({ thinking, output_config }: Present<MessagesRequest>, kept: Kept): ReasoningSpec {
  const effort = output_config?.effort ?? undefined
  if (!thinking) return defined({ effort })
  const { type: mode, budget_tokens, display, ...rest } = thinking
  const shown = display === 'summarized' || display === 'omitted' || display === 'updates' ? display : undefined
  keepInside(kept, 'thinking', { ...rest, ...(display != null && shown === undefined && { display }) }, nulls(thinking))
  return defined({ mode, budgetTokens: budget_tokens ?? undefined, display: shown, effort })
}

/** The format of the answer. `isOlder`: `output_format` says it, the older name of `output_config.format`. */
function decodeOutput({ output_config, output_format }: Present<MessagesRequest>, kept: Kept): { format?: OutputFormat | undefined; isOlder: boolean } {
  const { effort: _, format: newer, ...rest } = output_config ?? {}
  const { format, unknown } = newer ? decodeFormat(newer) : {}
  if (output_config) keepInside(kept, 'output_config', { ...rest, ...(unknown && { format: unknown }) }, nulls(output_config))
  if (!output_format) return { format, isOlder: false }
  const old = newer ? { unknown: output_format } : decodeFormat(output_format)
  if (old.unknown) kept.fields['output_format'] = old.unknown
  return 'format' in old ? { format: old.format, isOlder: true } : { format, isOlder: false }
}

/** @throws TranslationError `inexpressible` for references to state that another provider stores, unless the options ask for a note instead */
export function encodeRequest(given: CanonicalRequest, options: Options = {}): Encoded<unknown> {
  const report = createMessagesReport(options.fieldNames)
  const request = withStrictTools(given, report)
  // The usual keys come last, because V8 begins its look-up there.
  const {
    parallelToolCalls: _parallel,
    output,
    reasoning,
    sampling,
    stop,
    candidateCount,
    logprobs,
    cache,
    serviceTier,
    user,
    state,
    safety,
    ext,
    stream,
    maxOutputTokens: limit,
    toolChoice: _choice,
    tools: _tools,
    messages,
    model,
    ...left
  } = request
  report.rest(left, undefined)
  if (safety) report.rest(safety, undefined, 'safety.')
  report.ext(ext, undefined)
  const form = ownForm(ext)
  const native = form?.['native'] === true
  const writing = startWriting(request, options, report, native)

  const wanted = encodeTools(request, writing)
  const choice = encodeToolChoice(request, wanted.tools !== undefined, writing)
  const conversation = encodeMessages(messages, writing)
  if (!native) limitMarks(wanted.tools, conversation, { marks: writing.marks, report, auto: cache?.auto !== undefined })

  const maxOutputTokens = !native && isNeutral('maxOutputTokens', limit) ? undefined : limit
  const asked = maxOutputTokens ?? (native ? undefined : maxTokensFor(model, options))
  if (maxOutputTokens === undefined && asked !== undefined) report.add('max_tokens.default', '/max_tokens')
  const forced = choice?.['type'] === 'any' || choice?.['type'] === 'tool'
  const thought: Partial<Thought> = native
    ? nativeReasoningSpec(request, { forced }, writing)
    : reasoning && asked !== undefined
      ? encodeReasoningSpec(reasoning, { maxTokens: asked, forced, unsignedLoop: isUnsignedLoop(messages, writing.opens ? isUnsigned : undefined) }, writing)
      : {}
  const format = encodeFormat(output, conversation, writing)
  if (candidateCount !== undefined && candidateCount !== 1) report.add('candidates.first-only', undefined, 'candidateCount')
  if (logprobs?.enabled) report.add('field.unsupported', '', 'logprobs.enabled')
  if (logprobs?.top) report.add('field.unsupported', '', 'logprobs.top')

  const isOlder = form?.['format'] !== undefined
  const known: JsonObject = {
    model,
    max_tokens: thought.maxTokens ?? asked,
    ...conversation,
    thinking: thought.thinking,
    output_config: some({ effort: thought.effort, format: isOlder ? undefined : format }),
    output_format: isOlder ? format : undefined,
    tools: wanted.tools,
    mcp_servers: wanted.mcpServers ?? form?.['servers'],
    tool_choice: choice,
    ...encodeSampling(sampling, { thinks: isThinking(thought) }, writing),
    stop_sequences: encodeStop(stop, writing),
    metadata: encodeUser(user, request, writing),
    ...encodeTier(serviceTier, form?.['tier'], writing),
    ...encodeCaching(cache, request, writing),
    ...encodeState(state, wanted, writing),
    stream: stream?.enabled,
  }
  const wire = wireOf(known, ext)
  // `wireOf` put unknown keys back into an object that is otherwise not written: the server would refuse them alone.
  for (const key of ['thinking', 'tool_choice']) if (known[key] === undefined && isObject(wire[key])) delete wire[key]
  const betas = native && !options.amPrefixMismatch ? [] : betasOf(wire)
  const context: EncodingContext = {
    ...(Object.keys(writing.renamed).length > 0 && { tools: writing.renamed }),
    ...(betas.length > 0 && { headers: { 'anthropic-beta': betas.join(',') } }),
  }
  return { wire, notes: report.notes, context, ...(!native && conversation.messages.length === 0 && { isEmpty: true }) }
}

const isUnsigned = (signature: Signature | undefined) => signature === undefined
