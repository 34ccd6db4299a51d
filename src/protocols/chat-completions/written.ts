import type { WireLogprob } from '../../kit/response/logprobs.ts'
import type { AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type { Written } from '../../kit/schema/written.ts'
import type * as read from './schema.ts'

/**
 * Cache marks: the field of this protocol, and the one that some servers take from the messages
 * protocol.
 */
export type ChatCompletionsControlMark = { cache_control?: { type: string; ttl?: string } }
export type ChatCompletionsMark = ChatCompletionsControlMark & {
  prompt_cache_breakpoint?: { mode?: string; ttl?: string }
}

export type ChatCompletionsBlock = (
  | Written<read.ChatCompletionsPart>
  | { type: 'input_image'; file_id: string; detail?: string | undefined }
) &
  ChatCompletionsMark
export type ChatCompletionsBlockOf<Type extends ChatCompletionsBlock['type']> = Extract<
  ChatCompletionsBlock,
  { type: Type }
>

/** Where servers and clients keep the signature of a call or text. */
export type ChatCompletionsSignatureFields = {
  extra_content?: unknown
  provider_specific_fields?: unknown
}

export type ChatCompletionsCalled = { name: string; arguments: string }
export type ChatCompletionsWrittenCall = ChatCompletionsSignatureFields &
  (
    | { id: string; type: 'function'; function: ChatCompletionsCalled }
    | { id: string; type: 'custom'; custom: { name: string; input: string } }
  )

export type ChatCompletionsAnnotation = {
  type: 'url_citation'
  url_citation: {
    start_index: number
    end_index: number
    title: string
    url: string
    content?: string | undefined
  }
}
export type ChatCompletionsAudio = {
  id?: string | undefined
  data?: string | undefined
  transcript?: string | undefined
  expires_at?: number | undefined
}

/** An entry of `reasoning_details`. */
export type ChatCompletionsDetail = (
  | { type: 'reasoning.text'; text: string; signature?: string }
  | { type: 'reasoning.summary'; summary: string }
  | { type: 'reasoning.encrypted'; data: string }
) & {
  id?: string
  format?: string
  index: number
}
/** Entries of the lists that a proxy keeps reasoning in. */
export type ChatCompletionsProxyBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
export type ChatCompletionsProxyItem = {
  id?: string
  type: 'reasoning'
  encrypted_content: string
  summary: { type: 'summary_text'; text: string }[]
}

/** Fields of an assistant message that servers of this protocol have for reasoning. */
export type ChatCompletionsCarriers = ChatCompletionsSignatureFields & {
  reasoning_content?: string
  reasoning?: string
  reasoning_details?: ChatCompletionsDetail[]
  thinking_blocks?: ChatCompletionsProxyBlock[]
  reasoning_items?: ChatCompletionsProxyItem[]
}

export type ChatCompletionsContent = string | ChatCompletionsBlock[] | null | undefined

export type ChatCompletionsWrittenAssistant = ChatCompletionsCarriers &
  ChatCompletionsControlMark & {
    role: 'assistant'
    content?: ChatCompletionsContent
    name?: string | undefined
    refusal?: string | null
    audio?: ChatCompletionsAudio
    tool_calls?: ChatCompletionsWrittenCall[]
    function_call?: ChatCompletionsCalled
    annotations?: ChatCompletionsAnnotation[]
    images?: ChatCompletionsBlock[]
  }

/** A message of a request. */
export type ChatCompletionsWrittenMessage =
  | ChatCompletionsWrittenAssistant
  | (ChatCompletionsControlMark & {
      role: 'developer' | 'system' | 'user'
      content?: ChatCompletionsContent
      name?: string | undefined
    })
  | (ChatCompletionsControlMark & {
      role: 'tool'
      tool_call_id: string
      content: ChatCompletionsContent
      name?: string | undefined
    })

export type ChatCompletionsWrittenTool = ChatCompletionsControlMark &
  (
    | { type: 'function'; function: Written<read.ChatCompletionsFunction> }
    | { type: 'custom'; custom: Written<read.ChatCompletionsCustomTool> }
  )
export type ChatCompletionsChosen =
  | { type: 'function'; function: { name: string } }
  | { type: 'custom'; custom: { name: string } }
export type ChatCompletionsToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | ChatCompletionsChosen
  | {
      type: 'allowed_tools'
      allowed_tools: { mode: 'auto' | 'required'; tools: ChatCompletionsChosen[] }
    }
export type ChatCompletionsSearchOptions = {
  search_context_size?: string | undefined
  user_location?: { type: 'approximate'; approximate: object } | undefined
}

/** The body of a request. */
export type ChatCompletionsBody = Omit<
  Written<read.ChatCompletionsRequest>,
  | 'messages'
  | 'tools'
  | 'tool_choice'
  | 'web_search_options'
  | 'prediction'
  | 'response_format'
  | 'thinking'
  | 'reasoning'
> &
  ChatCompletionsControlMark & {
    messages: ChatCompletionsWrittenMessage[]
    tools?: ChatCompletionsWrittenTool[]
    tool_choice?: ChatCompletionsToolChoice | undefined
    web_search_options?: ChatCompletionsSearchOptions
    prediction?: { type: 'content'; content: ChatCompletionsContent } | undefined
    response_format?: Written<read.ChatCompletionsResponseFormat> | undefined
    thinking?: { type: string } | undefined
    reasoning?: { max_tokens?: number; exclude?: boolean; summary?: string } | undefined
  }

export type ChatCompletionsWrittenUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?:
    | {
        cached_tokens?: number
        cache_write_tokens?: number
        audio_tokens?: number
        image_tokens?: number
      }
    | undefined
  completion_tokens_details?:
    | {
        reasoning_tokens?: number
        audio_tokens?: number
        accepted_prediction_tokens?: number
        rejected_prediction_tokens?: number
      }
    | undefined
  service_tier?: string | undefined
}

