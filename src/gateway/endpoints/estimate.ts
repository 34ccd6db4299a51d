import { isObject } from '../../kit/json/json.ts'

/** In tokens. */
const perImage = 1_600
/** In tokens: for the keys and brackets of each list and object. */
const perNode = 3

/** An estimate of a request's input tokens, in any protocol. Rather too high: with a low one clients would exceed the context window. */
export function estimateTokens(body: unknown): number {
  if (typeof body === 'string') return tokensOf(body)
  if (Array.isArray(body))
    return body.reduce<number>((sum, item) => sum + estimateTokens(item), 0) + perNode
  if (!isObject(body)) return 1
  let sum = perNode
  for (const [key, value] of Object.entries(body))
    sum += Math.ceil(key.length / 4) + estimateTokens(value)
  return sum
}

/** Three letters per token in Latin scripts, one in others. A long run without spaces is taken for a file and counted as one image. */
function tokensOf(text: string): number {
  if (text.length > 2_000 && !/\s/.test(text.slice(0, 2_000))) return perImage
  let dense = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x2e7f) dense++
  return Math.ceil((text.length - dense) / 3) + dense
}
