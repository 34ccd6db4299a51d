import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, describe, expect, test } from 'vitest'
import { createGateway, type GatewayConfig } from '../src/gateway/gateway.ts'
import { wireglot } from './cli/support.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = ['README.md', ...readdirSync(join(root, 'docs/guides')).map(name => `docs/guides/${name}`)]

type Block = { name: string; language: string; code: string; given: string }

/** A comment `<!-- given … -->` before a block says what its code takes for granted. */
const blocks = files.flatMap(file => {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:<!-- given\n([\s\S]*?)-->\n)?(<!-- [\w.-]+\.ts -->\n)?```(\w+)\n([\s\S]*?)```/g)].flatMap(
    ([, given = '', generated, language = '', code = ''], index): Block[] =>
      // What stands in a generated part is a file of test/examples, and run there.
      generated ? [] : [{ name: `${file} ${index + 1}`, language, code, given }],
  )
})
const of = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language)).map(block => [block.name, block] as const)

const folder = mkdtempSync(join(tmpdir(), 'wireglot-docs-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
afterAll(() => rm(folder, { recursive: true }))

const doors: Record<string, string> = {
  wireglot: 'src/index.ts',
  'wireglot/connect': 'src/hosts/connect.ts',
  'wireglot/fetch': 'src/hosts/fetch.ts',
  'wireglot/gateway': 'src/gateway/gateway.ts',
  'wireglot/testing': 'src/testing/index.ts',
  'wireglot/verify': 'src/verify/index.ts',
}

describe('code in the README and the guides', () => {
  test.each(of('ts', 'js'))('%s runs', async (name, { code, given, language }) => {
    const outfile = join(folder, `${name.replaceAll(/\W/g, '-')}.mjs`)
    await build({
      stdin: { contents: `${given}\n${code}`, resolveDir: root, loader: language === 'js' ? 'js' : 'ts' },
      alias: Object.fromEntries(Object.entries(doors).map(([door, file]) => [door, join(root, file)])),
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'error',
    })
    const { stderr } = await promisify(execFile)(process.execPath, [outfile], { timeout: 110_000 })
    expect(stderr).toBe('')
  })

  test.each(of('json', 'jsonc'))('%s is JSON, and a configuration is one that the gateway takes', (_, { code }) => {
    const value = JSON.parse(code.replaceAll(/^\s*\/\/.*$|\s\/\/ .*$/gm, '')) as Record<string, unknown>
    if (!('channels' in value)) return
    for (const [, name = ''] of code.matchAll(/"env:(\w+)"/g)) process.env[name] ??= 'redis://127.0.0.1:1'
    expect(() => createGateway(value as GatewayConfig)).not.toThrow()
  })

  const commands = of('sh').flatMap(([name, { code }]) => [...code.replaceAll('\\\n', ' ').matchAll(/^wireglot .*$/gm)].map(([line]) => [name, line] as const))

  test.each(commands)('%s: «%s» is a command that there is', async (_, line) => {
    const [, command = '', ...words] = (line.replace(/[<>|#].*$/, '').match(/'[^']*'|\S+/g) ?? []).map(word => word.replaceAll("'", ''))
    const { out, code } = await wireglot([command, '--help'])
    expect(code).toBe(0)
    for (const option of words.filter(word => word.startsWith('--'))) expect(out).toContain(option)
    // Those that ask nobody are run.
    if (command === 'client-config' || command === 'address') expect((await wireglot([command, ...words])).err).toBe('')
  })
})
