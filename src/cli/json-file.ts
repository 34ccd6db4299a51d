import { readFile } from 'node:fs/promises'

/** @throws Error in one line, which names the file */
export async function readJsonFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : ''}`)
  }
}
