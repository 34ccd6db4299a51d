import type OpenAI from 'openai'
import { describe } from 'vitest'
import type * as ours from '../../src/protocols/responses/schema.ts'
import {
  type Apart,
  accepts,
  type Beyond,
  type BeyondWords,
  type Modelled,
  read,
  reasonsHold,
  type Shaped,
  type Undeclared,
  type Wider,
  type Words,
} from './support.ts'

// The whole shapes first: whatever the official SDK sends or receives, the schema reads.
accepts<
  Omit<ours.ResponsesRequest, 'input'>,
  Omit<OpenAI.Responses.ResponseCreateParams, 'input'>
>()
accepts<ours.ResponsesResponse, OpenAI.Responses.Response>()
accepts<
  ours.ResponsesItem,
  Apart<OpenAI.Responses.ResponseInputItem | OpenAI.Responses.ResponseOutputItem>
>()
accepts<
  Shaped<ours.ResponsesItem>,
  Modelled<
    OpenAI.Responses.ResponseInputItem | OpenAI.Responses.ResponseOutputItem,
    ours.ResponsesItem
  >
>()
accepts<
  Shaped<ours.ResponsesContent>,
  Modelled<
    OpenAI.Responses.ResponseInputContent | OpenAI.Responses.ResponseContent,
    ours.ResponsesContent
  >
>()
accepts<Shaped<ours.ResponsesTool>, Modelled<OpenAI.Responses.Tool, ours.ResponsesTool>>()

const open = 'a word of a list that grows: any is read'
const apart = 'what it holds is read without a schema'
const kept = 'unknown to the codec: kept within the protocol, noted elsewhere'
const progress = 'one of the events that report the progress of a tool'
const dialect = 'other servers of this shape send it'
const older = 'an earlier version of the protocol has it'
const shared = 'one shape reads several kinds, of which this is one'
const echo = 'the response repeats the request, whose shape has it'

/**
 * The SDK's types with a discriminator, and what is read without a schema. A new one does not
 * compile until it is listed here.
 */
