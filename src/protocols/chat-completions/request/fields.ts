import { fieldTable, type InCode, rowFor } from '../../../kit/fields/fields.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { RequestWriting } from '../content/writing.ts'
import { errorTable } from '../errors.ts'
import { usageTable } from '../usage.ts'
import type { ChatCompletionsBody } from '../written.ts'
import {
  controls,
  encodeLimit,
  encodeModalities,
  encodeSafetyId,
  encodeStop,
  encodeTier,
  encodeTtl,
  encodeVoice,
  isText,
  lose,
  writeOptional,
} from './settings.ts'

type Write<T> = (value: T, writing: RequestWriting, field: string) => T | undefined

const byCode = { write: false } as const
const code = { read: false, write: false } as const
const optional = { write: writeOptional }
const withTopK: { write: Write<number> } = {
  write: (value, writing, field) =>
    writing.native || writing.options.topK === 'write' ? value : lose(value, writing, field),
}
/** Servers accept `stream_options` only in requests for a stream. */
const ofStreams: { write: Write<boolean> } = {
  write: (value, { native, request }) => (native || request.stream?.enabled ? value : undefined),
}
const row = rowFor<RequestWriting, ChatCompletionsBody>()

const inCode: InCode = {
  wire: [
    'messages',
    'tools',
    'functions',
    'web_search_options',
    'function_call',
    'prediction',
    ...controls,
  ],
  fields: [
    'tools',
    'prediction',
    'reasoning.effort',
    'reasoning.budgetTokens',
    'reasoning.mode',
    'reasoning.summary',
    'reasoning.display',
    'cache.auto',
    'cache.contentRef',
    'state',
  ],
}

/**
 * The request fields that hold one value, but for the controls of reasoning, which `effort.ts` has.
 */
export const fields = fieldTable<RequestWriting>(inCode, [
  row('model', 'model', byCode),
  row('tool_choice', 'toolChoice', code),
  row('response_format', 'output.format', code),
  row('parallel_tool_calls', 'parallelToolCalls', byCode),
  row('verbosity', 'output.verbosity'),
  row('modalities', 'output.modalities', { write: encodeModalities }),
  row('audio', 'output.audio', { write: encodeVoice }),
  row('temperature', 'sampling.temperature'),
  row('top_p', 'sampling.topP'),
  row('top_k', 'sampling.topK', withTopK),
  row('min_p', 'sampling.minP', withTopK),
  row('repetition_penalty', 'sampling.repetitionPenalty', withTopK),
  row('frequency_penalty', 'sampling.frequencyPenalty'),
  row('presence_penalty', 'sampling.presencePenalty'),
  row('seed', 'sampling.seed'),
  row('logit_bias', 'sampling.logitBias'),
  row('max_tokens', 'maxOutputTokens', { write: false }),
  row('max_completion_tokens', 'maxOutputTokens', { write: encodeLimit }),
  row('stop', 'stop', {
    read: value => (typeof value === 'string' ? [value] : (value as string[])),
    write: encodeStop,
  }),
  row('n', 'candidateCount'),
  // Servers accept `top_logprobs` only together with `logprobs: true`.
  row('logprobs', 'logprobs.enabled', {
    write: (enabled, { native }) => (enabled || native ? enabled : undefined),
  }),
  row('top_logprobs', 'logprobs.top', {
    write: (top, writing, field) =>
      writing.request.logprobs?.enabled || writing.native ? top : lose(top, writing, field),
  }),
  row('prompt_cache_key', 'cache.key', optional),
  row('prompt_cache_options/mode', 'cache.mode', optional),
  row('prompt_cache_options/ttl', 'cache.ttl', { write: encodeTtl }),
  row('prompt_cache_retention', 'cache.retention', optional),
  row('service_tier', 'serviceTier.tier', { write: encodeTier }),
  row('service_tier', 'serviceTier.speed', { read: 'never', write: lose }),
  row('safety_identifier', 'user.safetyId', { write: encodeSafetyId }),
  row('user', 'user.user'),
  row('metadata', 'metadata', {
    read: value =>
      Object.fromEntries(Object.entries(value as object).filter(pair => isText(pair[1]))),
    write: writeOptional,
  }),
  // Not storing is the default of this protocol.
  row('store', 'state.store', {
    write: (store, writing, field) =>
      store || writing.native ? writeOptional(store, writing, field) : undefined,
  }),
  row('moderation', 'safety.moderation', optional),
  row('stream', 'stream.enabled'),
  row('stream_options/include_usage', 'stream.includeUsage', ofStreams),
  // The caller may need usage. The encoder of the response leaves it out if the client did not
  // request it.
  row('stream_options/include_usage', 'stream.enabled', {
    read: 'never',
    write: (enabled, { native }) => (enabled && !native ? true : undefined),
  }),
  row('stream_options/include_obfuscation', 'stream.obfuscation', ofStreams),
])

/** The wire field of each canonical field. */
export const fieldNames: FieldNames = {
  ...fields.names,
  ...usageTable.names,
  ...errorTable.names,
  turns: 'messages',
  'error.details': 'error',
  expiresAt: 'expires_at',
  // Unknown keys of the error itself.
  details: '',
  phase: '',
  candidates: 'choices',
  'toolChoice.raw': 'tool_choice',
  'toolChoice.mode': 'tool_choice',
  'toolChoice.name': 'tool_choice',
  'cache.auto': 'cache_control',
  'cache.auto.ttl': 'cache_control/ttl',
  serviceTier: 'service_tier',
  'prediction.parts': 'prediction',
  'reasoning.effort': 'reasoning_effort',
  'reasoning.budgetTokens': 'reasoning/max_tokens',
  'reasoning.mode': 'thinking/type',
  'reasoning.display': 'reasoning/exclude',
  'reasoning.summary': 'reasoning/summary',
  'output.format.schema': 'response_format/json_schema/schema',
  'output.format.strict': 'response_format/json_schema/strict',
  'output.format.name': 'response_format/json_schema/name',
  'output.format.description': 'response_format/json_schema/description',
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
  'finish.reason': 'finish_reason',
  'finish.sequence': 'finish_reason',
  'finish.details': 'finish_reason',
  // The signatures of reasoning that the signature of a call carries are at the same path.
  'thought_signature:signature': '',
  'thought_signature:id': '',
  'reasoning_items:signature': 'encrypted_content',
  // Objects whose unknown keys are kept under their own name.
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
  // Functions and custom tools have a name at different places, so the note points at the whole
  // tool, choice or call.
  'tools:name': '',
  'tool_choice:name': '',
  'tool_calls:name': '',
  'functions:description': 'description',
  'functions:parameters': 'parameters',
  'functions:strict': 'strict',
  'function_call:input': 'arguments',
  contextSize: 'search_context_size',
  userLocation: 'user_location',
  'content:citations': '../annotations',
  'content:logprobs': '../../logprobs/content',
  'refusal:logprobs': '../../logprobs/refusal',
  'content:cache': 'prompt_cache_breakpoint',
  'content:cache.ttl': 'prompt_cache_breakpoint/ttl',
}

export const olderNames = {
  maxOutputTokens: ['max_tokens'],
  toolChoice: ['function_call'],
  tools: ['functions'],
}
