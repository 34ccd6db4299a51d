import { z } from 'zod'
import { open } from '../../kit/check.ts'

// https://platform.openai.com/docs/api-reference/chat. Loose objects: a new field must never break an old client. Where
// the reference says nullable, and where servers of this shape send null, null counts as absence.

const text = z.string().nullish()
const number = z.number().nullish()
const flag = z.boolean().nullish()

const breakpoint = z.looseObject({ mode: text, ttl: text }).nullish()

export const ChatTextPart = z.looseObject({ type: z.literal('text'), text: z.string(), prompt_cache_breakpoint: breakpoint })
export type ChatTextPart = z.infer<typeof ChatTextPart>

export const ChatImagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.union([z.looseObject({ url: z.string(), detail: text }), z.string()]),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatImagePart = z.infer<typeof ChatImagePart>

export const ChatAudioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string() }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatAudioPart = z.infer<typeof ChatAudioPart>

export const ChatFilePart = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({ file_data: text, file_id: text, filename: text }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatFilePart = z.infer<typeof ChatFilePart>

export const ChatRefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() })
export type ChatRefusalPart = z.infer<typeof ChatRefusalPart>

/** Servers that put reasoning into the content. */
export const ChatThinkingPart = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.union([z.array(z.looseObject({ type: z.string(), text: text })), z.string()]),
  signature: text,
})
export type ChatThinkingPart = z.infer<typeof ChatThinkingPart>

export const ChatPart = open([ChatTextPart, ChatImagePart, ChatAudioPart, ChatFilePart, ChatRefusalPart, ChatThinkingPart])
export type ChatPart = z.infer<typeof ChatPart>

const content = z.union([z.array(ChatPart), z.string()]).nullish()

/** `arguments` is text; some servers send an object, or nothing. */
export const ChatFunctionCall = z.looseObject({ name: z.string(), arguments: z.unknown().optional() })
export type ChatFunctionCall = z.infer<typeof ChatFunctionCall>

export const ChatToolCall = z.union([
  z.looseObject({ id: text, type: z.literal('function').nullish(), function: ChatFunctionCall }),
  z.looseObject({ id: text, type: z.literal('custom'), custom: z.looseObject({ name: z.string(), input: text }) }),
  z.looseObject({ id: text, type: z.string().refine(type => type !== 'function' && type !== 'custom') }),
])
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** In a conversation and in an answer alike. */
export const ChatAssistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content,
  name: text,
  refusal: text,
  audio: z.looseObject({ id: text, data: text, transcript: text, expires_at: number }).nullish(),
  tool_calls: z.array(ChatToolCall).nullish(),
  function_call: ChatFunctionCall.nullish(),
  annotations: z.array(z.unknown()).nullish(),
})
export type ChatAssistantMessage = z.infer<typeof ChatAssistantMessage>

export const ChatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('developer'), content, name: text }),
  z.looseObject({ role: z.literal('system'), content, name: text }),
  z.looseObject({ role: z.literal('user'), content, name: text }),
  ChatAssistantMessage,
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: text }),
  z.looseObject({ role: z.literal('function'), content, name: z.string() }),
])
export type ChatMessage = z.infer<typeof ChatMessage>

const schemaObject = z.record(z.string(), z.unknown())

export const ChatFunction = z.looseObject({ name: z.string(), description: text, parameters: schemaObject.nullish(), strict: flag })
export type ChatFunction = z.infer<typeof ChatFunction>

export const ChatCustomTool = z.looseObject({
  name: z.string(),
  description: text,
  format: open([
    z.looseObject({ type: z.literal('text') }),
    z.looseObject({ type: z.literal('grammar'), grammar: z.looseObject({ definition: z.string(), syntax: z.string() }) }),
  ]).nullish(),
})
export type ChatCustomTool = z.infer<typeof ChatCustomTool>

export const ChatTool = z.union([
  z.looseObject({ type: z.literal('function').nullish(), function: ChatFunction }),
  z.looseObject({ type: z.literal('custom'), custom: ChatCustomTool }),
  z.looseObject({ type: z.string().refine(type => type !== 'function' && type !== 'custom') }),
])
export type ChatTool = z.infer<typeof ChatTool>

export const ChatResponseFormat = open([
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ name: text, description: text, schema: schemaObject.nullish(), strict: flag }),
  }),
])
export type ChatResponseFormat = z.infer<typeof ChatResponseFormat>

export const ChatRequest = z.looseObject({
  model: text,
  messages: z.array(ChatMessage),
  audio: z.unknown().optional(),
  frequency_penalty: number,
  presence_penalty: number,
  function_call: z.unknown().optional(),
  functions: z.array(ChatFunction).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: flag,
  top_logprobs: number,
  max_completion_tokens: number,
  max_tokens: number,
  metadata: z.record(z.string(), z.unknown()).nullish(),
  modalities: z.array(z.string()).nullish(),
  moderation: z.unknown().optional(),
  n: number,
  parallel_tool_calls: flag,
  prediction: z.looseObject({ type: text, content: z.union([z.array(ChatPart), z.string()]) }).nullish(),
  prompt_cache_key: text,
  prompt_cache_options: z.looseObject({ mode: text, ttl: text }).nullish(),
  prompt_cache_retention: text,
  reasoning_effort: text,
  // How servers of this shape are told to think; of any other type, these are fields that nobody knows.
  reasoning: z.union([z.looseObject({ effort: text, max_tokens: number, enabled: flag, exclude: flag }), z.unknown()]).optional(),
  thinking: z.union([z.looseObject({ type: text, budget_tokens: number }), z.unknown()]).optional(),
  enable_thinking: z.union([z.boolean(), z.unknown()]).optional(),
  thinking_budget: z.union([z.number(), z.unknown()]).optional(),
  response_format: ChatResponseFormat.nullish(),
  safety_identifier: text,
  seed: number,
  service_tier: text,
  stop: z.union([z.array(z.string()), z.string()]).nullish(),
  store: flag,
  stream: flag,
  stream_options: z.looseObject({ include_usage: flag, include_obfuscation: flag }).nullish(),
  temperature: number,
  top_p: number,
  top_k: number,
  min_p: number,
  repetition_penalty: number,
  tool_choice: z.unknown().optional(),
  tools: z.array(ChatTool).nullish(),
  user: text,
  verbosity: text,
  web_search_options: z.record(z.string(), z.unknown()).nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>

export const ChatChoice = z.looseObject({
  index: number,
  message: ChatAssistantMessage.extend({ role: text }).nullish(),
  finish_reason: text,
  logprobs: z.unknown().optional(),
})
export type ChatChoice = z.infer<typeof ChatChoice>

/** What only describes the answer is read leniently: servers of this shape differ most here. */
export const ChatResponse = z.looseObject({
  id: text,
  object: z.unknown().optional(),
  created: z.unknown().optional(),
  model: text,
  choices: z.array(ChatChoice).nullable(),
  usage: z.unknown().optional(),
  service_tier: text,
})
export type ChatResponse = z.infer<typeof ChatResponse>
