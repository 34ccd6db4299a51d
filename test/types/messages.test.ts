import type Anthropic from '@anthropic-ai/sdk'
import { describe } from 'vitest'
import type * as ours from '../../src/protocols/messages/schema.ts'
import {
  accepts,
  type Beyond,
  type Keys,
  type Modelled,
  read,
  reasonsHold,
  type Undeclared,
  type Wider,
  type Words,
} from './support.ts'

// The whole shapes first: whatever the official SDK sends or receives, the schema reads.
accepts<ours.MessagesRequest, Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams>()
accepts<ours.MessagesResponse, Anthropic.Message | Anthropic.Beta.BetaMessage>()
accepts<
  ours.MessagesBlock,
  Modelled<
    Anthropic.ContentBlockParam | Anthropic.ContentBlock | Anthropic.Beta.BetaContentBlockParam,
    ours.MessagesBlock
  >
>()
accepts<ours.MessagesTool, Anthropic.Tool | Anthropic.Beta.BetaTool>()

const open = 'a word of a list that grows: any is read'
const apart = 'what it holds is read without a schema'
const kept = 'unknown to the codec: kept within the protocol, noted elsewhere'
const dated = 'a family of tools that is read by the beginning of its name'
const older = 'an earlier version of the protocol has it'
const shared = 'one shape reads several kinds, of which this is one'

/**
 * The SDK's types with a discriminator, and what is read without a schema. A new one does not
 * compile until it is listed here.
 */
const words = {
  blocks: {
    advisor_tool_result: read,
    bash_code_execution_tool_result: read,
    code_execution_tool_result: read,
    compaction: read,
    container_upload: read,
    document: read,
    fallback: read,
    image: read,
    mcp_tool_listing: read,
    mcp_tool_result: read,
    mcp_tool_use: read,
    redacted_thinking: read,
    search_result: read,
    server_tool_use: read,
    text: read,
    text_editor_code_execution_tool_result: read,
    thinking: read,
    tool_addition: read,
    tool_removal: read,
    tool_result: read,
    tool_search_tool_result: read,
    tool_use: read,
    web_fetch_tool_result: read,
    web_search_tool_result: read,
  } satisfies Record<
    Words<
      | Anthropic.ContentBlockParam
      | Anthropic.ContentBlock
      | Anthropic.Beta.BetaContentBlockParam
      | Anthropic.Beta.BetaContentBlock
    >,
    string
  >,
  sources: { base64: read, content: read, file: read, text: read, url: read } satisfies Record<
    Words<
      | Anthropic.ImageBlockParam['source']
      | Anthropic.DocumentBlockParam['source']
      | Anthropic.Beta.BetaImageBlockParam['source']
      | Anthropic.Beta.BetaRequestDocumentBlock['source']
    >,
    string
  >,
  citations: {
    char_location: read,
    content_block_location: read,
    page_location: read,
    search_result_location: read,
    web_search_result_location: read,
  } satisfies Record<
    Words<
      | Anthropic.TextCitation
      | Anthropic.TextCitationParam
      | Anthropic.Beta.BetaTextCitation
      | Anthropic.Beta.BetaTextCitationParam
    >,
    string
  >,
  tools: {
    advisor_20260301: dated,
    bash_20241022: dated,
    bash_20250124: dated,
    browser_toolset_20260801: dated,
    code_execution_20250522: dated,
    code_execution_20250825: read,
    code_execution_20260120: dated,
    code_execution_20260521: dated,
    computer_20241022: dated,
    computer_20250124: dated,
    computer_20251124: dated,
    computer_toolset_20260801: dated,
    custom: read,
    mcp_toolset: read,
    memory_20250818: dated,
    text_editor_20241022: dated,
    text_editor_20250124: dated,
    text_editor_20250429: dated,
    text_editor_20250728: dated,
    tool_search_tool_bm25: read,
    tool_search_tool_bm25_20251119: read,
    tool_search_tool_regex: read,
    tool_search_tool_regex_20251119: dated,
    web_fetch_20250910: read,
    web_fetch_20260209: dated,
    web_fetch_20260309: dated,
    web_fetch_20260318: dated,
    web_search_20250305: read,
    web_search_20260209: dated,
    web_search_20260318: dated,
  } satisfies Record<Words<Anthropic.ToolUnion | Anthropic.Beta.BetaToolUnion>, string>,
  choices: { any: read, auto: read, none: read, tool: read } satisfies Record<
    Words<Anthropic.ToolChoice | Anthropic.Beta.BetaToolChoice>,
    string
  >,
  thinkings: {
    adaptive: read,
    between_tools: read,
    disabled: read,
    enabled: read,
  } satisfies Record<
    Words<Anthropic.ThinkingConfigParam | Anthropic.Beta.BetaThinkingConfigParam>,
    string
  >,
  deltas: {
    citations_delta: read,
    compaction_delta: read,
    input_json_delta: read,
    signature_delta: read,
    text_delta: read,
    thinking_delta: read,
  } satisfies Record<
    Words<Anthropic.RawContentBlockDelta | Anthropic.Beta.BetaRawContentBlockDelta>,
    string
  >,
  events: {
    content_block_delta: read,
    content_block_start: read,
    content_block_stop: read,
    message_delta: read,
    message_start: read,
    message_stop: read,
  } satisfies Record<
    Words<Anthropic.RawMessageStreamEvent | Anthropic.Beta.BetaRawMessageStreamEvent>,
    string
  >,
  delta: {
    container: read,
    stop_details: read,
    stop_reason: read,
    stop_sequence: read,
  } satisfies Record<
    Keys<
      Anthropic.RawMessageDeltaEvent['delta'] | Anthropic.Beta.BetaRawMessageDeltaEvent['delta']
    >,
    string
  >,
}

