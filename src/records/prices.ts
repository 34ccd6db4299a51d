import type { Usage } from '../canonical/response.ts'
import type { UsageRecord } from '../gateway/gateway.ts'
import { flatMap } from '../kit/text/flat-map.ts'
import { knownPrice } from '../models/prices.ts'

/**
 * US dollars for a million tokens. `cacheRead`, `cacheWrite`: of input that the provider's cache
 * held, or was written to it; absent: as `input`.
 */
export type Price = {
  input: number
  output: number
  cacheRead?: number | undefined
  cacheWrite?: number | undefined
}

/**
 * By model id; a `*` at the end matches any rest. The longest match counts; without one, what the
 * maker of the model asks for it.
 */
export type Prices = Readonly<Record<string, Price>>

/** US dollars. Undefined: the price or the counts are unknown. */
export function costOf(
  model: string | undefined,
  usage: Usage | undefined,
  prices: Prices,
): number | undefined {
  const price = model === undefined ? undefined : priceOf(model, prices)
  if (!price || (usage?.input === undefined && usage?.output === undefined)) return undefined
  // Embeddings have no output.
  const { input: whole = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  // Some upstreams count what their cache held in addition to the input.
  const plain = Math.max(0, whole - cacheRead - cacheWrite)
  const input =
    plain * price.input +
    cacheRead * (price.cacheRead ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input)
  return (input + output * price.output) / 1_000_000
}

/** The same of a record. What its models of no known price have used is not in it. */
export function costOfRecord(
  { modelServed, usage, usageByModel }: Spending,
  prices: Prices,
): number | undefined {
  if (!usageByModel) return costOf(modelServed, usage, prices)
  const costs = flatMap(
    Object.entries(usageByModel),
    ([model, used]) => costOf(model, used, prices) ?? [],
  )
  return costs.length > 0 ? costs.reduce((sum, cost) => sum + cost) : undefined
}

type Spending = Pick<UsageRecord, 'modelServed' | 'usage' | 'usageByModel'>

const mostModels = 1000
const known = new WeakMap<Prices, Map<string, Price | undefined>>()

/**
 * Undefined: it is unknown. Each model is looked up once: there are some hundred patterns, and
 * every request has a price.
 */
export function priceOf(model: string, prices: Prices): Price | undefined {
  const found = known.get(prices) ?? new Map<string, Price | undefined>()
  if (!found.has(model)) {
    if (found.size >= mostModels) found.clear()
    known.set(prices, found.set(model, longestMatch(model, prices)))
  }
  return found.get(model)
}

function longestMatch(model: string, prices: Prices): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const matching = Object.keys(prices).filter(
    pattern => pattern.endsWith('*') && model.startsWith(pattern.slice(0, -1)),
  )
  const [longest] = matching.sort((a, b) => b.length - a.length)
  return longest === undefined ? knownPrice(model) : prices[longest]
}
