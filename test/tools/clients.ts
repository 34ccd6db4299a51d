import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type ClientName, clientConfig, clientNames, type Snippet } from '../../src/clients.ts'
import { gateway } from '../../src/hosts/connect.ts'

/**
 * Starts every client with its generated settings against the demo model, and checks the response.
 * The clients are installed into a temporary folder, unless a folder that has them is named: `npm
 * run test:clients -- [folder] [client…]`. Settings in Python, and Aider, run where
 * `WIREGLOT_PYTHON` names an interpreter that has the libraries.
 */
const packages: Partial<Record<ClientName, readonly string[]>> = {
  'claude-code': ['@anthropic-ai/claude-code'],
  codex: ['@openai/codex'],
  'gemini-cli': ['@google/gemini-cli'],
  opencode: ['opencode-ai'],
  cline: ['cline'],
  'openai-compatible': ['@continuedev/cli'],
  'openai-sdk': ['openai'],
  'anthropic-sdk': ['@anthropic-ai/sdk'],
  'genai-sdk': ['@google/genai'],
  'ai-sdk': [
    'ai@7',
    '@ai-sdk/openai@4',
    '@ai-sdk/openai-compatible@3',
    '@ai-sdk/anthropic@4',
    '@ai-sdk/google@4',
  ],
  langchain: ['@langchain/openai', '@langchain/anthropic', '@langchain/core'],
}

const run = promisify(execFile)
const python = process.env['WIREGLOT_PYTHON']
const ofPython = python ? [dirname(python)] : []
const prompt = 'Say hello to wireglot'
const key = 'key-of-this-run'

const [given, ...wanted] = process.argv.slice(2)
const folder = given ?? (await mkdtemp(join(tmpdir(), 'wireglot-clients-')))
const names = clientNames.filter(name => wanted.length === 0 || wanted.includes(name))

await mkdir(folder, { recursive: true })
if (given === undefined) {
  await writeFile(join(folder, 'package.json'), '{}')
  console.log(`installing into ${folder}`)
  await run(
    'npm',
    ['install', '--no-audit', '--no-fund', ...names.flatMap(name => packages[name] ?? [])],
    { cwd: folder, maxBuffer: 1e8 },
  )
}

const handler = gateway({
  webSocket: true,
  keys: [{ name: 'run', key }],
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: [{ id: 'some-model', channels: [{ name: 'demo' }] }],
})
const server = createServer(handler).on('upgrade', handler.upgrade).listen(0, '127.0.0.1')
await new Promise(resolve => server.once('listening', resolve))
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

let failed = 0
for (const name of names) {
  const { snippets } = clientConfig(name, { base, model: 'some-model', webSocket: true })
  for (const snippet of snippets) {
    // It sets the key, which each client gets from here.
    if (snippet.title.startsWith('the key')) continue
    const started = Date.now()
    const result = await tried(name, snippet, snippets)
    if (result.startsWith('FAILED')) failed++
    console.log(
      `${name.padEnd(18)}${snippet.title.padEnd(36)}${result} (${((Date.now() - started) / 1000).toFixed(1)} s)`,
    )
  }
}
server.closeAllConnections()
server.close()
await handler.close(200)
if (given === undefined) await rm(folder, { recursive: true, force: true })
process.exitCode = failed > 0 ? 1 : 0

async function tried(name: ClientName, snippet: Snippet, all: readonly Snippet[]): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'wireglot-home-'))
  await symlink(join(folder, 'node_modules'), join(home, 'node_modules'))
  const command = await commandOf(name, snippet, all, home)
  if (command === undefined) return 'not run: nothing to start here'
  try {
    const { stdout } = await run('/bin/sh', ['-c', `${command} </dev/null`], {
      cwd: home,
      timeout: 120_000,
      maxBuffer: 1e8,
      env: {
        PATH: [join(folder, 'node_modules/.bin'), ...ofPython, process.env['PATH']].join(':'),
        HOME: home,
        CODEX_HOME: join(home, '.codex'),
        WIREGLOT_KEY: key,
        CI: '1',
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
    })
    return /Hello there|Say hello|The tool said/.test(stdout)
      ? 'ok'
      : `FAILED: ${stdout.slice(-300)}`
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message = '',
    } = error as { stdout?: string; stderr?: string; message?: string }
    return `FAILED: ${[stdout.slice(-300), stderr.slice(-600) || message.slice(-600)].join(' ')}`
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/**
 * What starts the client with these settings, and asks it one thing; undefined where nothing can be
 * started.
 */
async function commandOf(
  name: ClientName,
  { language, file, text }: Snippet,
  all: readonly Snippet[],
  home: string,
): Promise<string | undefined> {
  // Of Gemini CLI one belongs to the other; elsewhere each is independent.
  for (const one of name === 'gemini-cli' ? all : [{ file, text }])
    if (one.file !== undefined) {
      const place = join(home, one.file.replace(/^~\//, ''))
      await mkdir(dirname(place), { recursive: true })
      await writeFile(place, one.text)
    }
  const asks: Partial<Record<ClientName, string>> = {
    'claude-code': `claude -p '${prompt}'`,
    codex: `codex exec --skip-git-repo-check '${prompt}'`,
    'gemini-cli': `gemini -p '${prompt}'`,
    opencode: `opencode run '${prompt}'`,
    'openai-compatible': `cn -p '${prompt}'`,
  }
  /** What follows the last line of the settings. */
  const endings: Partial<Record<ClientName, string>> = {
    aider: `--no-git --yes-always --message '${prompt}'`,
    cline: `'${prompt}'`,
  }
  const ending = endings[name]
  if (ending !== undefined)
    return language === 'sh' && (name !== 'aider' || python) ? `${text} ${ending}` : undefined
  if (name === 'zed' || (name === 'openai-compatible' && language !== 'yaml')) return undefined
  const ask = asks[name]
  if (name === 'gemini-cli' && file !== undefined) return undefined
  if (ask !== undefined && language !== 'sh') return ask
  if (ask !== undefined) return `${text} -p '${prompt}'`
  if (language === 'sh') return `${text} -sS`
  if (language === 'python' && python) {
    await writeFile(join(home, 'ask.py'), text)
    return `${python} ask.py`
  }
  if (language !== 'js') return undefined
  await writeFile(join(home, 'ask.mjs'), text)
  return `${process.execPath} ask.mjs`
}
