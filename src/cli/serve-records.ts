import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { GatewayConfig, Hooks, Logger } from '../gateway/gateway.ts'
import { shortestAdminKey } from '../gateway/options.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { isObject } from '../kit/json/json.ts'
import type { Location, Records } from '../records/index.ts'
import { fromEnvironment } from './env-file.ts'
import type { Environment } from './environment.ts'
import { locationOf } from './keys.ts'
import type { ConfigSource } from './source.ts'
import { encryptionKeyIn } from './stored-channels.ts'
import type { Primary } from './workers/worker.ts'

/** `title`: for people. */
type Recording = { records?: Records; adminKey?: string; title: string }

type RecordsWanted = {
  options: { records?: boolean }
  source: ConfigSource
  folder: string
  environment: Environment
  shared: Environment
  logger: Logger
  primary: Primary | undefined
  current(): GatewayConfig
  configuredNames(): string[]
}

/**
 * @throws Error if records are configured and cannot be kept, or there may be keys that cannot be
 * read
 */
export async function recordsOf(
  config: GatewayConfig,
  {
    options,
    source,
    folder,
    environment,
    shared,
    logger,
    primary,
    current,
    configuredNames,
  }: RecordsWanted,
): Promise<Recording> {
  const { records: place } = isObject(config) ? config : {}
  const adminKey =
    (isObject(config) ? fromEnvironment(config.adminKey, environment) : undefined) ??
    (shared['WIREGLOT_ADMIN_KEY'] || undefined)
  if (adminKey !== undefined && adminKey.length < shortestAdminKey)
    throw new Error(
      `the admin key has ${adminKey.length} characters: at least ${shortestAdminKey} are needed`,
    )
  const isWanted =
    (place !== undefined && place !== false) ||
    adminKey !== undefined ||
    Boolean(shared['DATABASE_URL'])
  const location = place || inFolder(folder, locationOf(shared))
  // The demo model begins no records, but clients need the keys that were created before.
  const isKept = !source.isDemo || ('file' in location && existsSync(location.file))
  if (place === false || !(isWanted || (options.records && isKept)))
    return {
      title: source.isDemo
        ? 'records: off for the demo model; keys create and a restart turn them and keys on'
        : 'records: off',
      ...omitUndefined({ adminKey }),
    }
  const named =
    'url' in location ? { url: fromEnvironment(location.url, environment) ?? '' } : location
  const file = 'file' in named ? named.file : undefined
  const mayHaveKeys = file === undefined || hasContent(file)
  const where = file === undefined ? 'PostgreSQL' : `${file}${mayHaveKeys ? '' : ' (new)'}`
  const title = `records: ${where}${adminKey === undefined ? '' : ', admin API at /admin/'}`
  const encryptionKey = encryptionKeyIn(environment)
  try {
    const { openRecordsIn } = await import('../records/records.ts')
    const settings = {
      prices: () => current().prices ?? {},
      groups: () => current().groups ?? {},
      newKeys: () => omitUndefined(current().newKeys ?? {}),
      logger,
      configuredNames,
      encryptionKey,
      onFailure: config.limits?.onFailure,
      keepDays: place?.keepDays,
      keepBodies: place?.keepBodies,
    }
    return {
      records: await openRecordsIn(named, settings, primary?.openEmbedded),
      ...omitUndefined({ adminKey }),
      title,
    }
  } catch (error) {
    if (isWanted) throw error
    const reason = error instanceof Error ? error.message : 'unknown'
    if (mayHaveKeys)
      throw new Error(
        `${file} may have keys of clients, and the gateway does not start without them, unless --no-records says so: ${reason}`,
        { cause: error },
      )
    return { title: `records: off (${reason})` }
  }
}

/** True also where nobody can tell. */
function hasContent(file: string): boolean {
  try {
    return statSync(file).size > 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

const inFolder = (folder: string, location: Location): Location =>
  'file' in location ? { file: resolve(folder, location.file) } : location

/** Those of the gateway; keys of the database only where there may be some. */
export async function hooksOf(
  config: GatewayConfig,
  { authenticate, ...others }: Hooks,
  {
    records,
    adminKey,
    primary,
  }: {
    records: Records | undefined
    adminKey: string | undefined
    primary: Primary | undefined
  },
): Promise<Hooks> {
  const found = authenticate !== undefined && (await acceptsKeys(config, records, adminKey))
  const accepts = primary ? await primary.asksForKeys(found) : found
  return { ...others, ...(accepts && authenticate && { authenticate }) }
}

/**
 * Keys of the database are accepted once there is one, or somebody who can create one. Until then
 * only this machine is served. A database that is away may have some.
 */
async function acceptsKeys(
  { keys = [] }: GatewayConfig,
  records: Records | undefined,
  adminKey: string | undefined,
): Promise<boolean> {
  if (!records) return adminKey !== undefined && keys.length > 0
  if (adminKey !== undefined) return true
  return records.keys.list().then(
    list => list.length > 0,
    () => true,
  )
}
