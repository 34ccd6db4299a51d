import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { openRecords } from '../../src/records/index.ts'

const request = { method: 'POST', path: '/', headers: {}, raw: undefined }

afterEach(() => {
  vi.restoreAllMocks()
})

// It frees a statement, and the values that were bound to it, only when its thread collects
// garbage, which is rare.
test('the embedded database needs few statements for batches of all sizes', async () => {
  const texts = new Set<string>()
  const { postMessage } = Worker.prototype
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (
    this: Worker,
    message: { sql?: string },
  ) {
    if (message.sql !== undefined) texts.add(message.sql)
    return postMessage.call(this, message)
  })
  const file = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'records.db')
  const records = await openRecords({ file })
  const migrations = texts.size
  let number = 0
  for (let rows = 1; rows <= 70; rows++) {
    for (let row = 0; row < rows; row++) {
      const requestId = `req_${number++}`
      const [channel, model] = ['up', `model-${row}`]
      const attempt = { requestId, identity: {}, channel, model, notes: [], ms: 1, body: '{}' }
      const failure = { status: 500, kind: 'upstream_status', message: 'failed' } as const
      records.hooks.onAttempt({ ...attempt, protocol: 'messages', failure }, request)
      records.hooks.onUsage(
        {
          time: new Date().toISOString(),
          requestId,
          channel,
          requestedModel: model,
          protocolIn: 'messages',
          stream: false,
          status: 500,
          failure: 'upstream_status',
          totalMs: 1,
          attempts: 1,
          notes: 0,
        },
        request,
      )
    }
    await records.find({}, 1)
    await records.detail('none')
  }
  await records.close()
  // Seven for each of four tables, up to 64 rows; four for details; and what reads and deletes.
  expect(texts.size - migrations).toBeLessThan(45)
})
