import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientName, clientConfig } from '../src/clients.ts'
import { createGateway, type GatewayConfig } from '../src/gateway/gateway.ts'
import { gateway } from '../src/hosts/connect.ts'
import { explodeResponse } from '../src/index.ts'
import { entryPoints, programOptions } from './support/programs.ts'
import { sampled } from './support/sampled.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const { files: shipped } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[]
}
const pages = [
  'README.md',
  ...['docs', 'docs/guides'].flatMap(room =>
    readdirSync(join(root, room)).map(name => `${room}/${name}`),
  ),
].filter(name => name.endsWith('.md'))

type Block = { name: string; language: string; code: string; config: string }

/**
 * Code runs as a reader sees it: nothing is added. A comment `<!-- client-config CLIENT: WAY -->`
 * before a block says that this command prints it. A generated part is a file of test/examples, and
 * run there.
 */
const blocks = pages.flatMap(page =>
  [
    ...read(page).matchAll(
      /(?:<!-- client-config (?<config>.*?) -->\n)?(?<made><!-- [\w.-]+\.ts -->\n)?```(?<language>\w+)\n(?<code>[\s\S]*?)```/g,
    ),
  ].flatMap(
    ({ groups: { config = '', made = '', language = '', code = '' } = {} }, index): Block[] =>
      made ? [] : [{ name: `${page} ${index + 1}`, language, code, config }],
  ),
)
const of = (...languages: string[]) =>
  blocks
    .filter(({ language, config }) => languages.includes(language) && !config)
    .map(block => [block.name, block] as const)

/** Lines that cannot be run inside the suite, and who runs them. */
const elsewhere: [line: RegExp, who: string][] = [
  [/^npm (ci|test|run check|ci && npm test)$/, 'CI, on every commit'],
  [
    /^npm install wireglot( express)?$/,
    'test/tools/installed.mjs installs the packed package into empty projects',
  ],
  [
    /^npm ci && npm start$/,
    'test/tools/packed.mjs starts and asks what a build makes, in npm run check',
  ],
  [/^docker /, 'test/cli/deploy.test.ts builds and starts it where Docker is installed'],
  [/^(helm|kubectl) /, 'test/cli/deploy.test.ts renders the chart where helm is installed'],
  [
    /^npm install wireglot kysely libsql$/,
    'test/tools/installed.mjs installs the packed package into empty projects',
  ],
  [
    /^npm install --save-dev tsx typescript @types\/express @types\/node$/,
    'packages of others, which package.json has too',
  ],
  [
    /^(DEEPSEEK_API_KEY=… )?npx wireglot run (claude|codex|gemini|opencode)( --model deepseek-chat)?$/,
    'test/clients/installed.long.test.ts starts the real clients',
  ],
  [/^npm install --no-save @stryker|^npx stryker /, '.github/workflows/mutants.yml, every night'],
  [/< upstream\.sse$/, 'test/cli/translate.test.ts translates streams'],
  [/^npm install --save-dev fast-check$/, 'a package of others, which package.json has too'],
]

const folder = mkdtempSync(join(tmpdir(), 'wireglot-docs-'))
const keyed = {
  WIREGLOT_KEY: 'key-of-this-run',
  GATEWAY_KEY: 'key-of-this-run',
  EXAMPLE_KEY: 'unused',
  ANTHROPIC_API_KEY: 'unused',
  ALICE_KEY: 'unused',
}
const handler = gateway({
  keys: [{ name: 'run', key: keyed.WIREGLOT_KEY }],
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: ['demo', 'sonnet', 'coder', 'some-model'].map(id => ({
    id,
    channels: [{ name: 'demo' }],
  })),
})
const server = createServer(handler)
let base = ''

const programs = of('ts', 'js')

/** Those of the README, and a part of those of the guides: CI runs all. */
function shown<T extends readonly [name: string, ...rest: unknown[]]>(all: readonly T[]): T[] {
  const isInReadme = ([name]: T) => name.startsWith('README.md')
  const others = all.filter(one => !isInReadme(one))
  return [...all.filter(isInReadme), ...sampled(others, 7)]
}

const fileOf = (name: string) => name.replaceAll(/\W/g, '-')

beforeAll(async () => {
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, { code }] of programs) writeFileSync(join(folder, `${fileOf(name)}.ts`), code)
  await build({
    ...programOptions,
    entryPoints: [
      ...programs.map(([name]) => join(folder, `${fileOf(name)}.ts`)),
      join(root, 'src/cli/main.ts'),
    ],
    alias: entryPoints,
    entryNames: '[name]',
    outdir: folder,
  })
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npx'), npx, { mode: 0o755 })
  const response = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi!' }],
  }
  const whole = {
    ...response,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 8, output_tokens: 3 },
  }
  writeFileSync(
    join(folder, 'request.json'),
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
  )
  writeFileSync(join(folder, 'response.json'), JSON.stringify(whole))
  const received = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [],
  }
  cpSync(join(root, 'test/examples/cassettes'), join(folder, 'cassettes'), { recursive: true })
  writeFileSync(join(folder, 'stream.sse'), explodeResponse(received, { protocol: 'responses' }))
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await handler.close(200)
  await rm(folder, { recursive: true })
})