export type ChatCompletionsLogprobs = {
  content: WireLogprob<null>[] | null
  refusal: WireLogprob<null>[] | null
}

type Head = { id: string; created: number; model: string }

/** A response. */
export type ChatCompletionsWrittenResponse = Head & {
  object: 'chat.completion'
  choices: ChatCompletionsWrittenChoice[]
  usage?: ChatCompletionsWrittenUsage | undefined
  service_tier?: string | undefined
}
export type ChatCompletionsWrittenChoice = {
  index: number
  message: ChatCompletionsWrittenAssistant
  finish_reason?: string | undefined
  logprobs?: ChatCompletionsLogprobs | null | undefined
}

export type ChatCompletionsCallDelta = ChatCompletionsSignatureFields & {
  index: number
  id?: string | undefined
  type?: 'function' | 'custom'
  function?: Partial<ChatCompletionsCalled>
  custom?: { name?: string; input?: string }
}
export type ChatCompletionsDelta = Omit<
  Partial<ChatCompletionsWrittenAssistant>,
  'tool_calls' | 'function_call'
> & {
  tool_calls?: ChatCompletionsCallDelta[]
  function_call?: Partial<ChatCompletionsCalled>
}
export type ChatCompletionsChunkChoice = {
  index: number
  delta: ChatCompletionsDelta
  finish_reason: string | null
  logprobs?: ChatCompletionsLogprobs
}
export type ChatCompletionsHead = Head & {
  object: 'chat.completion.chunk'
  service_tier?: string | undefined
}
export type ChatCompletionsChunk = ChatCompletionsHead & {
  choices: ChatCompletionsChunkChoice[]
  usage?: ChatCompletionsWrittenUsage | null
}

/** The body of an error; also a response that failed, and the last event of a failed stream. */
export type ChatCompletionsErrorBody = {
  error: {
    message: string
    type: string
    param: string | null
    code: string | null
    source?: { protocol?: string; type?: string; code?: string | null; details?: unknown }
  }
}

/** What the encoders of this protocol write. */
export type ChatCompletionsWire = {
  request: ChatCompletionsBody
  response: ChatCompletionsWrittenResponse | ChatCompletionsErrorBody
  event: ChatCompletionsChunk | ChatCompletionsErrorBody | '[DONE]'
  error: ChatCompletionsErrorBody
}

// ---- as the official SDK has it

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