/** Fields that only the SDK has. */
const undeclared = {
  request: {
    betas: 'the SDK sends it as a header',
    billing_policy: kept,
    compaction: read,
    container: read,
    context_management: read,
    diagnostics: read,
    fallback_credit_token: kept,
    fallbacks: kept,
    inference_geo: read,
    mcp_servers: read,
    thread: read,
    user_profile_id: kept,
    workspace_id: kept,
  } satisfies Undeclared<
    Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams,
    ours.MessagesRequest
  >,
  response: {
    container: read,
    context_management: read,
    diagnostics: read,
    input_transformations: read,
  } satisfies Undeclared<Anthropic.Message | Anthropic.Beta.BetaMessage, ours.MessagesResponse>,
  usage: {
    fallback_credit: kept,
    inference_geo: read,
    iterations: kept,
    speed: read,
  } satisfies Undeclared<
    Anthropic.Usage | Anthropic.Beta.BetaUsage,
    NonNullable<ours.MessagesResponse['usage']>
  >,
  deltaUsage: { fallback_credit: kept, iterations: kept } satisfies Undeclared<
    Anthropic.MessageDeltaUsage | Anthropic.Beta.BetaMessageDeltaUsage,
    NonNullable<ours.MessagesResponse['usage']>
  >,
  message: { clear_at: kept, output_config: read } satisfies Undeclared<
    Anthropic.MessageParam | Anthropic.Beta.BetaMessageParam,
    ours.MessagesMessage
  >,
  text: {} satisfies Undeclared<
    | Anthropic.TextBlockParam
    | Anthropic.TextBlock
    | Anthropic.Beta.BetaTextBlockParam
    | Anthropic.Beta.BetaTextBlock,
    ours.MessagesBlockOf<'text'>
  >,
  image: { transformations: kept } satisfies Undeclared<
    Anthropic.ImageBlockParam | Anthropic.Beta.BetaImageBlockParam,
    ours.MessagesBlockOf<'image'>
  >,
  document: {} satisfies Undeclared<
    Anthropic.DocumentBlockParam | Anthropic.Beta.BetaRequestDocumentBlock,
    ours.MessagesBlockOf<'document'>
  >,
  searchResult: {} satisfies Undeclared<
    Anthropic.SearchResultBlockParam | Anthropic.Beta.BetaSearchResultBlockParam,
    ours.MessagesBlockOf<'search_result'>
  >,
  thinkingBlock: {} satisfies Undeclared<
    Anthropic.ThinkingBlockParam | Anthropic.Beta.BetaThinkingBlockParam,
    ours.MessagesBlockOf<'thinking'>
  >,
  toolUse: {} satisfies Undeclared<
    | Anthropic.ToolUseBlockParam
    | Anthropic.ToolUseBlock
    | Anthropic.Beta.BetaToolUseBlockParam
    | Anthropic.Beta.BetaToolUseBlock,
    ours.MessagesBlockOf<'tool_use'>
  >,
  toolResult: {} satisfies Undeclared<
    Anthropic.ToolResultBlockParam | Anthropic.Beta.BetaToolResultBlockParam,
    ours.MessagesBlockOf<'tool_result'>
  >,
  tool: {} satisfies Undeclared<Anthropic.Tool | Anthropic.Beta.BetaTool, ours.MessagesTool>,
  outputConfig: { task_budget: kept } satisfies Undeclared<
    Anthropic.OutputConfig | Anthropic.Beta.BetaOutputConfig,
    NonNullable<ours.MessagesRequest['output_config']>
  >,
  thinking: { block_binding: read } satisfies Undeclared<
    Anthropic.ThinkingConfigParam | Anthropic.Beta.BetaThinkingConfigParam,
    NonNullable<ours.MessagesRequest['thinking']>
  >,
  metadata: {} satisfies Undeclared<
    Anthropic.Metadata | Anthropic.Beta.BetaMetadata,
    NonNullable<ours.MessagesRequest['metadata']>
  >,
  cacheControl: {} satisfies Undeclared<
    Anthropic.CacheControlEphemeral | Anthropic.Beta.BetaCacheControlEphemeral,
    NonNullable<ours.MessagesRequest['cache_control']>
  >,
}

