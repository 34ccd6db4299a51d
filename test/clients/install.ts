import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { clients } from '../../src/clients/index.ts'
import type { ClientName } from '../../src/clients.ts'

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
