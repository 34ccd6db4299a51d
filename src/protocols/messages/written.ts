import type * as z from 'zod/mini'
import type { AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type { Written } from '../../kit/schema/written.ts'
import type * as read from './schema.ts'

/** A block with other blocks inside. */
type Holding<Block extends read.MessagesBlock> = Omit<Written<Block>, 'content'>

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
export type MessagesMark = Written<NonNullable<read.MessagesRequest['cache_control']>>

type Source = Written<Exclude<read.MessagesSource, { type: 'content' }>>
type Call = Written<read.MessagesBlockOf<'tool_use'>> & {
  provider_specific_fields?: object | undefined
}

/** A block of a request or response. */
export type MessagesWrittenBlock =
  | (Omit<Written<read.MessagesBlockOf<'text'>>, 'citations'> & {
      citations?: MessagesCitation[] | undefined
    })
  | (Omit<Written<read.MessagesBlockOf<'image'>>, 'source'> & { source: Source })
  | (Omit<Written<read.MessagesBlockOf<'document'>>, 'source'> & {
      source: Source | { type: 'content'; content: MessagesWrittenBlock[] }
    })
  | (Holding<read.MessagesBlockOf<'search_result'>> & { content: MessagesWrittenBlock[] })
  | (Holding<read.MessagesBlockOf<'tool_result'>> & {
      content?: string | MessagesWrittenBlock[] | undefined
    })
  | Written<read.MessagesBlockOf<'thinking'>>
  | Written<read.MessagesBlockOf<'redacted_thinking'>>
  | Call
  | Further
export type MessagesWrittenBlockOf<Type extends MessagesWrittenBlock['type']> = Extract<
  MessagesWrittenBlock,
  { type: Type }
>

/** A tool of the client, or of the server: those of the server are read as tools of any type. */
export type MessagesWrittenTool = Written<read.MessagesTool> & {
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
export type MessagesWrittenToolChoice = Written<read.MessagesToolChoice>

export type MessagesWrittenThinking = Written<z.infer<typeof read.MessagesThinking>> & {
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
  Written<read.MessagesRequest>,
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
  event: MessagesWrittenEvent
  error: MessagesErrorBody
}

export type MessagesWrittenUsage = Written<NonNullable<read.MessagesResponse['usage']>> & {
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
export type MessagesWrittenEvent =
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

// ---- as the official SDK has it

/** A request of messages that wireglot writes. */
export type MessagesRequest = Named<
  Omit<AsSdk<MessagesWire['request']>, 'messages' | 'tools' | 'max_tokens' | 'system'>
> & {
  max_tokens: number
  messages: (
    | { role: 'user' | 'assistant'; content: string | SentBlock[] }
    | { role: 'system'; content: string | SentText[] }
  )[]
  system?: string | SentText[]
  tools?: SentTool[]
}

type SentText = AsSdk<MessagesWrittenBlockOf<'text'>>

type SentOf<Type extends MessagesWrittenBlock['type'], Key extends PropertyKey = never> = Omit<
  AsSdk<MessagesWrittenBlockOf<Type>>,
  Key
>

type SentSearch = SentOf<'search_result', 'content'> & { content: SentText[] }

type SentSource<Mime> =
  | { type: 'base64'; media_type: Mime; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

type SentImage = SentOf<'image', 'source'> & { source: SentSource<ImageType> }

type SentDocument = SentOf<'document', 'source'> & {
  source:
    | SentSource<'application/pdf'>
    | { type: 'text'; media_type: 'text/plain'; data: string }
    | { type: 'content'; content: SentText[] }
}

type SentHeld = SentText | SentImage | SentDocument | SentSearch

type SentBlock =
  | SentHeld
  | (SentOf<'tool_result', 'content'> & { content?: string | SentHeld[] })
  | (SentOf<'tool_use', 'id' | 'input'> & { id: string; input: unknown })
  | SentThinking
  | SentOf<'redacted_thinking'>
  | SentOf<'web_search_tool_result'>
  | SentServerCall

type SentServerCall = {
  type: 'server_tool_use'
  id: string
  name:
    | 'web_search'
    | 'web_fetch'
    | 'code_execution'
    | 'bash_code_execution'
    | 'text_editor_code_execution'
    | 'tool_search_tool_regex'
    | 'tool_search_tool_bm25'
  input: unknown
}

type SentThinking = { type: 'thinking'; thinking: string; signature: string }

type SentTool = Omit<AsSdk<MessagesWrittenTool>, 'name' | 'input_schema'> & {
  name: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
}

/** Who has called a tool: the model, or its code. */
type Caller =
  | { type: 'direct' }
  | { type: 'code_execution_20250825' | 'code_execution_20260120'; tool_id: string }

type ReceivedBlock =
  | (Omit<SentText, 'citations'> & { citations: MessagesCitation[] | null })
  | SentThinking
  | SentOf<'redacted_thinking'>
  | (SentOf<'tool_use', 'id' | 'input' | 'caller'> & { id: string; input: unknown; caller: Caller })
  | (SentServerCall & { caller: Caller })
  | (SentOf<'web_search_tool_result', 'caller'> & { caller: Caller })

/** A complete response, and the one that a stream begins with. */
type ReceivedResponse = {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: ReceivedBlock[]
  stop_reason:
    | 'end_turn'
    | 'max_tokens'
    | 'stop_sequence'
    | 'tool_use'
    | 'pause_turn'
    | 'refusal'
    | 'model_context_window_exceeded'
    | null
  stop_sequence: string | null
  usage: {
    input_tokens: number
    output_tokens: number
    cache_creation: { ephemeral_1h_input_tokens: number; ephemeral_5m_input_tokens: number } | null
    cache_creation_input_tokens: number | null
    cache_read_input_tokens: number | null
    inference_geo: string | null
    output_tokens_details: { thinking_tokens: number } | null
    server_tool_use: { web_fetch_requests: number; web_search_requests: number } | null
    service_tier: 'standard' | 'priority' | 'batch' | null
    speed: 'standard' | 'fast' | null
  }
  container: { id: string; expires_at: string; skills: null } | null
  /** What has missed the cache, as the provider says it. */
  diagnostics: null
  stop_details: {
    type: 'refusal'
    category: 'cyber' | 'bio' | 'frontier_llm' | 'reasoning_extraction' | 'general_harms' | null
    explanation: string | null
  } | null
}

type ReceivedError = {
  type: 'error'
  error: {
    type:
      | 'invalid_request_error'
      | 'authentication_error'
      | 'billing_error'
      | 'permission_error'
      | 'not_found_error'
      | 'rate_limit_error'
      | 'timeout_error'
      | 'api_error'
      | 'overloaded_error'
    message: string
    details?: unknown
  }
  request_id: string | null
}

type ReceivedEvent =
  | { type: 'message_start'; message: ReceivedResponse }
  | { type: 'content_block_start'; index: number; content_block: ReceivedBlock }
  | {
      type: 'content_block_delta'
      index: number
      delta: MessagesDelta
    }
  | {
      type: 'message_delta'
      delta: Pick<ReceivedResponse, 'container' | 'stop_details' | 'stop_reason' | 'stop_sequence'>
      usage: ReceivedResponse['usage']
    }
  | Extract<MessagesWire['event'], { type: 'content_block_stop' | 'message_stop' | 'ping' }>
  | ReceivedError

/** A complete response of messages that wireglot writes, or the body of an error. */
export type MessagesResponse = ReceivedResponse | ReceivedError

/** The data of an event of messages that wireglot writes. */
export type MessagesEvent = ReceivedEvent

/** The body of an error of messages. */
export type MessagesError = ReceivedError

/** The bodies of this protocol as the official SDK has them. */
export type MessagesSdk = {
  request: MessagesRequest
  response: MessagesResponse
  event: MessagesEvent
  error: MessagesError
}
