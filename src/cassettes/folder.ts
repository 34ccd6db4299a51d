import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Names sort by time. Nothing else in the folder is touched. */
const ownName = /^\d{8}T\d{9}Z-[\w-]{1,80}\.json$/

/** `20260101T120000000Z-req_1.json` */
export const nameOf = ({ time, id }: { time: string; id: string }): string =>
  `${time.replaceAll(/[-:.]/g, '')}-${safe(id)}.json`

const safe = (id: string) => id.replaceAll(/[^\w-]/g, '_').slice(0, 80)

/** The text of the file for this id. Undefined: there is none. */
export async function find(path: string, id: string): Promise<string | undefined> {
  const end = `-${safe(id)}.json`
  const names = await readdir(path).catch(() => [])
  const name = names.find(one => ownName.test(one) && one.endsWith(end))
  return name === undefined ? undefined : readFile(join(path, name), 'utf8')
}

/** Adds files to a folder. @throws Error when it cannot be written */
export type AddFile = (name: string, text: string) => void

/**
 * A folder that holds at most `limitBytes`: the oldest files make room for new ones. It works
 * without pauses, which is cheaper, and right in a thread that has nothing else to do.
 */
export function createFolder(path: string, limitBytes: number): AddFile {
  let files: { name: string; size: number }[] | undefined
  let total = 0
  /** Since the folder was read: other processes write into it, too. */
  let added = 0

  function opened(): { name: string; size: number }[] {
    // Prompts are in it.
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const names = readdirSync(path).filter(name => ownName.test(name))
    const found = names.sort().flatMap(name => {
      const about = statSync(join(path, name), { throwIfNoEntry: false })
      return about ? [{ name, size: about.size }] : []
    })
    added = 0
    total = found.reduce((sum, { size }) => sum + size, 0)
    return found
  }

  return (name, text) => {
    if (!files || added > limitBytes / 16) files = opened()
    const size = Buffer.byteLength(text)
    while (total + size > limitBytes) {
      const oldest = files[0]
      if (!oldest) break
      rmSync(join(path, oldest.name), { force: true })
      files.shift()
      total -= oldest.size
    }
    // A reader sees a whole file or none.
    const temporary = join(path, `.${name}.tmp`)
    try {
      writeFileSync(temporary, text, { mode: 0o600 })
      renameSync(temporary, join(path, name))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    files.push({ name, size })
    total += size
    added += size
  }
}
