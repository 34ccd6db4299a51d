import type { CanonicalResponse } from './response.ts'

/**
 * A prompt that was blocked has no candidate: for readers who look at the finish reason it gets one
 * that is empty.
 */
export function withBlockedFinish(response: CanonicalResponse): CanonicalResponse {
  const { promptBlocked, candidates, error } = response
  if (!promptBlocked || candidates.length > 0 || error) return response
  const { reason: raw } = promptBlocked
  const finish = { reason: 'content_filter' as const, ...(raw !== undefined && { raw }) }
  return { ...response, candidates: [{ index: 0, messages: [], finish }] }
}
