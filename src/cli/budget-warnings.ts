import type { GatewayConfig } from '../gateway/gateway.ts'
import type { Records } from '../records/index.ts'
import { budgetNames } from '../records/spending.ts'
import { type DollarLimits, unpricedModels, unpricedWarning } from '../records/unpriced.ts'

/** One sentence for each budget that does not limit what it seems to. */
export async function budgetWarnings(
  config: GatewayConfig,
  records: Records | undefined,
): Promise<string[]> {
  const groups = Object.entries(config.groups ?? {})
  const limited = groups.filter(([, group]) => budgetNames.some(name => group[name] !== undefined))
  if (!records)
    return limited.map(
      ([name]) => `the budget of the group ${name} is not kept: budgets need records`,
    )
  // A database that is away may have some: they are shown in the console.
  const keys = await records.keys.list().catch(() => [])
  return [
    ...limited.flatMap(([name, group]) => warningOf(`the group ${name}`, group, config)),
    ...keys.flatMap(key => (key.disabled ? [] : warningOf(key.name, key, config))),
  ]
}

/** Of a key that is created with these limits. */
export function warningOf(
  owner: string,
  { group, ...limits }: DollarLimits & { group?: string | null | undefined },
  { groups = {}, models, prices = {} }: Pick<GatewayConfig, 'groups' | 'models' | 'prices'>,
): string[] {
  const seen = group && Object.hasOwn(groups, group) ? groups[group]?.models : undefined
  const unpriced = unpricedModels(limits, pricedModels(models), prices, seen)
  return unpriced.length > 0 ? [unpricedWarning(owner, unpriced)] : []
}

const pricedModels = (models: GatewayConfig['models'] = []) =>
  models.map(({ id, aliases = [], channels }) => ({
    id,
    aliases,
    channels: channels.map(({ model }) => ({ model: model ?? id })),
  }))
