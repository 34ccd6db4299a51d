import * as s from '../../kit/schema.ts'

// Field rules: the API reference of `POST /v1/responses` and the Open Responses specification. Unknown keys are allowed
// everywhere: a field that is added there must never break an older reader.

const text = s.string().nullish()
const flag = s.boolean().nullish()
const count = s.number().nullish()
const whole = s.int().nullish()
const anyObject = s.object({})

const breakpoint = s.object({ mode: text, ttl: text }).nullish()

export const ResponsesInputText = s.object({ type: s.literal('input_text', 'text'), text: s.string(), prompt_cache_breakpoint: breakpoint })
export type ResponsesInputText = s.Infer<typeof ResponsesInputText>

export const ResponsesOutputText = s.object({
  type: s.literal('output_text'),
  text: s.string(),
  annotations: s.array(s.object({ type: s.string() })).nullish(),
  logprobs: s.array(anyObject).nullish(),
})
export type ResponsesOutputText = s.Infer<typeof ResponsesOutputText>

export const ResponsesRefusal = s.object({ type: s.literal('refusal'), refusal: s.string() })

export const ResponsesInputImage = s.object({
  type: s.literal('input_image'),
  image_url: text,
  file_id: text,
  detail: text,
  prompt_cache_breakpoint: breakpoint,
})
export type ResponsesInputImage = s.Infer<typeof ResponsesInputImage>

export const ResponsesInputFile = s.object({
  type: s.literal('input_file'),
  file_data: text,
  file_url: text,
  file_id: text,
  filename: text,
  detail: text,
  prompt_cache_breakpoint: breakpoint,
})
export type ResponsesInputFile = s.Infer<typeof ResponsesInputFile>

export const ResponsesInputAudio = s.object({
  type: s.literal('input_audio'),
  input_audio: s.object({ data: s.string(), format: s.string() }),
})
export type ResponsesInputAudio = s.Infer<typeof ResponsesInputAudio>

export const ResponsesContent = s.open([
  ResponsesInputText,
  ResponsesOutputText,
  ResponsesRefusal,
  ResponsesInputImage,
  ResponsesInputFile,
  ResponsesInputAudio,
])
export type ResponsesContent = s.Infer<typeof ResponsesContent>

const content = s.union([s.string(), s.array(ResponsesContent)]).nullish()
const role = s.literal('user', 'assistant', 'system', 'developer')

export const ResponsesMessage = s.object({ type: s.literal('message'), role, content, id: text, status: text, phase: text })
/** A message without `type`: the short form in the input. */
export const ResponsesEasyMessage = s.object({ type: s.nothing().optional(), role, content })
/** A reference without `type`, recognized by an id without a role. */
export const ResponsesItemReference = s.object({ type: s.nothing().optional(), role: s.absent().optional(), id: s.string() })

export const ResponsesReasoning = s.object({
  type: s.literal('reasoning'),
  id: text,
  summary: s.array(anyObject).nullish(),
  content: s.array(anyObject).nullish(),
  encrypted_content: text,
  status: text,
})
export type ResponsesReasoning = s.Infer<typeof ResponsesReasoning>

const call = { id: text, call_id: s.string(), name: s.string(), namespace: text, async: flag, status: text }
export const ResponsesFunctionCall = s.object({ type: s.literal('function_call'), ...call, arguments: text })
export const ResponsesCustomCall = s.object({ type: s.literal('custom_tool_call'), ...call, input: text })

const output = s.union([s.string(), s.array(ResponsesContent), anyObject]).nullish()
const result = { id: text, call_id: text, name: text, namespace: text, status: text, output }
export const ResponsesFunctionOutput = s.object({ type: s.literal('function_call_output'), ...result })
export const ResponsesCustomOutput = s.object({ type: s.literal('custom_tool_call_output'), ...result })

