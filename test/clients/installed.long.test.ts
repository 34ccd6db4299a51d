import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClientName } from '../../src/clients.ts'
import { start, wireglotIn } from '../cli/support.ts'
import { homeIn, install, paste } from './install.ts'

const run = promisify(execFile)
const prompt = 'Say hello to wireglot'

/** By client: the arguments for one prompt. */
const asking = {
  'claude-code': ['-p', prompt],
  codex: ['exec', '--skip-git-repo-check', prompt],
  'gemini-cli': ['-p', prompt],
  opencode: ['run', prompt],
} as const satisfies Partial<Record<ClientName, readonly string[]>>
type Client = keyof typeof asking
const names = Object.keys(asking) as Client[]

/** What the demo model says. It calls the tools of Gemini CLI. */
const answer = /Hello! You said|Say hello to wireglot|The tool said/

let folder = ''
let base = ''
let failure: string | undefined
let stop = async () => {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wireglot-installed-'))
  failure = await install(folder, names)
  if (failure === undefined) await serve()
}, 180_000)

afterAll(async () => {
  await stop()
  await rm(folder, { recursive: true, force: true })
})

/** Starts `wireglot serve` with the demo model. */
async function serve(): Promise<void> {
  const child = await start(['serve', '--port', '0'])
  const closed = new Promise(resolve => child.once('close', resolve))
  stop = async () => {
    child.kill()
    await closed
  }
  let out = ''
  for await (const chunk of child.stdout ?? []) {
    out += chunk
    base = /listening on (\S+)/.exec(out)?.[1] ?? ''
    if (base !== '') break
  }
}

/**
 * The ways that the settings offer: a shell block that starts the client, or a file and a start by
 * hand.
 */
const ways: [client: Client, way: string][] = [
  ['claude-code', 'environment'],
  ['claude-code', 'settings'],
  ['codex', 'settings'],
  ['gemini-cli', 'environment, beside the settings'],
  ['opencode', 'settings, over chat-completions'],
]

describe('the real client', () => {
  test.for(ways)(
    '%s answers when the printed text is pasted (%s)',
    async ([client, way], { skip }) => {
      skip(failure !== undefined, `the clients cannot be installed: ${failure}`)
      const place = await homeIn(folder)
      const { stdout } = await run(
        'bash',
        ['-c', await paste(client, way, place, { base, words: asking[client] })],
        {
          cwd: place.folder,
          env: place.env,
          timeout: 90_000,
          maxBuffer: 1e8,
        },
      )
      expect(stdout).toMatch(answer)
    },
  )

  test.for(names)('%s answers when wireglot run starts it', async (client, { skip }) => {
    skip(failure !== undefined, `the clients cannot be installed: ${failure}`)
    const place = await homeIn(folder)
    const { code, out, err } = await wireglotIn(place, ['run', client, '--', ...asking[client]])
    expect(out, err).toMatch(answer)
    expect(code).toBe(0)
  })
})
