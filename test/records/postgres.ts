import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { runsAll } from '../support/sampled.ts'

/**
 * The folder with the programs of PostgreSQL. Undefined: it is not installed, or this is `npm
 * test`, where a server that takes ten seconds to start and to fail is too slow.
 */
export const postgresPrograms =
  runsAll() && existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql')
        .map(version => join('/usr/lib/postgresql', version, 'bin'))
        .find(folder => existsSync(join(folder, 'initdb')))
    : undefined

const isRoot = process.getuid?.() === 0

/**
 * Starts a server of its own with an empty database. It refuses to run as root, so it runs as the
 * user `postgres` then.
 */
export async function startPostgres(): Promise<{
  url: string
  start(): Promise<void>
  stop(): Promise<void>
}> {
  if (!postgresPrograms) throw new Error('PostgreSQL is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const port = await freePort()
  if (isRoot) execFileSync('chown', ['postgres', folder])
  const run = (program: string, ...args: string[]) =>
    isRoot
      ? (['runuser', ['-u', 'postgres', '--', join(postgresPrograms, program), ...args]] as const)
      : ([join(postgresPrograms, program), args] as const)
  const [initialize, initializeArgs] = run(
    'initdb',
    '-D',
    join(folder, 'data'),
    '-A',
    'trust',
    '-U',
    'wireglot',
    '-N',
  )
  execFileSync(initialize, initializeArgs, { stdio: 'ignore' })
  const [start, startArgs] = run(
    'postgres',
    '-D',
    join(folder, 'data'),
    '-p',
    String(port),
    '-k',
    folder,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'fsync=off',
  )
  const url = `postgres://wireglot@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined
  const begin = async () => {
    server = spawn(start, startArgs, { stdio: 'ignore' })
    await isReachable(url)
  }
  await begin()
  return {
    url,
    start: begin,
    async stop() {
      const ended = new Promise(resolve => server?.once('exit', resolve))
      // Not the program that changed the user: it passes no signal on.
      process.kill(
        Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]),
        'SIGINT',
      )
      await ended
    },
  }
}

/** An empty database on a server. */
export async function newDatabase(url: string): Promise<{ url: string }> {
  const name = `test_${Math.random().toString(36).slice(2)}`
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return { url: url.replace(/postgres$/, name) }
}

async function isReachable(url: string): Promise<void> {
  const { default: pg } = await import('pg')
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      if (tries > 100) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}
