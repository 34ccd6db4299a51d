import { randomBytes } from 'node:crypto'
import { createSeal } from '../stores/seal.ts'
import type { Database } from './database.ts'
import type { ChannelRow } from './tables.ts'

/**
 * A model that a channel serves. `id`: the name that clients use; a `*` at the end matches any rest.
 * `model`: the upstream's name, where it is another.
 */
export type ChannelModel = { id: string; model?: string }

/** Where the requests of a channel go. Without `vendor`: `baseUrl` and `protocols` are needed. */
export type ChannelAddress = { vendor?: string; baseUrl?: string; protocols?: string[] }

/**
 * A channel that is added. `apiKey`: the key itself, which is stored encrypted, or `env:NAME`.
 * Absent: none is sent.
 */
export type NewChannel = ChannelAddress & {
  name: string
  apiKey?: string
  models?: ChannelModel[]
}

/** What is absent stays. `models` replaces all of them. `apiKey` null: none is sent. */
export type ChannelChange = {
  apiKey?: string | null
  models?: ChannelModel[]
  disabled?: boolean
}

/**
 * A channel as it is shown. `key`: `env:NAME`, or `encrypted` for one that was given here. Absent:
 * there is none.
 */
export type ChannelInfo = ChannelAddress & {
  name: string
  key?: string
  models: ChannelModel[]
  disabled: boolean
  /** ISO 8601. */
  createdAt: string
}

/**
 * With its key as the gateway needs it. `fault`: why the channel cannot be used.
 */
export type OpenedChannel = ChannelInfo & { apiKey?: string; fault?: string }

/** The channels of the database: those that are added while the gateway runs. */
export type Channels = {
  /** Is there a secret to encrypt keys with? Without it a key is a reference `env:NAME`. */
  readonly takesKeys: boolean
  /** @throws ChannelError if the name is taken or there are too many, or a key cannot be encrypted */
  create(channel: NewChannel): Promise<ChannelInfo>
  /** @throws ChannelError if there is no such channel, or a key cannot be encrypted */
  change(name: string, change: ChannelChange): Promise<ChannelInfo>
  /** @throws ChannelError if there is no such channel */
  delete(name: string): Promise<void>
  /** In the order in which they were added, with their keys. `version`: of what was read. */
  open(): Promise<{ channels: OpenedChannel[]; version: string }>
  /** Another one after each change, also of another process. */
  version(): Promise<string>
}

const mostChannels = 100

const messages = {
  taken: (name: string) => `there is a channel ${name} already`,
  missing: (name: string) => `there is no channel ${name} that was added here`,
  full: () => `there are ${mostChannels} channels already, which is the most`,
  unencrypted: () =>
    'a key is stored encrypted: set WIREGLOT_ENCRYPTION_KEY (at least 32 characters) and restart, or write env:NAME for an environment variable',
}

/**
 * Thrown by changes of channels. `reason`: the name is taken, there is no such channel, there are
 * too many, or a key cannot be encrypted.
 * @example
 * import { ChannelError, openRecords } from 'wireglot/records'
 *
 * const records = await openRecords({ file: ':memory:' })
 * const error: unknown = await records.channels.delete('nowhere').catch(error => error)
 * if (error instanceof ChannelError) console.log(error.reason) // missing
 * await records.close()
 */
export class ChannelError extends Error {
  override readonly name = 'ChannelError'
  readonly reason: keyof typeof messages

  constructor(reason: keyof typeof messages, name: string) {
    super(messages[reason](JSON.stringify(name.slice(0, 100))))
    this.reason = reason
  }
}

