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
} from '../../kit/schema/wire.ts'
import type { Written } from '../../kit/schema/written.ts'

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

// ---- what is written

/** A block with other blocks inside. */
type Holding<Block extends MessagesBlock> = Omit<Written<Block>, 'content'>

/** The blocks of a web search, and those that define a tool: read as blocks of any type. */
type Further =
  | { type: 'server_tool_use'; id: string; name: string; input: unknown; caller?: unknown }
  | {
      type: 'web_search_tool_result'
      tool_use_id: string
      content: MessagesFound[]
      caller?: unknown
    }
  | { type: 'tool_addition'; tool: { type: 'tool_definition'; definition: MessagesWrittenTool } }
export type MessagesFound = {
  type: 'web_search_result'
  url: string
  title: string
  encrypted_content: string
  page_age: null
}

export type MessagesCitation = {
  type: 'web_search_result_location'
  url: string
  title: string | null
  cited_text: string
  encrypted_index: string
}
export type MessagesMark = Written<NonNullable<MessagesRequest['cache_control']>>

type Source = Written<Exclude<z.infer<typeof source>, { type: 'content' }>>
type Call = Written<MessagesBlockOf<'tool_use'>> & { provider_specific_fields?: object | undefined }

/** A block of a request or response. */
export type MessagesWrittenBlock =
  | (Omit<Written<MessagesBlockOf<'text'>>, 'citations'> & {
      citations?: MessagesCitation[] | undefined
    })
  | (Omit<Written<MessagesBlockOf<'image'>>, 'source'> & { source: Source })
  | (Omit<Written<MessagesBlockOf<'document'>>, 'source'> & {
      source: Source | { type: 'content'; content: MessagesWrittenBlock[] }
    })
  | (Holding<MessagesBlockOf<'search_result'>> & { content: MessagesWrittenBlock[] })
  | (Holding<MessagesBlockOf<'tool_result'>> & {
      content?: string | MessagesWrittenBlock[] | undefined
    })
  | Written<MessagesBlockOf<'thinking'>>
  | Written<MessagesBlockOf<'redacted_thinking'>>
  | Call
  | Further
export type MessagesWrittenBlockOf<Type extends MessagesWrittenBlock['type']> = Extract<
  MessagesWrittenBlock,
  { type: Type }
>

/** A tool of the client, or of the server: those of the server are read as tools of any type. */
export type MessagesWrittenTool = Written<MessagesTool> & {
  max_uses?: number | undefined
  allowed_domains?: string[]
  blocked_domains?: string[]
  user_location?: unknown
  mcp_server_name?: string
  default_config?: { enabled?: boolean; defer_loading?: boolean }
  configs?: Record<string, { enabled: boolean }>
}
export type MessagesMcpServer = {
  type: 'url'
  name: string
  url?: string | undefined
  authorization_token?: string | undefined
}
export type MessagesWrittenToolChoice = Written<MessagesToolChoice>

export type MessagesWrittenThinking = Written<z.infer<typeof MessagesThinking>> & {
  block_binding?: { prefix_mismatch_behavior: string }
}

export type MessagesFormat = { type: string; schema?: unknown }

export type MessagesWrittenMessage = {
  role: 'user' | 'assistant' | 'system'
  /** Only a system message may be without. */
  content?: string | MessagesWrittenBlock[]
  /** Of a system message. */
  output_config?: { effort: string }
}

/** The body of a request. */
export type MessagesBody = Omit<
  Written<MessagesRequest>,
  | 'messages'
  | 'system'
  | 'tools'
  | 'tool_choice'
  | 'thinking'
  | 'output_config'
  | 'output_format'
  | 'cache_control'
> & {
  messages: MessagesWrittenMessage[]
  system?: string | MessagesWrittenBlock[] | undefined
  tools?: MessagesWrittenTool[] | undefined
  tool_choice?: MessagesWrittenToolChoice | undefined
  thinking?: MessagesWrittenThinking | undefined
  output_config?: { effort?: string | undefined; format?: MessagesFormat | undefined } | undefined
  output_format?: MessagesFormat | undefined
  cache_control?: MessagesMark
  mcp_servers?: MessagesMcpServer[] | undefined
  // These are written as they were read.
  diagnostics?: unknown
  container?: unknown
  context_management?: unknown
  thread?: unknown
  compaction?: unknown
}

/** What the encoders of this protocol write. */
export type MessagesWire = {
  request: MessagesBody
  response: MessagesWrittenResponse | MessagesErrorBody
  event: MessagesEvent
  error: MessagesErrorBody
}

export type MessagesWrittenUsage = Written<NonNullable<MessagesResponse['usage']>> & {
  inference_geo?: string | null
  speed?: string | null
}

/** How a response ends. */
export type MessagesStop = {
  stop_reason: string | null
  stop_sequence: string | null
  /** Those of another response are written as they were. */
  stop_details: { type: 'refusal'; category: string | null; explanation: string | null } | unknown
}

/** A response, and the one that a stream begins with. */
export type MessagesWrittenResponse = Partial<MessagesStop> & {
  id?: string | undefined
  type: 'message'
  role: 'assistant'
  model?: string | undefined
  content: MessagesWrittenBlock[]
  container?: unknown
  diagnostics?: unknown
  usage: MessagesWrittenUsage
  input_transformations?: unknown
}

/** The body of an error; also a response that failed, and the last event of a failed stream. */
export type MessagesErrorBody = {
  type: 'error'
  error: { type: string; message: string; details?: unknown }
  request_id?: string | undefined
}

export type MessagesDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'citations_delta'; citation: MessagesCitation }

/** An event of a stream. */
export type MessagesEvent =
  | { type: 'message_start'; message: MessagesWrittenResponse }
  | { type: 'content_block_start'; index: number; content_block: MessagesWrittenBlock }
  | { type: 'content_block_delta'; index: number; delta: MessagesDelta }
  | { type: 'content_block_stop'; index: number }
  | {
      type: 'message_delta'
      delta: MessagesStop & { container: unknown }
      usage: MessagesWrittenUsage
    }
  | { type: 'message_stop' }
  | { type: 'ping' }
  | MessagesErrorBody
