import * as z from 'zod/mini'
import {
  anything,
  count,
  flag,
  number,
  open,
  string,
  text,
  texts,
  whole,
  wholeNumber,
} from '../../kit/schema/wire.ts'

// Field rules: the API reference of `POST /v1/responses` and the Open Responses specification.
// Unknown keys are allowed everywhere: a field that is added there must never break an older
// reader.

const someObject = z.looseObject({})

const breakpoint = z.nullish(z.looseObject({ mode: text, ttl: text }))

export const ResponsesInputText = z.looseObject({
  type: z.literal(['input_text', 'text']),
  text: string,
  prompt_cache_breakpoint: breakpoint,
})
export type ResponsesInputText = z.infer<typeof ResponsesInputText>

export const ResponsesOutputText = z.looseObject({
  type: z.literal('output_text'),
  text: string,
  annotations: z.nullish(z.array(z.looseObject({ type: string }))),
  logprobs: z.nullish(z.array(someObject)),
})
export type ResponsesOutputText = z.infer<typeof ResponsesOutputText>

export const ResponsesRefusal = z.looseObject({ type: z.literal('refusal'), refusal: string })
export type ResponsesRefusal = z.infer<typeof ResponsesRefusal>

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
  input_audio: z.looseObject({ data: string, format: string }),
})
export type ResponsesInputAudio = z.infer<typeof ResponsesInputAudio>

export const ResponsesContent = open([
  ResponsesInputText,
  ResponsesOutputText,
  ResponsesRefusal,
  ResponsesInputImage,
  ResponsesInputFile,
  ResponsesInputAudio,
])
export type ResponsesContent = z.infer<typeof ResponsesContent>

const content = z.nullish(z.union([string, z.array(ResponsesContent)]))
const role = z.literal(['user', 'assistant', 'system', 'developer'])

export const ResponsesMessage = z.looseObject({
  type: z.literal('message'),
  role,
  content,
  id: text,
  status: text,
  phase: text,
})
export type ResponsesMessage = z.infer<typeof ResponsesMessage>
/** A message without `type`: the short form in the input. */
export const ResponsesEasyMessage = z.looseObject({ type: z.optional(z.null()), role, content })
/** A reference without `type`, recognized by an id without a role. */
export const ResponsesItemReference = z.looseObject({
  type: z.optional(z.null()),
  role: z.optional(z.undefined()),
  id: string,
})

export const ResponsesReasoning = z.looseObject({
  type: z.literal('reasoning'),
  id: text,
  summary: z.nullish(z.array(someObject)),
  content: z.nullish(z.array(someObject)),
  encrypted_content: text,
  status: text,
})
export type ResponsesReasoning = z.infer<typeof ResponsesReasoning>

const call = { id: text, call_id: text, name: string, namespace: text, async: flag, status: text }
export const ResponsesFunctionCall = z.looseObject({
  type: z.literal('function_call'),
  ...call,
  /** It should be text; some servers send an object. */
  arguments: z.nullish(z.union([string, someObject])),
})
export type ResponsesFunctionCall = z.infer<typeof ResponsesFunctionCall>
export const ResponsesCustomCall = z.looseObject({
  type: z.literal('custom_tool_call'),
  ...call,
  input: text,
})
export type ResponsesCustomCall = z.infer<typeof ResponsesCustomCall>

const output = z.nullish(z.union([string, z.array(ResponsesContent), someObject]))
const result = { id: text, call_id: text, name: text, namespace: text, status: text, output }
export const ResponsesFunctionOutput = z.looseObject({
  type: z.literal('function_call_output'),
  ...result,
})
export type ResponsesFunctionOutput = z.infer<typeof ResponsesFunctionOutput>
export const ResponsesCustomOutput = z.looseObject({
  type: z.literal('custom_tool_call_output'),
  ...result,
})

