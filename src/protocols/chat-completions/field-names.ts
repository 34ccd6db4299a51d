import type { Message, Part } from '../../canonical/message.ts'
import type { Tool } from '../../canonical/tool.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { FieldNames } from '../../protocol.ts'
import { formOf } from './own.ts'

/** Where a canonical field stands on this wire. */
export const fieldNames: Record<string, string> = {
  'error.details': 'error',
  expiresAt: 'expires_at',
  // Keys of the error itself that nobody knows.
  details: '',
  candidateCount: 'n',
  candidates: 'choices',
  maxOutputTokens: 'max_completion_tokens',
  toolChoice: 'tool_choice',
  'toolChoice.raw': 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  'sampling.temperature': 'temperature',
  'sampling.topP': 'top_p',
  'sampling.topK': 'top_k',
  'sampling.minP': 'min_p',
  'sampling.repetitionPenalty': 'repetition_penalty',
  'sampling.frequencyPenalty': 'frequency_penalty',
  'sampling.presencePenalty': 'presence_penalty',
  'sampling.seed': 'seed',
  'sampling.logitBias': 'logit_bias',
  'logprobs.enabled': 'logprobs',
  'logprobs.top': 'top_logprobs',
  'cache.key': 'prompt_cache_key',
  'cache.mode': 'prompt_cache_options/mode',
  'cache.ttl': 'prompt_cache_options/ttl',
  'cache.retention': 'prompt_cache_retention',
  'serviceTier.tier': 'service_tier',
  serviceTier: 'service_tier',
  'user.safetyId': 'safety_identifier',
  'user.user': 'user',
  'state.store': 'store',
  'safety.moderation': 'moderation',
  'prediction.parts': 'prediction',
  'reasoning.effort': 'reasoning_effort',
  'reasoning.budgetTokens': 'reasoning/max_tokens',
  'reasoning.mode': 'thinking/type',
  'reasoning.display': 'reasoning/exclude',
  'reasoning.summary': 'reasoning/summary',
  'output.format': 'response_format',
  'output.format.strict': 'response_format/json_schema/strict',
  'output.format.name': 'response_format/json_schema/name',
  'output.format.description': 'response_format/json_schema/description',
  'output.verbosity': 'verbosity',
  'output.modalities': 'modalities',
  'output.audio': 'audio',
  'stream.enabled': 'stream',
  'stream.includeUsage': 'stream_options/include_usage',
  'stream.obfuscation': 'stream_options/include_obfuscation',
  description: 'function/description',
  parameters: 'function/parameters',
  strict: 'function/strict',
  input: 'function/arguments',
  callId: 'tool_call_id',
  itemId: 'id',
  detail: 'image_url/detail',
  filename: 'file/filename',
  citations: 'annotations',
  createdAt: 'created',
  'usage.input': 'usage/prompt_tokens',
  'usage.output': 'usage/completion_tokens',
  'usage.cacheRead': 'usage/prompt_tokens_details/cached_tokens',
  'usage.cacheWrite': 'usage/prompt_tokens_details/cache_write_tokens',
  'usage.reasoning': 'usage/completion_tokens_details/reasoning_tokens',
  'usage.inputAudio': 'usage/prompt_tokens_details/audio_tokens',
  'usage.outputAudio': 'usage/completion_tokens_details/audio_tokens',
  'usage.acceptedPrediction': 'usage/completion_tokens_details/accepted_prediction_tokens',
  'usage.rejectedPrediction': 'usage/completion_tokens_details/rejected_prediction_tokens',
  'usage.serviceTier': 'usage/service_tier',
  'finish.reason': 'finish_reason',
  'finish.sequence': 'finish_reason',
  'finish.details': 'finish_reason',
  // Objects of which what nobody modelled is kept under their own name.
  'metadata/*': '',
  'reasoning/*': '',
  'thinking/*': '',
  'stream_options/*': '',
  'prompt_cache_options/*': '',
  'response_format/*': '',
  'json_schema/*': '',
  'tool_choice/*': '',
  'message/*': '',
  'reasoning_details/*': '',
  'thinking_blocks/*': '',
  'provider_specific_fields/*': '',
  'logprobs/*': '',
  'function/*': '',
  'custom/*': '',
  'format/*': '',
  'grammar/*': '',
  'image_url/*': '',
  'file/*': '',
  'input_audio/*': '',
  'audio/*': '',
  'prompt_cache_breakpoint/*': '',
  'cache_control/*': '',
  'prediction/*': '',
  'usage/*': '',
  'prompt_tokens_details/*': '',
  'completion_tokens_details/*': '',
  // Functions and custom tools have a name at different places, so the note points at the whole tool or call.
  'tools:name': '',
  'tool_calls:name': '',
  'functions:description': 'description',
  'functions:parameters': 'parameters',
  'functions:strict': 'strict',
  'function_call:input': 'arguments',
  'content:citations': '../annotations',
  'content:logprobs': '../../logprobs',
  'refusal:logprobs': '../../logprobs',
  'content:cache': 'prompt_cache_breakpoint',
  'content:cache.ttl': 'prompt_cache_breakpoint/ttl',
}

/** Where proxies and their clients have put what the table of field names has elsewhere: cache marks, and signatures on calls and texts. */
export function placesOf(messages: readonly Message[], tools: readonly Tool[] = []): FieldNames {
  const places: FieldNames = {}
  for (const tool of tools) if (tool.type === 'function') placeMark(tool, places)
  for (const { parts, ext } of messages)
    for (const part of parts) {
      placeMark(part, places)
      if (part.type === 'tool-result') for (const inner of part.content) placeMark(inner, places)
      if (part.signature) placeSignature(part, formOf(ext)['carriers'], places)
    }
  return places
}

function placeMark({ at, cache, ext }: Pick<Part, 'at' | 'cache' | 'ext'>, places: FieldNames): void {
  if (!cache) return
  const { mark } = formOf(ext)
  const key = isObject(mark) && mark['prompt_cache_breakpoint'] == null ? 'cache_control' : 'prompt_cache_breakpoint'
  places[`${at}:cache`] = key
  places[`${at}:cache.ttl`] = `${key}/ttl`
}

function placeSignature({ at, type, ext }: Part, carriers: unknown, places: FieldNames): void {
  const { extra } = formOf(ext)
  if (type === 'tool-call') places[`${at}:signature`] = isObject(extra) ? pathIn(extra) : 'id'
  else if (type === 'text' && isObject(carriers) && isObject(carriers['extra_content']))
    places[`${at}:signature`] = `../${pathIn({ extra_content: carriers['extra_content'] })}`
}

/** The way to the first leaf. */
function pathIn(object: JsonObject): string {
  const [[key, value] = ['', undefined]] = Object.entries(object)
  return isObject(value) ? `${key}/${pathIn(value)}` : key
}
