import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createFolder, nameOf } from '../folder.ts'
import { type Packed, unpack } from '../packed.ts'
import { cassetteOf } from '../write.ts'
import type { ThreadData, Written } from './messages.ts'

// The program of the thread that writes cassettes. `test/tools/bundles.ts` makes one text of it.

const { folder, folderLimitBytes, ...redaction } = workerData as ThreadData
const add = createFolder(folder, folderLimitBytes)

// Answers go first. Elsewhere this would be the priority of the whole process.
if (process.platform === 'linux') setPriority(0, 10)

parentPort?.on('message', (packed: Packed) => {
  const written: Written = {}
  for (const captured of unpack(packed))
    try {
      const cassette = cassetteOf(captured, redaction)
      if (cassette) add(nameOf(cassette), `${JSON.stringify(cassette, undefined, 1)}\n`)
    } catch (error) {
      written.failure = error instanceof Error ? error.message : String(error)
    }
  parentPort?.postMessage(written)
})
