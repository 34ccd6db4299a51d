/**
 * Usage records, and keys that are created at run time, in a SQL database.
 * @module wireglot/records
 */
import type { Location } from './database.ts'
import { openRecordsIn, type Records, type RecordsOptions } from './records.ts'

export type { Admin, AdminSources, ListedChannel, ListedModel } from './admin.ts'
export type { AdminChannels, ShownChannel, ShownChannels } from './admin-channels.ts'
export {
  type ChannelAddress,
  type ChannelChange,
  ChannelError,
  type ChannelInfo,
  type ChannelModel,
  type Channels,
  type NewChannel,
  type OpenedChannel,
} from './channels.ts'
export type { Location } from './database.ts'
export type { AttemptDetail, RecordDetail } from './details.ts'
export {
  type KeyChange,
  KeyError,
  type KeyInfo,
  type KeyLimits,
  type Keys,
  type NewKeyLimits,
} from './keys.ts'
export type { Price, Prices } from './prices.ts'
export type { Dimension, RecordFilter, RecordPage, Sum } from './queries.ts'
export type { Budget, Records, RecordsOptions } from './records.ts'
export type { GroupBudget, Groups, Spending, Used } from './spending.ts'
export type { RecordRow } from './tables.ts'

/**
 * Opens the database of records and keys, and creates its tables.
 * @throws ConfigError for an unknown option
 * @throws Error if a package is missing (`kysely`, and `libsql` for a file or `pg` for a URL), or
 * the database cannot be opened
 * @example
 * import { gateway } from 'wireglot/connect'
 * import { openRecords } from 'wireglot/records'
 *
 * const records = await openRecords({ file: ':memory:' })
 * const { secret } = await records.keys.create('alice', { models: ['demo'], requestsPerMinute: 60 })
 * const handler = gateway({ channels: [{ name: 'demo', embedded: 'demo' }] }, records.hooks)
 * console.log(secret.startsWith('wg-')) // true
 * await handler.close()
 * await records.close()
 */
export function openRecords(location: Location, options: RecordsOptions = {}): Promise<Records> {
  return openRecordsIn(location, options)
}
