import * as z from 'zod/mini'
import {
  anyObject,
  anything,
  boolean,
  count,
  flag,
  number,
  open,
  others,
  string,
  text,
  texts,
  unknown,
  whole,
} from '../../kit/schema/wire.ts'
import type { Written } from '../../kit/schema/written.ts'

// https://platform.openai.com/docs/api-reference/chat. Loose objects: a new field must never break
// an old client. Where the reference says nullable, and where servers of this protocol send null,
// null counts as absence.

const breakpoint = z.nullish(z.looseObject({ mode: text, ttl: text }))

export const ChatTextPart = z.looseObject({
  type: z.literal('text'),
  text: string,
  prompt_cache_breakpoint: breakpoint,
})
export type ChatTextPart = z.infer<typeof ChatTextPart>

export const ChatImagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.union([z.looseObject({ url: string, detail: text }), string]),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatImagePart = z.infer<typeof ChatImagePart>

export const ChatAudioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: string, format: string }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatAudioPart = z.infer<typeof ChatAudioPart>

export const ChatFilePart = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({ file_data: text, file_id: text, filename: text }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatFilePart = z.infer<typeof ChatFilePart>

export const ChatRefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: string })
export type ChatRefusalPart = z.infer<typeof ChatRefusalPart>

/** Some servers put reasoning into the content. */
export const ChatThinkingPart = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.union([z.array(z.looseObject({ type: string, text: text })), string]),
  signature: text,
})
export type ChatThinkingPart = z.infer<typeof ChatThinkingPart>

export const ChatPart = open([
  ChatTextPart,
  ChatImagePart,
  ChatAudioPart,
  ChatFilePart,
  ChatRefusalPart,
  ChatThinkingPart,
])
export type ChatPart = z.infer<typeof ChatPart>

const content = z.nullish(z.union([z.array(ChatPart), string]))

/** `arguments` should be text; some servers send an object, or nothing. */
export const ChatFunctionCall = z.looseObject({ name: string, arguments: anything })
export type ChatFunctionCall = z.infer<typeof ChatFunctionCall>

export const ChatToolCall = z.union([
  z.looseObject({
    id: text,
    type: string.check(others(type => type !== 'function' && type !== 'custom')),
  }),
  z.discriminatedUnion('type', [
    z.looseObject({ id: text, type: z.nullish(z.literal('function')), function: ChatFunctionCall }),
    z.looseObject({
      id: text,
      type: z.literal('custom'),
      custom: z.looseObject({ name: string, input: text }),
    }),
  ]),
])
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** In requests and in responses. */
export const ChatAssistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content,
  name: text,
  refusal: text,
  audio: z.nullish(z.looseObject({ id: text, data: text, transcript: text, expires_at: count })),
  tool_calls: z.nullish(z.array(ChatToolCall)),
  function_call: z.nullish(ChatFunctionCall),
  annotations: z.nullish(z.array(unknown)),
})
export type ChatAssistantMessage = z.infer<typeof ChatAssistantMessage>

/** A message of a request, of any role. */
export const ChatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('developer'), content, name: text }),
  z.looseObject({ role: z.literal('system'), content, name: text }),
  z.looseObject({ role: z.literal('user'), content, name: text }),
  ChatAssistantMessage,
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: text }),
  z.looseObject({ role: z.literal('function'), content, name: string }),
])
export type ChatMessage = z.infer<typeof ChatMessage>

export const ChatFunction = z.looseObject({
  name: string,
  description: text,
  parameters: anyObject,
  strict: flag,
})
export type ChatFunction = z.infer<typeof ChatFunction>

export const ChatCustomTool = z.looseObject({
  name: string,
  description: text,
  format: z.nullish(
    open([
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({
        type: z.literal('grammar'),
        grammar: z.looseObject({ definition: string, syntax: string }),
      }),
    ]),
  ),
})
export type ChatCustomTool = z.infer<typeof ChatCustomTool>

/** A function, a custom tool, or one of another type. */
export const ChatTool = open([
  z.looseObject({ type: z.nullish(z.literal('function')), function: ChatFunction }),
  z.looseObject({ type: z.literal('custom'), custom: ChatCustomTool }),
])
export type ChatTool = z.infer<typeof ChatTool>

export const ChatResponseFormat = open([
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ name: text, description: text, schema: anyObject, strict: flag }),
  }),
])
export type ChatResponseFormat = z.infer<typeof ChatResponseFormat>

