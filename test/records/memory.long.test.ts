import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRecords } from '../../src/records/index.ts'

const request = { method: 'POST', path: '/', headers: {}, raw: undefined }

/** Batches of each of the two rounds. */
const batches = 600
const mostRows = 100
const mayGrowMegabytes = 40

test('the embedded database does not grow with batches of changing sizes', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db')
  const records = await openRecords({ file }, { keepBodies: true })
  const identity = { name: 'alice' }
  let number = 0

  async function writeBatch(rows: number): Promise<void> {
    for (let row = 0; row < rows; row++) {
      const requestId = `req_${number++}`
      const model = `model-${number % 300}`
      records.hooks.onAttempt(
        {
          requestId,
          identity,
          channel: 'up',
          model,
          protocol: 'messages',
          body: 'x'.repeat(2_000 + row),
          notes: [],
          ms: 1,
        },
        request,
      )
      records.hooks.onUsage(
        {
          time: new Date().toISOString(),
          requestId,
          key: `key-${number % 50}`,
          channel: 'up',
          requestedModel: model,
          protocolIn: 'messages',
          stream: false,
          status: 200,
          totalMs: 1,
          attempts: 1,
          notes: 0,
        },
        request,
      )
    }
    // Both wait until the batch is written.
    await records.find({}, 1)
    await records.detail('none')
  }
  async function megabytesAfterRound(): Promise<number> {
    for (let batch = 0; batch < batches; batch++) await writeBatch(1 + ((batch * 37) % mostRows))
    return process.memoryUsage().rss / 1e6
  }

  const before = await megabytesAfterRound()
  expect((await megabytesAfterRound()) - before).toBeLessThan(mayGrowMegabytes)
  await records.close()
}, 600_000)
