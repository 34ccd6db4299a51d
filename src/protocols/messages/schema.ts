import * as z from 'zod/mini'
import { wordsAt } from '../../kit/schema/guard.ts'
import {
  anyObject,
  anything,
  count,
  flag,
  open,
  string,
  text,
  texts,
  unknown,
  whole,
  wholeNumber,
} from '../../kit/schema/wire.ts'

/**
 * Shapes as in the public reference of the Messages API; loose, because a new field must never
 * break an old client.
 */

/** A block of any type, as it is on the wire. */
export type MessagesRawBlock = { type: string; [key: string]: unknown }

const cacheControl = z.nullish(z.looseObject({ type: string, ttl: anything }))
/** Blocks inside blocks. The type annotation ends the recursion of types. */
const blocks = z.array(z.lazy((): z.ZodMiniType<MessagesRawBlock> => MessagesBlock))

const source = open([
  z.looseObject({ type: z.literal('base64'), media_type: text, data: string }),
  z.looseObject({ type: z.literal('text'), media_type: text, data: string }),
  z.looseObject({ type: z.literal('url'), url: string }),
  z.looseObject({ type: z.literal('file'), file_id: string }),
  z.looseObject({ type: z.literal('content'), content: z.union([string, blocks]) }),
])
export type MessagesSource = z.infer<typeof source>

const textBlock = z.looseObject({
  type: z.literal('text'),
  text: string,
  citations: z.nullish(z.array(z.looseObject({ type: string }))),
  cache_control: cacheControl,
})
const image = z.looseObject({ type: z.literal('image'), source, cache_control: cacheControl })
const document = z.looseObject({
  type: z.literal('document'),
  source,
  title: text,
  context: text,
  citations: z.nullish(z.looseObject({ enabled: flag })),
  cache_control: cacheControl,
})
const searchResult = z.looseObject({
  type: z.literal('search_result'),
  source: string,
  title: string,
  content: blocks,
  citations: z.nullish(z.looseObject({ enabled: flag })),
  cache_control: cacheControl,
})
const thinking = z.looseObject({ type: z.literal('thinking'), thinking: string, signature: text })
const redactedThinking = z.looseObject({ type: z.literal('redacted_thinking'), data: string })
const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: text,
  name: string,
  input: anything,
  caller: anything,
  toolset_name: text,
  cache_control: cacheControl,
})
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: string,
  content: z.nullish(z.union([string, blocks])),
  is_error: flag,
  toolset_name: text,
  cache_control: cacheControl,
})

const known = [
  textBlock,
  image,
  document,
  searchResult,
  thinking,
  redactedThinking,
  toolUse,
  toolResult,
] as const

/** A block of a type that is modelled field by field. */
export type MessagesBlock = z.infer<(typeof known)[number]>
export const MessagesBlock = open(known)
export type MessagesBlockOf<Type extends MessagesBlock['type']> = Extract<
  MessagesBlock,
  { type: Type }
>

const modelled = /* @__PURE__ */ wordsAt(MessagesBlock._zod.def.options[0], 'type')

/** Only for blocks that `MessagesBlock` has checked. */
export function isModelled(block: MessagesRawBlock): block is MessagesBlock {
  return modelled?.has(block.type) === true
}

export const MessagesContent = z.union([string, z.array(MessagesBlock)])

/** A message of a request. A system message that only steers the turn has no content. */
export const MessagesMessage = z.union([
  z.looseObject({ role: z.literal(['user', 'assistant']), content: MessagesContent }),
  z.looseObject({ role: z.literal('system'), content: z.nullish(MessagesContent) }),
])
export type MessagesMessage = z.infer<typeof MessagesMessage>

/** A tool that the client runs or that the server runs. */
export const MessagesTool = z.looseObject({
  type: text,
  name: z.optional(string),
  description: text,
  input_schema: anyObject,
  strict: flag,
  defer_loading: flag,
  allowed_callers: texts,
  input_examples: z.nullish(z.array(unknown)),
  eager_input_streaming: flag,
  cache_control: cacheControl,
})
export type MessagesTool = z.infer<typeof MessagesTool>

