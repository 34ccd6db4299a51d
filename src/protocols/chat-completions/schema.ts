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

export const ChatCompletionsTextPart = z.looseObject({
  type: z.literal('text'),
  text: string,
  prompt_cache_breakpoint: breakpoint,
})
export type ChatCompletionsTextPart = z.infer<typeof ChatCompletionsTextPart>

export const ChatCompletionsImagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.union([z.looseObject({ url: string, detail: text }), string]),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatCompletionsImagePart = z.infer<typeof ChatCompletionsImagePart>

export const ChatCompletionsAudioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: string, format: string }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatCompletionsAudioPart = z.infer<typeof ChatCompletionsAudioPart>

export const ChatCompletionsFilePart = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({ file_data: text, file_id: text, filename: text }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatCompletionsFilePart = z.infer<typeof ChatCompletionsFilePart>

export const ChatCompletionsRefusalPart = z.looseObject({
  type: z.literal('refusal'),
  refusal: string,
})
export type ChatCompletionsRefusalPart = z.infer<typeof ChatCompletionsRefusalPart>

/** Some servers put reasoning into the content. */
export const ChatCompletionsThinkingPart = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.union([z.array(z.looseObject({ type: string, text: text })), string]),
  signature: text,
})
export type ChatCompletionsThinkingPart = z.infer<typeof ChatCompletionsThinkingPart>

export const ChatCompletionsPart = open([
  ChatCompletionsTextPart,
  ChatCompletionsImagePart,
  ChatCompletionsAudioPart,
  ChatCompletionsFilePart,
  ChatCompletionsRefusalPart,
  ChatCompletionsThinkingPart,
])
export type ChatCompletionsPart = z.infer<typeof ChatCompletionsPart>

const content = z.nullish(z.union([z.array(ChatCompletionsPart), string]))

/** `arguments` should be text; some servers send an object, or nothing. */
export const ChatCompletionsFunctionCall = z.looseObject({ name: string, arguments: anything })
export type ChatCompletionsFunctionCall = z.infer<typeof ChatCompletionsFunctionCall>

export const ChatCompletionsToolCall = z.union([
  z.looseObject({
    id: text,
    type: string.check(others(type => type !== 'function' && type !== 'custom')),
  }),
  z.discriminatedUnion('type', [
    z.looseObject({
      id: text,
      type: z.nullish(z.literal('function')),
      function: ChatCompletionsFunctionCall,
    }),
    z.looseObject({
      id: text,
      type: z.literal('custom'),
      custom: z.looseObject({ name: string, input: text }),
    }),
  ]),
])
export type ChatCompletionsToolCall = z.infer<typeof ChatCompletionsToolCall>

/** In requests and in responses. */
export const ChatCompletionsAssistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content,
  name: text,
  refusal: text,
  audio: z.nullish(z.looseObject({ id: text, data: text, transcript: text, expires_at: count })),
  tool_calls: z.nullish(z.array(ChatCompletionsToolCall)),
  function_call: z.nullish(ChatCompletionsFunctionCall),
  annotations: z.nullish(z.array(unknown)),
})
export type ChatCompletionsAssistantMessage = z.infer<typeof ChatCompletionsAssistantMessage>

/** A message of a request, of any role. */
export const ChatCompletionsMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('developer'), content, name: text }),
  z.looseObject({ role: z.literal('system'), content, name: text }),
  z.looseObject({ role: z.literal('user'), content, name: text }),
  ChatCompletionsAssistantMessage,
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: text }),
  z.looseObject({ role: z.literal('function'), content, name: string }),
])
export type ChatCompletionsMessage = z.infer<typeof ChatCompletionsMessage>

export const ChatCompletionsFunction = z.looseObject({
  name: string,
  description: text,
  parameters: anyObject,
  strict: flag,
})
export type ChatCompletionsFunction = z.infer<typeof ChatCompletionsFunction>

export const ChatCompletionsCustomTool = z.looseObject({
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
export type ChatCompletionsCustomTool = z.infer<typeof ChatCompletionsCustomTool>

/** A function, a custom tool, or one of another type. */
export const ChatCompletionsTool = open([
  z.looseObject({ type: z.nullish(z.literal('function')), function: ChatCompletionsFunction }),
  z.looseObject({ type: z.literal('custom'), custom: ChatCompletionsCustomTool }),
])
export type ChatCompletionsTool = z.infer<typeof ChatCompletionsTool>

export const ChatCompletionsResponseFormat = open([
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ name: text, description: text, schema: anyObject, strict: flag }),
  }),
])
export type ChatCompletionsResponseFormat = z.infer<typeof ChatCompletionsResponseFormat>

/** Body of POST /v1/chat/completions. */
export const ChatCompletionsRequest = z.looseObject({
  model: text,
  messages: z.array(ChatCompletionsMessage),
  audio: anything,
  frequency_penalty: count,
  presence_penalty: count,
  function_call: anything,
  functions: z.nullish(z.array(ChatCompletionsFunction)),
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
    z.looseObject({ type: text, content: z.union([z.array(ChatCompletionsPart), string]) }),
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
  response_format: z.nullish(ChatCompletionsResponseFormat),
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
  tools: z.nullish(z.array(ChatCompletionsTool)),
  user: text,
  verbosity: text,
  web_search_options: anyObject,
})
export type ChatCompletionsRequest = z.infer<typeof ChatCompletionsRequest>

export const ChatCompletionsChoice = z.looseObject({
  index: count,
  message: z.nullish(z.looseObject({ ...ChatCompletionsAssistantMessage.shape, role: text })),
  finish_reason: text,
  logprobs: anything,
})
export type ChatCompletionsChoice = z.infer<typeof ChatCompletionsChoice>

/**
 * A response that is not streamed. Fields that only describe it are checked leniently, because
 * servers of this protocol differ most here.
 */
export const ChatCompletionsResponse = z.looseObject({
  id: text,
  object: anything,
  created: anything,
  model: text,
  choices: z.nullable(z.array(ChatCompletionsChoice)),
  usage: anything,
  service_tier: text,
})
export type ChatCompletionsResponse = z.infer<typeof ChatCompletionsResponse>

// ---- what is written

/**
 * Cache marks: the field of this protocol, and the one that some servers take from the messages
 * protocol.
 */
export type ChatCompletionsControlMark = { cache_control?: { type: string; ttl?: string } }
export type ChatCompletionsMark = ChatCompletionsControlMark & {
  prompt_cache_breakpoint?: { mode?: string; ttl?: string }
}

export type ChatCompletionsBlock = (
  | Written<ChatCompletionsPart>
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
    | { type: 'function'; function: Written<ChatCompletionsFunction> }
    | { type: 'custom'; custom: Written<ChatCompletionsCustomTool> }
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
  Written<ChatCompletionsRequest>,
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
    response_format?: Written<ChatCompletionsResponseFormat> | undefined
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

export type ChatCompletionsToken = { token: string; bytes: number[] | null; logprob: number }
export type ChatCompletionsLogprobs = {
  content: ChatCompletionsTokens | null
  refusal: ChatCompletionsTokens | null
}
type ChatCompletionsTokens = (ChatCompletionsToken & { top_logprobs: ChatCompletionsToken[] })[]

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
