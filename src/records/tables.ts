/**
 * A finished request. Times are Unix milliseconds; `cost` is in US dollars, null if the price is
 * unknown. `key`: the name of the key; `keyId`: its id, null for a key of the configuration.
 * `noteCodes`: the first ones, with spaces between. `errorMessage`: of a failure, without the words
 * of the upstream.
 */
export type RecordRow = {
  time: number
  id: string
  key: string | null
  keyId: string | null
  groupName: string | null
  model: string
  modelServed: string | null
  channel: string | null
  provider: string | null
  protocolIn: string
  protocolOut: string | null
  stream: number
  status: number
  failure: string | null
  error: string | null
  errorMessage: string | null
  input: number | null
  output: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
  cost: number | null
  firstByteMs: number | null
  totalMs: number
  attempts: number
  notes: number
  noteCodes: string | null
  upstreamRequestId: string | null
  /** 1: some of the counts are estimated. */
  estimated: number
  /** The notes of what stood in for something that the model lacks. */
  emulated: number
}

/**
 * Sums of one period, key, group, model and channel: what plots and budgets read. `''`: no key, no
 * id of one, no group, no model that a channel serves, no channel. `start`: of the period, in Unix milliseconds.
 */
export type SumRow = {
  start: number
  key: string
  keyId: string
  groupName: string
  model: string
  channel: string
  requests: number
  failures: number
  input: number
  output: number
  cost: number
  /** Requests whose cost is known, and those with tokens whose cost is not. */
  priced: number
  unpriced: number
  totalMs: number
  /** Of the requests that have one, and the number of these. */
  firstByteMs: number
  firstBytes: number
  /** Requests in which something stood in for what the model lacks. */
  emulated: number
}

/**
 * A key of a client. `id`: no other key has or had it. `hash`: SHA-256 of the secret, which is
 * stored nowhere. `hint`: its first characters. Absent limits are null.
 */
export type KeyRow = {
  id: string
  name: string
  hash: string
  hint: string
  groupName: string | null
  /** JSON list of model ids; a `*` at the end matches any rest. Null: all. */
  models: string | null
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  tokensPerDay: number | null
  tokensPerMonth: number | null
  dollarsPerDay: number | null
  dollarsPerMonth: number | null
  expiresAt: number | null
  disabled: number
  createdAt: number
}

/**
 * The length of the periods of each table of sums, in milliseconds. Minutes are kept for some days.
 */
export const periods = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const
export type Period = keyof typeof periods

/** `detail`: a `RecordDetail` as JSON. `id`, `time`: of its record. */
export type DetailRow = { id: string; time: number; detail: string }

/**
 * What the requests in progress of a process are likely to use. `expiresAt`: when it counts no
 * longer, in Unix milliseconds.
 */
export type ReservationRow = {
  process: string
  keyId: string
  tokens: number
  dollars: number
  expiresAt: number
}

/**
 * A channel that was added while the gateway ran. `address`: vendor, base URL and protocols as JSON.
 * `models`: as JSON. `apiKey`: encrypted, or `env:NAME`; null: none. `version`: another one after
 * each change.
 */
export type ChannelRow = {
  name: string
  address: string
  models: string
  apiKey: string | null
  disabled: number
  version: string
  createdAt: number
}

export type Tables = {
  records: RecordRow
  keys: KeyRow
  channels: ChannelRow
  details: DetailRow
  reservations: ReservationRow
} & Record<Period, SumRow>
