import { basename } from 'node:path'
import type { GatewayConfig } from '../gateway/gateway.ts'
import { overlap } from '../gateway/upstream/patterns.ts'
import { isObject } from '../kit/json/json.ts'
import { similar } from '../kit/text/similar.ts'
import type { KeyLimits, Location } from '../records/index.ts'
import { budgetNames } from '../records/spending.ts'
import { warningOf } from './budget-warnings.ts'
import { findConfig, readConfig } from './config-file.ts'
import { fromEnvironment } from './env-file.ts'

/** What the configuration of a folder says of new keys. */
export type KeyRules = {
  newKeys: KeyLimits
  /**
   * The names in a key that the configuration does not have, and budgets that do not count. One
   * sentence each; none without a configuration.
   */
  faultsOf(name: string, limits: KeyLimits): string[]
}

/**
 * Where a configuration keeps records: the named one, else that of the folder. Undefined: it does
 * not say.
 * @throws Error if the named one cannot be read
 */
export async function recordsIn(folder: string, named?: string): Promise<Location | undefined> {
  const found = named === undefined ? await findConfig(folder) : undefined
  const config =
    named === undefined
      ? found && (await readConfig(found).catch(() => undefined))
      : await readConfig(named)
  const { file, url } = isObject(config) && isObject(config['records']) ? config['records'] : {}
  if (typeof file === 'string') return { file }
  const address = typeof url === 'string' ? fromEnvironment(url, process.env) : undefined
  return address === undefined ? undefined : { url: address }
}

/** A configuration that cannot be read is no reason to create no key. */
export async function configIn(folder: string, named?: string): Promise<KeyRules> {
  const file = named ?? (await findConfig(folder))
  if (file === undefined) return { newKeys: {}, faultsOf: () => [] }
  const config = await readConfig(file).catch((error: Error) => error)
  if (config instanceof Error)
    return {
      newKeys: {},
      faultsOf: () => [`the names of this key were not checked: ${config.message}`],
    }
  if (!isObject(config)) return { newKeys: {}, faultsOf: () => [] }
  return {
    newKeys: limitsIn(config['newKeys']),
    faultsOf: (name, limits) => [
      ...unknownNames(limits, basename(file), config),
      ...priceFaults(name, limits, config),
    ],
  }
}

/** An invalid configuration has its own message when the gateway starts. */
function limitsIn(value: unknown): KeyLimits {
  const { group, ...rest } = isObject(value) ? value : {}
  const numbers = Object.entries(rest).filter(
    ([name, limit]) => typeof limit === 'number' && numberNames.includes(name),
  )
  return { ...Object.fromEntries(numbers), ...(typeof group === 'string' && { group }) }
}

const numberNames: readonly string[] = [...budgetNames, 'requestsPerMinute', 'tokensPerMinute']

function unknownNames(
  { group, models = [] }: Pick<KeyLimits, 'group' | 'models'>,
  file: string,
  config: Record<string, unknown>,
): string[] {
  const faultOf = (kind: string, name: string, known: readonly string[]) => {
    const meant = similar(name, known)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    return `${file} has no ${kind} ${name}${hint}`
  }
  const groups = Object.keys(isObject(config['groups']) ? config['groups'] : {})
  const faults: string[] = []
  if (group !== undefined && !groups.includes(group)) faults.push(faultOf('group', group, groups))
  // Without models, every id goes to all channels.
  if (!Array.isArray(config['models'])) return faults
  const ids = config['models'].flatMap(idsOf)
  for (const model of models)
    if (!ids.some(id => overlap(model, id))) faults.push(faultOf('model', model, ids))
  return faults
}

function priceFaults(name: string, limits: KeyLimits, config: Record<string, unknown>): string[] {
  try {
    return warningOf(name, limits, config as Pick<GatewayConfig, 'groups' | 'models' | 'prices'>)
  } catch {
    return []
  }
}

function idsOf(entry: unknown): string[] {
  const { id, aliases } = isObject(entry) ? entry : {}
  const all: unknown[] = [id, ...(Array.isArray(aliases) ? aliases : [])]
  return all.filter(name => typeof name === 'string')
}
