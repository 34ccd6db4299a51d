import { readFile } from 'node:fs/promises'
import { placeOfFault } from '../kit/json-fault.ts'

/** @throws Error in one line, which names the file and the place in it; its words stay out, for they may be keys */
export async function readJsonFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON: ${placeOfFault(text).place}`)
  }
}
