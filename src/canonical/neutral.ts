/** Values that mean the same as leaving the field out, in every protocol: losing one loses nothing. */
const neutral = new Map<string, readonly unknown[]>([
  ['sampling.temperature', [1]],
  ['sampling.topP', [1]],
  // Servers that take these read both numbers as «off».
  ['sampling.topK', [0, -1]],
  ['sampling.minP', [0]],
  ['sampling.repetitionPenalty', [1]],
  ['sampling.frequencyPenalty', [0]],
  ['sampling.presencePenalty', [0]],
  // «No limit», to servers that read a number so.
  ['maxOutputTokens', [-1]],
  ['logprobs.top', [0]],
  ['output.verbosity', ['medium']],
  ['reasoning.context', ['auto']],
  ['reasoning.execution', ['standard']],
  ['serviceTier.speed', ['standard']],
  ['cache.key', ['']],
])
/** Fields of which an empty list or object means nothing. */
const neutralWhenEmpty = new Set(['sampling.logitBias', 'metadata', 'stop', 'state.contextManagement', 'output.modalities'])

/** Does this value say nothing? `field`: of a request, with dots between levels: `sampling.topK`. */
export function isNeutral(field: string, value: unknown): boolean {
  if (neutralWhenEmpty.has(field)) return isEmpty(value)
  return neutral.get(field)?.includes(value) ?? false
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  // Lists inside that are all empty count as empty: no edits of a context are none.
  return Object.values(value).every(inner => Array.isArray(inner) && inner.length === 0)
}
