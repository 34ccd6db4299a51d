import type OpenAI from 'openai'
import { describe } from 'vitest'
import type * as ours from '../../src/protocols/chat-completions/schema.ts'
import {
  accepts,
  type Beyond,
  type BeyondWords,
  type Keys,
  read,
  reasonsHold,
  type Shaped,
  type Undeclared,
  type Wider,
  type Words,
} from './support.ts'

// The whole shapes first: whatever the official SDK sends or receives, the schema reads.
accepts<ours.ChatCompletionsRequest, OpenAI.Chat.ChatCompletionCreateParams>()
accepts<ours.ChatCompletionsResponse, OpenAI.Chat.ChatCompletion>()
accepts<ours.ChatCompletionsMessage, OpenAI.Chat.ChatCompletionMessageParam>()
accepts<
  Shaped<ours.ChatCompletionsPart>,
  OpenAI.Chat.ChatCompletionContentPart | OpenAI.Chat.ChatCompletionContentPartRefusal
>()
accepts<Shaped<ours.ChatCompletionsTool>, OpenAI.Chat.ChatCompletionTool>()

const open = 'a word of a list that grows: any is read'
const apart = 'what it holds is read without a schema'
const kept = 'unknown to the codec: kept within the protocol, noted elsewhere'
const dialect = 'other servers of this shape send it'

/**
 * The SDK's types with a discriminator, and what is read without a schema. A new one does not
 * compile until it is listed here.
 */
const words = {
  parts: {
    file: read,
    image_url: read,
    input_audio: read,
    refusal: read,
    text: read,
  } satisfies Record<
    Words<OpenAI.Chat.ChatCompletionContentPart | OpenAI.Chat.ChatCompletionContentPartRefusal>,
    string
  >,
  calls: { custom: read, function: read } satisfies Record<
    Words<OpenAI.Chat.ChatCompletionMessageToolCall>,
    string
  >,
  tools: { custom: read, function: read } satisfies Record<
    Words<OpenAI.Chat.ChatCompletionTool>,
    string
  >,
  choices: { allowed_tools: read, custom: read, function: read } satisfies Record<
    Words<Exclude<OpenAI.Chat.ChatCompletionToolChoiceOption, string>>,
    string
  >,
  formats: { json_object: read, json_schema: read, text: read } satisfies Record<
    Words<NonNullable<OpenAI.Chat.ChatCompletionCreateParams['response_format']>>,
    string
  >,
  annotations: { url_citation: read } satisfies Record<
    Words<OpenAI.Chat.ChatCompletionMessage.Annotation>,
    string
  >,
  chunk: {
    choices: read,
    created: read,
    id: read,
    model: read,
    moderation: read,
    object: read,
    service_tier: read,
    system_fingerprint: kept,
    usage: read,
  } satisfies Record<Keys<OpenAI.Chat.ChatCompletionChunk>, string>,
  chunkChoice: { delta: read, finish_reason: read, index: read, logprobs: read } satisfies Record<
    Keys<OpenAI.Chat.ChatCompletionChunk.Choice>,
    string
  >,
  delta: {
    content: read,
    function_call: read,
    refusal: read,
    role: read,
    tool_calls: read,
  } satisfies Record<Keys<OpenAI.Chat.ChatCompletionChunk.Choice.Delta>, string>,
  deltaCall: { function: read, id: read, index: read, type: read } satisfies Record<
    Keys<OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall>,
    string
  >,
  usage: {
    completion_tokens: read,
    completion_tokens_details: read,
    prompt_tokens: read,
    prompt_tokens_details: read,
    total_tokens: read,
  } satisfies Record<Keys<OpenAI.CompletionUsage>, string>,
  promptDetails: {
    audio_tokens: read,
    cache_write_tokens: read,
    cached_tokens: read,
  } satisfies Record<Keys<NonNullable<OpenAI.CompletionUsage['prompt_tokens_details']>>, string>,
  completionDetails: {
    accepted_prediction_tokens: read,
    audio_tokens: read,
    reasoning_tokens: read,
    rejected_prediction_tokens: read,
  } satisfies Record<
    Keys<NonNullable<OpenAI.CompletionUsage['completion_tokens_details']>>,
    string
  >,
}

/** Fields that only the SDK has. */
const undeclared = {
  request: {} satisfies Undeclared<
    OpenAI.Chat.ChatCompletionCreateParams,
    ours.ChatCompletionsRequest
  >,
  response: { moderation: read, system_fingerprint: kept } satisfies Undeclared<
    OpenAI.Chat.ChatCompletion,
    ours.ChatCompletionsResponse
  >,
  choice: {} satisfies Undeclared<OpenAI.Chat.ChatCompletion.Choice, ours.ChatCompletionsChoice>,
  message: {} satisfies Undeclared<
    OpenAI.Chat.ChatCompletionMessage | OpenAI.Chat.ChatCompletionMessageParam,
    ours.ChatCompletionsMessage
  >,
  functions: {} satisfies Undeclared<OpenAI.FunctionDefinition, ours.ChatCompletionsFunction>,
  custom: {} satisfies Undeclared<
    OpenAI.Chat.ChatCompletionCustomTool.Custom,
    ours.ChatCompletionsCustomTool
  >,
  image: {} satisfies Undeclared<
    OpenAI.Chat.ChatCompletionContentPartImage.ImageURL,
    Exclude<ours.ChatCompletionsImagePart['image_url'], string>
  >,
  file: {} satisfies Undeclared<
    OpenAI.Chat.ChatCompletionContentPart.File.File,
    ours.ChatCompletionsFilePart['file']
  >,
  streamOptions: {} satisfies Undeclared<
    OpenAI.Chat.ChatCompletionStreamOptions,
    NonNullable<ours.ChatCompletionsRequest['stream_options']>
  >,
}

