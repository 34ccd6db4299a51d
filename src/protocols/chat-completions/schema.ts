import * as s from '../../kit/schema.ts'

// https://platform.openai.com/docs/api-reference/chat. Loose objects: a new field must never break an old client. Where
// the reference says nullable, and where servers of this protocol send null, null counts as absence.

const text = s.string().nullish()
const number = s.number().nullish()
const whole = s.int().nullish()
const flag = s.boolean().nullish()

const breakpoint = s.object({ mode: text, ttl: text }).nullish()

export const ChatTextPart = s.object({ type: s.literal('text'), text: s.string(), prompt_cache_breakpoint: breakpoint })
export type ChatTextPart = s.Infer<typeof ChatTextPart>

export const ChatImagePart = s.object({
  type: s.literal('image_url'),
  image_url: s.union([s.object({ url: s.string(), detail: text }), s.string()]),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatImagePart = s.Infer<typeof ChatImagePart>

export const ChatAudioPart = s.object({
  type: s.literal('input_audio'),
  input_audio: s.object({ data: s.string(), format: s.string() }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatAudioPart = s.Infer<typeof ChatAudioPart>

export const ChatFilePart = s.object({
  type: s.literal('file'),
  file: s.object({ file_data: text, file_id: text, filename: text }),
  prompt_cache_breakpoint: breakpoint,
})
export type ChatFilePart = s.Infer<typeof ChatFilePart>

export const ChatRefusalPart = s.object({ type: s.literal('refusal'), refusal: s.string() })
export type ChatRefusalPart = s.Infer<typeof ChatRefusalPart>

/** Some servers put reasoning into the content. */
export const ChatThinkingPart = s.object({
  type: s.literal('thinking'),
  thinking: s.union([s.array(s.object({ type: s.string(), text: text })), s.string()]),
  signature: text,
})
export type ChatThinkingPart = s.Infer<typeof ChatThinkingPart>

export const ChatPart = s.open([ChatTextPart, ChatImagePart, ChatAudioPart, ChatFilePart, ChatRefusalPart, ChatThinkingPart])
export type ChatPart = s.Infer<typeof ChatPart>

const content = s.union([s.array(ChatPart), s.string()]).nullish()

/** `arguments` should be text; some servers send an object, or nothing. */
export const ChatFunctionCall = s.object({ name: s.string(), arguments: s.unknown().optional() })
export type ChatFunctionCall = s.Infer<typeof ChatFunctionCall>

export const ChatToolCall = s.union([
  s.object({ id: text, type: s.string().forOthers(type => type !== 'function' && type !== 'custom') }),
  s.oneOf('type', [
    s.object({ id: text, type: s.literal('function').nullish(), function: ChatFunctionCall }),
    s.object({ id: text, type: s.literal('custom'), custom: s.object({ name: s.string(), input: text }) }),
  ]),
])
export type ChatToolCall = s.Infer<typeof ChatToolCall>

/** In requests and in replies. */
export const ChatAssistantMessage = s.object({
  role: s.literal('assistant'),
  content,
  name: text,
  refusal: text,
  audio: s.object({ id: text, data: text, transcript: text, expires_at: number }).nullish(),
  tool_calls: s.array(ChatToolCall).nullish(),
  function_call: ChatFunctionCall.nullish(),
  annotations: s.array(s.unknown()).nullish(),
})
export type ChatAssistantMessage = s.Infer<typeof ChatAssistantMessage>

export const ChatMessage = s.oneOf('role', [
  s.object({ role: s.literal('developer'), content, name: text }),
  s.object({ role: s.literal('system'), content, name: text }),
  s.object({ role: s.literal('user'), content, name: text }),
  ChatAssistantMessage,
  s.object({ role: s.literal('tool'), content, tool_call_id: text }),
  s.object({ role: s.literal('function'), content, name: s.string() }),
])
export type ChatMessage = s.Infer<typeof ChatMessage>

const schemaObject = s.record(s.unknown())

export const ChatFunction = s.object({ name: s.string(), description: text, parameters: schemaObject.nullish(), strict: flag })
export type ChatFunction = s.Infer<typeof ChatFunction>

export const ChatCustomTool = s.object({
  name: s.string(),
  description: text,
  format: s
    .open([s.object({ type: s.literal('text') }), s.object({ type: s.literal('grammar'), grammar: s.object({ definition: s.string(), syntax: s.string() }) })])
    .nullish(),
})
export type ChatCustomTool = s.Infer<typeof ChatCustomTool>

export const ChatTool = s.open([
  s.object({ type: s.literal('function').nullish(), function: ChatFunction }),
  s.object({ type: s.literal('custom'), custom: ChatCustomTool }),
])
export type ChatTool = s.Infer<typeof ChatTool>

export const ChatResponseFormat = s.open([
  s.object({ type: s.literal('text') }),
  s.object({ type: s.literal('json_object') }),
  s.object({
    type: s.literal('json_schema'),
    json_schema: s.object({ name: text, description: text, schema: schemaObject.nullish(), strict: flag }),
  }),
])
export type ChatResponseFormat = s.Infer<typeof ChatResponseFormat>

export const ChatRequest = s.object({
  model: text,
  messages: s.array(ChatMessage),
  audio: s.unknown().optional(),
  frequency_penalty: number,
  presence_penalty: number,
  function_call: s.unknown().optional(),
  functions: s.array(ChatFunction).nullish(),
  logit_bias: s.record(s.number()).nullish(),
  logprobs: flag,
  top_logprobs: whole,
  max_completion_tokens: whole,
  max_tokens: whole,
  metadata: s.record(s.unknown()).nullish(),
  modalities: s.array(s.string()).nullish(),
  moderation: s.unknown().optional(),
  n: whole,
  parallel_tool_calls: flag,
  prediction: s.object({ type: text, content: s.union([s.array(ChatPart), s.string()]) }).nullish(),
  prompt_cache_key: text,
  prompt_cache_options: s.object({ mode: text, ttl: text }).nullish(),
  prompt_cache_retention: text,
  reasoning_effort: text,
  // Reasoning controls of servers of this protocol; with any other type, they count as unknown fields.
  reasoning: s.union([s.object({ effort: text, max_tokens: number, enabled: flag, exclude: flag }), s.unknown()]).optional(),
  thinking: s.union([s.object({ type: text, budget_tokens: number }), s.unknown()]).optional(),
  enable_thinking: s.union([s.boolean(), s.unknown()]).optional(),
  thinking_budget: s.union([s.number(), s.unknown()]).optional(),
  response_format: ChatResponseFormat.nullish(),
  safety_identifier: text,
  seed: whole,
  service_tier: text,
  stop: s.union([s.array(s.string()), s.string()]).nullish(),
  store: flag,
  stream: flag,
  stream_options: s.object({ include_usage: flag, include_obfuscation: flag }).nullish(),
  temperature: number,
  top_p: number,
  top_k: whole,
  min_p: number,
  repetition_penalty: number,
  tool_choice: s.unknown().optional(),
  tools: s.array(ChatTool).nullish(),
  user: text,
  verbosity: text,
  web_search_options: s.record(s.unknown()).nullish(),
})
export type ChatRequest = s.Infer<typeof ChatRequest>

export const ChatChoice = s.object({
  index: number,
  message: s.object({ ...ChatAssistantMessage.shape, role: text }).nullish(),
  finish_reason: text,
  logprobs: s.unknown().optional(),
})
export type ChatChoice = s.Infer<typeof ChatChoice>

/** Fields that only describe the reply are checked leniently, because servers of this protocol differ most here. */
export const ChatResponse = s.object({
  id: text,
  object: s.unknown().optional(),
  created: s.unknown().optional(),
  model: text,
  choices: s.array(ChatChoice).nullable(),
  usage: s.unknown().optional(),
  service_tier: text,
})
export type ChatResponse = s.Infer<typeof ChatResponse>
