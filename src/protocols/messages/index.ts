import { isObject } from '../../kit/json.ts'
import type { FieldNames, Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { detect } from './detect.ts'
import { decodeError, encodeError } from './error.ts'
import { frames } from './frames.ts'
import { notes } from './notes.ts'
import { type MessagesOptions, options } from './options.ts'
import { protocolName } from './own.ts'
import { decodeRequest, encodeRequest } from './request.ts'
import { decodeResponse, encodeResponse, outcome } from './response.ts'
import { shortcut } from './shortcut.ts'
import { streamDecoder } from './stream-decoder.ts'
import { streamEncoder } from './stream-encoder.ts'

export type { MessagesOptions } from './options.ts'

/** POST /v1/messages. */
export const messages: Protocol<MessagesOptions> = {
  name: protocolName,
  address,
  notes,
  options,
  fieldNames: fieldNames(),
  detect,
  withModel,
  wantsStream: wire => (isObject(wire) && typeof wire['stream'] === 'boolean' ? wire['stream'] : undefined),
  outputLimit: { demanded: { requireMaxTokens: true }, usual: tokens => ({ defaultMaxTokens: tokens }) },
  decodeRequest,
  encodeRequest,
  decodeResponse,
  outcome,
  encodeResponse,
  decodeError,
  encodeError,
  streamDecoder,
  streamEncoder,
  frames,
  shortcut,
}

function fieldNames(): FieldNames {
  return {
    maxOutputTokens: 'max_tokens',
    stop: 'stop_sequences',
    'sampling.temperature': 'temperature',
    'sampling.topP': 'top_p',
    'sampling.topK': 'top_k',
    'reasoning.mode': 'thinking/type',
    'reasoning.budgetTokens': 'thinking/budget_tokens',
    'reasoning.display': 'thinking/display',
    'reasoning.effort': 'output_config/effort',
    'output.format': 'output_config/format',
    'output.format.strict': 'output_config/format',
    toolChoice: 'tool_choice',
    'toolChoice.raw': 'tool_choice/type',
    'toolChoice.mode': 'tool_choice/type',
    'toolChoice.name': 'tool_choice/name',
    redacted: 'data',
    parallelToolCalls: 'tool_choice/disable_parallel_tool_use',
    'cache.auto': 'cache_control',
    'cache.auto.ttl': 'cache_control/ttl',
    'cache.diagnostics': 'diagnostics',
    'cache.ttl': 'cache_control/ttl',
    cache: 'cache_control',
    'serviceTier.tier': 'service_tier',
    'serviceTier.speed': 'speed',
    'user.safetyId': 'metadata/user_id',
    'state.container': 'container',
    'state.contextManagement': 'context_management',
    'state.thread': 'thread',
    'stream.enabled': 'stream',
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
    // Objects of which what nobody modelled is kept under their own name.
    'error:code': 'details/error_code',
    'error:requestId': '../request_id',
    'error/*': '',
    'metadata/*': '',
    'thinking/*': '',
    'output_config/*': '',
    'output_format/*': '',
    'format/*': '',
    'tool_choice/*': '',
    'cache_control/*': '',
    'citations/*': '',
    'source/*': '',
    'usage/*': '',
    'cache_creation/*': '',
    'output_tokens_details/*': '',
    'finish.reason': 'stop_reason',
    'finish.sequence': 'stop_sequence',
    'finish.details': 'stop_details',
    cacheWriteByTtl: 'cache_creation',
    serverTools: 'server_tool_use',
    'usage.input': 'usage/input_tokens',
    'usage.output': 'usage/output_tokens',
    'usage.cacheRead': 'usage/cache_read_input_tokens',
    'usage.cacheWrite': 'usage/cache_creation_input_tokens',
    'usage.cacheWriteByTtl': 'usage/cache_creation',
    'usage.reasoning': 'usage/output_tokens_details/thinking_tokens',
    'usage.serverTools': 'usage/server_tool_use',
    'usage.serviceTier': 'usage/service_tier',
    serviceTier: 'usage/service_tier',
  }
}

function withModel(wire: unknown, model: string): unknown {
  if (!isObject(wire)) return wire
  const { type, message } = wire
  if (type === 'message_start' && isObject(message)) return { ...wire, message: { ...message, model } }
  return 'messages' in wire || type === 'message' || 'model' in wire ? { ...wire, model } : wire
}
