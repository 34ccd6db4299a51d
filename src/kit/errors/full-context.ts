/** Error messages of various servers for a full context window, for errors without a code. */
const overflow = [
  /context[ _-]?(length|window|size)|maximum (context|prompt length|input length)/i,
  /(prompt|input|messages?|request)\b.{0,40}\b(is |are )?too (long|large for the model|many tokens)|too many (prompt |input )?tokens/i,
  /exceed(s|ed)? .{0,40}(context|token limit|maximum (number of )?(input )?tokens)|input tokens exceed|token count\b.{0,20} exceeds/i,
  /inputs? tokens \+ max_new_tokens must be|range of input length should be/i,
  /reduce the length of the (messages|prompt|input)|maximum (allowed )?input length/i,
]

/** The same words, of a server that limits the rate. */
const throttled = /please wait|try again (later|in)|rate limit|throttl/i

export const isOverflowMessage = (message: string): boolean =>
  !throttled.test(message) && overflow.some(words => words.test(message))

/** Sums of prompt and output, as servers write them, and the limit that both exceed together. */
const sums: [sum: RegExp, limit: RegExp][] = [
  [/\b(?<input>\d+) \+ (?<output>\d+) > (?<limit>\d+)\b/, /(?:)/],
  [
    /\((?<input>\d+) in the messages, (?<output>\d+) in the completion\)/,
    /context length is (?<limit>\d+)/,
  ],
  [
    /\((?<input>\d+) of text input, (?:(?<more>\d+) of tool input, )?(?<output>\d+) in the output\)/,
    /context length is (?<limit>\d+)/,
  ],
  [
    /(?<!\d)(?<input>\d+) tokens from the input messages and (?<output>\d+) tokens for the completion/,
    /context length of (?<limit>\d+)/,
  ],
  [
    /requested (?<output>\d+) output tokens and your prompt contains at least (?<input>\d+) input tokens/,
    /context length is (?<limit>\d+)/,
  ],
]

/**
 * The counts of a request whose prompt fits, but not together with the output that it asks for.
 * Undefined: the prompt is too long by itself, or the message does not say.
 */
export function outputOverflowIn(
  message: string,
): { input: number; output: number; limit: number } | undefined {
  for (const [sum, bound] of sums) {
    const found = { ...bound.exec(message)?.groups, ...sum.exec(message)?.groups }
    const [input, output, limit] = [
      Number(found['input']) + Number(found['more'] ?? 0),
      Number(found['output']),
      Number(found['limit']),
    ]
    if (input <= limit && input + output > limit) return { input, output, limit }
  }
  return undefined
}

/**
 * The token counts in an error message about a full context: the larger number is `count`.
 * Undefined: not two numbers.
 */
export function countsIn(message: string): { count: number; limit: number } | undefined {
  const sum = /\b(\d+) \+ (\d+) > (\d+)\b/.exec(message)
  if (sum) return { count: Number(sum[1]) + Number(sum[2]), limit: Number(sum[3]) }
  const [one, other] = [...message.matchAll(/(?<![\w.-])\d{3,}(?!\d|[\w.-]*\w)/g)].map(Number)
  return one === undefined || other === undefined || one === other
    ? undefined
    : { count: Math.max(one, other), limit: Math.min(one, other) }
}
