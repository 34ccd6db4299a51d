import { z } from 'zod'
import { open } from '../../kit/check.ts'

/** Shapes as in the public reference of the Messages API; loose, because a new field must never break an old client. */

/** A block of any kind, as it stands on the wire. */
export type MessagesRawBlock = { type: string; [key: string]: unknown }

const cacheControl = z.looseObject({ type: z.string(), ttl: z.unknown().optional() }).nullish()
/** Blocks inside blocks; the annotation ends the recursion of types. */
const blocks = z.array(z.lazy((): z.ZodType<MessagesRawBlock> => MessagesBlock))

const source = open([
  z.looseObject({ type: z.literal('base64'), media_type: z.string().nullish(), data: z.string() }),
  z.looseObject({ type: z.literal('text'), media_type: z.string().nullish(), data: z.string() }),
  z.looseObject({ type: z.literal('url'), url: z.string() }),
  z.looseObject({ type: z.literal('file'), file_id: z.string() }),
  z.looseObject({ type: z.literal('content'), content: z.union([z.string(), blocks]) }),
])

const text = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  citations: z.array(z.looseObject({ type: z.string() })).nullish(),
  cache_control: cacheControl,
})
const image = z.looseObject({ type: z.literal('image'), source, cache_control: cacheControl })
const document = z.looseObject({
  type: z.literal('document'),
  source,
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: z.looseObject({ enabled: z.boolean().nullish() }).nullish(),
  cache_control: cacheControl,
})
const searchResult = z.looseObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: blocks,
  citations: z.looseObject({ enabled: z.boolean().nullish() }).nullish(),
  cache_control: cacheControl,
})
const thinking = z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().nullish() })
const redactedThinking = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() })
const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
  caller: z.unknown().optional(),
  toolset_name: z.string().nullish(),
  cache_control: cacheControl,
})
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), blocks]).nullish(),
  is_error: z.boolean().nullish(),
  toolset_name: z.string().nullish(),
  cache_control: cacheControl,
})

const known = [text, image, document, searchResult, thinking, redactedThinking, toolUse, toolResult] as const

/** A block of a kind that is modelled field by field. */
export type MessagesBlock = z.infer<(typeof known)[number]>
export const MessagesBlock = open(known)
export type MessagesBlockOf<Type extends MessagesBlock['type']> = Extract<MessagesBlock, { type: Type }>

const knownTypes = new Set<string>(known.map(shape => shape.shape.type.value))

/** Only for blocks that `MessagesBlock` has checked. */
export function isModelled(block: MessagesRawBlock): block is MessagesBlock {
  return knownTypes.has(block.type)
}

export const MessagesContent = z.union([z.string(), z.array(MessagesBlock)])

/** A system message that only steers the turn has no content. */
export const MessagesMessage = z.union([
  z.looseObject({ role: z.enum(['user', 'assistant']), content: MessagesContent }),
  z.looseObject({ role: z.literal('system'), content: MessagesContent.nullish() }),
])
export type MessagesMessage = z.infer<typeof MessagesMessage>

export const MessagesTool = z.looseObject({
  type: z.string().nullish(),
  name: z.string().optional(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
  allowed_callers: z.array(z.string()).nullish(),
  input_examples: z.array(z.unknown()).nullish(),
  eager_input_streaming: z.boolean().nullish(),
  cache_control: cacheControl,
})
export type MessagesTool = z.infer<typeof MessagesTool>

export const MessagesThinking = z.looseObject({
  type: z.string(),
  budget_tokens: z.number().nullish(),
  display: z.string().nullish(),
})

export const MessagesOutputConfig = z.looseObject({
  effort: z.string().nullish(),
  format: z.looseObject({ type: z.string() }).nullish(),
})

export const MessagesToolChoice = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  disable_parallel_tool_use: z.boolean().nullish(),
})
export type MessagesToolChoice = z.infer<typeof MessagesToolChoice>

/** Body of POST /v1/messages; model and max_tokens may be missing, because their place differs between hosts. */
export const MessagesRequest = z.looseObject({
  model: z.string().optional(),
  messages: z.array(MessagesMessage),
  max_tokens: z.number().nullish(),
  system: z.union([z.string(), z.array(MessagesBlock)]).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  stream: z.boolean().nullish(),
  thinking: MessagesThinking.nullish(),
  output_config: MessagesOutputConfig.nullish(),
  output_format: z.looseObject({ type: z.string() }).nullish(),
  tools: z.array(MessagesTool).nullish(),
  tool_choice: MessagesToolChoice.nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  service_tier: z.string().nullish(),
  speed: z.string().nullish(),
  cache_control: cacheControl,
})
export type MessagesRequest = z.infer<typeof MessagesRequest>

const count = z.number().nullish()

const usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation: z.looseObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }).nullish(),
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish(),
  server_tool_use: z.record(z.string(), z.unknown()).nullish(),
  service_tier: z.string().nullish(),
})

export const MessagesResponse = z.looseObject({
  id: z.string().optional(),
  type: z.string().optional(),
  role: z.string().optional(),
  model: z.string().optional(),
  content: z.array(MessagesBlock),
  stop_reason: z.string().nullish(),
  stop_sequence: z.string().nullish(),
  stop_details: z.looseObject({}).nullish(),
  usage: usage.nullish(),
})
export type MessagesResponse = z.infer<typeof MessagesResponse>