const words = {
  items: {
    additional_tools: read,
    apply_patch_call: read,
    apply_patch_call_output: read,
    code_interpreter_call: read,
    compaction: read,
    compaction_trigger: read,
    computer_call: read,
    computer_call_output: read,
    custom_tool_call: read,
    custom_tool_call_output: read,
    file_search_call: read,
    function_call: read,
    function_call_output: read,
    image_generation_call: read,
    item_reference: read,
    local_shell_call: read,
    local_shell_call_output: read,
    mcp_approval_request: read,
    mcp_approval_response: read,
    mcp_call: read,
    mcp_list_tools: read,
    message: read,
    program: read,
    program_output: read,
    reasoning: read,
    shell_call: read,
    shell_call_output: read,
    tool_search_call: read,
    tool_search_output: read,
    web_search_call: read,
  } satisfies Record<
    Words<OpenAI.Responses.ResponseInputItem | OpenAI.Responses.ResponseOutputItem>,
    string
  >,
  contents: {
    input_file: read,
    input_image: read,
    input_text: read,
    output_text: 'the SDK makes it, it is on no wire',
    reasoning_text: read,
    refusal: read,
  } satisfies Record<
    Words<
      | OpenAI.Responses.ResponseInputContent
      | OpenAI.Responses.ResponseOutputMessage['content'][number]
      | OpenAI.Responses.ResponseContent
    >,
    string
  >,
  annotations: {
    container_file_citation: read,
    file_citation: read,
    file_path: read,
    url_citation: read,
  } satisfies Record<Words<OpenAI.Responses.ResponseOutputText['annotations'][number]>, string>,
  tools: {
    apply_patch: read,
    code_interpreter: read,
    computer: read,
    computer_use_preview: read,
    custom: read,
    file_search: read,
    function: read,
    image_generation: read,
    local_shell: read,
    mcp: read,
    namespace: read,
    programmatic_tool_calling: read,
    shell: read,
    tool_search: read,
    web_search: read,
    web_search_2025_08_26: read,
    web_search_preview: read,
    web_search_preview_2025_03_11: read,
  } satisfies Record<Words<OpenAI.Responses.Tool>, string>,
  choices: {
    allowed_tools: read,
    apply_patch: read,
    code_interpreter: read,
    computer: read,
    computer_use: read,
    computer_use_preview: read,
    custom: read,
    file_search: read,
    function: read,
    image_generation: read,
    mcp: read,
    programmatic_tool_calling: read,
    shell: read,
    web_search_preview: read,
    web_search_preview_2025_03_11: read,
  } satisfies Record<
    Words<Exclude<NonNullable<OpenAI.Responses.ResponseCreateParams['tool_choice']>, string>>,
    string
  >,
  formats: { json_object: read, json_schema: read, text: read } satisfies Record<
    Words<OpenAI.Responses.ResponseFormatTextConfig>,
    string
  >,
  events: {
    error: read,
    'response.audio.delta': kept,
    'response.audio.done': kept,
    'response.audio.transcript.delta': kept,
    'response.audio.transcript.done': kept,
    'response.code_interpreter_call.completed': progress,
    'response.code_interpreter_call.in_progress': progress,
    'response.code_interpreter_call.interpreting': progress,
    'response.code_interpreter_call_code.delta': progress,
    'response.code_interpreter_call_code.done': progress,
    'response.completed': read,
    'response.content_part.added': read,
    'response.content_part.done': read,
    'response.created': read,
    'response.custom_tool_call_input.delta': read,
    'response.custom_tool_call_input.done': read,
    'response.failed': read,
    'response.file_search_call.completed': progress,
    'response.file_search_call.in_progress': progress,
    'response.file_search_call.searching': progress,
    'response.function_call_arguments.delta': read,
    'response.function_call_arguments.done': read,
    'response.image_generation_call.completed': progress,
    'response.image_generation_call.generating': progress,
    'response.image_generation_call.in_progress': progress,
    'response.image_generation_call.partial_image': progress,
    'response.in_progress': read,
    'response.incomplete': read,
    'response.mcp_call.completed': progress,
    'response.mcp_call.failed': progress,
    'response.mcp_call.in_progress': progress,
    'response.mcp_call_arguments.delta': progress,
    'response.mcp_call_arguments.done': progress,
    'response.mcp_list_tools.completed': progress,
    'response.mcp_list_tools.failed': progress,
    'response.mcp_list_tools.in_progress': progress,
    'response.output_item.added': read,
    'response.output_item.done': read,
    'response.output_text.annotation.added': read,
    'response.output_text.delta': read,
    'response.output_text.done': read,
    'response.queued': read,
    'response.reasoning_summary_part.added': read,
    'response.reasoning_summary_part.done': read,
    'response.reasoning_summary_text.delta': read,
    'response.reasoning_summary_text.done': read,
    'response.reasoning_text.delta': read,
    'response.reasoning_text.done': read,
    'response.refusal.delta': read,
    'response.refusal.done': read,
    'response.web_search_call.completed': progress,
    'response.web_search_call.in_progress': progress,
    'response.web_search_call.searching': progress,
  } satisfies Record<Words<OpenAI.Responses.ResponseStreamEvent>, string>,
}