/** Body of POST /v1/chat/completions. */
export const ChatRequest = z.looseObject({
  model: text,
  messages: z.array(ChatMessage),
  audio: anything,
  frequency_penalty: count,
  presence_penalty: count,
  function_call: anything,
  functions: z.nullish(z.array(ChatFunction)),
  logit_bias: z.nullish(z.record(string, number)),
  logprobs: flag,
  top_logprobs: whole,
  max_completion_tokens: whole,
  max_tokens: whole,
  metadata: anyObject,
  modalities: texts,
  moderation: anything,
  n: whole,
  parallel_tool_calls: flag,
  prediction: z.nullish(
    z.looseObject({ type: text, content: z.union([z.array(ChatPart), string]) }),
  ),
  prompt_cache_key: text,
  prompt_cache_options: z.nullish(z.looseObject({ mode: text, ttl: text })),
  prompt_cache_retention: text,
  reasoning_effort: text,
  // Reasoning controls of servers of this protocol; with any other type, they count as unknown
  // fields.
  reasoning: z.optional(
    z.union([
      z.looseObject({ effort: text, max_tokens: count, enabled: flag, exclude: flag }),
      unknown,
    ]),
  ),
  thinking: z.optional(z.union([z.looseObject({ type: text, budget_tokens: count }), unknown])),
  enable_thinking: z.optional(z.union([boolean, unknown])),
  thinking_budget: z.optional(z.union([number, unknown])),
  response_format: z.nullish(ChatResponseFormat),
  safety_identifier: text,
  seed: whole,
  service_tier: text,
  stop: z.nullish(z.union([z.array(string), string])),
  store: flag,
  stream: flag,
  stream_options: z.nullish(z.looseObject({ include_usage: flag, include_obfuscation: flag })),
  temperature: count,
  top_p: count,
  top_k: whole,
  min_p: count,
  repetition_penalty: count,
  tool_choice: anything,
  tools: z.nullish(z.array(ChatTool)),
  user: text,
  verbosity: text,
  web_search_options: anyObject,
})
export type ChatRequest = z.infer<typeof ChatRequest>

export const ChatChoice = z.looseObject({
  index: count,
  message: z.nullish(z.looseObject({ ...ChatAssistantMessage.shape, role: text })),
  finish_reason: text,
  logprobs: anything,
})
export type ChatChoice = z.infer<typeof ChatChoice>

/**
 * A response that is not streamed. Fields that only describe it are checked leniently, because
 * servers of this protocol differ most here.
 */
export const ChatResponse = z.looseObject({
  id: text,
  object: anything,
  created: anything,
  model: text,
  choices: z.nullable(z.array(ChatChoice)),
  usage: anything,
  service_tier: text,
})
export type ChatResponse = z.infer<typeof ChatResponse>

// ---- what is written

/**
 * Cache marks: the field of this protocol, and the one that some servers take from the messages
 * protocol.
 */
export type ChatControlMark = { cache_control?: { type: string; ttl?: string } }
export type ChatMark = ChatControlMark & {
  prompt_cache_breakpoint?: { mode?: string; ttl?: string }
}

export type ChatBlock = (
  | Written<ChatPart>
  | { type: 'input_image'; file_id: string; detail?: string | undefined }
) &
  ChatMark
export type ChatBlockOf<Type extends ChatBlock['type']> = Extract<ChatBlock, { type: Type }>

/** Where servers and clients keep the signature of a call or text. */
export type ChatSignatureFields = { extra_content?: unknown; provider_specific_fields?: unknown }

export type ChatCalled = { name: string; arguments: string }
export type ChatWrittenCall = ChatSignatureFields &
  (
    | { id: string; type: 'function'; function: ChatCalled }
    | { id: string; type: 'custom'; custom: { name: string; input: string } }
  )

export type ChatAnnotation = {
  type: 'url_citation'
  url_citation: {
    start_index: number
    end_index: number
    title: string
    url: string
    content?: string | undefined
  }
}
export type ChatAudio = {
  id?: string | undefined
  data?: string | undefined
  transcript?: string | undefined
  expires_at?: number | undefined
}

/** An entry of `reasoning_details`. */
export type ChatDetail = (
  | { type: 'reasoning.text'; text: string; signature?: string }
  | { type: 'reasoning.summary'; summary: string }
  | { type: 'reasoning.encrypted'; data: string }
) & {
  id?: string
  format?: string
  index: number
}
/** Entries of the lists that a proxy keeps reasoning in. */
export type ChatProxyBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
export type ChatProxyItem = {
  id?: string
  type: 'reasoning'
  encrypted_content: string
  summary: { type: 'summary_text'; text: string }[]
}

