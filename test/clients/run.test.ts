import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientName, clientConfig } from '../../src/clients.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { listen, mounted } from '../gateway/support.ts'

const run = promisify(execFile)

const config: GatewayConfig = {
  keys: [{ name: 'alice', key: 'client-secret' }],
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: [{ id: "it's a model", channels: [{ name: 'demo' }] }],
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wireglot-clients-'))
  await symlink(
    fileURLToPath(new URL('../../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
  )
})
afterAll(() => rm(folder, { recursive: true }))

async function started(): Promise<string> {
  const handler = mounted(config)
  return listen(handler)
}

/** Clients that the project has at hand; `npm run test:clients` fetches and starts the others. */
const runnable: ClientName[] = ['openai-sdk', 'anthropic-sdk', 'genai-sdk', 'curl']
const rows = runnable.flatMap(client =>
  clientConfig(client, { base: 'http://127.0.0.1' })
    .snippets.filter(({ language, title }) => language !== 'python' && !title.startsWith('the key'))
    .map(({ title }) => [client, title] as const),
)

describe('the generated settings', () => {
  test.each(rows)(
    'get %s (%s) a response from a gateway that requires a key',
    async (client, title) => {
      const { snippets } = clientConfig(client, { base: await started(), model: "it's a model" })
      const snippet = snippets.find(one => one.title === title)
      expect(snippet).toBeDefined()
      const env = { ...process.env, WIREGLOT_KEY: 'client-secret' }
      const file = join(folder, `${client}.mjs`)
      if (snippet?.language === 'js') await writeFile(file, snippet.text)
      const { stdout } = await (snippet?.language === 'js'
        ? run(process.execPath, [file], { env })
        : run('/bin/sh', ['-c', `${snippet?.text} -sS --fail-with-body`], { env }))
      expect(stdout).toContain('Hello there')
    },
  )
})
