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

// ---- errors and events

// Only for users of the schemas: the decoder checks each chunk by hand, because it reports or
// repairs what these schemas refuse.

/**
 * The body of an error response, and the last event of a failed stream. Some servers send only a
 * text.
 */
export const ChatCompletionsErrorResponse = z.looseObject({
  error: z.union([
    z.looseObject({
      message: string,
      type: text,
      param: text,
      code: z.nullish(z.union([string, number])),
    }),
    string,
  ]),
})
export type ChatCompletionsErrorResponse = z.infer<typeof ChatCompletionsErrorResponse>

/** The first delta of a call has its name. Later ones have only further arguments. */
const callDelta = z.looseObject({
  index: count,
  id: text,
  type: text,
  function: z.nullish(z.looseObject({ name: text, arguments: anything })),
  custom: z.nullish(z.looseObject({ name: text, input: text })),
})

const delta = z.looseObject({
  ...ChatCompletionsAssistantMessage.shape,
  role: text,
  tool_calls: z.nullish(z.array(callDelta)),
  function_call: z.nullish(z.looseObject({ name: text, arguments: anything })),
})

const usage = z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count })

/** A chunk: the data of an event that is neither an error nor the end. */
export const ChatCompletionsChunk = z.looseObject({
  id: text,
  object: anything,
  created: anything,
  model: text,
  choices: z.array(
    z.looseObject({
      index: count,
      delta: z.nullish(delta),
      finish_reason: text,
      logprobs: anything,
    }),
  ),
  usage: z.nullish(usage),
  service_tier: text,
})
export type ChatCompletionsChunk = z.infer<typeof ChatCompletionsChunk>

/** The data of one event of a stream: a chunk, an error, or the text that ends the stream. */
export const ChatCompletionsStreamEvent = z.union([
  ChatCompletionsErrorResponse,
  ChatCompletionsChunk,
  z.literal('[DONE]'),
])
export type ChatCompletionsStreamEvent = z.infer<typeof ChatCompletionsStreamEvent>
