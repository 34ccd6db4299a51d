import { isNeutral } from '../../../canonical/neutral.ts'
import { hashHex } from '../../../kit/conversation/ids.ts'
import { fieldTable, type InCode, rowFor } from '../../../kit/fields/fields.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { Writing } from '../content/writing.ts'
import { errorTable } from '../errors.ts'
import { usageTable } from '../usage.ts'
import type { ResponsesBody } from '../written.ts'

const row = rowFor<Writing, ResponsesBody>()
const byCode = { write: false } as const
const code = { read: false, write: false } as const

const inCode: InCode = {
  wire: ['input', 'instructions', 'tools', 'include', 'reasoning/generate_summary'],
  // Every stream has usage here.
  fields: [
    'tools',
    'output.modalities',
    'reasoning.budgetTokens',
    'reasoning.mode',
    'reasoning.display',
    'logprobs.enabled',
    'cache.auto',
    'cache.contentRef',
    'state.include',
    'state.encryptedReasoning',
    'state.thread',
    'state.compaction',
    'state.continuationToken',
    'stream.includeUsage',
  ],
}

/**
 * The request fields that hold one value. Those that are written `byCode` have a default, depend on
 * other fields or come first.
 */
export const fields = fieldTable<Writing>(inCode, [
  row('model', 'model', byCode),
  row('tool_choice', 'toolChoice', code),
  row('text/format', 'output.format', code),
  row('parallel_tool_calls', 'parallelToolCalls'),
  row('text/verbosity', 'output.verbosity'),
  row('reasoning/effort', 'reasoning.effort', byCode),
  row('reasoning/summary', 'reasoning.summary', byCode),
  row('reasoning/context', 'reasoning.context'),
  row('reasoning/mode', 'reasoning.execution'),
  row('metadata', 'metadata'),
  row('max_output_tokens', 'maxOutputTokens', { write: encodeLimit }),
  row('temperature', 'sampling.temperature'),
  row('top_p', 'sampling.topP'),
  row('presence_penalty', 'sampling.presencePenalty', { write: encodePenalty }),
  row('frequency_penalty', 'sampling.frequencyPenalty', { write: encodePenalty }),
  row('top_logprobs', 'logprobs.top'),
  row('prompt_cache_key', 'cache.key'),
  row('prompt_cache_options/mode', 'cache.mode'),
  row('prompt_cache_options/ttl', 'cache.ttl', { write: encodeLifetime }),
  row('prompt_cache_options/comparison_response_id', 'cache.diagnostics', {
    write: encodeDiagnostics,
  }),
  row('prompt_cache_retention', 'cache.retention'),
  row('service_tier', 'serviceTier.tier'),
  row('safety_identifier', 'user.safetyId', { write: encodeSafetyId }),
  row('user', 'user.user'),
  row('moderation', 'safety.moderation'),
  row('store', 'state.store', byCode),
  // Some clients send an empty string, which refers to nothing.
  row('previous_response_id', 'state.previousId', { read: id => (id as string) || null }),
  row('conversation', 'state.conversation'),
  row('background', 'state.background'),
  row('prompt', 'state.prompt'),
  row('truncation', 'state.truncation'),
  row('context_management', 'state.contextManagement', { write: encodeEdits }),
  row('max_tool_calls', 'state.maxToolCalls'),
  row('stream', 'stream.enabled'),
  row('stream_options/include_obfuscation', 'stream.obfuscation'),
])

/** The server refuses a lower token limit. */
const leastLimit = 16

function encodeLimit(
  limit: number,
  { native, report }: Writing,
  field: string,
): number | undefined {
  if (limit >= leastLimit || native) return limit
  if (isNeutral(field, limit)) return undefined
  report.add('max-tokens.raised', '', field)
  return leastLimit
}

function encodePenalty(
  penalty: number,
  { native, target, report }: Writing,
  field: string,
): number | undefined {
  // A response repeats them; requests have none.
  if (native || target === 'output') return penalty
  if (!isNeutral(field, penalty)) report.add('field.unsupported', '', field)
  return undefined
}

function encodeLifetime(
  ttl: string,
  { native, report }: Writing,
  field: string,
): string | undefined {
  if (native || (ttl !== '5m' && ttl !== '1h')) return ttl
  report.add('cache.ttl', '', field)
  return undefined
}

/** Only its own provider knows the id of a message or response. */
function encodeDiagnostics(
  diagnostics: unknown,
  { native, report }: Writing,
  field: string,
): unknown {
  if (!native) report.add('field.unsupported', '', field)
  return native ? diagnostics : undefined
}

function encodeSafetyId(id: string, { native, report }: Writing, field: string): string {
  if (native || id.length <= 64) return id
  report.add('user.hashed', '', field)
  return hashHex(id, 64)
}

/** Other providers have objects of edits. */
function encodeEdits(edits: unknown, { native, report }: Writing, field: string): unknown {
  if (native || Array.isArray(edits)) return edits
  if (!isNeutral(field, edits)) report.add('field.unsupported', '', field)
  return undefined
}

/** The path of each canonical field in this protocol. */
export const fieldNames: FieldNames = {
  ...fields.names,
  ...usageTable.names,
  ...errorTable.names,
  turns: 'input',
  'error.details': 'error',
  // Unknown keys of the error itself.
  details: '',
  'toolChoice.raw': 'tool_choice',
  redacted: 'encrypted_content',
  'output:logprobs': 'logprobs',
  'output.format.schema': 'text/format/schema',
  'output.format.strict': 'text/format/strict',
  'output.format.description': 'text/format/description',
  output: 'text',
  logprobs: 'top_logprobs',
  'logprobs.enabled': 'include',
  serviceTier: 'service_tier',
  user: 'user',
  'state.include': 'include',
  // Objects whose unknown keys are kept under the object's own name.
  'text/*': '',
  'tool_choice/*': '',
  'format/*': '',
  'reasoning/*': '',
  'prompt_cache_options/*': '',
  'stream_options/*': '',
  'prompt_cache_breakpoint/*': '',
  'input_audio/*': '',
  'incomplete_details/*': '',
  'metadata/*': '',
  deferLoading: 'defer_loading',
  allowedDomains: 'filters/allowed_domains',
  contextSize: 'search_context_size',
  userLocation: 'user_location',
  allowedCallers: 'allowed_callers',
  callId: 'call_id',
  itemId: 'id',
  citations: 'annotations',
  cache: 'prompt_cache_breakpoint',
  finish: 'status',
  'finish.reason': 'status',
  'incomplete_details:finish': 'reason',
  'incomplete_details:finish.reason': 'reason',
  'input:signature': 'encrypted_content',
  'output:signature': 'encrypted_content',
  'content:logprobs': 'logprobs',
  'tools:output': 'output_schema',
  'input:id': 'call_id',
  'input:input': 'arguments',
  'output:id': 'call_id',
  'output:input': 'arguments',
  'content:cache.ttl': 'prompt_cache_breakpoint/ttl',
  'output:cache.ttl': 'prompt_cache_breakpoint/ttl',
  'content:mime': 'input_audio/format',
  'tools:namespace': '../name',
  'tools:namespaceDescription': '../description',
  'tools:namespaceFields': '../',
  createdAt: 'created_at',
  completedAt: 'completed_at',
}