/** Fields that only the SDK has. */
const undeclared = {
  request: {} satisfies Undeclared<OpenAI.Responses.ResponseCreateParams, ours.ResponsesRequest>,
  response: { output_text: 'the SDK makes it, it is on no wire' } satisfies Undeclared<
    OpenAI.Responses.Response,
    ours.ResponsesResponse & ours.ResponsesRequest
  >,
  usage: {} satisfies Undeclared<OpenAI.Responses.ResponseUsage, ours.ResponsesUsage>,
  inputDetails: {} satisfies Undeclared<
    OpenAI.Responses.ResponseUsage['input_tokens_details'],
    NonNullable<ours.ResponsesUsage['input_tokens_details']>
  >,
  outputDetails: {} satisfies Undeclared<
    OpenAI.Responses.ResponseUsage['output_tokens_details'],
    NonNullable<ours.ResponsesUsage['output_tokens_details']>
  >,
  reasoning: {} satisfies Undeclared<
    OpenAI.Reasoning,
    NonNullable<ours.ResponsesRequest['reasoning']>
  >,
  text: {} satisfies Undeclared<
    OpenAI.Responses.ResponseTextConfig,
    NonNullable<ours.ResponsesRequest['text']>
  >,
  reasoningItem: {} satisfies Undeclared<
    OpenAI.Responses.ResponseReasoningItem,
    ours.ResponsesReasoning
  >,
  message: {} satisfies Undeclared<
    | OpenAI.Responses.ResponseOutputMessage
    | OpenAI.Responses.ResponseInputItem.Message
    | OpenAI.Responses.EasyInputMessage,
    Extract<ours.ResponsesItem, { type: 'message' }>
  >,
  call: { caller: read } satisfies Undeclared<
    OpenAI.Responses.ResponseFunctionToolCall,
    Extract<ours.ResponsesItem, { type: 'function_call' }>
  >,
  customCall: { caller: read } satisfies Undeclared<
    OpenAI.Responses.ResponseCustomToolCall,
    Extract<ours.ResponsesItem, { type: 'custom_tool_call' }>
  >,
  callOutput: { caller: read } satisfies Undeclared<
    OpenAI.Responses.ResponseInputItem.FunctionCallOutput,
    Extract<ours.ResponsesItem, { type: 'function_call_output' }>
  >,
  customOutput: { caller: read } satisfies Undeclared<
    OpenAI.Responses.ResponseCustomToolCallOutput,
    Extract<ours.ResponsesItem, { type: 'custom_tool_call_output' }>
  >,
  functionTool: {} satisfies Undeclared<OpenAI.Responses.FunctionTool, ours.ResponsesFunctionTool>,
  customTool: {} satisfies Undeclared<OpenAI.Responses.CustomTool, ours.ResponsesCustomTool>,
  namespaceTool: {} satisfies Undeclared<
    OpenAI.Responses.NamespaceTool,
    ours.ResponsesNamespaceTool
  >,
  outputText: {} satisfies Undeclared<
    OpenAI.Responses.ResponseOutputText,
    ours.ResponsesOutputText
  >,
  inputText: {} satisfies Undeclared<OpenAI.Responses.ResponseInputText, ours.ResponsesInputText>,
  image: {} satisfies Undeclared<OpenAI.Responses.ResponseInputImage, ours.ResponsesInputImage>,
  file: {} satisfies Undeclared<OpenAI.Responses.ResponseInputFile, ours.ResponsesInputFile>,
  error: {} satisfies Undeclared<OpenAI.Responses.ResponseError, ours.ResponsesError>,
}

