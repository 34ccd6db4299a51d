/** The two counts of a message about a full context: the larger one did not fit. Undefined where it does not tell two. */
export function countsIn(message: string): { count: number; limit: number } | undefined {
  const [one, other] = [...message.matchAll(/(?<![\w.-])\d{3,}(?![\w.-]*\w)/g)].map(Number)
  return one === undefined || other === undefined || one === other ? undefined : { count: Math.max(one, other), limit: Math.min(one, other) }
}
