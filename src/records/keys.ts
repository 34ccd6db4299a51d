import { createHash, randomBytes } from 'node:crypto'
import { reject } from '../gateway/gateway.ts'
import type { Database } from './database.ts'
import { createFresh } from './fresh.ts'
import { newKeyId } from './migrations.ts'
import type { KeyRow } from './tables.ts'

/** The limits of a key. Absent: none. Days and months are those of UTC. */
export type KeyLimits = {
  group?: string
  /** Model ids; a `*` at the end matches any rest. */
  models?: string[]
  requestsPerMinute?: number
  tokensPerMinute?: number
  tokensPerDay?: number
  tokensPerMonth?: number
  dollarsPerDay?: number
  dollarsPerMonth?: number
  /** ISO 8601. */
  expiresAt?: string
}

/** The limits of a new key. Null: none, also where new keys have one by default. */
export type NewKeyLimits = { [Limit in keyof KeyLimits]?: KeyLimits[Limit] | null }

/** New limits. Null removes one; absent: it stays. */
export type KeyChange = NewKeyLimits & { disabled?: boolean }

/**
 * A key as it is shown: without its secret. `id`: records, budgets and stored responses belong to
 * it. A key that is deleted and made again with its name gets another one. `hint`: the first
 * characters of the secret.
 */
export type KeyInfo = KeyLimits & {
  id: string
  name: string
  hint: string
  disabled: boolean
  createdAt: string
}

export type Keys = {
  /**
   * Returns the secret, which is shown only now. Limits that are absent are those of `newKeys`.
   * @throws KeyError if the name is taken or invalid
   */
  create(name: string, limits: NewKeyLimits): Promise<KeyInfo & { secret: string }>
  list(): Promise<KeyInfo[]>
  /**
   * A new secret for a name; the old one is refused from now on.
   * @throws KeyError if there is no such key
   */
  rotate(name: string): Promise<KeyInfo & { secret: string }>
  /** @throws KeyError if there is no such key */
  change(name: string, change: KeyChange): Promise<KeyInfo>
  /** @throws KeyError if there is no such key */
  delete(name: string): Promise<void>
  /**
   * The key with this secret, even if it is disabled or has expired. If the database fails, a key
   * that was used before counts as it was then.
   * @throws GatewayError 503 if the database fails and the key was not used before
   */
  find(secret: string): Promise<KeyInfo | undefined>
}

const messages = {
  taken: (name: string) => `there is a key ${name} already`,
  configured: (name: string) => `the configuration has a key ${name} already`,
  missing: (name: string) => `there is no key ${name}`,
  invalid: () => 'expected up to 100 letters, digits, spaces and .@_- as the name',
}

/**
 * Thrown by `keys.create` and the other changes of keys. `reason`: the name is taken (`configured`:
 * by a key of the configuration) or invalid, or there is no such key.
 * @example
 * import { KeyError, openRecords } from 'wireglot/records'
 *
 * const records = await openRecords({ file: ':memory:' })
 * await records.keys.create('alice', {})
 * const error: unknown = await records.keys.create('alice', {}).catch(error => error)
 * if (error instanceof KeyError) console.log(error.reason) // taken
 * await records.close()
 */
export class KeyError extends Error {
  override readonly name = 'KeyError'
  readonly reason: keyof typeof messages

  constructor(reason: keyof typeof messages, name: string) {
    super(messages[reason](JSON.stringify(name.slice(0, 100))))
    this.reason = reason
  }
}

/**
 * How long another process may accept a key that was changed here. While the database fails, it may
 * do so until that works again.
 */
const staleMs = 2_000
const freshMs = 1_500

/**
 * `isConfigured`: has a key of the configuration this name? `newKeys`: the limits of a new key that
 * has none of its own.
 */
