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
import type { Written } from '../../kit/schema/written.ts'

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

// ---- what is written

export type ResponsesMark = { mode?: string; ttl?: string }

export type ResponsesAnnotation =
  | { type: 'url_citation'; start_index: number; end_index: number; title: string; url: string }
  | { type: 'file_citation'; file_id: string; filename: string; index: number }
type Token = { token: string; bytes?: number[]; logprob: number }
export type ResponsesToken = Token & { top_logprobs?: Token[] }

type Marked = { prompt_cache_breakpoint?: ResponsesMark | undefined }
type Texts =
  | ({ type: 'input_text'; text: string } & Marked)
  | {
      type: 'output_text'
      text: string
      annotations: ResponsesAnnotation[]
      logprobs?: ResponsesToken[] | undefined
    }
  | Written<ResponsesRefusal>
export type ResponsesMedia =
  | (Omit<Written<ResponsesInputImage>, 'prompt_cache_breakpoint'> & Marked)
  | (Omit<Written<ResponsesInputFile>, 'prompt_cache_breakpoint'> & Marked)
  | Written<ResponsesInputAudio>

/** A part of a message or of a result. */
export type ResponsesWrittenContent = Texts | ResponsesMedia
export type ResponsesContentOf<Type extends ResponsesWrittenContent['type']> = Extract<
  ResponsesWrittenContent,
  { type: Type }
>

/** A segment of reasoning. */
export type ResponsesSegment<Type extends string = 'summary_text' | 'reasoning_text'> = {
  type: Type
  text: string
}

type Head = { id?: string | undefined; status?: string | undefined }
type Call = Head & {
  call_id: string
  name: string
  namespace?: string | undefined
  caller?: unknown
  async?: boolean | undefined
}
type Result = Head & {
  call_id: string
  name?: string | undefined
  namespace?: string | undefined
  output: string | ResponsesWrittenContent[]
  caller?: unknown
}
/** Calls of tools of the client, and their results. */
type ClientCall = {
  type: 'shell_call' | 'local_shell_call' | 'apply_patch_call' | 'tool_search_call'
  call_id: string
  action?: object
  environment?: object
  operation?: object
  execution?: 'client'
  arguments?: unknown
}
type ClientResult =
  | { type: 'tool_search_output'; call_id: string; execution: 'client'; tools: never[] }
  | { type: 'local_shell_call_output'; id: string; output: string }
  | { type: 'apply_patch_call_output'; call_id: string; output: string }
  | { type: 'shell_call_output'; call_id: string; output: unknown[] }

/** An item of an input or output. */
export type ResponsesWrittenItem =
  | (Head & {
      type: 'message'
      role: 'user' | 'assistant' | 'system' | 'developer'
      content: string | ResponsesWrittenContent[]
      phase?: 'commentary' | 'final_answer' | null | undefined
    })
  | (Head & {
      type: 'reasoning'
      summary: ResponsesSegment<'summary_text'>[]
      content?: ResponsesSegment<'reasoning_text'>[] | undefined
      encrypted_content?: string | undefined
    })
  | (Call & { type: 'function_call'; arguments: string })
  | (Call & { type: 'custom_tool_call'; input: string })
  | (Result & { type: 'function_call_output' | 'custom_tool_call_output' })
  | (Head & { type: 'image_generation_call'; result: string; output_format?: string })
  | (Head & { type: 'additional_tools'; role: 'developer'; tools: ResponsesWrittenTool[] })
  | (Head & { type: 'configuration_update'; reasoning: { effort: string } })
  | ResponsesClientCall
  | ResponsesClientResult
export type ResponsesItemOf<Type extends ResponsesWrittenItem['type']> = Extract<
  ResponsesWrittenItem,
  { type: Type }
>

export type ResponsesClientCall = Head & ClientCall
export type ResponsesClientResult = Head & ClientResult

/** A tool that the client runs. */
export type ResponsesWrittenCustom = Omit<Written<ResponsesCustomTool>, 'format'> & {
  format?: { type: 'text' } | { type: 'grammar'; syntax: string; definition: string } | undefined
}
export type ResponsesCallable = Written<ResponsesFunctionTool> | ResponsesWrittenCustom
/** Tools of the server are read as tools of any type. */
export type ResponsesHosted =
  | {
      type: 'web_search'
      filters?: { allowed_domains: string[] }
      search_context_size?: string
      user_location?: object
    }
  | { type: 'code_interpreter'; container: { type: 'auto' } }
  | { type: 'tool_search' }
  | {
      type: 'mcp'
      server_label: string
      server_url: string
      authorization?: string
      allowed_tools?: string[]
      defer_loading?: boolean
      require_approval?: 'never'
    }
export type ResponsesWrittenTool =
  | ResponsesCallable
  | ResponsesHosted
  | { type: 'namespace'; name: string; description: string; tools: ResponsesWrittenTool[] }

