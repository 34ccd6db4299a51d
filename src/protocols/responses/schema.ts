import { z } from 'zod'
import { open } from '../../kit/check.ts'

// Field rules: the API reference of `POST /v1/responses` and the Open Responses specification. Everything is loose: a
// field that is added there must never break an older reader.

const text = z.string().nullish()
const flag = z.boolean().nullish()
const count = z.number().nullish()
const anyObject = z.looseObject({})

const breakpoint = z.looseObject({ mode: text, ttl: text }).nullish()

export const ResponsesInputText = z.looseObject({ type: z.enum(['input_text', 'text']), text: z.string(), prompt_cache_breakpoint: breakpoint })
export type ResponsesInputText = z.infer<typeof ResponsesInputText>

export const ResponsesOutputText = z.looseObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })).nullish(),
  logprobs: z.array(anyObject).nullish(),
})
export type ResponsesOutputText = z.infer<typeof ResponsesOutputText>

export const ResponsesRefusal = z.looseObject({ type: z.literal('refusal'), refusal: z.string() })

export const ResponsesInputImage = z.looseObject({
  type: z.literal('input_image'),
  image_url: text,
  file_id: text,
  detail: text,
  prompt_cache_breakpoint: breakpoint,
})
export type ResponsesInputImage = z.infer<typeof ResponsesInputImage>

export const ResponsesInputFile = z.looseObject({
  type: z.literal('input_file'),
  file_data: text,
  file_url: text,
  file_id: text,
  filename: text,
  detail: text,
  prompt_cache_breakpoint: breakpoint,
})
export type ResponsesInputFile = z.infer<typeof ResponsesInputFile>

export const ResponsesInputAudio = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string() }),
})
export type ResponsesInputAudio = z.infer<typeof ResponsesInputAudio>

export const ResponsesContent = open([ResponsesInputText, ResponsesOutputText, ResponsesRefusal, ResponsesInputImage, ResponsesInputFile, ResponsesInputAudio])
export type ResponsesContent = z.infer<typeof ResponsesContent>

const content = z.union([z.string(), z.array(ResponsesContent)]).nullish()
const role = z.enum(['user', 'assistant', 'system', 'developer'])

export const ResponsesMessage = z.looseObject({ type: z.literal('message'), role, content, id: text, status: text, phase: text })
/** A message without `type`: short for one in the input. */
export const ResponsesEasyMessage = z.looseObject({ type: z.null().optional(), role, content })
/** A reference without `type`, told by having nothing but an id. */
export const ResponsesItemReference = z.looseObject({ type: z.null().optional(), role: z.undefined().optional(), id: z.string() })

export const ResponsesReasoning = z.looseObject({
  type: z.literal('reasoning'),
  id: text,
  summary: z.array(anyObject).nullish(),
  content: z.array(anyObject).nullish(),
  encrypted_content: text,
  status: text,
})
export type ResponsesReasoning = z.infer<typeof ResponsesReasoning>

const call = { id: text, call_id: z.string(), name: z.string(), namespace: text, async: flag, status: text }
export const ResponsesFunctionCall = z.looseObject({ type: z.literal('function_call'), ...call, arguments: text })
export const ResponsesCustomCall = z.looseObject({ type: z.literal('custom_tool_call'), ...call, input: text })

const output = z.union([z.string(), z.array(ResponsesContent), anyObject]).nullish()
const result = { id: text, call_id: text, name: text, namespace: text, status: text, output }
export const ResponsesFunctionOutput = z.looseObject({ type: z.literal('function_call_output'), ...result })
export const ResponsesCustomOutput = z.looseObject({ type: z.literal('custom_tool_call_output'), ...result })

/** What stands in `input` and `output`. Anything with another `type` is kept whole. */
export const ResponsesItem = z.union([
  open([
    ResponsesMessage,
    ResponsesEasyMessage,
    ResponsesReasoning,
    ResponsesFunctionCall,
    ResponsesCustomCall,
    ResponsesFunctionOutput,
    ResponsesCustomOutput,
  ]),
  ResponsesItemReference,
])
export type ResponsesItem = z.infer<typeof ResponsesItem>

