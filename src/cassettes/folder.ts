import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Names sort by time. Nothing else in the folder is touched. */
const ownName = /^\d{8}T\d{9}Z-[\w-]{1,80}\.json$/

/** `20260101T120000000Z-req_1.json` */
export const nameOf = ({ time, id }: { time: string; id: string }): string =>
  `${time.replaceAll(/[-:.]/g, '')}-${safe(id)}.json`

const safe = (id: string) => id.replaceAll(/[^\w-]/g, '_').slice(0, 80)

/** A folder of cassettes that holds at most `limitBytes`: the oldest files make room for new ones. */
export type Folder = {
  add(name: string, text: string): Promise<void>
  /** The text of the file for this id. Undefined: there is none. */
  find(id: string): Promise<string | undefined>
}

export function createFolder(path: string, limitBytes: number): Folder {
  let files: { name: string; size: number }[] | undefined
  let total = 0

  async function opened(): Promise<{ name: string; size: number }[]> {
    // Prompts are in it.
    await mkdir(path, { recursive: true, mode: 0o700 })
    const names = (await readdir(path)).filter(name => ownName.test(name)).sort()
    const found = []
    for (const name of names) {
      const { size } = await stat(join(path, name))
      found.push({ name, size })
      total += size
    }
    return found
  }

  return {
    async find(id) {
      const end = `-${safe(id)}.json`
      const names = await readdir(path).catch(() => [])
      const name = names.find(one => ownName.test(one) && one.endsWith(end))
      return name === undefined ? undefined : readFile(join(path, name), 'utf8')
    },
    async add(name, text) {
      files ??= await opened()
      const size = Buffer.byteLength(text)
      while (total + size > limitBytes) {
        const oldest = files[0]
        if (!oldest) break
        await rm(join(path, oldest.name), { force: true })
        files.shift()
        total -= oldest.size
      }
      // A reader sees a whole file or none.
      const temporary = join(path, `.${name}.tmp`)
      try {
        await writeFile(temporary, text, { mode: 0o600 })
        await rename(temporary, join(path, name))
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {})
        throw error
      }
      files.push({ name, size })
      total += size
    },
  }
}