export function createKeys(
  { ready, lookUp }: Database,
  { isConfigured, newKeys }: { isConfigured(name: string): boolean; newKeys(): KeyLimits },
): Keys {
  // Looked up by hash, so the time of the lookup reveals nothing about a secret.
  const known = createFresh(
    (hash: string) =>
      lookUp(async () => {
        const row = await (await ready())
          .selectFrom('keys')
          .selectAll()
          .where('hash', '=', hash)
          .executeTakeFirst()
        return row && infoOf(row)
      }),
    { freshMs, staleMs },
  )

  /**
   * The key after a change. Before it is read, nothing counts that was looked up earlier: a list
   * may show the change already.
   */
  const changedKey = async (name: string) => {
    known.clear()
    const row = await (await ready())
      .selectFrom('keys')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst()
    if (!row) throw new KeyError('missing', name)
    return infoOf(row)
  }

  return {
    async create(name, limits) {
      if (!validName.test(name)) throw new KeyError('invalid', name)
      if (isConfigured(name)) throw new KeyError('configured', name)
      const secret = newSecret()
      const row = {
        id: newKeyId(),
        name,
        ...hashed(secret),
        ...columnsOf({ ...newKeys(), ...limits }),
        disabled: 0,
        createdAt: Date.now(),
      }
      const { numInsertedOrUpdatedRows } = await (await ready())
        .insertInto('keys')
        .values(row)
        .onConflict(conflict => conflict.column('name').doNothing())
        .executeTakeFirstOrThrow()
      if (Number(numInsertedOrUpdatedRows ?? 0) === 0) throw new KeyError('taken', name)
      return { ...(await changedKey(name)), secret }
    },
    async list() {
      return (await (await ready()).selectFrom('keys').selectAll().orderBy('name').execute()).map(
        infoOf,
      )
    },
    async rotate(name) {
      existing(name)
      const secret = newSecret()
      await (await ready())
        .updateTable('keys')
        .set(hashed(secret))
        .where('name', '=', name)
        .execute()
      return { ...(await changedKey(name)), secret }
    },
    async change(name, { disabled, ...limits }) {
      existing(name)
      const columns = {
        ...changedOf(limits),
        ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
      }
      if (Object.keys(columns).length > 0)
        await (await ready()).updateTable('keys').set(columns).where('name', '=', name).execute()
      return changedKey(name)
    },
    async delete(name) {
      existing(name)
      const { numDeletedRows } = await (await ready())
        .deleteFrom('keys')
        .where('name', '=', name)
        .executeTakeFirstOrThrow()
      known.clear()
      if (Number(numDeletedRows) === 0) throw new KeyError('missing', name)
    },
    find: secret =>
      known.get(hashed(secret).hash).catch(() => {
        throw reject(503, 'overloaded', 'the database of keys cannot be reached', {
          retryAfterMs: staleMs,
        })
      }),
  }
}

const validName = /^[\w .@-]{1,100}$/

/** A name that is invalid cannot exist, and may be text that the database refuses. */
function existing(name: string): void {
  if (!validName.test(name)) throw new KeyError('missing', name)
}

/** 256 bits, so the hash needs no salt and no slow function. */
const newSecret = () => `wg-${randomBytes(32).toString('base64url')}`

const hashed = (secret: string) => ({
  hash: createHash('sha256').update(secret).digest('hex'),
  hint: secret.slice(0, 7),
})

type Columns = Omit<KeyRow, 'id' | 'name' | 'hash' | 'hint' | 'disabled' | 'createdAt'>

function columnsOf(limits: KeyChange): Columns {
  const empty = {
    groupName: null,
    models: null,
    requestsPerMinute: null,
    tokensPerMinute: null,
    expiresAt: null,
  }
  return {
    ...empty,
    tokensPerDay: null,
    tokensPerMonth: null,
    dollarsPerDay: null,
    dollarsPerMonth: null,
    ...changedOf(limits),
  }
}

function changedOf({
  group,
  models,
  expiresAt,
  disabled: _,
  ...numbers
}: KeyChange): Partial<Columns> {
  return {
    ...numbers,
    ...(group !== undefined && { groupName: group }),
    ...(models !== undefined && { models: models && JSON.stringify(models) }),
    ...(expiresAt !== undefined && {
      expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
    }),
  }
}

function infoOf({
  id,
  name,
  hint,
  groupName,
  models,
  expiresAt,
  disabled,
  createdAt,
  hash: _,
  ...numbers
}: KeyRow): KeyInfo {
  const given = Object.fromEntries(
    Object.entries(numbers).filter(([, value]) => value !== null),
  ) as Partial<Record<keyof typeof numbers, number>>
  return {
    id,
    name,
    hint,
    ...(groupName !== null && { group: groupName }),
    ...(models !== null && { models: JSON.parse(models) as string[] }),
    ...given,
    ...(expiresAt !== null && { expiresAt: new Date(Number(expiresAt)).toISOString() }),
    disabled: Number(disabled) !== 0,
    createdAt: new Date(Number(createdAt)).toISOString(),
  }
}
