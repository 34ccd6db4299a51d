import { createHash, randomBytes } from 'node:crypto'
import type { Database, KeyRow } from './database.ts'

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

/** A key as it is shown: without its secret. `hint`: the first characters of the secret. */
export type KeyInfo = KeyLimits & { name: string; hint: string; disabled: boolean; createdAt: string }

export type Keys = {
  /** Returns the secret, which is shown only now. @throws KeyError if the name is taken */
  create(name: string, limits: KeyLimits): Promise<KeyInfo & { secret: string }>
  list(): Promise<KeyInfo[]>
  /** A new secret for a name; the old one is refused from now on. @throws KeyError if there is no such key */
  rotate(name: string): Promise<KeyInfo & { secret: string }>
  change(name: string, change: KeyLimits & { disabled?: boolean }): Promise<KeyInfo>
  delete(name: string): Promise<void>
  /** The key with this secret, even if it is disabled or has expired. */
  find(secret: string): Promise<KeyInfo | undefined>
}

/** The name is taken, or there is no such key. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
  readonly reason: 'taken' | 'missing'

  constructor(reason: 'taken' | 'missing', name: string) {
    super(reason === 'taken' ? `there is a key ${JSON.stringify(name)} already` : `there is no key ${JSON.stringify(name)}`)
    this.reason = reason
  }
}

/** How long a key that was looked up is not looked up again: so long another process may accept one that was changed here. */
const freshMs = 2_000
const mostRemembered = 10_000

/** Long because its functions share one cache. */
export function createKeys({ db }: Database): Keys {
  const known = new Map<string, { info: KeyInfo | undefined; until: number }>()

  const rowOf = (name: string) => db.selectFrom('keys').selectAll().where('name', '=', name).executeTakeFirst()
  const infoFor = async (name: string) => {
    const row = await rowOf(name)
    if (!row) throw new KeyError('missing', name)
    known.clear()
    return infoOf(row)
  }

  return {
    async create(name, limits) {
      const secret = newSecret()
      const row = { name, ...hashed(secret), ...columnsOf(limits), disabled: 0, createdAt: Date.now() }
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('keys')
        .values(row)
        .onConflict(conflict => conflict.column('name').doNothing())
        .executeTakeFirstOrThrow()
      if (Number(numInsertedOrUpdatedRows ?? 0) === 0) throw new KeyError('taken', name)
      return { ...(await infoFor(name)), secret }
    },
    async list() {
      return (await db.selectFrom('keys').selectAll().orderBy('name').execute()).map(infoOf)
    },
    async rotate(name) {
      const secret = newSecret()
      await db.updateTable('keys').set(hashed(secret)).where('name', '=', name).execute()
      return { ...(await infoFor(name)), secret }
    },
    async change(name, { disabled, ...limits }) {
      const columns = { ...changedOf(limits), ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }) }
      if (Object.keys(columns).length > 0) await db.updateTable('keys').set(columns).where('name', '=', name).execute()
      return infoFor(name)
    },
    async delete(name) {
      const { numDeletedRows } = await db.deleteFrom('keys').where('name', '=', name).executeTakeFirstOrThrow()
      known.clear()
      if (Number(numDeletedRows) === 0) throw new KeyError('missing', name)
    },
    async find(secret) {
      const { hash } = hashed(secret)
      const found = known.get(hash)
      if (found && found.until > Date.now()) return found.info
      // Looked up by hash, so the time of the lookup tells nothing about a secret.
      const row = await db.selectFrom('keys').selectAll().where('hash', '=', hash).executeTakeFirst()
      const info = row && infoOf(row)
      if (known.size >= mostRemembered) known.clear()
      known.set(hash, { info, until: Date.now() + freshMs })
      return info
    },
  }
}

/** 256 bits, so the hash needs no salt and no slow function. */
const newSecret = () => `wg-${randomBytes(32).toString('base64url')}`

const hashed = (secret: string) => ({ hash: createHash('sha256').update(secret).digest('hex'), hint: secret.slice(0, 7) })

type Columns = Omit<KeyRow, 'name' | 'hash' | 'hint' | 'disabled' | 'createdAt'>

function columnsOf(limits: KeyLimits): Columns {
  const empty = { groupName: null, models: null, requestsPerMinute: null, tokensPerMinute: null, expiresAt: null }
  return { ...empty, tokensPerDay: null, tokensPerMonth: null, dollarsPerDay: null, dollarsPerMonth: null, ...changedOf(limits) }
}

function changedOf({ group, models, expiresAt, ...numbers }: KeyLimits): Partial<Columns> {
  return {
    ...numbers,
    ...(group !== undefined && { groupName: group }),
    ...(models !== undefined && { models: JSON.stringify(models) }),
    ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
  }
}

function infoOf({ name, hint, groupName, models, expiresAt, disabled, createdAt, hash: _, ...numbers }: KeyRow): KeyInfo {
  const given = Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== null)) as Partial<Record<keyof typeof numbers, number>>
  return {
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