export const ResponsesFunctionTool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: text,
  parameters: anyObject.nullish(),
  strict: flag,
  defer_loading: flag,
  allowed_callers: z.array(z.string()).nullish(),
  async: flag,
  output_schema: z.unknown().optional(),
})
export type ResponsesFunctionTool = z.infer<typeof ResponsesFunctionTool>

export const ResponsesCustomTool = z.looseObject({
  type: z.literal('custom'),
  name: z.string(),
  description: text,
  format: z.looseObject({ type: z.string() }).nullish(),
  defer_loading: flag,
  allowed_callers: z.array(z.string()).nullish(),
  async: flag,
})
export type ResponsesCustomTool = z.infer<typeof ResponsesCustomTool>

export const ResponsesNamespaceTool = z.looseObject({
  type: z.literal('namespace'),
  name: z.string(),
  description: text,
  tools: z.array(open([ResponsesFunctionTool, ResponsesCustomTool])),
})
export type ResponsesNamespaceTool = z.infer<typeof ResponsesNamespaceTool>

export const ResponsesTool = open([ResponsesFunctionTool, ResponsesCustomTool, ResponsesNamespaceTool])
export type ResponsesTool = z.infer<typeof ResponsesTool>

export const ResponsesToolChoice = z.union([z.string(), z.looseObject({ type: z.string() })])

export const ResponsesTextConfig = z.looseObject({ format: z.looseObject({ type: z.string() }).nullish(), verbosity: text })
export const ResponsesReasoningConfig = z.looseObject({ effort: text, summary: text, generate_summary: text, context: text, mode: text })

export const ResponsesRequest = z.looseObject({
  model: text,
  input: z.union([z.string(), z.array(ResponsesItem)]).nullish(),
  instructions: text,
  max_output_tokens: count,
  max_tool_calls: count,
  temperature: count,
  top_p: count,
  top_logprobs: count,
  presence_penalty: count,
  frequency_penalty: count,
  parallel_tool_calls: flag,
  tools: z.array(ResponsesTool).nullish(),
  tool_choice: ResponsesToolChoice.nullish(),
  text: ResponsesTextConfig.nullish(),
  reasoning: ResponsesReasoningConfig.nullish(),
  include: z.array(z.string()).nullish(),
  store: flag,
  previous_response_id: text,
  conversation: z.unknown().optional(),
  background: flag,
  truncation: text,
  context_management: z.unknown().optional(),
  prompt: z.unknown().optional(),
  prompt_cache_key: text,
  prompt_cache_options: z.looseObject({ mode: text, ttl: text }).nullish(),
  prompt_cache_retention: text,
  metadata: z.record(z.string(), z.string()).nullish(),
  safety_identifier: text,
  user: text,
  service_tier: text,
  stream: flag,
  stream_options: z.looseObject({ include_obfuscation: flag }).nullish(),
  moderation: z.unknown().optional(),
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

export const ResponsesUsage = z.looseObject({
  input_tokens: count,
  input_tokens_details: z
    .looseObject({
      cached_tokens: count,
      cache_write_tokens: count,
      cache_write_tokens_details: z.looseObject({ ttl_30m_tokens: count, ttl_12h_tokens: count }).nullish(),
    })
    .nullish(),
  output_tokens: count,
  output_tokens_details: z.looseObject({ reasoning_tokens: count }).nullish(),
  total_tokens: count,
})
export type ResponsesUsage = z.infer<typeof ResponsesUsage>

export const ResponsesError = z.looseObject({ message: text, code: z.union([z.string(), z.number()]).nullish(), type: text, param: text })
export type ResponsesError = z.infer<typeof ResponsesError>

/** A whole answer, and the snapshots inside a stream's events, which may hold little of it. */
export const ResponsesResponse = z.looseObject({
  id: text,
  object: text,
  created_at: count,
  completed_at: count,
  status: text,
  model: text,
  output: z.array(ResponsesItem).nullish(),
  error: z.union([ResponsesError, z.string()]).nullish(),
  incomplete_details: z.looseObject({ reason: text }).nullish(),
  usage: ResponsesUsage.nullish(),
  service_tier: text,
})
export type ResponsesResponse = z.infer<typeof ResponsesResponse>