/** Words and fields that only our schema has. */
const beyond = {
  parts: { thinking: dialect } satisfies BeyondWords<
    OpenAI.Chat.ChatCompletionContentPart | OpenAI.Chat.ChatCompletionContentPartRefusal,
    ours.ChatCompletionsPart
  >,
  request: {
    enable_thinking: dialect,
    min_p: dialect,
    reasoning: dialect,
    repetition_penalty: dialect,
    thinking: dialect,
    thinking_budget: dialect,
    top_k: dialect,
  } satisfies Beyond<OpenAI.Chat.ChatCompletionCreateParams, ours.ChatCompletionsRequest>,
  response: {} satisfies Beyond<OpenAI.Chat.ChatCompletion, ours.ChatCompletionsResponse>,
  choice: {} satisfies Beyond<OpenAI.Chat.ChatCompletion.Choice, ours.ChatCompletionsChoice>,
  message: {} satisfies Beyond<
    OpenAI.Chat.ChatCompletionMessage | OpenAI.Chat.ChatCompletionMessageParam,
    ours.ChatCompletionsMessage
  >,
  functions: {} satisfies Beyond<OpenAI.FunctionDefinition, ours.ChatCompletionsFunction>,
  custom: {} satisfies Beyond<
    OpenAI.Chat.ChatCompletionCustomTool.Custom,
    ours.ChatCompletionsCustomTool
  >,
  image: {} satisfies Beyond<
    OpenAI.Chat.ChatCompletionContentPartImage.ImageURL,
    Exclude<ours.ChatCompletionsImagePart['image_url'], string>
  >,
  file: {} satisfies Beyond<
    OpenAI.Chat.ChatCompletionContentPart.File.File,
    ours.ChatCompletionsFilePart['file']
  >,
  streamOptions: {} satisfies Beyond<
    OpenAI.Chat.ChatCompletionStreamOptions,
    NonNullable<ours.ChatCompletionsRequest['stream_options']>
  >,
}

/**
 * Where our schema takes more than the SDK would: what a codec reads leniently, and writes as the
 * SDK has it.
 */
const wider = {
  request: {
    audio: apart,
    function_call: apart,
    modalities: open,
    moderation: apart,
    'prediction.type': open,
    'prompt_cache_options.mode': open,
    'prompt_cache_options.ttl': open,
    prompt_cache_retention: open,
    reasoning_effort: open,
    'response_format.type': open,
    service_tier: open,
    tool_choice: apart,
    verbosity: open,
  } satisfies Wider<ours.ChatCompletionsRequest, OpenAI.Chat.ChatCompletionCreateParams>,
  message: { content: dialect, 'function_call.arguments': dialect } satisfies Wider<
    ours.ChatCompletionsMessage,
    OpenAI.Chat.ChatCompletionMessageParam
  >,
  part: {
    image_url: dialect,
    'image_url.detail': open,
    'input_audio.format': open,
    'prompt_cache_breakpoint.mode': open,
    type: dialect,
  } satisfies Wider<
    Shaped<ours.ChatCompletionsPart>,
    OpenAI.Chat.ChatCompletionContentPart | OpenAI.Chat.ChatCompletionContentPartRefusal
  >,
  call: { 'function.arguments': dialect } satisfies Wider<
    Shaped<ours.ChatCompletionsToolCall>,
    OpenAI.Chat.ChatCompletionMessageToolCall
  >,
  tool: { 'custom.format.grammar.syntax': open, 'custom.format.type': open } satisfies Wider<
    Shaped<ours.ChatCompletionsTool>,
    OpenAI.Chat.ChatCompletionTool
  >,
  response: { created: apart, object: apart, service_tier: open, usage: apart } satisfies Wider<
    ours.ChatCompletionsResponse,
    OpenAI.Chat.ChatCompletion
  >,
  choice: {
    finish_reason: open,
    logprobs: apart,
    'message.annotations': apart,
    'message.content': dialect,
    'message.function_call.arguments': dialect,
    'message.role': open,
  } satisfies Wider<ours.ChatCompletionsChoice, OpenAI.Chat.ChatCompletion.Choice>,
}

describe('chat-completions and the official SDK', () =>
  reasonsHold('chat-completions', { ...words, ...undeclared }, beyond, wider))