/** `encryptionKey`: absent, keys are references to environment variables alone. */
export function createChannels({ ready }: Database, encryptionKey: string | undefined): Channels {
  const seal = encryptionKey === undefined ? undefined : createSeal(encryptionKey, 'channels')

  async function stored(apiKey: string, channel: ChannelAddress & { name: string }) {
    if (isReference(apiKey)) return apiKey
    if (!seal) throw new ChannelError('unencrypted', channel.name)
    return seal.close(apiKey, ownerOf(channel))
  }

  async function opened(row: ChannelRow): Promise<OpenedChannel> {
    const info = infoOf(row)
    const { apiKey } = row
    if (apiKey === null) return info
    const key = isReference(apiKey) ? apiKey : await seal?.open(apiKey, ownerOf(info))
    return key === undefined
      ? { ...info, fault: seal ? otherSecret : noSecret }
      : { ...info, apiKey: key }
  }

  const rowOf = async (name: string): Promise<ChannelRow> => {
    const row = await (await ready())
      .selectFrom('channels')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst()
    if (!row) throw new ChannelError('missing', name)
    return row
  }

  const rows = async () =>
    (await ready())
      .selectFrom('channels')
      .selectAll()
      .orderBy('createdAt')
      .orderBy('name')
      .execute()

  return {
    takesKeys: seal !== undefined,
    async create({ name, apiKey, models = [], ...address }) {
      if ((await rows()).length >= mostChannels) throw new ChannelError('full', name)
      const row: ChannelRow = {
        name,
        address: JSON.stringify(address),
        models: JSON.stringify(models),
        apiKey: apiKey === undefined ? null : await stored(apiKey, { name, ...address }),
        disabled: 0,
        version: newVersion(),
        createdAt: Date.now(),
      }
      const { numInsertedOrUpdatedRows } = await (await ready())
        .insertInto('channels')
        .values(row)
        .onConflict(conflict => conflict.column('name').doNothing())
        .executeTakeFirstOrThrow()
      if (Number(numInsertedOrUpdatedRows ?? 0) === 0) throw new ChannelError('taken', name)
      return infoOf(row)
    },
    async change(name, { apiKey, models, disabled }) {
      const info = infoOf(await rowOf(name))
      const columns = {
        version: newVersion(),
        ...(apiKey !== undefined && { apiKey: apiKey && (await stored(apiKey, info)) }),
        ...(models && { models: JSON.stringify(models) }),
        ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
      }
      await (await ready()).updateTable('channels').set(columns).where('name', '=', name).execute()
      return infoOf(await rowOf(name))
    },
    async delete(name) {
      const { numDeletedRows } = await (await ready())
        .deleteFrom('channels')
        .where('name', '=', name)
        .executeTakeFirstOrThrow()
      if (Number(numDeletedRows) === 0) throw new ChannelError('missing', name)
    },
    async open() {
      const all = await rows()
      return { channels: await Promise.all(all.map(opened)), version: versionOf(all) }
    },
    version: async () =>
      versionOf(
        await (await ready())
          .selectFrom('channels')
          .select('version')
          .orderBy('createdAt')
          .orderBy('name')
          .execute(),
      ),
  }
}

const noSecret = 'its key is encrypted, and WIREGLOT_ENCRYPTION_KEY is not set'
const otherSecret = 'its key was encrypted with another WIREGLOT_ENCRYPTION_KEY: give the key again'

export const isReference = (apiKey: string) => apiKey.startsWith('env:')

const newVersion = () => randomBytes(8).toString('hex')
const versionOf = (rows: readonly { version: string }[]) =>
  rows.map(({ version }) => version).join(' ')

/** A key is of one address alone: with another one in the database it cannot be opened. */
const ownerOf = ({ name, vendor, baseUrl }: ChannelAddress & { name: string }) =>
  JSON.stringify([name, vendor, baseUrl])

const infoOf = ({
  name,
  address,
  models,
  apiKey,
  disabled,
  createdAt,
}: ChannelRow): ChannelInfo => ({
  name,
  ...(JSON.parse(address) as ChannelAddress),
  ...(apiKey !== null && { key: isReference(apiKey) ? apiKey : 'encrypted' }),
  models: JSON.parse(models) as ChannelModel[],
  disabled: Number(disabled) !== 0,
  createdAt: new Date(Number(createdAt)).toISOString(),
})
