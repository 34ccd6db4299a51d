import { overlap } from '../gateway/upstream/patterns.ts'
import { type Prices, priceOf } from './prices.ts'

/** A configured model, and the upstream's names of it at its channels. */
export type PricedModel = {
  id: string
  aliases: readonly string[]
  channels: readonly { model: string }[]
}

/** Budgets in dollars, and the models that they are for. */
export type DollarLimits = {
  models?: readonly string[] | undefined
  dollarsPerDay?: number | null | undefined
  dollarsPerMonth?: number | null | undefined
}

/**
 * The models that a budget in dollars does not count: their upstream's names, where no price is
 * known. Empty without such a budget. Names with a `*` are decided by each request.
 * @param groupModels what the group of a key sees. Undefined: every model.
 */
export function unpricedModels(
  { models: own, dollarsPerDay, dollarsPerMonth }: DollarLimits,
  models: readonly PricedModel[],
  prices: Prices,
  groupModels?: readonly string[],
): string[] {
  if ((dollarsPerDay ?? dollarsPerMonth ?? undefined) === undefined) return []
  const seen = models.filter(
    ({ id, aliases }) =>
      (groupModels?.some(pattern => overlap(pattern, id)) ?? true) &&
      (own?.some(pattern => [id, ...aliases].some(name => overlap(pattern, name))) ?? true),
  )
  const names = new Set(seen.flatMap(({ channels }) => channels.map(({ model }) => model)))
  return [...names].filter(name => !name.includes('*') && priceOf(name, prices) === undefined)
}

/** A sentence for people. `owner`: such as `alice`. */
export function unpricedWarning(owner: string, unpriced: readonly string[]): string {
  const [first = '', ...others] = unpriced
  const names = others.length > 3 ? [first, ...others.slice(0, 2)] : [first, ...others]
  const more = unpriced.length - names.length
  const list = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return `no price is known for ${list}: such requests cost nothing of the budget in dollars of ${owner}; set "prices" in the configuration, or a budget in tokens`
}