export const MessagesThinking = z.looseObject({
  type: string,
  budget_tokens: whole,
  display: text,
})

export const MessagesOutputConfig = z.looseObject({
  effort: text,
  format: z.nullish(z.looseObject({ type: string })),
})

export const MessagesToolChoice = z.looseObject({
  type: string,
  name: z.optional(string),
  disable_parallel_tool_use: flag,
})
export type MessagesToolChoice = z.infer<typeof MessagesToolChoice>

/**
 * Body of POST /v1/messages. `model` and `max_tokens` may be missing, because their place differs
 * between hosts.
 */
export const MessagesRequest = z.looseObject({
  model: z.optional(string),
  messages: z.array(MessagesMessage),
  max_tokens: whole,
  system: z.nullish(z.union([string, z.array(MessagesBlock)])),
  temperature: count,
  top_p: count,
  top_k: whole,
  stop_sequences: texts,
  stream: flag,
  thinking: z.nullish(MessagesThinking),
  output_config: z.nullish(MessagesOutputConfig),
  output_format: z.nullish(z.looseObject({ type: string })),
  tools: z.nullish(z.array(MessagesTool)),
  tool_choice: z.nullish(MessagesToolChoice),
  metadata: z.nullish(z.looseObject({ user_id: text })),
  service_tier: text,
  speed: text,
  cache_control: cacheControl,
})
export type MessagesRequest = z.infer<typeof MessagesRequest>

const usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation: z.nullish(
    z.looseObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
  ),
  output_tokens_details: z.nullish(z.looseObject({ thinking_tokens: count })),
  server_tool_use: anyObject,
  service_tier: text,
})

/** A response that is not streamed. */
export const MessagesResponse = z.looseObject({
  id: z.optional(string),
  type: z.optional(string),
  role: z.optional(string),
  model: z.optional(string),
  content: z.array(MessagesBlock),
  stop_reason: text,
  stop_sequence: text,
  stop_details: z.nullish(z.looseObject({})),
  usage: z.nullish(usage),
})
export type MessagesResponse = z.infer<typeof MessagesResponse>

// ---- errors and events

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/** The body of an error response, and the last event of a failed stream. */
export const MessagesErrorResponse = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({ type: string, message: string }),
  request_id: text,
})
export type MessagesErrorResponse = z.infer<typeof MessagesErrorResponse>

const delta = open([
  z.looseObject({ type: z.literal('text_delta'), text: string }),
  z.looseObject({ type: z.literal('input_json_delta'), partial_json: string }),
  z.looseObject({ type: z.literal('thinking_delta'), thinking: string }),
  z.looseObject({ type: z.literal('signature_delta'), signature: string }),
  z.looseObject({ type: z.literal('citations_delta'), citation: z.looseObject({ type: string }) }),
])

/** The data of one event of a stream. */
export const MessagesStreamEvent = open([
  z.looseObject({ type: z.literal('message_start'), message: MessagesResponse }),
  z.looseObject({
    type: z.literal('content_block_start'),
    index: wholeNumber,
    content_block: MessagesBlock,
  }),
  z.looseObject({ type: z.literal('content_block_delta'), index: wholeNumber, delta }),
  z.looseObject({ type: z.literal('content_block_stop'), index: wholeNumber }),
  z.looseObject({
    type: z.literal('message_delta'),
    delta: z.looseObject({
      stop_reason: text,
      stop_sequence: text,
      stop_details: z.nullish(z.looseObject({})),
    }),
    usage: z.nullish(
      z.looseObject({
        input_tokens: count,
        output_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count,
      }),
    ),
  }),
  z.looseObject({ type: z.literal('message_stop') }),
  z.looseObject({ type: z.literal('ping') }),
  MessagesErrorResponse,
])
export type MessagesStreamEvent = z.infer<typeof MessagesStreamEvent>
