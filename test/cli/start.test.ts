import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { programOptions } from '../support/programs.ts'
import { start } from './support.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** The source files that the command loads before it knows its subcommand. */
async function loadedAtStart(): Promise<string[]> {
  const { metafile } = await build({
    ...programOptions,
    entryPoints: [main],
    outdir: 'unwritten',
    write: false,
    metafile: true,
  })
  const loaded = new Set<string>()
  const open = Object.keys(metafile.outputs).filter(name =>
    metafile.outputs[name]?.entryPoint?.endsWith('src/cli/main.ts'),
  )
  for (const name of open)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === 'import-statement' && metafile.outputs[path] && !open.includes(path))
        open.push(path)
  for (const name of open)
    for (const file of Object.keys(metafile.outputs[name]?.inputs ?? {})) loaded.add(file)
  return [...loaded]
}

test('does not load the gateway for a subcommand that does not need it', async () => {
  const loaded = await loadedAtStart()
  expect(loaded.some(file => file.endsWith('src/api.ts'))).toBe(true)
  // How a line of the log is written, without secrets.
  const needed = ['src/gateway/log.ts', 'src/gateway/secret-shapes.ts']
  expect(
    loaded.filter(
      file =>
        /src\/(gateway|hosts|records|stores|sockets|console)\//.test(file) &&
        !needed.includes(file),
    ),
  ).toEqual([])
})

test.skipIf(process.platform === 'win32')(
  'serve ends when the shell of an npm script ends, which does not pass on a signal to npm',
  async () => {
    const env = { npm_lifecycle_event: 'start' }
    const shell = await start(['serve', '--port', '0', '--no-records'], { env, shell: true })
    let out = ''
    shell.stdout?.on('data', chunk => {
      out += chunk
      if (out.includes('listening on')) shell.kill('SIGTERM')
    })
    // After the last writer of its output.
    await once(shell, 'close')
    expect(out).toContain('listening on')
  },
)
