import type { WireLogprob } from '../../kit/response/logprobs.ts'
import type { AsSdk, Named } from '../../kit/schema/sdk-types.ts'
import type { Written } from '../../kit/schema/written.ts'
import type * as read from './schema.ts'

export type ResponsesMark = { mode?: string; ttl?: string }

export type ResponsesAnnotation =
  | { type: 'url_citation'; start_index: number; end_index: number; title: string; url: string }
  | { type: 'file_citation'; file_id: string; filename: string; index: number }
type Marked = { prompt_cache_breakpoint?: ResponsesMark | undefined }
type Texts =
  | ({ type: 'input_text'; text: string } & Marked)
  | {
      type: 'output_text'
      text: string
      annotations: ResponsesAnnotation[]
      logprobs?: WireLogprob<[]>[] | undefined
    }
  | Written<read.ResponsesRefusal>
export type ResponsesMedia =
  | (Omit<Written<read.ResponsesInputImage>, 'prompt_cache_breakpoint'> & Marked)
  | (Omit<Written<read.ResponsesInputFile>, 'prompt_cache_breakpoint'> & Marked)
  | Written<read.ResponsesInputAudio>

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
export type ResponsesWrittenCustom = Omit<Written<read.ResponsesCustomTool>, 'format'> & {
  format?: { type: 'text' } | { type: 'grammar'; syntax: string; definition: string } | undefined
}
export type ResponsesCallable = Written<read.ResponsesFunctionTool> | ResponsesWrittenCustom
/** Tools of the server are read as tools of any type. */
export type ResponsesHosted =
  | {
      type: 'web_search'
      filters?: { allowed_domains: string[] }
      search_context_size?: 'low' | 'medium' | 'high'
      user_location?: { type: 'approximate'; [part: string]: string }
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
  Written<read.ResponsesRequest>,
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
  'response.output_text.delta': PartPlace & { delta: string; logprobs: WireLogprob<[]>[] }
  'response.output_text.done': PartPlace & { text: string; logprobs: WireLogprob<[]>[] }
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
export type ResponsesWrittenEvent<Type extends ResponsesEventType = ResponsesEventType> = {
  [One in Type]: { type: One; sequence_number: number } & Payloads[One]
}[Type]

/** What the encoders of this protocol write. */
export type ResponsesWire = {
  request: ResponsesBody
  response: ResponsesWrittenResponse
  event: ResponsesWrittenEvent | '[DONE]'
  error: ResponsesErrorBody
}

// ---- as the official SDK has it: its words are those of today, and servers may send others

/** A request of responses that wireglot writes. */
export type ResponsesRequest = Named<Omit<AsSdk<ResponsesWire['request']>, 'input' | 'tools'>> & {
  input: SentItem[]
  tools?: SentTool[]
}

type SentPart<Type extends ResponsesWrittenContent['type']> = AsSdk<ResponsesContentOf<Type>>

type Status = 'in_progress' | 'completed' | 'incomplete'

type SentOf<Type extends ResponsesWrittenItem['type'], Key extends PropertyKey = never> = Omit<
  AsSdk<ResponsesItemOf<Type>>,
  Key | 'status'
> & { status?: Status }

type SentItem =
  | {
      type: 'message'
      role: 'user' | 'system' | 'developer'
      content: string | SentPart<'input_text' | 'input_image' | 'input_file'>[]
      id?: string
    }
  | {
      type: 'message'
      role: 'assistant'
      content: (SentText | SentPart<'refusal'>)[]
      id: string
      status: Status
      phase?: 'commentary' | 'final_answer' | null
    }
  | (SentOf<'reasoning', 'id'> & { id: string })
  | SentOf<'function_call'>
  | SentOf<'custom_tool_call'>
  | {
      type: 'function_call_output'
      call_id: string
      output: SentOutput
      id?: string
      status?: Status
    }
  | { type: 'custom_tool_call_output'; call_id: string; output: SentOutput; id?: string }
  | SentClientCall
  | SentClientResult

type SentCallable =
  | (Omit<AsSdk<Written<read.ResponsesFunctionTool>>, 'parameters' | 'strict'> & {
      parameters: { [key: string]: unknown } | null
      strict: boolean | null
    })
  | AsSdk<ResponsesWrittenCustom>

type SentTool =
  | SentCallable
  | { type: 'namespace'; name: string; description: string; tools: SentCallable[] }
  | ResponsesHosted

type SentText = Omit<SentPart<'output_text'>, 'logprobs'>

type SentOutput = string | SentPart<'input_text' | 'input_image' | 'input_file'>[]

/** A call of a tool that the client runs. */
type SentClientCall = { id: string; call_id: string } & (
  | {
      type: 'shell_call'
      status: Status
      action: { commands: string[]; timeout_ms: number | null; max_output_length: number | null }
      environment: { type: 'local' } | null
    }
  | {
      type: 'local_shell_call'
      status: Status
      action: { type: 'exec'; command: string[]; env: { [name: string]: string } }
    }
  | {
      type: 'apply_patch_call'
      status: 'in_progress' | 'completed'
      operation:
        | { type: 'create_file' | 'update_file'; path: string; diff: string }
        | { type: 'delete_file'; path: string }
    }
  | { type: 'tool_search_call'; status: Status; execution: 'client'; arguments: unknown }
)

type ShellOutput = {
  stdout: string
  stderr: string
  outcome: { type: 'timeout' } | { type: 'exit'; exit_code: number }
}

type SentClientResult =
  | { type: 'shell_call_output'; call_id: string; output: ShellOutput[] }
  | { type: 'local_shell_call_output'; id: string; output: string }
  | {
      type: 'apply_patch_call_output'
      call_id: string
      status: 'completed' | 'failed'
      output: string
    }
  | { type: 'tool_search_output'; call_id: string; execution: 'client'; tools: SentTool[] }

type ReceivedItem =
  | {
      type: 'message'
      role: 'assistant'
      content: ReceivedPart[]
      id: string
      status: Status
      phase?: 'commentary' | 'final_answer' | null
    }
  | (SentOf<'reasoning', 'id'> & { id: string })
  | SentOf<'function_call'>
  | SentOf<'custom_tool_call'>
  | SentClientCall
  | {
      type: 'image_generation_call'
      id: string
      status: 'in_progress' | 'generating' | 'completed' | 'failed'
      result: string
      output_format?: string
    }

type ReceivedText = Omit<SentPart<'output_text'>, 'annotations' | 'logprobs'> & {
  annotations: ResponsesAnnotation[]
  logprobs?: ReceivedLogprob[]
}

type Token = { token: string; bytes: number[]; logprob: number }
type ReceivedLogprob = Token & { top_logprobs: Token[] }

/** A complete response, without `output_text`, which the SDK computes. */
type ReceivedResponse = Omit<
  ResponsesWire['response'],
  'incomplete_details' | 'error' | 'output' | 'service_tier' | 'status' | 'usage'
> & {
  output: ReceivedItem[]
  /** Null until the response is complete, which the type of the SDK leaves out. */
  usage?: AsSdk<ResponsesWrittenUsage>
  error: { code: ReceivedCode; message: string } | null
  incomplete_details: { reason?: 'max_output_tokens' | 'content_filter' } | null
  metadata: { [key: string]: string } | null
  parallel_tool_calls: boolean
  service_tier: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | null
  status: Status | 'failed' | 'cancelled' | 'queued'
  temperature: number | null
  top_p: number | null
  /** As in the request. */
  instructions: string | SentItem[] | null
  tool_choice: ReceivedChoice
  tools: SentTool[]
}

type ReceivedCode =
  | 'server_error'
  | 'rate_limit_exceeded'
  | 'invalid_prompt'
  | 'data_residency_mismatch'
  | 'bio_policy'
  | 'vector_store_timeout'

type ReceivedChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { type: 'function' | 'custom'; name: string }
  | { type: 'code_interpreter' }
  | { type: 'mcp'; server_label: string }
  | { type: 'allowed_tools'; mode: 'auto' | 'required'; tools: { [key: string]: unknown }[] }

type ReceivedPart = ReceivedText | SentPart<'refusal'>

type NamedPart<Event> = Event extends { type: `response.reasoning_summary_part.${string}` }
  ? ResponsesSegment<'summary_text'>
  : ReceivedPart | ResponsesSegment<'reasoning_text'>

/** The snapshots in events have `output_text` only in the types of the SDK. */
type ReceivedField<Event, Key extends keyof Event> = Key extends 'response'
  ? ReceivedResponse & { output_text: string }
  : Key extends 'item'
    ? ReceivedItem
    : Key extends 'part'
      ? NamedPart<Event>
      : Key extends keyof Indexed
        ? Indexed[Key]
        : Event[Key]

/** Each event counts in its own list: of a summary, or of the content. */
type Misplaced =
  | { type: `response.${'content_part' | 'reasoning_text'}.${string}`; summary_index: number }
  | { type: `response.reasoning_summary_${string}`; content_index: number }

type Indexed = { item_id: string; output_index: number; logprobs: ReceivedLogprob[] }

type ReceivedOf<Event> = Event extends Misplaced
  ? never
  : Event extends { type: string }
    ? { [Key in keyof Event]: ReceivedField<Event, Key> }
    : Event

type ReceivedEvent = ReceivedOf<ResponsesWire['event']>

/** A complete response of responses that wireglot writes, or the body of an error. */
export type ResponsesResponse = ReceivedResponse | ResponsesWire['error']

/** The data of an event of responses that wireglot writes. */
export type ResponsesEvent = ReceivedEvent

/** The body of an error of responses. */
export type ResponsesError = ResponsesWire['error']

/**
 * The bodies of this protocol as the official SDK has them, but for the event `error`, whose fields
 * it expects outside of `error`.
 */
export type ResponsesSdk = {
  request: ResponsesRequest
  response: ResponsesResponse
  event: ResponsesEvent
  error: ResponsesError
}