/** The items of `input` and `output`. One of another `type` is kept whole. */
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
  name: string,
  description: text,
  parameters: z.nullish(someObject),
  strict: flag,
  defer_loading: flag,
  allowed_callers: texts,
  async: flag,
  output_schema: anything,
})
export type ResponsesFunctionTool = z.infer<typeof ResponsesFunctionTool>

export const ResponsesCustomTool = z.looseObject({
  type: z.literal('custom'),
  name: string,
  description: text,
  format: z.nullish(z.looseObject({ type: string })),
  defer_loading: flag,
  allowed_callers: texts,
  async: flag,
})
export type ResponsesCustomTool = z.infer<typeof ResponsesCustomTool>

export const ResponsesNamespaceTool = z.looseObject({
  type: z.literal('namespace'),
  name: string,
  description: text,
  tools: z.array(open([ResponsesFunctionTool, ResponsesCustomTool])),
})
export type ResponsesNamespaceTool = z.infer<typeof ResponsesNamespaceTool>

/** A function, a custom tool, a namespace of both, or a tool of another type. */
export const ResponsesTool = open([
  ResponsesFunctionTool,
  ResponsesCustomTool,
  ResponsesNamespaceTool,
])
export type ResponsesTool = z.infer<typeof ResponsesTool>
export const ResponsesAddedTools = z.looseObject({ tools: z.nullish(z.array(ResponsesTool)) })

export const ResponsesToolChoice = z.union([string, z.looseObject({ type: string })])

export const ResponsesTextConfig = z.looseObject({
  format: z.nullish(
    open([
      z.looseObject({
        type: z.literal('json_schema'),
        name: text,
        description: text,
        schema: someObject,
        strict: flag,
      }),
    ]),
  ),
  verbosity: text,
})
export type ResponsesTextConfig = z.infer<typeof ResponsesTextConfig>
export const ResponsesReasoningConfig = z.looseObject({
  effort: text,
  summary: text,
  generate_summary: text,
  context: text,
  mode: text,
})
export type ResponsesReasoningConfig = z.infer<typeof ResponsesReasoningConfig>

