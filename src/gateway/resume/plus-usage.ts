import type { Usage } from '../../canonical/response.ts'
import { isObject } from '../../kit/json/json.ts'

/** The counts of two calls together. What is no count is that of the later one. */
export function plusUsage<Some extends Usage>(earlier: Some | undefined, later: Some): Some {
  if (!earlier) return later
  const { ext: _, ...counts } = earlier
  return { ...later, ...added(counts, later) }
}

function added(
  earlier: Record<string, unknown>,
  later: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(earlier).map(([key, count]) => {
      const other = later[key]
      if (typeof count === 'number')
        return [key, count + (typeof other === 'number' ? other : 0)] as const
      if (isObject(count))
        return [key, { ...(other ?? {}), ...added(count, isObject(other) ? other : {}) }]
      return [key, other ?? count]
    }),
  )
}