/** The items of `input` and `output`. One of another `type` is kept whole. */
export const ResponsesItem = s.union([
  s.open([
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
export type ResponsesItem = s.Infer<typeof ResponsesItem>

export const ResponsesFunctionTool = s.object({
  type: s.literal('function'),
  name: s.string(),
  description: text,
  parameters: anyObject.nullish(),
  strict: flag,
  defer_loading: flag,
  allowed_callers: s.array(s.string()).nullish(),
  async: flag,
  output_schema: s.unknown().optional(),
})
export type ResponsesFunctionTool = s.Infer<typeof ResponsesFunctionTool>

export const ResponsesCustomTool = s.object({
  type: s.literal('custom'),
  name: s.string(),
  description: text,
  format: s.object({ type: s.string() }).nullish(),
  defer_loading: flag,
  allowed_callers: s.array(s.string()).nullish(),
  async: flag,
})
export type ResponsesCustomTool = s.Infer<typeof ResponsesCustomTool>

export const ResponsesNamespaceTool = s.object({
  type: s.literal('namespace'),
  name: s.string(),
  description: text,
  tools: s.array(s.open([ResponsesFunctionTool, ResponsesCustomTool])),
})
export type ResponsesNamespaceTool = s.Infer<typeof ResponsesNamespaceTool>

export const ResponsesTool = s.open([ResponsesFunctionTool, ResponsesCustomTool, ResponsesNamespaceTool])
export type ResponsesTool = s.Infer<typeof ResponsesTool>

export const ResponsesToolChoice = s.union([s.string(), s.object({ type: s.string() })])

export const ResponsesTextConfig = s.object({
  format: s.open([s.object({ type: s.literal('json_schema'), name: text, description: text, schema: anyObject, strict: flag })]).nullish(),
  verbosity: text,
})
export const ResponsesReasoningConfig = s.object({ effort: text, summary: text, generate_summary: text, context: text, mode: text })

export const ResponsesRequest = s.object({
  model: text,
  input: s.union([s.string(), s.array(ResponsesItem)]).nullish(),
  instructions: text,
  max_output_tokens: s
    .int()
    .refine(limit => limit !== 0)
    .nullish(),
  max_tool_calls: whole,
  temperature: count,
  top_p: count,
  top_logprobs: whole,
  presence_penalty: count,
  frequency_penalty: count,
  parallel_tool_calls: flag,
  tools: s.array(ResponsesTool).nullish(),
  tool_choice: ResponsesToolChoice.nullish(),
  text: ResponsesTextConfig.nullish(),
  reasoning: ResponsesReasoningConfig.nullish(),
  include: s.array(s.string()).nullish(),
  store: flag,
  previous_response_id: text,
  conversation: s.unknown().optional(),
  background: flag,
  truncation: text,
  context_management: s.unknown().optional(),
  prompt: s.unknown().optional(),
  prompt_cache_key: text,
  prompt_cache_options: s.object({ mode: text, ttl: text }).nullish(),
  prompt_cache_retention: text,
  metadata: s.record(s.string()).nullish(),
  safety_identifier: text,
  user: text,
  service_tier: text,
  stream: flag,
  stream_options: s.object({ include_obfuscation: flag }).nullish(),
  moderation: s.unknown().optional(),
})
export type ResponsesRequest = s.Infer<typeof ResponsesRequest>

export const ResponsesUsage = s.object({
  input_tokens: count,
  input_tokens_details: s
    .object({
      cached_tokens: count,
      cache_write_tokens: count,
      cache_write_tokens_details: s.object({ ttl_30m_tokens: count, ttl_12h_tokens: count }).nullish(),
    })
    .nullish(),
  output_tokens: count,
  output_tokens_details: s.object({ reasoning_tokens: count }).nullish(),
  total_tokens: count,
})
export type ResponsesUsage = s.Infer<typeof ResponsesUsage>

export const ResponsesError = s.object({ message: text, code: s.union([s.string(), s.number()]).nullish(), type: text, param: text })
export type ResponsesError = s.Infer<typeof ResponsesError>

/** A whole answer, and the snapshots in stream events, which may have only a few of its fields. */
export const ResponsesResponse = s.object({
  id: text,
  object: text,
  created_at: count,
  completed_at: count,
  status: text,
  model: text,
  output: s.array(ResponsesItem).nullish(),
  error: s.union([ResponsesError, s.string()]).nullish(),
  incomplete_details: s.object({ reason: text }).nullish(),
  usage: ResponsesUsage.nullish(),
  service_tier: text,
})
export type ResponsesResponse = s.Infer<typeof ResponsesResponse>
