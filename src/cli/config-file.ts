import { spawnSync } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ParseError, parse as parseJsonc } from 'jsonc-parser'
import { lineOf } from './json-file.ts'

/** Looked for in this order. */
export const configNames = ['ts', 'js', 'json', 'jsonc', 'yaml'].map(
  ending => `wireglot.config.${ending}`,
)

/** The first file of these names in a folder. Undefined: there is none. */
export async function findConfig(folder: string): Promise<string | undefined> {
  for (const name of configNames) {
    const file = resolve(folder, name)
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file
  }
  return undefined
}

/**
 * The configuration in a file: JSON with or without comments, YAML, or a module whose default
 * export it is.
 * @throws Error with the file and the position, but without any of its text, which may contain keys
 */
export async function readConfig(file: string): Promise<unknown> {
  const ending = extname(file)
  if (/^\.[cm]?[jt]s$/.test(ending)) return loadModule(file)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${reasonOf(error)}`)
  })
  return /^\.ya?ml$/.test(ending) ? fromYaml(file, text) : fromJson(file, text, ending === '.jsonc')
}

function reasonOf({ code = 'unknown' }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'no such file'
  return code === 'EISDIR' ? 'it is a folder' : code
}

function fromJson(file: string, text: string, allowTrailingComma: boolean): unknown {
  const errors: ParseError[] = []
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma })
  const [first] = errors
  if (first || text.trim() === '')
    throw new Error(`${file} is not JSON: ${lineOf(text, first?.offset ?? 0)}`)
  return value
}

async function fromYaml(file: string, text: string): Promise<unknown> {
  // To load it takes a tenth of the start.
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text)
  const [first] = document.errors
  if (first) throw new Error(`${file} is not YAML: ${lineOf(text, first.pos[0])}`)
  return document.toJS()
}

/** The number of loads, so that a changed module is loaded anew. */
let loads = 0

async function loadModule(file: string): Promise<unknown> {
  const url = `${pathToFileURL(resolve(file)).href}?${++loads}`
  try {
    const module = /\.[cm]?ts$/.test(file)
      ? await importTypeScript(resolve(file))
      : ((await import(url)) as { default?: unknown })
    if (module.default === undefined) throw new Error('it has no default export')
    return module.default
  } catch (error) {
    const at = error instanceof SyntaxError ? lineOfFault(file) : undefined
    throw new Error(
      `${file} cannot be loaded: ${at === undefined ? '' : `line ${at}: `}${error instanceof Error ? error.message : 'unknown'}`,
      { cause: error },
    )
  }
}

/** Node tells the line of a syntax error to nobody but a terminal. */
function lineOfFault(file: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' })
  return /^.*:(\d+)\n/.exec(stderr)?.[1]
}

async function importTypeScript(file: string): Promise<{ default?: unknown }> {
  const jiti = await import('jiti').catch(() => {
    throw new Error('a TypeScript configuration needs the package jiti: npm install jiti')
  })
  return {
    default: await jiti
      .createJiti(import.meta.url, { moduleCache: false, fsCache: false })
      .import(file, { default: true }),
  }
}
