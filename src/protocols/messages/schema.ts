import { wordsAt } from '../../kit/guard.ts'
import * as s from '../../kit/schema.ts'

/** Shapes as in the public reference of the Messages API; loose, because a new field must never break an old client. */

/** A block of any type, as it is on the wire. */
export type MessagesRawBlock = { type: string; [key: string]: unknown }

const cacheControl = s.object({ type: s.string(), ttl: s.unknown().optional() }).nullish()
/** Blocks inside blocks. The type annotation ends the recursion of types. */
const blocks = s.array(s.lazy((): s.Schema<MessagesRawBlock> => MessagesBlock))

const source = s.open([
  s.object({ type: s.literal('base64'), media_type: s.string().nullish(), data: s.string() }),
  s.object({ type: s.literal('text'), media_type: s.string().nullish(), data: s.string() }),
  s.object({ type: s.literal('url'), url: s.string() }),
  s.object({ type: s.literal('file'), file_id: s.string() }),
  s.object({ type: s.literal('content'), content: s.union([s.string(), blocks]) }),
])

const text = s.object({
  type: s.literal('text'),
  text: s.string(),
  citations: s.array(s.object({ type: s.string() })).nullish(),
  cache_control: cacheControl,
})
const image = s.object({ type: s.literal('image'), source, cache_control: cacheControl })
const document = s.object({
  type: s.literal('document'),
  source,
  title: s.string().nullish(),
  context: s.string().nullish(),
  citations: s.object({ enabled: s.boolean().nullish() }).nullish(),
  cache_control: cacheControl,
})
const searchResult = s.object({
  type: s.literal('search_result'),
  source: s.string(),
  title: s.string(),
  content: blocks,
  citations: s.object({ enabled: s.boolean().nullish() }).nullish(),
  cache_control: cacheControl,
})
const thinking = s.object({ type: s.literal('thinking'), thinking: s.string(), signature: s.string().nullish() })
const redactedThinking = s.object({ type: s.literal('redacted_thinking'), data: s.string() })
const toolUse = s.object({
  type: s.literal('tool_use'),
  id: s.string(),
  name: s.string(),
  input: s.unknown().optional(),
  caller: s.unknown().optional(),
  toolset_name: s.string().nullish(),
  cache_control: cacheControl,
})
const toolResult = s.object({
  type: s.literal('tool_result'),
  tool_use_id: s.string(),
  content: s.union([s.string(), blocks]).nullish(),
  is_error: s.boolean().nullish(),
  toolset_name: s.string().nullish(),
  cache_control: cacheControl,
})

const known = [text, image, document, searchResult, thinking, redactedThinking, toolUse, toolResult] as const

/** A block of a type that is modelled field by field. */
export type MessagesBlock = s.Infer<(typeof known)[number]>
export const MessagesBlock = s.open(known)
export type MessagesBlockOf<Type extends MessagesBlock['type']> = Extract<MessagesBlock, { type: Type }>

const knownTypes = new Set(known.flatMap(shape => wordsAt(shape, 'type')))

/** Only for blocks that `MessagesBlock` has checked. */
export function isModelled(block: MessagesRawBlock): block is MessagesBlock {
  return knownTypes.has(block.type)
}

export const MessagesContent = s.union([s.string(), s.array(MessagesBlock)])

/** A system message that only steers the turn has no content. */
export const MessagesMessage = s.union([
  s.object({ role: s.literal('user', 'assistant'), content: MessagesContent }),
  s.object({ role: s.literal('system'), content: MessagesContent.nullish() }),
])
export type MessagesMessage = s.Infer<typeof MessagesMessage>

export const MessagesTool = s.object({
  type: s.string().nullish(),
  name: s.string().optional(),
  description: s.string().nullish(),
  input_schema: s.record(s.unknown()).nullish(),
  strict: s.boolean().nullish(),
  defer_loading: s.boolean().nullish(),
  allowed_callers: s.array(s.string()).nullish(),
  input_examples: s.array(s.unknown()).nullish(),
  eager_input_streaming: s.boolean().nullish(),
  cache_control: cacheControl,
})
export type MessagesTool = s.Infer<typeof MessagesTool>

export const MessagesThinking = s.object({
  type: s.string(),
  budget_tokens: s.int().nullish(),
  display: s.string().nullish(),
})

export const MessagesOutputConfig = s.object({
  effort: s.string().nullish(),
  format: s.object({ type: s.string() }).nullish(),
})

export const MessagesToolChoice = s.object({
  type: s.string(),
  name: s.string().optional(),
  disable_parallel_tool_use: s.boolean().nullish(),
})
export type MessagesToolChoice = s.Infer<typeof MessagesToolChoice>

/** Body of POST /v1/messages; model and max_tokens may be missing, because their place differs between hosts. */
export const MessagesRequest = s.object({
  model: s.string().optional(),
  messages: s.array(MessagesMessage),
  max_tokens: s.int().nullish(),
  system: s.union([s.string(), s.array(MessagesBlock)]).nullish(),
  temperature: s.number().nullish(),
  top_p: s.number().nullish(),
  top_k: s.int().nullish(),
  stop_sequences: s.array(s.string()).nullish(),
  stream: s.boolean().nullish(),
  thinking: MessagesThinking.nullish(),
  output_config: MessagesOutputConfig.nullish(),
  output_format: s.object({ type: s.string() }).nullish(),
  tools: s.array(MessagesTool).nullish(),
  tool_choice: MessagesToolChoice.nullish(),
  metadata: s.object({ user_id: s.string().nullish() }).nullish(),
  service_tier: s.string().nullish(),
  speed: s.string().nullish(),
  cache_control: cacheControl,
})
export type MessagesRequest = s.Infer<typeof MessagesRequest>

const count = s.number().nullish()

const usage = s.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation: s.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }).nullish(),
  output_tokens_details: s.object({ thinking_tokens: count }).nullish(),
  server_tool_use: s.record(s.unknown()).nullish(),
  service_tier: s.string().nullish(),
})

export const MessagesResponse = s.object({
  id: s.string().optional(),
  type: s.string().optional(),
  role: s.string().optional(),
  model: s.string().optional(),
  content: s.array(MessagesBlock),
  stop_reason: s.string().nullish(),
  stop_sequence: s.string().nullish(),
  stop_details: s.object({}).nullish(),
  usage: usage.nullish(),
})
export type MessagesResponse = s.Infer<typeof MessagesResponse>
