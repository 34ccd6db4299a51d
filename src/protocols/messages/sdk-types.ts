import type { AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type {
  MessagesCitation,
  MessagesDelta,
  MessagesWire,
  MessagesWrittenBlock,
  MessagesWrittenBlockOf,
  MessagesWrittenTool,
} from './schema.ts'

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
