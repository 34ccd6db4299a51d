import { checkOptions } from '../gateway/check-options.ts'
import type { Hooks, Identity, Logger } from '../gateway/gateway.ts'
import { reject } from '../gateway/gateway.ts'
import { type Admin, type AdminSources, createAdmin } from './admin.ts'
import { createBudgets } from './budgets.ts'
import { type Channels, createChannels } from './channels.ts'
import { type Location, openDatabase } from './database.ts'
import { createDetails, type RecordDetail } from './details.ts'
import type { OpenEmbedded } from './embedded.ts'
import { createKeys, type KeyInfo, type KeyLimits, type Keys } from './keys.ts'
import type { Prices } from './prices.ts'
import {
  type Dimension,
  findRecords,
  type RecordFilter,
  type RecordPage,
  type Sum,
  sumUsage,
} from './queries.ts'
import { createReservations } from './reservations.ts'
import {
  budgetNames,
  type GroupBudget,
  type Groups,
  noSpending,
  type Spending,
  spendingBy,
} from './spending.ts'
import { createWriter } from './writer.ts'

/** The limits of a key or group, and what it has used of them. `name`: of the key or the group. */
export type Budget = { name: string; limits: KeyLimits; used: Spending }

export type Records = {
  keys: Keys
  /** For hosts that serve them beside the channels of a configuration, as `wireglot serve` does. */
  channels: Channels
  /**
   * For the gateway: `authenticate` accepts the keys of the database, `reserve` and `onUsage` count
   * what they use, `onUsage` records each request, and the others keep its details.
   */
  hooks: Required<Pick<Hooks, 'authenticate' | 'reserve' | 'onUsage' | 'onAttempt' | 'onNotes'>>
  /** Newest first, at most `limit`. `cursor`: of the page before. */
  find(filter: RecordFilter, limit: number, cursor?: string): Promise<RecordPage>
  /**
   * By minute up to three hours, by hour up to four days, else by day. `by`: one sum per name;
   * absent: of all together.
   */
  sum(filter: RecordFilter, by?: Dimension): Promise<{ bucketMs: number; sums: Sum[] }>
  /** The same for the whole time span: one sum per name, those with most requests first. */
  total(filter: RecordFilter, by?: Dimension): Promise<Sum[]>
  /**
   * What each key has used, by its id, and each group, by its name. Those that used nothing are
   * absent.
   */
  spending(): Promise<{ keys: Map<string, Spending>; groups: Map<string, Spending> }>
  /**
   * The budgets of a client: of its key and of its group. One that has no limits is absent; so is
   * that of a key of the configuration.
   */
  budgetsOf(identity: Identity): Promise<{ key?: Budget; group?: Budget }>
  /**
   * The attempts of a request that failed or took several, and its body where it is kept.
   * Undefined: there are none.
   */
  detail(id: string): Promise<RecordDetail | undefined>
  /** The client of a key, by its name, as `authenticate` returns it. @throws GatewayError 401 */
  identify(name: string): Promise<Identity>
  /** Handles `/admin/*` of a `node:http` server. `sources`: a gateway will do. */
  admin(adminKey: string, sources: AdminSources): Admin
  /**
   * For health checks. `waiting`: records in memory. `dropped`: records that were given up because
   * the database was away.
   */
  state(): { database: 'ok' | 'unreachable'; waiting: number; dropped: number }
  /** Writes what is left, and closes the database. */
  close(): Promise<void>
}

export type RecordsOptions = {
  /** US dollars for a million tokens, by model. Absent: costs are unknown. */
  prices?: () => Prices
  /** Records are deleted when they are older than so many days; their sums stay. Absent: never. */
  keepDays?: number | undefined
  /**
   * Keep the body of each request as it was sent to the upstream, up to 64 KiB, with secrets
   * replaced. It contains the prompt. Default false.
   */
  keepBodies?: boolean | undefined
  /**
   * The names of the keys in the gateway's configuration. Keys of the database with these names are
   * refused. Default: none.
   */
  configuredNames?: () => readonly string[]
  /** The budgets of the groups, and the models that they see. Default: none. */
  groups?: () => Groups
  /** The limits of new keys that have none of their own. Default: none. */
  newKeys?: () => KeyLimits
  /**
   * When the database fails: are keys with a budget served (`open`, the default), or refused with
   * 503 (`closed`)?
   */
  onFailure?: 'open' | 'closed' | undefined
  /**
   * Encrypts the keys of `channels`: at least 32 characters that nobody can guess. Absent: keys of
   * channels are references to environment variables alone.
   */
  encryptionKey?: string | undefined
  /** Gets a warning when the database fails, once until it works again. */
  logger?: Pick<Logger, 'warn'>
}

