import type { Signature } from '../../../canonical/message.ts'
import { isNeutral } from '../../../canonical/neutral.ts'
import type { CanonicalRequest, OutputFormat } from '../../../canonical/request.ts'
import { isUnsignedLoop } from '../../../kit/conversation/unsigned-loop.ts'
import { omitNullish, omitNullishOrNone, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { asRead } from '../../../kit/schema/written.ts'
import type { Decoded, Encoded, EncodingContext } from '../../../protocol.ts'
import { decodeMark, limitMarks, unknownOfMark } from '../content/cache.ts'
import { areCovered, decodeTool, encodeTools, serverFinder } from '../content/tools.ts'
import { type RequestWriting, startWriting } from '../content/writing.ts'
import type { Options } from '../options.ts'
import {
  createMessagesReport,
  fault,
  keep,
  ownOf,
  ownUnder,
  protocolName,
  wireOf,
  withInner,
} from '../own.ts'
import { MessagesRequest } from '../schema.ts'
import type { MessagesBody } from '../written.ts'
import { decodeMessage, decodeSystem, encodeMessages } from './conversation.ts'
import { encodeReasoningSpec, isThinking, nativeReasoningSpec, type Thought } from './effort.ts'
import { fields, isLimit } from './fields.ts'
import {
  betasOf,
  decodeFormat,
  encodeCaching,
  encodeFormat,
  encodeSampling,
  encodeState,
  encodeTier,
  encodeUser,
  maxTokensFor,
} from './settings.ts'
import { decodeToolChoice, encodeToolChoice, isForced, unknownOfToolChoice } from './tool-choice.ts'

/** @throws TranslationError `malformed` when the body is not a messages request */
export function decodeRequest(wire: unknown, options: Options = {}): Decoded<CanonicalRequest> {
  const report = createMessagesReport()
  const body = check(protocolName, MessagesRequest, wire)
  const { max_tokens, tool_choice, cache_control, mcp_servers: servers } = body
  let unknown: JsonObject | undefined
  const inside = (key: string, inner: JsonObject | undefined) => {
    unknown = withInner(unknown, key, inner)
  }
  if (options.requireMaxTokens && !isLimit(max_tokens))
    throw fault('/max_tokens', 'a request says how many tokens it wants')
  const { format, unknown: ofFormat, isOlder, older } = decodeOutput(body)
  if (tool_choice) inside('tool_choice', unknownOfToolChoice(tool_choice))
  inside('output_config', withInner(undefined, 'format', ofFormat))
  inside('output_format', older)
  if (cache_control) inside('cache_control', unknownOfMark(cache_control))
  const findServer = serverFinder(servers)
  const tools = body.tools?.map((tool, index) =>
    decodeTool(tool, below('/tools', index), findServer),
  )
  if (
    servers != null &&
    !areCovered(servers, tools?.map(tool => (tool.type === 'server' ? tool.mcp : undefined)) ?? [])
  )
    unknown = { ...unknown, mcp_servers: servers }
  const request: CanonicalRequest = omitNullish({
    messages: [
      ...decodeSystem(body.system, report, options),
      ...body.messages.map((message, index) =>
        decodeMessage(message, below('/messages', index), report),
      ),
    ],
    tools,
    toolChoice: tool_choice && decodeToolChoice(tool_choice, tools),
    parallelToolCalls:
      tool_choice?.disable_parallel_tool_use == null
        ? undefined
        : !tool_choice.disable_parallel_tool_use,
    output: omitUndefinedOrNone({ format }),
    cache: omitNullishOrNone({ auto: decodeMark(cache_control) }),
  })
  const unread = fields.read(body, request)
  keep(request, unread ? merge(unread, unknown ?? {}) : unknown)
  return {
    value: request,
    notes: report.notes,
    ...(isOlder && {
      fieldNames: {
        'output.format': 'output_format',
        'output.format.schema': 'output_format/schema',
      },
    }),
  }
}

type Output = {
  format?: OutputFormat | undefined
  unknown?: JsonObject | undefined
  isOlder?: boolean
  older?: JsonObject | undefined
}

/**
 * The format of the response, and its unknown keys. `isOlder`: it is in `output_format`, the older
 * name of `output_config.format`. `older`: unknown keys of that.
 */
function decodeOutput({ output_config, output_format }: MessagesRequest): Output {
  const newer = output_config?.format
  if (newer) return { ...decodeFormat(newer), older: output_format ?? undefined }
  if (!output_format) return {}
  const { format, unknown: older } = decodeFormat(output_format)
  return { format, isOlder: format !== undefined, older }
}

/**
 * @throws TranslationError `inexpressible` for references to state that another provider stores,
 * unless the options ask for a note instead
 */
export function encodeRequest(
  request: CanonicalRequest,
  options: Options = {},
): Encoded<MessagesBody> {
  const report = createMessagesReport(options.fieldNames)
  const { output, sampling, candidateCount, cache, serviceTier, user, state, ext, messages } =
    request
  fields.leave(request, report)
  report.ext(ext, undefined)
  const native = request.source?.protocol === protocolName
  const writing = startWriting(request, options, report, native)

  const wanted = encodeTools(request, writing)
  const choice = encodeToolChoice(request, wanted.tools !== undefined, writing)
  const conversation = encodeMessages(messages, writing)
  if (!native)
    limitMarks(wanted.tools, conversation, {
      marks: writing.marks,
      report,
      auto: cache?.auto !== undefined,
    })

  const requestedLimit = encodeLimit(request, writing)
  const forced = isForced(choice)
  const thought = encodeThought(request, { maxTokens: requestedLimit, forced }, writing)
  const format = encodeFormat(output, conversation, writing)
  if (candidateCount !== undefined && candidateCount !== 1)
    report.add('candidates.first-only', undefined, 'candidateCount')

  // Unknown keys of the older field are written where they were, and the others with them.
  const older = ownUnder(ext, 'output_format')
  const isOlder = older !== undefined && older['type'] === undefined
  const servers = ownOf(ext)?.['mcp_servers']
  const own: MessagesBody = {
    max_tokens: thought.maxTokens ?? requestedLimit,
    system: conversation.system,
    messages: conversation.messages,
    thinking: thought.thinking,
    output_config: omitUndefinedOrNone({
      effort: thought.effort,
      format: isOlder ? undefined : format,
    }),
    output_format: isOlder ? format : undefined,
    tools: wanted.tools,
    mcp_servers: servers == null ? wanted.mcpServers : asRead(servers),
    tool_choice: choice,
    metadata: encodeUser(user, writing),
    ...encodeSampling(sampling, { thinks: isThinking(thought) }, writing),
    ...encodeTier(serviceTier, writing),
    ...encodeCaching(cache, request, writing),
    ...encodeState(state, wanted, writing),
  }
  const wire = wireOf<MessagesBody>(fields.write(request, writing, own) as MessagesBody, ext)
  // `wireOf` put unknown keys back into an object that is otherwise not written: the server would
  // refuse them alone.
  for (const key of ['thinking', 'tool_choice', 'output_format'] as const)
    if (isObject(wire[key]) && wire[key].type === undefined) delete wire[key]
  const betas = native ? [] : betasOf(wire)
  const context: EncodingContext = {
    ...(betas.length > 0 && { headers: { 'anthropic-beta': betas.join(',') } }),
  }
  return {
    wire,
    notes: report.notes,
    context,
    ...(!native && conversation.messages.length === 0 && { isEmpty: true }),
  }
}

/** The limit of output, which this protocol requires. */
function encodeLimit(
  { maxOutputTokens: limit, model }: CanonicalRequest,
  { native, report, options }: RequestWriting,
): number | undefined {
  const given = !native && isNeutral('maxOutputTokens', limit) ? undefined : limit
  const requestedLimit = given ?? (native ? undefined : maxTokensFor(model, options))
  if (given === undefined && requestedLimit !== undefined)
    report.add('max-tokens.default', '/max_tokens')
  return requestedLimit
}

function encodeThought(
  request: CanonicalRequest,
  around: { maxTokens: number | undefined; forced: boolean },
  writing: RequestWriting,
): Partial<Thought> {
  const { maxTokens, forced } = around
  if (writing.native) return nativeReasoningSpec(request, writing)
  if (!request.reasoning || maxTokens === undefined) return {}
  const unsignedLoop = isUnsignedLoop(request.messages, writing.opens ? isUnsigned : isForeign)
  return encodeReasoningSpec(request.reasoning, { maxTokens, forced, unsignedLoop }, writing)
}

const isUnsigned = (signature: Signature | undefined) => signature === undefined
const isForeign = (signature: Signature | undefined) => signature?.issuer !== protocolName