export type ResponsesNamed = { type: 'function' | 'custom'; name: string; namespace?: string }
export type ResponsesChosen = ResponsesNamed | { type: ResponsesHosted['type'] }
export type ResponsesWrittenChoice =
  | 'auto'
  | 'none'
  | 'required'
  | ResponsesChosen
  | { type: 'allowed_tools'; mode: 'auto' | 'required'; tools: ResponsesChosen[] }

export type ResponsesFormat =
  | { type: 'text' | 'json_object' }
  | {
      type: 'json_schema'
      name: string
      description?: string | undefined
      schema: object
      strict?: boolean | null | undefined
    }

/** The body of a request. */
export type ResponsesBody = Omit<
  Written<ResponsesRequest>,
  'input' | 'tools' | 'tool_choice' | 'text' | 'reasoning' | 'prompt_cache_options'
> & {
  input: ResponsesWrittenItem[]
  tools?: ResponsesWrittenTool[] | undefined
  tool_choice?: ResponsesWrittenChoice | undefined
  text?: { format?: ResponsesFormat | undefined; verbosity?: string } | undefined
  reasoning?:
    | { effort?: string | undefined; summary?: string | undefined; context?: string; mode?: string }
    | undefined
  prompt_cache_options?: { mode?: string; ttl?: string; comparison_response_id?: string }
}

export type ResponsesWrittenUsage = {
  input_tokens: number
  input_tokens_details: {
    cached_tokens: number
    cache_write_tokens: number
    cache_write_tokens_details?: { ttl_30m_tokens?: number; ttl_12h_tokens?: number }
  }
  output_tokens: number
  output_tokens_details: { reasoning_tokens: number }
  total_tokens: number
}

/** The error of a failed response. */
export type ResponsesFailure = { code: string; message: string }

/** A response, and the snapshots in stream events. They also repeat fields of the request. */
export type ResponsesWrittenResponse = {
  object: 'response'
  id: string
  created_at: number
  model: string
  status: string
  output: ResponsesWrittenItem[]
  service_tier: string
  completed_at: number | null
  error: ResponsesFailure | null
  /** Those of another response are written as they were. */
  incomplete_details: unknown
  usage: ResponsesWrittenUsage | null
}

export type ResponsesErrorObject = {
  message: string
  type: string
  param: string | null
  code: string | null
}
/** The body of an error. */
export type ResponsesErrorBody = { error: ResponsesErrorObject }

export type ResponsesPlace = { item_id: string | undefined; output_index: number | undefined }
/** The place of a segment: in the summary or in the content. */
export type ResponsesSegmentPlace = ResponsesPlace &
  ({ summary_index: number } | { content_index: number })
type PartPlace = ResponsesPlace & { content_index: number }

type Payloads = {
  [Type in
    | 'created'
    | 'in_progress'
    | 'completed'
    | 'incomplete'
    | 'failed' as `response.${Type}`]: { response: ResponsesWrittenResponse }
} & {
  [Type in 'added' | 'done' as `response.output_item.${Type}`]: {
    output_index: number
    item: ResponsesWrittenItem
  }
} & {
  [Type in 'added' | 'done' as `response.content_part.${Type}`]: (
    | PartPlace
    | ResponsesSegmentPlace
  ) & { part: ResponsesWrittenContent | ResponsesSegment }
} & {
  [Type in 'added' | 'done' as `response.reasoning_summary_part.${Type}`]: ResponsesSegmentPlace & {
    part: ResponsesSegment
  }
} & {
  [Type in
    | 'reasoning_text'
    | 'reasoning_summary_text' as `response.${Type}.delta`]: ResponsesSegmentPlace & {
    delta: string
  }
} & {
  [Type in
    | 'reasoning_text'
    | 'reasoning_summary_text' as `response.${Type}.done`]: ResponsesSegmentPlace & { text: string }
} & {
  [Type in
    | 'function_call_arguments'
    | 'custom_tool_call_input' as `response.${Type}.delta`]: ResponsesPlace & { delta: string }
} & {
  'response.function_call_arguments.done': ResponsesPlace & { name: string; arguments: string }
  'response.custom_tool_call_input.done': ResponsesPlace & { input: string }
  'response.output_text.delta': PartPlace & { delta: string; logprobs: ResponsesToken[] }
  'response.output_text.done': PartPlace & { text: string; logprobs: ResponsesToken[] }
  'response.output_text.annotation.added': PartPlace & {
    annotation_index: number
    annotation: ResponsesAnnotation
  }
  'response.refusal.delta': PartPlace & { delta: string }
  'response.refusal.done': PartPlace & { refusal: string }
  error: ResponsesErrorBody
}
export type ResponsesEventType = keyof Payloads
/** An event without its type and number. */
export type ResponsesPayload<Type extends ResponsesEventType> = Payloads[Type]
/** An event of a stream. */
export type ResponsesEvent<Type extends ResponsesEventType = ResponsesEventType> = {
  [One in Type]: { type: One; sequence_number: number } & Payloads[One]
}[Type]

/** What the encoders of this protocol write. */
export type ResponsesWire = {
  request: ResponsesBody
  response: ResponsesWrittenResponse
  event: ResponsesEvent | '[DONE]'
  error: ResponsesErrorBody
}
