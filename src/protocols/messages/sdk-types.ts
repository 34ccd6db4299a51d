import type { Any, AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type {
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
  messages: { role: Any; content: string | SentBlock[] }[]
  system?: string | SentText[]
  tools?: SentTool[]
}

type SentText = AsSdk<MessagesWrittenBlockOf<'text'>>

type SentOf<Type extends MessagesWrittenBlock['type'], Key extends PropertyKey = never> = Omit<
  AsSdk<MessagesWrittenBlockOf<Type>>,
  Key
>

type SentSearch = SentOf<'search_result', 'content'> & { content: SentText[] }

type SentSource =
  | { type: 'base64'; media_type: Any; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string }

type SentImage = SentOf<'image', 'source'> & { source: SentSource }

type SentDocument = SentOf<'document', 'source'> & {
  source:
    | SentSource
    | { type: 'text'; media_type: Any; data: string }
    | { type: 'content'; content: SentText[] }
}

type SentHeld = SentText | SentImage | SentDocument | SentSearch

type SentBlock =
  | SentHeld
  | (SentOf<'tool_result', 'content'> & { content?: string | SentHeld[] })
  | (SentOf<'tool_use', 'input'> & { input: Any })
  | SentThinking
  | SentOf<'redacted_thinking'>
  | SentOf<'web_search_tool_result'>
  | { type: 'server_tool_use'; id: string; name: Any; input: Any }

type SentThinking = { type: 'thinking'; thinking: string; signature: string }

type SentTool = Omit<AsSdk<MessagesWrittenTool>, 'name' | 'input_schema'> & {
  name: string
  input_schema: Any
}

type ReceivedBlock =
  | (Omit<SentText, 'citations'> & { citations: Any })
  | SentThinking
  | SentOf<'redacted_thinking'>
  | (SentOf<'tool_use', 'input' | 'caller'> & { input: Any; caller: Any })
  | { type: 'server_tool_use'; id: string; name: Any; input: Any; caller: Any }
  | (SentOf<'web_search_tool_result', 'caller'> & { caller: Any })

/** A complete response, and the one that a stream begins with. */
type ReceivedResponse = {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: ReceivedBlock[]
  stop_reason: Any
  stop_sequence: string | null
  usage: { input_tokens: number; output_tokens: number } & Record<
    | 'cache_creation'
    | 'cache_creation_input_tokens'
    | 'cache_read_input_tokens'
    | 'inference_geo'
    | 'output_tokens_details'
    | 'server_tool_use'
    | 'service_tier'
    | 'speed',
    Any
  >
} & Record<'container' | 'diagnostics' | 'stop_details', Any>

type ReceivedError = {
  type: 'error'
  error: { type: Any; message: string; details?: unknown }
  request_id: Any
}

type ReceivedEvent =
  | { type: 'message_start'; message: ReceivedResponse }
  | { type: 'content_block_start'; index: number; content_block: ReceivedBlock }
  | {
      type: 'content_block_delta'
      index: number
      delta:
        | Exclude<MessagesDelta, { citation: unknown }>
        | { type: 'citations_delta'; citation: Any }
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
