import type { AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type {
  ChatCompletionsBlock,
  ChatCompletionsBlockOf,
  ChatCompletionsCallDelta,
  ChatCompletionsDelta,
  ChatCompletionsWire,
  ChatCompletionsWrittenAssistant,
  ChatCompletionsWrittenTool,
  ChatCompletionsWrittenUsage,
} from './schema.ts'

/** A request of chat-completions that wireglot writes. */
export type ChatCompletionsRequest = Named<
  Omit<AsSdk<ChatCompletionsWire['request']>, 'messages' | 'tools'>
> & {
  messages: SentMessage[]
  tools?: AsSdk<ChatCompletionsWrittenTool>[]
}

type SentPart<Type extends ChatCompletionsBlock['type']> = AsSdk<ChatCompletionsBlockOf<Type>>

type SentImage = { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' } }

type SentAssistant = Omit<AsSdk<ChatCompletionsWrittenAssistant>, 'content'> & {
  content?: string | SentPart<'text' | 'refusal'>[] | null
}

type SentMessage =
  | SentAssistant
  | { role: 'developer' | 'system'; content: string | SentPart<'text'>[]; name?: string }
  | {
      role: 'user'
      content: string | (SentPart<'text' | 'input_audio' | 'file'> | SentImage)[]
      name?: string
    }
  | { role: 'tool'; tool_call_id: string; content: string | SentPart<'text'>[] }

type ReceivedMessage = Omit<SentAssistant, 'content' | 'refusal' | 'name'> & {
  content: string | null
  refusal: string | null
}

type TokenLogprob = { token: string; bytes: number[] | null; logprob: number }
type TokenLogprobs = (TokenLogprob & { top_logprobs: TokenLogprob[] })[] | null
type Logprobs = { content: TokenLogprobs; refusal: TokenLogprobs } | null

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

type ReceivedResponse = {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: {
    index: number
    message: ReceivedMessage
    finish_reason: FinishReason
    logprobs: Logprobs
  }[]
  usage?: AsSdk<ChatCompletionsWrittenUsage>
  service_tier?: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | null
}

type ReceivedDelta = Omit<
  AsSdk<ChatCompletionsDelta>,
  'content' | 'refusal' | 'name' | 'tool_calls'
> & {
  content?: string | null
  refusal?: string | null
  tool_calls?: (Omit<AsSdk<ChatCompletionsCallDelta>, 'type'> & { type?: 'function' })[]
}

type ReceivedChunk = Omit<ReceivedResponse, 'object' | 'choices' | 'usage'> & {
  object: 'chat.completion.chunk'
  choices: {
    index: number
    delta: ReceivedDelta
    finish_reason: FinishReason | null
    logprobs?: Logprobs
  }[]
  usage?: AsSdk<ChatCompletionsWrittenUsage> | null
}

/** A complete response of chat-completions that wireglot writes, or the body of an error. */
export type ChatCompletionsResponse = ReceivedResponse | ChatCompletionsWire['error']

/** The data of an event of chat-completions that wireglot writes. */
export type ChatCompletionsEvent =
  | ReceivedChunk
  | Exclude<ChatCompletionsWire['event'], { choices: unknown }>

/** The body of an error of chat-completions. */
export type ChatCompletionsError = ChatCompletionsWire['error']

/** The bodies of this protocol as the official SDK has them. */
export type ChatCompletionsSdk = {
  request: ChatCompletionsRequest
  response: ChatCompletionsResponse
  event: ChatCompletionsEvent
  error: ChatCompletionsError
}