/** Fields of an assistant message that servers of this protocol have for reasoning. */
export type ChatCarriers = ChatSignatureFields & {
  reasoning_content?: string
  reasoning?: string
  reasoning_details?: ChatDetail[]
  thinking_blocks?: ChatProxyBlock[]
  reasoning_items?: ChatProxyItem[]
}

export type ChatContent = string | ChatBlock[] | null | undefined

export type ChatWrittenAssistant = ChatCarriers &
  ChatControlMark & {
    role: 'assistant'
    content?: ChatContent
    name?: string | undefined
    refusal?: string | null
    audio?: ChatAudio
    tool_calls?: ChatWrittenCall[]
    function_call?: ChatCalled
    annotations?: ChatAnnotation[]
    images?: ChatBlock[]
  }

/** A message of a request. */
export type ChatWrittenMessage =
  | ChatWrittenAssistant
  | (ChatControlMark & {
      role: 'developer' | 'system' | 'user'
      content?: ChatContent
      name?: string | undefined
    })
  | (ChatControlMark & {
      role: 'tool'
      tool_call_id: string
      content: ChatContent
      name?: string | undefined
    })

export type ChatWrittenTool = ChatControlMark &
  (
    | { type: 'function'; function: Written<ChatFunction> }
    | { type: 'custom'; custom: Written<ChatCustomTool> }
  )
export type ChatChosen =
  | { type: 'function'; function: { name: string } }
  | { type: 'custom'; custom: { name: string } }
export type ChatToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | ChatChosen
  | { type: 'allowed_tools'; allowed_tools: { mode: 'auto' | 'required'; tools: ChatChosen[] } }
export type ChatSearchOptions = {
  search_context_size?: string | undefined
  user_location?: { type: 'approximate'; approximate: object } | undefined
}

/** The body of a request. */
export type ChatBody = Omit<
  Written<ChatRequest>,
  | 'messages'
  | 'tools'
  | 'tool_choice'
  | 'web_search_options'
  | 'prediction'
  | 'response_format'
  | 'thinking'
  | 'reasoning'
> &
  ChatControlMark & {
    messages: ChatWrittenMessage[]
    tools?: ChatWrittenTool[]
    tool_choice?: ChatToolChoice | undefined
    web_search_options?: ChatSearchOptions
    prediction?: { type: 'content'; content: ChatContent } | undefined
    response_format?: Written<ChatResponseFormat> | undefined
    thinking?: { type: string } | undefined
    reasoning?: { max_tokens?: number; exclude?: boolean; summary?: string } | undefined
  }

export type ChatWrittenUsage = {
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

export type ChatToken = { token: string; bytes: number[] | null; logprob: number }
export type ChatLogprobs = { content: ChatTokens | null; refusal: ChatTokens | null }
type ChatTokens = (ChatToken & { top_logprobs: ChatToken[] })[]

type Head = { id: string; created: number; model: string }

/** A response. */
export type ChatWrittenResponse = Head & {
  object: 'chat.completion'
  choices: ChatWrittenChoice[]
  usage?: ChatWrittenUsage | undefined
  service_tier?: string | undefined
}
export type ChatWrittenChoice = {
  index: number
  message: ChatWrittenAssistant
  finish_reason?: string | undefined
  logprobs?: ChatLogprobs | null | undefined
}

export type ChatCallDelta = ChatSignatureFields & {
  index: number
  id?: string | undefined
  type?: 'function' | 'custom'
  function?: Partial<ChatCalled>
  custom?: { name?: string; input?: string }
}
export type ChatDelta = Omit<Partial<ChatWrittenAssistant>, 'tool_calls' | 'function_call'> & {
  tool_calls?: ChatCallDelta[]
  function_call?: Partial<ChatCalled>
}
export type ChatChunkChoice = {
  index: number
  delta: ChatDelta
  finish_reason: string | null
  logprobs?: ChatLogprobs
}
export type ChatHead = Head & { object: 'chat.completion.chunk'; service_tier?: string | undefined }
export type ChatChunk = ChatHead & { choices: ChatChunkChoice[]; usage?: ChatWrittenUsage | null }

/** The body of an error; also a response that failed, and the last event of a failed stream. */
export type ChatErrorBody = {
  error: {
    message: string
    type: string
    param: string | null
    code: string | null
    source?: { protocol?: string; type?: string; code?: string | null; details?: unknown }
  }
}

/** What the encoders of this protocol write. */
export type ChatWire = {
  request: ChatBody
  response: ChatWrittenResponse | ChatErrorBody
  event: ChatChunk | ChatErrorBody | '[DONE]'
  error: ChatErrorBody
}
