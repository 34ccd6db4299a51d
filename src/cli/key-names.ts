import { basename } from 'node:path'
import { overlap } from '../gateway/upstream/patterns.ts'
import { isObject } from '../kit/json/json.ts'
import { similar } from '../kit/text/similar.ts'
import type { KeyLimits } from '../records/index.ts'
import { findConfig, readConfig } from './config-file.ts'

/**
 * The names of a key that the configuration of a folder does not have. One sentence each; none
 * without a configuration.
 */
export async function unknownNames(
  { group, models = [] }: Pick<KeyLimits, 'group' | 'models'>,
  folder: string,
): Promise<string[]> {
  if (group === undefined && models.length === 0) return []
  const file = await findConfig(folder)
  if (file === undefined) return []
  const config = await readConfig(file).catch((error: Error) => error)
  if (config instanceof Error) return [`the names of this key were not checked: ${config.message}`]
  if (!isObject(config)) return []
  const faultOf = (kind: string, name: string, known: readonly string[]) => {
    const meant = similar(name, known)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    return `${basename(file)} has no ${kind} ${name}${hint}`
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

function idsOf(entry: unknown): string[] {
  const { id, aliases } = isObject(entry) ? entry : {}
  const all: unknown[] = [id, ...(Array.isArray(aliases) ? aliases : [])]
  return all.filter(name => typeof name === 'string')
}
