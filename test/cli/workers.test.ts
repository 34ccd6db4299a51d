import { EventEmitter } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLink, type End } from '../../src/cli/workers/link.ts'
import { createShared, type Shared } from '../../src/cli/workers/shared.ts'
import { createPrimary, type Primary } from '../../src/cli/workers/worker.ts'
import { createOperations } from '../../src/operations/index.ts'
import { openRecordsIn, type RecordsOptions } from '../../src/records/records.ts'
import { after } from '../gateway/support.ts'
import { recordOf } from './support.ts'

/** Both ends of a connection between two processes, which carries text. */
function createEnds(): [End, End] {
  const [one, other] = [new EventEmitter(), new EventEmitter()]
  const sendTo =
    (to: EventEmitter): End['send'] =>
    (message, done) => {
      const text = JSON.stringify(message)
      setImmediate(() => to.emit('message', JSON.parse(text)))
      done(null)
    }
  return [
    { send: sendTo(other), on: (name, heard) => one.on(name, heard) },
    { send: sendTo(one), on: (name, heard) => other.on(name, heard) },
  ]
}

/** A worker of this process, as the code of a worker sees its primary. `die`: without a word. */
function workerOf(shared: Shared, id: number): { primary: Primary; die(): void } {
  const [ofPrimary, ofWorker] = createEnds()
  const { handlers, leave } = shared.forWorker(id)
  const link = createLink(ofPrimary, {
    ...handlers,
    started: () => shared.join(id, link),
  })
  return { primary: createPrimary(ofWorker, id === 1), die: leave }
}

function started() {
  const shared = createShared()
  after(() => shared.close())
  return { shared, first: workerOf(shared, 1), second: workerOf(shared, 2) }
}

const inFolder = () => ({ file: join(mkdtempSync(join(tmpdir(), 'wireglot-')), 'records.db') })

const opened = async (primary: Primary, location: { file: string }, more: RecordsOptions = {}) => {
  const records = await openRecordsIn(location, more, primary.openEmbedded)
  after(() => records.close())
  return records
}

test('a call has a result, an error with its code, or ends with the other process', async () => {
  const [one, other] = createEnds()
  const received: string[] = []
  createLink(one, {
    add: (a: number, b: number) => a + b,
    fail: () => Promise.reject(Object.assign(new Error('no'), { code: 'E_NO' })),
    hang: () => new Promise(() => {}),
    receive: (text: string) => void received.push(text),
  })
  const link = createLink(other, {})
  expect(await link.call('add', 1, 2)).toBe(3)
  await expect(link.call('fail')).rejects.toMatchObject({ message: 'no', code: 'E_NO' })
  const hanging = link.call('hang')
  link.send('receive', 'this')
  expect(await link.call('unknown')).toBeUndefined()
  expect(received).toEqual(['this'])
  link.end()
  await expect(hanging).rejects.toThrow('has ended')
})

test('a call to a process that is gone fails', async () => {
  const gone: End = {
    send(_, done) {
      done(new Error('channel closed'))
    },
    on() {},
  }
  await expect(createLink(gone, {}).call('add')).rejects.toThrow('channel closed')
  const broken: End = {
    send() {
      throw new Error('no channel')
    },
    on() {},
  }
  await expect(createLink(broken, {}).call('add')).rejects.toThrow('no channel')
})

test('workers count calls together', async () => {
  const { first, second } = started()
  const counts: number[] = []
  for (const { primary } of [first, second, first])
    counts.push((await primary.peers.count('alice', 1, 60_000)).count)
  expect(counts).toEqual([1, 2, 3])
})

test('what a worker sends reaches the others, once they serve', async () => {
  const { first, second } = started()
  const heard: object[] = []
  for (const { primary } of [first, second]) {
    primary.peers.listen(message => heard.push({ by: primary.isFirst, ...message }))
    primary.started([], servingWith())
  }
  await new Promise(resolve => setTimeout(resolve, 20))
  first.primary.peers.send({ circuit: 1 })
  await expect.poll(() => heard).toEqual([{ by: false, circuit: 1 }])
})

test('workers share stored responses in memory, and have no store without one', async () => {
  const { first, second } = started()
  const settings = { channels: [], store: { memory: true as const } }
  const [one, other] = [first, second].map(({ primary }) => primary.storeFor(settings).store)
  await one?.set('key', 'text')
  expect(await other?.get('key')).toBe('text')
  await other?.delete('key')
  expect(await one?.get('key')).toBeUndefined()
  expect(first.primary.storeFor({ channels: [] }).store).toBeUndefined()
})

