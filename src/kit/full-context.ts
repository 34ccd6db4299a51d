/** Error messages of various servers for a full context window, for errors without a code. */
const overflow = [
  /context[ _-]?(length|window|size)|maximum (context|prompt length|input length)/i,
  /(prompt|input|messages?|request)\b.{0,40}\b(is |are )?too (long|large for the model|many tokens)|too many (prompt |input )?tokens/i,
  /exceed(s|ed)? .{0,40}(context|token limit|maximum (number of )?(input )?tokens)|input tokens exceed|token count\b.{0,20} exceeds/i,
  /inputs? tokens \+ max_new_tokens must be|range of input length should be/i,
]

export const tellsOverflow = (message: string): boolean => overflow.some(words => words.test(message))

/** The token counts in an error message about a full context: the larger number is `count`. Undefined: not two numbers. */
export function countsIn(message: string): { count: number; limit: number } | undefined {
  const sum = /\b(\d+) \+ (\d+) > (\d+)\b/.exec(message)
  if (sum) return { count: Number(sum[1]) + Number(sum[2]), limit: Number(sum[3]) }
  const [one, other] = [...message.matchAll(/(?<![\w.-])\d{3,}(?!\d|[\w.-]*\w)/g)].map(Number)
  return one === undefined || other === undefined || one === other ? undefined : { count: Math.max(one, other), limit: Math.min(one, other) }
}