/** Body of POST /v1/responses. */
export const ResponsesRequest = z.looseObject({
  model: text,
  input: z.nullish(z.union([string, z.array(ResponsesItem)])),
  instructions: text,
  max_output_tokens: z.nullish(wholeNumber.check(z.refine(limit => limit !== 0))),
  max_tool_calls: whole,
  temperature: count,
  top_p: count,
  top_logprobs: whole,
  presence_penalty: count,
  frequency_penalty: count,
  parallel_tool_calls: flag,
  tools: z.nullish(z.array(ResponsesTool)),
  tool_choice: z.nullish(ResponsesToolChoice),
  text: z.nullish(ResponsesTextConfig),
  reasoning: z.nullish(ResponsesReasoningConfig),
  include: texts,
  store: flag,
  previous_response_id: text,
  conversation: anything,
  background: flag,
  truncation: text,
  context_management: anything,
  prompt: anything,
  prompt_cache_key: text,
  prompt_cache_options: z.nullish(z.looseObject({ mode: text, ttl: text })),
  prompt_cache_retention: text,
  metadata: z.nullish(z.record(string, string)),
  safety_identifier: text,
  user: text,
  service_tier: text,
  stream: flag,
  stream_options: z.nullish(z.looseObject({ include_obfuscation: flag })),
  moderation: anything,
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

export const ResponsesUsage = z.looseObject({
  input_tokens: count,
  input_tokens_details: z.nullish(
    z.looseObject({
      cached_tokens: count,
      cache_write_tokens: count,
      cache_write_tokens_details: z.nullish(
        z.looseObject({ ttl_30m_tokens: count, ttl_12h_tokens: count }),
      ),
    }),
  ),
  output_tokens: count,
  output_tokens_details: z.nullish(z.looseObject({ reasoning_tokens: count })),
  total_tokens: count,
})
export type ResponsesUsage = z.infer<typeof ResponsesUsage>

export const ResponsesError = z.looseObject({
  message: text,
  code: z.nullish(z.union([string, number])),
  type: text,
  param: text,
})
export type ResponsesError = z.infer<typeof ResponsesError>

/**
 * A whole response, and the snapshots in stream events, which may have only a few of its fields.
 */
export const ResponsesResponse = z.looseObject({
  id: text,
  object: text,
  created_at: count,
  completed_at: count,
  status: text,
  model: text,
  output: z.nullish(z.array(ResponsesItem)),
  error: z.nullish(z.union([ResponsesError, string])),
  incomplete_details: z.nullish(z.looseObject({ reason: text })),
  usage: z.nullish(ResponsesUsage),
  service_tier: text,
})
export type ResponsesResponse = z.infer<typeof ResponsesResponse>

// ---- errors and events

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/** The body of an error response. Some servers send only a text. */
export const ResponsesErrorResponse = z.looseObject({ error: z.union([ResponsesError, string]) })
export type ResponsesErrorResponse = z.infer<typeof ResponsesErrorResponse>

const numbered = { sequence_number: count }
const item = { ...numbered, item_id: text, output_index: count }
const part = { ...item, content_index: count }
const segment = { ...part, summary_index: count }

/** The data of one event of a stream. `[DONE]` ends the streams of some servers. */
export const ResponsesStreamEvent = z.union([
  open([
    z.looseObject({
      type: z.literal(
        ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map(
          state => `response.${state}` as const,
        ),
      ),
      ...numbered,
      response: ResponsesResponse,
    }),
    z.looseObject({
      type: z.literal(['response.output_item.added', 'response.output_item.done']),
      ...numbered,
      output_index: count,
      item: ResponsesItem,
    }),
    z.looseObject({
      type: z.literal(['response.content_part.added', 'response.content_part.done']),
      ...part,
      part: ResponsesContent,
    }),
    z.looseObject({ type: z.literal('response.output_text.delta'), ...part, delta: string }),
    z.looseObject({ type: z.literal('response.output_text.done'), ...part, text: string }),
    z.looseObject({
      type: z.literal('response.output_text.annotation.added'),
      ...part,
      annotation_index: count,
      annotation: z.looseObject({ type: string }),
    }),
    z.looseObject({ type: z.literal('response.refusal.delta'), ...part, delta: string }),
    z.looseObject({ type: z.literal('response.refusal.done'), ...part, refusal: string }),
    z.looseObject({
      type: z.literal('response.function_call_arguments.delta'),
      ...item,
      delta: string,
    }),
    z.looseObject({
      type: z.literal('response.function_call_arguments.done'),
      ...item,
      name: text,
      arguments: z.union([string, z.looseObject({})]),
    }),
    z.looseObject({
      type: z.literal('response.custom_tool_call_input.delta'),
      ...item,
      delta: string,
    }),
    z.looseObject({
      type: z.literal('response.custom_tool_call_input.done'),
      ...item,
      input: string,
    }),
    z.looseObject({
      type: z.literal([
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_part.done',
      ]),
      ...segment,
      part: z.looseObject({ type: string, text }),
    }),
    z.looseObject({
      type: z.literal(['response.reasoning_text.delta', 'response.reasoning_summary_text.delta']),
      ...segment,
      delta: string,
    }),
    z.looseObject({
      type: z.literal(['response.reasoning_text.done', 'response.reasoning_summary_text.done']),
      ...segment,
      text: string,
    }),
    z.looseObject({
      type: z.literal('error'),
      ...numbered,
      message: text,
      code: z.nullish(z.union([string, number])),
      param: text,
      error: z.nullish(z.union([ResponsesError, string])),
    }),
  ]),
  z.literal('[DONE]'),
])
export type ResponsesStreamEvent = z.infer<typeof ResponsesStreamEvent>
