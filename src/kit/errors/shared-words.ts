import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { signatureErrorCode } from '../signatures/signature-errors.ts'
import { isSpent } from './spent.ts'
import { statusOfKind } from './status.ts'

// Two protocols come from one vendor, whose errors use the same words in both:
// https://platform.openai.com/docs/guides/error-codes.

/** `type` and `code` of each kind of error. */
export const errorWords: Record<ErrorKind, { type: string; code: string | null }> = {
  invalid_request: { type: 'invalid_request_error', code: null },
  context_length: { type: 'invalid_request_error', code: 'context_length_exceeded' },
  content_policy: { type: 'invalid_request_error', code: 'content_policy_violation' },
  unsupported: { type: 'invalid_request_error', code: 'unsupported_parameter' },
  authentication: { type: 'invalid_request_error', code: 'invalid_api_key' },
  billing: { type: 'insufficient_quota', code: 'insufficient_quota' },
  permission: { type: 'permission_error', code: null },
  not_found: { type: 'invalid_request_error', code: 'model_not_found' },
  conflict: { type: 'conflict_error', code: null },
  too_large: { type: 'invalid_request_error', code: 'request_too_large' },
  unprocessable: { type: 'invalid_request_error', code: null },
  rate_limit: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  quota: { type: 'insufficient_quota', code: 'insufficient_quota' },
  cancelled: { type: 'server_error', code: 'cancelled' },
  internal: { type: 'server_error', code: null },
  unavailable: { type: 'server_error', code: 'service_unavailable' },
  overloaded: { type: 'server_error', code: 'overloaded' },
  timeout: { type: 'server_error', code: 'timeout' },
}

/**
 * The HTTP status of an error of another protocol: the upstream's, unless clients would misread it.
 * They know a wrong key by 401, whatever a provider says, and `insufficient_quota` by 429.
 */
export function sharedStatus({ kind, status }: CanonicalError): number {
  if (isSpent(kind)) return statusOfKind.quota
  if (status === 400 && kind === 'authentication') return statusOfKind.authentication
  return status >= 400 && status < 600 ? status : statusOfKind[kind]
}

/**
 * The code of an error of another protocol whose kind has none: any text, unless it would be read as
 * another kind or a status.
 */
export function otherCode({
  kind,
  code,
  message,
}: Pick<CanonicalError, 'kind' | 'code' | 'message'>): string | null {
  const word = typeof code === 'string' && !/^[45]\d\d$/.test(code) ? code : undefined
  const ownWord = word !== undefined && (kindsByWord.get(word) ?? kind) === kind ? word : null
  return signatureErrorCode(message) ?? ownWord
}

/** Values of `code` or `type` that decide the kind. Not those that say only whose fault it is. */
export const kindsByWord: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['context_length_exceeded', 'context_length'],
  ['too_many_prompt_tokens', 'context_length'],
  ['exceed_context_size_error', 'context_length'],
  ['model_max_prompt_tokens_exceeded', 'context_length'],
  ['content_policy_violation', 'content_policy'],
  ['content_filter', 'content_policy'],
  ['misalignment_policy_violation', 'content_policy'],
  ['bio_policy', 'content_policy'],
  ['cyber_policy', 'content_policy'],
  ['image_content_policy_violation', 'content_policy'],
  ['unsupported_parameter', 'unsupported'],
  ['unsupported_value', 'unsupported'],
  ['invalid_api_key', 'authentication'],
  ['authentication_error', 'authentication'],
  ['insufficient_quota', 'quota'],
  ['billing_hard_limit_reached', 'quota'],
  ['usage_limit_reached', 'quota'],
  ['exceeded_current_quota_error', 'quota'],
  ['payment_required', 'billing'],
  ['permission_error', 'permission'],
  ['request_forbidden', 'permission'],
  ['unsupported_country_region_territory', 'permission'],
  ['model_not_found', 'not_found'],
  ['unknown_url', 'not_found'],
  ['not_found_error', 'not_found'],
  ['not_found', 'not_found'],
  ['conflict', 'conflict'],
  ['conflict_error', 'conflict'],
  ['request_too_large', 'too_large'],
  ['rate_limit_exceeded', 'rate_limit'],
  ['rate_limit_error', 'rate_limit'],
  ['RateLimitReached', 'rate_limit'],
  ['requests', 'rate_limit'],
  ['tokens', 'rate_limit'],
  ['too_many_requests', 'rate_limit'],
  ['overloaded', 'overloaded'],
  ['overloaded_error', 'overloaded'],
  ['slow_down', 'overloaded'],
  ['server_is_overloaded', 'overloaded'],
  ['service_unavailable', 'unavailable'],
  ['timeout', 'timeout'],
  ['vector_store_timeout', 'timeout'],
  ['cancelled', 'cancelled'],
])