/** Words and fields that only our schema has. */
const beyond = {
  request: { temperature: older, top_k: older, top_p: older } satisfies Beyond<
    Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams,
    ours.MessagesRequest
  >,
  response: {} satisfies Beyond<
    Anthropic.Message | Anthropic.Beta.BetaMessage,
    ours.MessagesResponse
  >,
  usage: {} satisfies Beyond<
    Anthropic.Usage | Anthropic.Beta.BetaUsage,
    NonNullable<ours.MessagesResponse['usage']>
  >,
  deltaUsage: { cache_creation: shared, service_tier: shared } satisfies Beyond<
    Anthropic.MessageDeltaUsage | Anthropic.Beta.BetaMessageDeltaUsage,
    NonNullable<ours.MessagesResponse['usage']>
  >,
  message: {} satisfies Beyond<
    Anthropic.MessageParam | Anthropic.Beta.BetaMessageParam,
    ours.MessagesMessage
  >,
  text: {} satisfies Beyond<
    | Anthropic.TextBlockParam
    | Anthropic.TextBlock
    | Anthropic.Beta.BetaTextBlockParam
    | Anthropic.Beta.BetaTextBlock,
    ours.MessagesBlockOf<'text'>
  >,
  image: {} satisfies Beyond<
    Anthropic.ImageBlockParam | Anthropic.Beta.BetaImageBlockParam,
    ours.MessagesBlockOf<'image'>
  >,
  document: {} satisfies Beyond<
    Anthropic.DocumentBlockParam | Anthropic.Beta.BetaRequestDocumentBlock,
    ours.MessagesBlockOf<'document'>
  >,
  searchResult: {} satisfies Beyond<
    Anthropic.SearchResultBlockParam | Anthropic.Beta.BetaSearchResultBlockParam,
    ours.MessagesBlockOf<'search_result'>
  >,
  thinkingBlock: {} satisfies Beyond<
    Anthropic.ThinkingBlockParam | Anthropic.Beta.BetaThinkingBlockParam,
    ours.MessagesBlockOf<'thinking'>
  >,
  toolUse: {} satisfies Beyond<
    | Anthropic.ToolUseBlockParam
    | Anthropic.ToolUseBlock
    | Anthropic.Beta.BetaToolUseBlockParam
    | Anthropic.Beta.BetaToolUseBlock,
    ours.MessagesBlockOf<'tool_use'>
  >,
  toolResult: {} satisfies Beyond<
    Anthropic.ToolResultBlockParam | Anthropic.Beta.BetaToolResultBlockParam,
    ours.MessagesBlockOf<'tool_result'>
  >,
  tool: {} satisfies Beyond<Anthropic.Tool | Anthropic.Beta.BetaTool, ours.MessagesTool>,
  outputConfig: {} satisfies Beyond<
    Anthropic.OutputConfig | Anthropic.Beta.BetaOutputConfig,
    NonNullable<ours.MessagesRequest['output_config']>
  >,
  thinking: {} satisfies Beyond<
    Anthropic.ThinkingConfigParam | Anthropic.Beta.BetaThinkingConfigParam,
    NonNullable<ours.MessagesRequest['thinking']>
  >,
  metadata: {} satisfies Beyond<
    Anthropic.Metadata | Anthropic.Beta.BetaMetadata,
    NonNullable<ours.MessagesRequest['metadata']>
  >,
  cacheControl: {} satisfies Beyond<
    Anthropic.CacheControlEphemeral | Anthropic.Beta.BetaCacheControlEphemeral,
    NonNullable<ours.MessagesRequest['cache_control']>
  >,
}

/**
 * Where our schema takes more than the SDK would: what a codec reads leniently, and writes as the
 * SDK has it.
 */
const wider = {
  request: {
    'cache_control.ttl': open,
    'cache_control.type': open,
    'output_config.effort': open,
    'output_config.format.type': open,
    'output_format.type': open,
    service_tier: open,
    speed: open,
    'thinking.display': open,
    'thinking.type': open,
    'tool_choice.type': open,
  } satisfies Wider<
    ours.MessagesRequest,
    Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams
  >,
  message: {} satisfies Wider<
    ours.MessagesMessage,
    Anthropic.MessageParam | Anthropic.Beta.BetaMessageParam
  >,
  response: {
    role: open,
    stop_reason: open,
    type: open,
    'usage.service_tier': open,
  } satisfies Wider<ours.MessagesResponse, Anthropic.Message | Anthropic.Beta.BetaMessage>,
  requested: {
    'cache_control.ttl': open,
    'cache_control.type': open,
    caller: apart,
    'source.media_type': open,
    'source.type': open,
  } satisfies Wider<
    ours.MessagesBlock,
    Anthropic.ContentBlockParam | Anthropic.Beta.BetaContentBlockParam
  >,
  received: { caller: apart, type: open } satisfies Wider<
    ours.MessagesBlock,
    Anthropic.ContentBlock | Anthropic.Beta.BetaContentBlock
  >,
  tool: {
    allowed_callers: open,
    'cache_control.ttl': open,
    'cache_control.type': open,
    input_examples: apart,
    type: open,
  } satisfies Wider<ours.MessagesTool, Anthropic.Tool | Anthropic.Beta.BetaTool>,
}

describe('messages and the official SDK', () =>
  reasonsHold('messages', { ...words, ...undeclared }, beyond, wider))