/** Words and fields that only our schema has. */
const beyond = {
  contents: { input_audio: dialect, text: dialect } satisfies BeyondWords<
    | OpenAI.Responses.ResponseInputContent
    | OpenAI.Responses.ResponseOutputMessage['content'][number]
    | OpenAI.Responses.ResponseContent,
    ours.ResponsesContent
  >,
  request: {
    frequency_penalty: dialect,
    max_tool_calls: older,
    presence_penalty: dialect,
  } satisfies Beyond<OpenAI.Responses.ResponseCreateParams, ours.ResponsesRequest>,
  response: {
    context_management: echo,
    frequency_penalty: echo,
    include: echo,
    input: echo,
    max_tool_calls: echo,
    presence_penalty: echo,
    store: echo,
    stream: echo,
    stream_options: echo,
  } satisfies Beyond<OpenAI.Responses.Response, ours.ResponsesResponse & ours.ResponsesRequest>,
  usage: {} satisfies Beyond<OpenAI.Responses.ResponseUsage, ours.ResponsesUsage>,
  inputDetails: { cache_write_tokens_details: dialect } satisfies Beyond<
    OpenAI.Responses.ResponseUsage['input_tokens_details'],
    NonNullable<ours.ResponsesUsage['input_tokens_details']>
  >,
  outputDetails: {} satisfies Beyond<
    OpenAI.Responses.ResponseUsage['output_tokens_details'],
    NonNullable<ours.ResponsesUsage['output_tokens_details']>
  >,
  reasoning: {} satisfies Beyond<OpenAI.Reasoning, NonNullable<ours.ResponsesRequest['reasoning']>>,
  text: {} satisfies Beyond<
    OpenAI.Responses.ResponseTextConfig,
    NonNullable<ours.ResponsesRequest['text']>
  >,
  reasoningItem: {} satisfies Beyond<
    OpenAI.Responses.ResponseReasoningItem,
    ours.ResponsesReasoning
  >,
  message: {} satisfies Beyond<
    | OpenAI.Responses.ResponseOutputMessage
    | OpenAI.Responses.ResponseInputItem.Message
    | OpenAI.Responses.EasyInputMessage,
    Extract<ours.ResponsesItem, { type: 'message' }>
  >,
  call: { async: dialect } satisfies Beyond<
    OpenAI.Responses.ResponseFunctionToolCall,
    Extract<ours.ResponsesItem, { type: 'function_call' }>
  >,
  customCall: { async: dialect, status: shared } satisfies Beyond<
    OpenAI.Responses.ResponseCustomToolCall,
    Extract<ours.ResponsesItem, { type: 'custom_tool_call' }>
  >,
  callOutput: { name: shared, namespace: shared } satisfies Beyond<
    OpenAI.Responses.ResponseInputItem.FunctionCallOutput,
    Extract<ours.ResponsesItem, { type: 'function_call_output' }>
  >,
  customOutput: { name: shared, namespace: shared, status: shared } satisfies Beyond<
    OpenAI.Responses.ResponseCustomToolCallOutput,
    Extract<ours.ResponsesItem, { type: 'custom_tool_call_output' }>
  >,
  functionTool: { async: dialect } satisfies Beyond<
    OpenAI.Responses.FunctionTool,
    ours.ResponsesFunctionTool
  >,
  customTool: { async: dialect } satisfies Beyond<
    OpenAI.Responses.CustomTool,
    ours.ResponsesCustomTool
  >,
  namespaceTool: {} satisfies Beyond<OpenAI.Responses.NamespaceTool, ours.ResponsesNamespaceTool>,
  outputText: {} satisfies Beyond<OpenAI.Responses.ResponseOutputText, ours.ResponsesOutputText>,
  inputText: {} satisfies Beyond<OpenAI.Responses.ResponseInputText, ours.ResponsesInputText>,
  image: {} satisfies Beyond<OpenAI.Responses.ResponseInputImage, ours.ResponsesInputImage>,
  file: {} satisfies Beyond<OpenAI.Responses.ResponseInputFile, ours.ResponsesInputFile>,
  error: { param: dialect, type: dialect } satisfies Beyond<
    OpenAI.Responses.ResponseError,
    ours.ResponsesError
  >,
}

/**
 * Where our schema takes more than the SDK would: what a codec reads leniently, and writes as the
 * SDK has it.
 */
const wider = {
  request: {
    context_management: apart,
    conversation: apart,
    include: open,
    moderation: apart,
    prompt: apart,
    'prompt_cache_options.mode': open,
    'prompt_cache_options.ttl': open,
    prompt_cache_retention: open,
    'reasoning.context': open,
    'reasoning.effort': open,
    'reasoning.generate_summary': open,
    'reasoning.summary': open,
    service_tier: open,
    'text.format.type': open,
    'text.verbosity': open,
    tool_choice: open,
    'tool_choice.type': open,
    truncation: open,
  } satisfies Wider<ours.ResponsesRequest, OpenAI.Responses.ResponseCreateParams>,
  response: {
    error: dialect,
    'error.code': open,
    'incomplete_details.reason': open,
    object: open,
    service_tier: open,
    status: open,
  } satisfies Wider<ours.ResponsesResponse, OpenAI.Responses.Response>,
  input: { content: dialect, phase: open, role: dialect, status: open } satisfies Wider<
    Shaped<ours.ResponsesItem>,
    OpenAI.Responses.ResponseInputItem
  >,
  output: { content: dialect, phase: open, role: dialect, status: open } satisfies Wider<
    Shaped<ours.ResponsesItem>,
    OpenAI.Responses.ResponseOutputItem
  >,
  content: { detail: open, 'prompt_cache_breakpoint.mode': open, type: dialect } satisfies Wider<
    Shaped<ours.ResponsesContent>,
    | OpenAI.Responses.ResponseInputContent
    | OpenAI.Responses.ResponseOutputMessage['content'][number]
    | OpenAI.Responses.ResponseContent
  >,
  tool: { allowed_callers: open, 'format.type': open, output_schema: apart } satisfies Wider<
    Shaped<ours.ResponsesTool>,
    OpenAI.Responses.Tool
  >,
}

describe('responses and the official SDK', () =>
  reasonsHold('responses', { ...words, ...undeclared }, beyond, wider))
