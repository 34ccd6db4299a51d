import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { after, dataOf } from '../gateway/support.ts'
import { binWithNpx, start } from './support.ts'

/** What the commands print, pasted line by line where the reader stands: `wireglot` is on no PATH. */

const programs = '/usr/bin:/bin'

async function reader(config?: object) {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const bin = await binWithNpx()
  if (config) await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const paste = async (script: string, variables: Record<string, string> = {}) => {
    const env = { PATH: `${bin}:${programs}`, HOME: folder, ...variables }
    return promisify(execFile)('/bin/sh', ['-ec', script], { cwd: folder, env, timeout: 60_000 })
  }
  /** Starts it, and returns the lines that it says before it serves. */
  const serve = async (...args: string[]) => {
    const child = await start(['serve', '--port', '0', ...args], { folder })
    const ended = once(child, 'close')
    after(async () => {
      child.kill('SIGKILL')
      await ended
    })
    let out = ''
    child.stdout?.on('data', chunk => {
      out += chunk
    })
    await expect.poll(() => out, { timeout: 60_000 }).toContain('listening on')
    return out.split('\n')
  }
  /** A client program that sends one request by the variables of its settings. */
  const install = (name: string, script: string) =>
    writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { folder, paste, serve, install }
}

const afterWords = (lines: readonly string[], words: string) =>
  lines
    .find(line => line.includes(words))
    ?.split(words)[1]
    ?.trim() ?? `no line has ${words}`

const claude = `
curl -sS --fail "$ANTHROPIC_BASE_URL/v1/messages" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"model":"'$ANTHROPIC_MODEL'","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'`

/** The block under the heading that says it is to be pasted into a shell. */
const shellBlock = (printed: string) =>
  /^# environment[^\n]*\n+([\s\S]*?)\n\n# /m.exec(printed)?.[1] ?? 'exit 1'

test('all that serve, keys create, client-config and usage print works where keys are needed', async () => {
  const { paste, serve, install } = await reader({
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'cheap', channels: [{ name: 'demo' }] }],
    records: { file: 'records.db' },
  })
  await paste('npx wireglot keys create first')
  const lines = await serve()
  const create = afterWords(lines, 'one made with:')
  const key = (await paste(create)).stdout.trim()
  expect(key).toMatch(/^wg-\S+$/)
  const [curl = ''] = lines.filter(line => line.startsWith('curl '))
  const asked = await paste(`${curl} -sS --fail`, { WIREGLOT_KEY: key })
  expect(dataOf(asked.stdout).length).toBeGreaterThan(3)

  const { stdout: printed } = await paste(afterWords(lines, 'a client:'))
  await install('claude', claude)
  const answered = await paste(shellBlock(printed), { WIREGLOT_KEY: key })
  expect(JSON.parse(answered.stdout)).toMatchObject({ type: 'message', role: 'assistant' })
  await expect(paste(shellBlock(printed))).rejects.toThrow('401')

  const used = async () => (await paste('npx wireglot usage --by key')).stdout
  await expect.poll(used, { timeout: 30_000 }).toMatch(/^NAME +2 +0 /m)
})

test('and with the demo model, which needs none', async () => {
  const { paste, serve, install } = await reader()
  const lines = await serve('--examples')
  for (const curl of lines.filter(line => line.startsWith('curl ')))
    await paste(`${curl} -sS --fail --output /dev/null`)
  await install('claude', claude)
  const { stdout: printed } = await paste(afterWords(lines, 'a client:'))
  const answered = await paste(shellBlock(printed))
  expect(JSON.parse(answered.stdout)).toMatchObject({ type: 'message', role: 'assistant' })
  expect((await paste('npx wireglot keys create ann')).stdout).toMatch(/^wg-/)
})
