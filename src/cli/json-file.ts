import { readFile, writeFile } from 'node:fs/promises'
import { placeOfFault } from '../kit/json/fault.ts'

/**
 * @throws Error with the file and the position, but without any of the text, which may contain keys
 */
export async function readJsonFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${file} cannot be read: ${error.code === 'ENOENT' ? 'no such file' : reasonIn(error)}`,
    )
  })
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON: ${placeOfFault(text).place}`)
  }
}

/** @throws Error with the file and the reason */
export async function writeJsonFile(file: string, value: unknown): Promise<void> {
  await writeFile(file, JSON.stringify(value)).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${file} cannot be written: ${error.code === 'ENOENT' ? 'no such folder' : reasonIn(error)}`,
    )
  })
}

const reasons: Record<string, string> = { EISDIR: 'it is a folder', EACCES: 'permission denied' }

const reasonIn = ({ code = '', message }: NodeJS.ErrnoException) => reasons[code] ?? message

/** Where an offset is in a text, for messages. */
export function lineOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
