import * as z from 'zod/mini'
import { anyObject, anything, boolean, count, flag, number, open, others, string, text, texts, unknown, whole } from '../../kit/schema/wire.ts'

// https://platform.openai.com/docs/api-reference/chat. Loose objects: a new field must never break an old client. Where
// the reference says nullable, and where servers of this protocol send null, null counts as absence.

const breakpoint = z.nullish(z.looseObject({ mode: text, ttl: text }))

export const ChatTextPart = z.looseObject({ type: z.literal('text'), text: string, prompt_cache_breakpoint: breakpoint })
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

export const ChatPart = open([ChatTextPart, ChatImagePart, ChatAudioPart, ChatFilePart, ChatRefusalPart, ChatThinkingPart])
export type ChatPart = z.infer<typeof ChatPart>

const content = z.nullish(z.union([z.array(ChatPart), string]))

/** `arguments` should be text; some servers send an object, or nothing. */
export const ChatFunctionCall = z.looseObject({ name: string, arguments: anything })
export type ChatFunctionCall = z.infer<typeof ChatFunctionCall>

export const ChatToolCall = z.union([
  z.looseObject({ id: text, type: string.check(others(type => type !== 'function' && type !== 'custom')) }),
  z.discriminatedUnion('type', [
    z.looseObject({ id: text, type: z.nullish(z.literal('function')), function: ChatFunctionCall }),
    z.looseObject({ id: text, type: z.literal('custom'), custom: z.looseObject({ name: string, input: text }) }),
  ]),
])
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** In requests and in replies. */
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

export const ChatFunction = z.looseObject({ name: string, description: text, parameters: anyObject, strict: flag })
export type ChatFunction = z.infer<typeof ChatFunction>

export const ChatCustomTool = z.looseObject({
  name: string,
  description: text,
  format: z.nullish(
    open([
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('grammar'), grammar: z.looseObject({ definition: string, syntax: string }) }),
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
  prediction: z.nullish(z.looseObject({ type: text, content: z.union([z.array(ChatPart), string]) })),
  prompt_cache_key: text,
  prompt_cache_options: z.nullish(z.looseObject({ mode: text, ttl: text })),
  prompt_cache_retention: text,
  reasoning_effort: text,
  // Reasoning controls of servers of this protocol; with any other type, they count as unknown fields.
  reasoning: z.optional(z.union([z.looseObject({ effort: text, max_tokens: count, enabled: flag, exclude: flag }), unknown])),
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

/** A reply that is not streamed. Fields that only describe it are checked leniently, because servers of this protocol differ most here. */
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
