/** The two numbers of tokens in an error message about a full context: the larger one is what did not fit. Undefined where it tells no two. */
export function countsIn(message: string): { count: number; limit: number } | undefined {
  const [one, other] = [...message.matchAll(/(?<![\w.-])\d{3,}(?![\w.-]*\w)/g)].map(Number)
  return one === undefined || other === undefined || one === other ? undefined : { count: Math.max(one, other), limit: Math.min(one, other) }
}
