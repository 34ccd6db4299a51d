import type { Hooks, Peers, UsageRecord } from '../gateway/gateway.ts'
import { collectDetails, type RecordDetail } from '../records/details.ts'
import type { Dimension, RecordRow, Records, Sum } from '../records/index.ts'
import { fieldOf, periodFor, placeOf } from '../records/queries.ts'
import { periods } from '../records/tables.ts'
import { rowOf } from '../records/writer.ts'

/** Where the console finds records: a database, or the memory of this process. */
export type RecordSource = Pick<Records, 'find' | 'sum' | 'total' | 'detail'>

/** The number of requests that are remembered. */
const mostRecent = 2000

/** How long the others wait for the requests of this process, which are sent together. */
const sendEveryMs = 500

/** What a process sends to the others: its requests since the last time, and details of some. */
type Message = { recent?: [row: RecordRow, detail?: RecordDetail][] }

/**
 * The latest requests of this process and its peers, for a gateway that keeps no records. Costs are
 * unknown.
 */
export function createRecent(peers?: Peers): RecordSource & {
  hooks: Required<Pick<Hooks, 'onAttempt' | 'onUsage' | 'onNotes'>>
} {
  const rows: RecordRow[] = []
  const details = new Map<string, RecordDetail>()
  let unsent: RecordRow[] = []

  function remember(row: RecordRow): void {
    rows.push(row)
    if (rows.length > mostRecent) details.delete(rows.shift()?.id ?? '')
  }

  function send(): void {
    const detailed = unsent.map((row): [RecordRow, RecordDetail?] => {
      const detail = details.get(row.id)
      return detail ? [row, detail] : [row]
    })
    unsent = []
    peers?.send({ recent: detailed } satisfies Message)
  }

  function sendSoon(row: RecordRow): void {
    if (unsent.length === 0) setTimeout(send, sendEveryMs).unref?.()
    // More are forgotten before they are sent.
    if (unsent.length < mostRecent) unsent.push(row)
  }

  peers?.listen(({ recent = [] }: Message) => {
    for (const [row, detail] of recent) {
      if (detail) details.set(row.id, detail)
      remember(row)
    }
  })
  const collected = collectDetails(false, (id, _, detail) => details.set(id, detail))
  const matching = ({
    from = 0,
    to = Infinity,
    key,
    keyId,
    group,
    model,
    channel,
    status,
    failed,
  }: Parameters<RecordSource['find']>[0]) =>
    rows.filter(
      row =>
        row.time >= from &&
        row.time < to &&
        (key === undefined || (row.key ?? '') === key) &&
        (keyId === undefined || (row.keyId ?? '') === keyId) &&
        (group === undefined || row.groupName === group) &&
        (model === undefined || row.model === model) &&
        (channel === undefined || row.channel === channel) &&
        (status === undefined || row.status === status) &&
        (!failed || row.failure !== null),
    )
  return {
    hooks: {
      ...collected,
      onUsage(record: UsageRecord) {
        const row = rowOf(record, {})
        remember(row)
        if (peers) sendSoon(row)
        collected.onUsage(record)
      },
    },
    async find(filter, limit, cursor) {
      const after = cursor === undefined ? undefined : placeOf(cursor)
      const found = matching(filter)
        .filter(
          ({ time, id }) => !after || time < after.time || (time === after.time && id < after.id),
        )
        .sort((one, other) => other.time - one.time || (other.id < one.id ? -1 : 1))
      const records = found.slice(0, limit)
      const last = records.at(-1)
      return last && found.length > limit
        ? { records, next: `${last.time}.${last.id}` }
        : { records }
    },
    async sum(filter, by) {
      const { from = 0, to = Date.now() } = filter
      const bucketMs = periods[periodFor(to - from)]
      const sums = new Map<string, Sum>()
      for (const row of matching({ ...filter, from: from - (from % bucketMs) })) {
        const time = row.time - (row.time % bucketMs)
        const name = nameIn(row, by)
        const id = JSON.stringify([time, name])
        sums.set(id, added(sums.get(id) ?? { time, name, ...nothing }, row))
      }
      return { bucketMs, sums: [...sums.values()].sort((one, other) => one.time - other.time) }
    },
    async total({ from = 0, ...filter }, by) {
      const sums = new Map<string, Sum>()
      for (const row of matching({ ...filter, from })) {
        const name = nameIn(row, by)
        sums.set(name, added(sums.get(name) ?? { time: from, name, ...nothing }, row))
      }
      return [...sums.values()].sort((one, other) => other.requests - one.requests)
    },
    detail: async id => details.get(id),
  }
}

/** A model that no channel serves has no sums of its own. */
const nameIn = (row: RecordRow, by: Dimension | undefined): string =>
  by === undefined || (by === 'model' && row.channel === null) ? '' : (row[fieldOf[by]] ?? '')

const nothing = {
  requests: 0,
  failures: 0,
  input: 0,
  output: 0,
  unpriced: 0,
  totalMs: 0,
  firstByteMs: 0,
  firstBytes: 0,
  emulated: 0,
}

const added = (
  sum: Sum,
  { failure, input, output, totalMs, firstByteMs, emulated }: RecordRow,
): Sum => ({
  ...sum,
  requests: sum.requests + 1,
  failures: sum.failures + (failure === null ? 0 : 1),
  input: sum.input + (input ?? 0),
  output: sum.output + (output ?? 0),
  unpriced: sum.unpriced + (input === null && output === null ? 0 : 1),
  totalMs: sum.totalMs + totalMs,
  firstByteMs: sum.firstByteMs + (firstByteMs ?? 0),
  firstBytes: sum.firstBytes + (firstByteMs === null ? 0 : 1),
  emulated: sum.emulated + (emulated > 0 ? 1 : 0),
})
