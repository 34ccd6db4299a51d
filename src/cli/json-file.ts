import { readFile } from 'node:fs/promises'
import { placeOfFault } from '../kit/json-fault.ts'

/** @throws Error with the file and the position, but without any of the text, which may contain keys */
export async function readJsonFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${error.code === 'ENOENT' ? 'no such file' : error.message}`)
  })
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON: ${placeOfFault(text).place}`)
  }
}
