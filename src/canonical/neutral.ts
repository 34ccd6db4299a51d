/** Values that say what holds without them in every protocol: nothing is lost with them. Lists and objects: empty ones. */
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
const neutralWhenEmpty = new Set(['sampling.logitBias', 'metadata', 'stop', 'state.contextManagement', 'output.modalities'])

/** Does this value of a field of a request, named in dots, say nothing? */
export function isNeutral(field: string, value: unknown): boolean {
  if (neutralWhenEmpty.has(field)) return isEmpty(value)
  return neutral.get(field)?.includes(value) ?? false
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  // Edits of a context: none of them is none.
  return Object.values(value).every(inner => Array.isArray(inner) && inner.length === 0)
}
