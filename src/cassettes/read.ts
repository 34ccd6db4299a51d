import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { placeOfFault } from '../kit/json/fault.ts'
import { isObject } from '../kit/json/json.ts'
import { type Cassette, type CassetteBody, CassetteSchema } from './format.ts'
import { formatVersion } from './version.ts'

/**
 * The cassettes in files and folders. Those of a folder are in the order of their times.
 * @throws Error when there is none, or a file is not a cassette: it names the file and the path
 * @example
 * import { readCassettes } from 'wireglot/cassettes'
 *
 * const error = await readCassettes(['nowhere.json']).catch((error: Error) => error)
 * console.log(error instanceof Error && error.message) // nowhere.json cannot be read: no such file
 */
export async function readCassettes(files: readonly string[]): Promise<Cassette[]> {
  const found: Cassette[] = []
  for (const file of files) {
    const about = await stat(file).catch((error: NodeJS.ErrnoException) => {
      throw new Error(
        `${file} cannot be read: ${error.code === 'ENOENT' ? 'no such file' : error.message}`,
      )
    })
    const names = about.isDirectory()
      ? (await readdir(file))
          .filter(name => name.endsWith('.json') && !name.startsWith('.'))
          .sort()
          .map(name => join(file, name))
      : [file]
    if (names.length === 0) throw new Error(`${file} has no cassettes`)
    for (const name of names) found.push(parseCassette(await readFile(name, 'utf8'), name))
  }
  return found
}

/**
 * The cassette in a text. `name`: for messages.
 * @throws Error when it is none
 * @example
 * import { readFileSync } from 'node:fs'
 * import { parseCassette } from 'wireglot/cassettes'
 *
 * const cassette = parseCassette(readFileSync('test/examples/cassettes/hello.json', 'utf8'))
 * console.log(cassette.request.protocol) // chat-completions
 */
export function parseCassette(text: string, name = 'the text'): Cassette {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${name} is not JSON: ${placeOfFault(text).place}`)
  }
  if (!isObject(value) || value['format'] !== 'wireglot-cassette')
    throw new Error(`${name} is not a cassette: its "format" is not "wireglot-cassette"`)
  if (typeof value['version'] === 'number' && value['version'] > formatVersion)
    throw new Error(
      `${name} has version ${value['version']} of the format, and this version of wireglot reads up to ${formatVersion}`,
    )
  const { data, error } = CassetteSchema.safeParse(value)
  if (data) return data
  const [issue] = error.issues
  throw new Error(`${name} is not a cassette: ${issue?.path.join('.')}: ${issue?.message}`)
}

/** The text of a body. Binary event streams are text/event-stream. Undefined: it has none. */
export function textOfBody({ text, frames }: CassetteBody): string | undefined {
  return frames ? frames.map(frame => frame.text).join('') : text
}

/** The JSON in a body. Undefined: it is a stream, or no JSON. */
export function jsonOfBody({ text }: CassetteBody): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
