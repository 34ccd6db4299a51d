import { fieldTable, type InCode, rowFor } from '../../../kit/fields/fields.ts'
import { filledStops } from '../../../kit/fields/stop.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { RequestWriting } from '../content/writing.ts'
import { errorTable } from '../errors.ts'
import { usageTable } from '../usage.ts'
import { requestTier } from '../vocabulary.ts'
import type { MessagesBody } from '../written.ts'

const row = rowFor<RequestWriting, MessagesBody>()
const byCode = { write: false } as const
const code = { read: false, write: false } as const

const inCode: InCode = {
  wire: ['messages', 'system', 'tools', 'mcp_servers', 'output_format'],
  fields: [
    'tools',
    'output.modalities',
    'reasoning.summary',
    'user.user',
    'cache.mode',
    'cache.contentRef',
    'candidateCount',
    'state',
    'stream',
  ],
}

/**
 * The request fields that hold one value. Those that are written `byCode` depend on the model, on
 * other fields or on the provider.
 */
export const fields = fieldTable<RequestWriting>(inCode, [
  row('model', 'model'),
  row('tool_choice', 'toolChoice', code),
  row('tool_choice/disable_parallel_tool_use', 'parallelToolCalls', code),
  row('cache_control', 'cache.auto', code),
  row('output_config/format', 'output.format', code),
  row('max_tokens', 'maxOutputTokens', {
    ...byCode,
    read: value => (isLimit(value) ? value : undefined),
  }),
  row('temperature', 'sampling.temperature', byCode),
  row('top_p', 'sampling.topP', byCode),
  row('top_k', 'sampling.topK', byCode),
  row('thinking/type', 'reasoning.mode', byCode),
  row('thinking/budget_tokens', 'reasoning.budgetTokens', byCode),
  row('thinking/display', 'reasoning.display', {
    ...byCode,
    read: value => (isDisplay(value) ? value : undefined),
  }),
  row('output_config/effort', 'reasoning.effort', byCode),
  row('stop_sequences', 'stop', { write: filledStops }),
  row('service_tier', 'serviceTier.tier', {
    ...byCode,
    read: word => requestTier.toOurs(word as string) ?? (word as string),
  }),
  row('speed', 'serviceTier.speed', byCode),
  row('metadata/user_id', 'user.safetyId', byCode),
  row('diagnostics', 'cache.diagnostics', byCode),
  row('container', 'state.container', byCode),
  row('context_management', 'state.contextManagement', byCode),
  row('thread', 'state.thread', byCode),
  row('compaction', 'state.compaction', byCode),
  row('stream', 'stream.enabled'),
])

/**
 * A limit of less than nothing is refused by servers of this protocol, and means "no limit" to some
 * of others: it is kept as unknown.
 */
export const isLimit = (value: unknown): value is number => typeof value === 'number' && value >= 0

/** Other words are unknown. */
export const isDisplay = (value: unknown): value is string =>
  value === 'summarized' || value === 'omitted' || value === 'updates'

/** The path of each canonical field on this wire. */
export const fieldNames: FieldNames = {
  ...fields.names,
  ...usageTable.names,
  ...errorTable.names,
  turns: 'messages',
  'output.format.strict': 'output_config/format',
  'output.format.schema': 'output_config/format/schema',
  'toolChoice.raw': 'tool_choice/type',
  'toolChoice.mode': 'tool_choice/type',
  'toolChoice.name': 'tool_choice/name',
  redacted: 'data',
  phase: '',
  'cache.auto.ttl': 'cache_control/ttl',
  'cache.ttl': 'cache_control/ttl',
  cache: 'cache_control',
  parameters: 'input_schema',
  deferLoading: 'defer_loading',
  allowedCallers: 'allowed_callers',
  examples: 'input_examples',
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  userLocation: 'user_location',
  eagerStreaming: 'eager_input_streaming',
  isError: 'is_error',
  callId: 'tool_use_id',
  toolset: 'toolset_name',
  // With `/*`: objects whose unknown keys are kept under the object's name.
  'metadata/*': '',
  'thinking/*': '',
  'output_config/*': '',
  'output_format/*': '',
  'format/*': '',
  'tool_choice/*': '',
  'cache_control/*': '',
  'citations/*': '',
  'source/*': '',
  'finish.reason': 'stop_reason',
  'finish.sequence': 'stop_sequence',
  'finish.details': 'stop_details',
  cacheWriteByTtl: 'cache_creation',
  serverTools: 'server_tool_use',
  serviceTier: 'usage/service_tier',
}
