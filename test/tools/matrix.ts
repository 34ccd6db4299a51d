import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The suite on every version of Node that is supported; the binaries come from npm's package
 * `node`. `npm run test:matrix`, for some versions `-- 22 24`, for some tests `-- 24
 * test/protocols`.
 */
const supported = ['20', '22', '24', '26']
const root = fileURLToPath(new URL('../..', import.meta.url))
const args = process.argv.slice(2)
const versions = args.filter(arg => /^\d+(\.\d+)*$/.test(arg))
const tests = args.filter(arg => !versions.includes(arg))

const results: string[] = []
for (const version of versions.length > 0 ? versions : supported) {
  const bin = await nodeOf(version)
  // Tests start further processes: they find this version first, too.
  const path = `${bin}${delimiter}${process.env['PATH']}`
  const code = await run(
    join(bin, 'node'),
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...tests],
    root,
    path,
  )
  results.push(`Node ${version}: ${code === 0 ? 'passed' : 'FAILED'}`)
  if (code !== 0) process.exitCode = 1
}
console.log(results.join('\n'))

/** The folder of that version's binary, which is kept for the next time. */
async function nodeOf(version: string): Promise<string> {
  const folder = join(tmpdir(), `wireglot-node-${version}`)
  const bin = join(folder, 'node_modules/node/bin')
  if (existsSync(join(bin, 'node'))) return bin
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{}')
  const code = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', `node@${version}`],
    folder,
  )
  if (code !== 0 || !existsSync(join(bin, 'node')))
    throw new Error(`npm's package node@${version} cannot be installed here`)
  return bin
}

function run(
  command: string,
  words: string[],
  cwd: string,
  path = process.env['PATH'] ?? '',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, {
      cwd,
      env: { ...process.env, PATH: path },
      stdio: 'inherit',
    })
    child.on('error', reject)
    child.on('close', code => resolve(code ?? 1))
  })
}