/** `open`: where the embedded database is. Default: in this process, and no other one uses it. */
export async function openRecordsIn(
  location: Location,
  options: RecordsOptions = {},
  open?: OpenEmbedded,
): Promise<Records> {
  checkOptions(options, [
    'prices',
    'configuredNames',
    'groups',
    'newKeys',
    'onFailure',
    'encryptionKey',
    'keepDays',
    'keepBodies',
    'logger',
  ])
  const { prices = () => ({}), configuredNames = () => [], onFailure = 'open' } = options
  const { keepDays, keepBodies, logger } = options
  const { groups = (): Groups => ({}), newKeys = () => ({}) } = options
  const warn = (details: object, message: string) => logger?.warn(details, message)
  const database = await openDatabase(location, warn, open)
  const writer = createWriter(database, { prices, keepDays, warn })
  const details = createDetails(database, { keepBodies, keepDays })
  const isConfigured = (name: string) => configuredNames().includes(name)
  const keys = createKeys(database, { isConfigured, newKeys })
  const channels = createChannels(database, options.encryptionKey)
  const reservations = createReservations(database, 'url' in location || open !== undefined)
  const budgets = createBudgets(database, writer, reservations, { prices, groups, onFailure })

  async function identityOf(key: KeyInfo): Promise<Identity> {
    if (isConfigured(key.name))
      throw reject(
        401,
        'authentication',
        'this key has the name of a key in the configuration: create it again with another name',
      )
    if (key.disabled) throw reject(401, 'authentication', 'this key is disabled')
    if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= Date.now())
      throw reject(401, 'authentication', 'this key has expired')
    const { id, name, group, models, requestsPerMinute } = key
    const rejection = await budgets.rejectionFor(key)
    return {
      id,
      name,
      ...(group !== undefined && { group }),
      ...(models && { models }),
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
      ...(rejection && { rejection }),
    }
  }

  async function spending() {
    await writer.flush()
    return {
      keys: await spendingBy(database, 'keyId'),
      groups: await spendingBy(database, 'groupName'),
    }
  }

  return {
    keys,
    channels,
    async identify(name) {
      const key = (await keys.list()).find(one => one.name === name)
      if (!key) throw reject(401, 'authentication', 'there is no such key')
      return identityOf(key)
    },
    hooks: {
      async authenticate(credential) {
        // Other keys are those of the configuration.
        if (!credential?.startsWith('wg-')) return undefined
        const key = await keys.find(credential)
        if (!key) return undefined
        return identityOf(key)
      },
      reserve: budgets.reserve,
      onUsage(record) {
        budgets.spend(record)
        writer.add(record)
        details.onUsage(record)
      },
      onAttempt: details.onAttempt,
      onNotes: details.onNotes,
    },
    async find(filter, limit, cursor) {
      await writer.flush()
      return findRecords(database, filter, limit, cursor)
    },
    async sum(filter, by) {
      await writer.flush()
      return sumUsage(database, filter, by)
    },
    async total(filter, by) {
      await writer.flush()
      return (await sumUsage(database, filter, by, true)).sums
    },
    spending,
    async budgetsOf({ id, name = '', group = '' }) {
      const info = id === undefined ? undefined : (await keys.list()).find(one => one.id === id)
      const used = await spending()
      const ofGroup = limitsOfGroup(Object.hasOwn(groups(), group) ? groups()[group] : undefined)
      return {
        ...(info && {
          key: { name, limits: limitsOf(info), used: used.keys.get(info.id) ?? noSpending() },
        }),
        ...(Object.keys(ofGroup).length > 0 && {
          group: { name: group, limits: ofGroup, used: used.groups.get(group) ?? noSpending() },
        }),
      }
    },
    detail: details.find,
    admin: (adminKey, sources) =>
      createAdmin({
        ...sources,
        database,
        keys,
        writer,
        adminKey,
        prices,
        groups,
        spending,
        warn,
      }),
    state: () => ({
      database: writer.isFailing() || !database.wasReached() ? 'unreachable' : 'ok',
      waiting: writer.waiting(),
      dropped: writer.dropped(),
    }),
    async close() {
      await reservations.close()
      await writer.close()
      await details.close()
      await database.close()
    },
  }
}

function limitsOf({
  id: _,
  name: __,
  hint: ___,
  createdAt: ____,
  disabled: _____,
  ...limits
}: KeyInfo): KeyLimits {
  return limits
}

const limitsOfGroup = (budget: GroupBudget = {}): KeyLimits =>
  Object.fromEntries(
    budgetNames.flatMap(name => (budget[name] === undefined ? [] : [[name, budget[name]]])),
  )