test('workers share keys, records and a budget in one file', async () => {
  const { first, second } = started()
  const location = inFolder()
  const records = await opened(first.primary, location)
  const others = await opened(second.primary, location)
  const { secret, id } = await records.keys.create('alice', { tokensPerDay: 100 })
  const call = { method: 'POST', path: '/', headers: {}, raw: undefined }
  const identify = () => others.hooks.authenticate(secret, call)
  expect(await identify()).toEqual({ id, name: 'alice' })
  void records.hooks.onUsage(recordOf({ key: 'alice', keyId: id, tokens: 150 }), call)
  await expect
    .poll(identify, { timeout: 10_000, interval: 100 })
    .toMatchObject({ rejection: { error: { status: 429 } } })
  expect((await others.find({}, 10)).records).toHaveLength(1)
})

test('a worker that ends in a transaction leaves the database to the others, without a change', async () => {
  const { first, second } = started()
  const location = inFolder()
  const records = await opened(second.primary, location)
  await records.keys.create('alice', {})
  const database = await first.primary.openEmbedded(location.file, '')
  const turn = await database.turn()
  await turn.run('begin', [])
  const deleting = turn.run('delete from keys', [])
  const creating = records.keys.create('bob', {})
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  // Also while the database is at work for it.
  first.die()
  await deleting
  await creating
  expect((await records.keys.list()).map(({ name }) => name)).toEqual(['alice', 'bob'])
  await expect(turn.run('select 1', [])).rejects.toThrow('closed')
})

test('a worker that ends while it waits for the database does not keep it', async () => {
  const { first, second } = started()
  const location = inFolder()
  const records = await opened(second.primary, location)
  const [database, own] = [
    await first.primary.openEmbedded(location.file, ''),
    await second.primary.openEmbedded(location.file, ''),
  ]
  const turn = await own.turn()
  void database.turn()
  await new Promise(resolve => setTimeout(resolve, 20))
  first.die()
  turn.release()
  expect(await records.keys.list()).toEqual([])
})

test('a file that cannot be used is an error as in one process', async () => {
  const { first } = started()
  const file = join(tmpdir(), 'wireglot-no-such-folder', 'records.db')
  await expect(opened(first.primary, { file })).rejects.toThrow(
    `the database ${file} cannot be used: its folder does not exist`,
  )
})

const servingWith = (inProgress = 0, served = 0, lastError?: string) => {
  const channel = { name: 'up', breaker: 'closed' as const }
  const state = () => ({
    isClosing: false,
    inProgress,
    webSocket: false,
    channels: [{ ...channel, ...(lastError !== undefined && { lastError }) }],
  })
  const { logger, metrics } = createOperations({ state, log: 'off' })
  for (let i = 0; i < served; i++) logger.info(recordOf({ key: 'alice', tokens: 5 }), 'exchange')
  return { state, metrics, reload() {}, stop() {} }
}

test('a worker that replaces another asks clients for keys as the first one did', async () => {
  const { shared, first } = started()
  expect(await first.primary.asksForKeys(false)).toBe(false)
  // A key was made meanwhile.
  expect(await workerOf(shared, 3).primary.asksForKeys(true)).toBe(false)
})

test('metrics and state are those of all workers, and counters keep what ended workers have counted', async () => {
  const { first, second } = started()
  first.primary.started([], servingWith(2, 3))
  second.primary.started([], servingWith(5, 4, 'status 500'))
  const numberOf = async (name: string) => {
    const { body } = await first.primary.metrics()
    const line = body.split('\n').find(one => one.startsWith(name))
    return Number(line?.split(' ').at(-1))
  }
  await expect.poll(() => numberOf('wireglot_requests_in_progress')).toBe(7)
  expect(await numberOf('wireglot_requests_total')).toBe(7)
  expect(await numberOf('wireglot_request_duration_seconds_count')).toBe(7)
  expect(await numberOf('wireglot_channel_up')).toBe(1)
  expect(await first.primary.sources.state()).toMatchObject({
    inProgress: 7,
    channels: [{ name: 'up', lastError: 'status 500' }],
  })
  second.die()
  expect(await numberOf('wireglot_requests_total')).toBe(7)
  expect(await numberOf('wireglot_requests_in_progress')).toBe(2)
})
