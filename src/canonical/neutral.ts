/**
 * Values that mean the same as no value in every protocol: when one is not written, nothing is
 * lost.
 */
const neutral = new Map<string, readonly unknown[]>([
  ['sampling.temperature', [1]],
  ['sampling.topP', [1]],
  // Both mean "off" to servers that have this field.
  ['sampling.topK', [0, -1]],
  ['sampling.minP', [0]],
  ['sampling.repetitionPenalty', [1]],
  ['sampling.frequencyPenalty', [0]],
  ['sampling.presencePenalty', [0]],
  // "No limit", on some servers.
  ['maxOutputTokens', [-1]],
  ['candidateCount', [1]],
  ['logprobs.enabled', [false]],
  ['logprobs.top', [0]],
  ['user.safetyId', ['']],
  ['user.user', ['']],
  ['output.verbosity', ['medium']],
  ['reasoning.context', ['auto']],
  ['reasoning.execution', ['standard']],
  ['serviceTier.speed', ['standard']],
  ['cache.key', ['']],
  ['cache.mode', ['implicit']],
])
/**
 * What only the protocol of the source needs: its body, what that repeats of the request or was
 * changed in it, the form of a tool there, its object of all sources, and a wish for signatures
 * that others always send.
 */
const implied = new Set([
  'source',
  'echo',
  'transformations',
  'builtIn',
  'grounding',
  'state.encryptedReasoning',
])
/** Fields whose empty list or object means the same as no value. */
const neutralWhenEmpty = new Set([
  'sampling.logitBias',
  'metadata',
  'stop',
  'state.contextManagement',
  'output.modalities',
])

/**
 * Does this value mean the same as no value? `field`: of a request, with dots between levels, e.g.
 * `sampling.topK`. Also of fields whose meaning other protocols have anyway, or that the decoder
 * notes.
 */
export function isNeutral(field: string, value: unknown): boolean {
  if (implied.has(field)) return true
  if (neutralWhenEmpty.has(field)) return isEmpty(value)
  return neutral.get(field)?.includes(value) ?? false
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  // An object of empty lists counts as empty, e.g. `contextManagement` without edits.
  return Object.values(value).every(inner => Array.isArray(inner) && inner.length === 0)
}