describe('code in the README and the docs', () => {
  test.concurrent.each(shown(programs))('runs %s', async name => {
    // The demo model responds, also where a key is set.
    const env = { ...process.env, PORT: '0', ANTHROPIC_API_KEY: '' }
    const running = run(process.execPath, [join(folder, `${fileOf(name)}.mjs`)], {
      timeout: 110_000,
      env,
    })
    // A server ends on a signal.
    running.child.stdout?.on(
      'data',
      text => String(text).startsWith('listening') && running.child.kill('SIGTERM'),
    )
    const { stderr } = await running
    expect(stderr).toBe('')
  })

  test('each way into an app in the README takes less than ten lines', () => {
    const [, ways = ''] = /## In your app([\s\S]*?)\n## As a library/.exec(read('README.md')) ?? []
    const lengths = [...ways.matchAll(/```\w+\n([\s\S]*?)\n```/g)].map(
      ([, code = '']) => code.split('\n').length,
    )
    expect(lengths).toHaveLength(2)
    expect(Math.max(...lengths)).toBeLessThan(10)
  })

  test.each(of('json'))(
    '%s is JSON, and a configuration is one that the gateway takes',
    (_, { code }) => {
      const value = JSON.parse(code) as Record<string, unknown>
      if (!('channels' in value)) return
      for (const [, name = ''] of code.matchAll(/"env:(\w+)"/g))
        process.env[name] ??= 'redis://127.0.0.1:1'
      expect(() => createGateway(value as GatewayConfig)).not.toThrow()
    },
  )

  test.each(shown(of('sh')))('runs %s', async (name, { code }) => {
    const lines = code.replaceAll('\\\n', ' ').trim().split('\n')
    const here = lines.filter(line => !elsewhere.some(([pattern]) => pattern.test(line)))
    const config = blocks.find(
      block => block.name.startsWith(`${name.split(' ')[0]} `) && block.code.includes('"channels"'),
    )
    if (config) writeFileSync(join(folder, 'wireglot.json'), config.code)
    const script = here
      .join('\n')
      .replaceAll(/https:\/\/gateway\.example|http:\/\/127\.0\.0\.1:4000/g, base)
    const env = { ...process.env, ...keyed, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
    await run('/bin/sh', ['-ec', script], { cwd: folder, env, timeout: 110_000 })
  })

  const settings = blocks.filter(({ config }) => config).map(block => [block.name, block] as const)

  test.each(settings)(
    '%s is what client-config prints; test/tools/clients.ts starts the client with it',
    (_, { config, code }) => {
      const [client = '', way] = config.split(': ')
      const { snippets } = clientConfig(client as ClientName, {
        base: 'http://127.0.0.1:4000',
        model: 'coder',
      })
      expect(code.trim()).toBe(snippets.find(({ title }) => title === way)?.text)
    },
  )

  test.each(pages)('needs nothing that the rendered page hides: %s', page => {
    expect(read(page)).not.toMatch(/<!--(?! client-config [^\n]*-->)[^>]*\b(?:import|const) /)
  })

  test('is only in known languages', () => {
    expect(
      blocks
        .filter(({ language, config }) => !config && !['ts', 'js', 'sh', 'json'].includes(language))
        .map(({ name }) => name),
    ).toEqual([])
  })
})

describe('words in the README and the docs', () => {
  test.each(pages)('links of %s resolve, also in the package', page => {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page : join(dirname(page), file)
      expect(existsSync(join(root, path)), `${page}: ${target}`).toBe(true)
      expect(
        shipped.some(entry => `${path}/`.startsWith(`${entry}/`)),
        `${page}: ${target}`,
      ).toBe(true)
      if (anchor) expect(anchorsOf(read(path)), `${page}: ${target}`).toContain(anchor)
    }
  })

  const linkOf = (page: string) => {
    if (page === 'README.md') return "'/'"
    return page.startsWith('docs/guides/')
      ? `'${basename(page, '.md')}'`
      : `'/${page.replace('.md', '')}'`
  }

  test.each(pages)('%s is in the sidebar of the docs site', page => {
    expect(read('docs/.vitepress/config.ts')).toContain(`, ${linkOf(page)})`)
  })

  test.each(pages)('%s is in the list of pages for programs, docs/llms.txt', page => {
    expect(read('docs/llms.txt')).toContain(`](${relative('docs', page)}): `)
  })

  test('every note that a page mentions is in the table of notes', () => {
    const codes = new Set(
      [
        ...read('docs/notes.md').matchAll(
          /^\| `([\w.-]+)` \| (?:dropped|approximated|synthesized) \|/gm,
        ),
      ].map(([, code = '']) => code),
    )
    const families = new Set([...codes].map(code => code.split('.')[0]))
    expect(codes.size).toBeGreaterThan(100)
    // Other pages speak of settings, too, some of which look like notes.
    for (const page of [
      'losses',
      'state',
      'normalizing',
      'claude-code',
      'codex',
      'fifth-protocol',
    ].map(name => `docs/guides/${name}.md`))
      for (const [, code = ''] of read(page).matchAll(/`([a-z_-]+\.[a-z_-]+)`/g))
        if (families.has(code.split('.')[0]) && !code.endsWith('.ts'))
          expect([...codes], `${page}: ${code}`).toContain(code)
  })
})

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

/**
 * As a project with the package runs the command, which is on no path; a server is stopped as soon
 * as it listens.
 */
const npx = `#!/usr/bin/env node
const { spawn } = require('node:child_process')
const [command, ...args] = process.argv.slice(2)
if (command !== 'wireglot') throw new Error('unknown command ' + command)
const serves = args[0] === 'serve'
const child = spawn(process.execPath, [${JSON.stringify(join(folder, 'main.mjs'))}, ...args, ...(serves ? ['--port', '0'] : [])], {
  stdio: ['inherit', serves ? 'pipe' : 'inherit', 'inherit'],
})
let listened = !serves
child.stdout?.on('data', text => {
  if (!String(text).includes('listening on')) return
  listened = true
  child.kill()
})
child.on('close', code => process.exit(listened ? (code ?? 0) : 1))
`
