import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type ParseError, parse } from 'jsonc-parser'
import type { SettingsFile } from '../clients/client.ts'
import { isObject, type JsonObject } from '../kit/json/json.ts'
import type { Environment } from './environment.ts'

/**
 * Writes the settings of a client into a folder.
 * @throws Error when the user's own settings are not JSON, or the folder cannot be written
 */
export async function writeSettingsFile(
  folder: string,
  { path, settings, homeVariable }: SettingsFile,
  environment: Environment,
): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  if (homeVariable === undefined) return write(file, settings)
  const home = environment[homeVariable] || environment['HOME'] || homedir()
  const own = resolve(home, path)
  const beside = await readdir(dirname(own)).catch(() => [])
  for (const name of beside)
    if (name !== basename(own)) await symlink(join(dirname(own), name), join(dirname(file), name))
  await write(file, merged(await settingsIn(own), settings))
}

/** It may contain a key. */
const write = (file: string, settings: object) =>
  writeFile(file, JSON.stringify(settings, null, 2), { mode: 0o600 })

/** The settings of a file, which may have comments. Empty: there is no such file. */
async function settingsIn(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return {}
  const errors: ParseError[] = []
  const settings: unknown = parse(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !isObject(settings)) throw new Error(`${file} is not a JSON object`)
  return settings
}

function merged(under: JsonObject, over: object): JsonObject {
  const result = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const before = result[key]
    result[key] = isObject(before) && isObject(value) ? merged(before, value) : value
  }
  return result
}
