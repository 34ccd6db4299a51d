import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { clients } from '../../src/clients/index.ts'
import { type ClientName, clientConfig, clientConfigText } from '../../src/clients.ts'

export function programOf(client: ClientName) {
  const { run: program } = clients[client]
  if (!program) throw new Error(`${client} is no program`)
  return program
}

/** Installs clients. Returns why it failed: without a network nothing can be tested with them. */
export async function install(
  folder: string,
  names: readonly ClientName[],
): Promise<string | undefined> {
  await writeFile(join(folder, 'package.json'), '{}')
  const packages = names.map(name => programOf(name).npm)
  try {
    await promisify(execFile)(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages],
      { cwd: folder, timeout: 150_000, maxBuffer: 1e8 },
    )
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 500) : 'unknown'
  }
}

export type Home = { folder: string; env: Record<string, string> }

/**
 * An empty home, and the variables of somebody who has only installed the clients, into this
 * folder.
 */
export async function homeIn(folder: string): Promise<Home> {
  const at = await mkdtemp(join(folder, 'home-'))
  const project = join(at, 'project')
  await mkdir(project)
  const PATH = [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  const quiet = { DISABLE_AUTOUPDATER: '1', GEMINI_CLI_TRUST_WORKSPACE: 'true' }
  return { folder: project, env: { PATH, HOME: at, ...quiet } }
}

/**
 * The text that `client-config` prints, pasted: a file into its place, the shell blocks into one
 * script, which asks the client one thing. `words`: the arguments of the client.
 */
export async function paste(
  client: ClientName,
  way: string,
  { folder: project, env }: Home,
  { base, words }: { base: string; words: readonly string[] },
): Promise<string> {
  const config = clientConfig(client, { base, model: 'demo' })
  const printed = clientConfigText(config)
  const shell: string[] = []
  for (const { title, language, file, text } of config.snippets) {
    expect(printed).toContain(text)
    // Of Gemini CLI, one block belongs to the other.
    const isWanted = title === way || title.startsWith('the key') || client === 'gemini-cli'
    if (isWanted && language === 'sh') shell.push(...text.split('\n'))
    if (!isWanted || file === undefined) continue
    const path = file.startsWith('~/')
      ? join(env['HOME'] ?? '', file.slice(2))
      : join(project, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  const { command } = programOf(client)
  // The last line of some blocks starts the client.
  const last = shell.at(-1)?.startsWith(command) ? shell.pop() : command
  const quoted = words.map(word => `'${word}'`)
  return ['exec </dev/null', ...shell, [last, ...quoted].join(' ')].join('\n')
}
