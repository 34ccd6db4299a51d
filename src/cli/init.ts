import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { Vendor } from '../vendors/index.ts'
import { toVendor } from './vendors.ts'

type Choices = { vendors: readonly Vendor[]; needsKeys: boolean }

/** Adds `wireglot init`. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description('write a commented configuration for the vendors whose keys are set')
    .option('--yes', 'do not prompt')
    .addHelpText('after', '\nExample: OPENAI_API_KEY=… wireglot init')
    .action(async ({ yes }: { yes?: true }) => {
      const { findConfig } = await import('./config-file.ts')
      const { vendorsIn } = await import('./environment.ts')
      const there = await findConfig(process.cwd())
      if (there !== undefined) throw new Error(`${there} exists already`)
      const found = { vendors: vendorsIn(process.env), needsKeys: false }
      const choices = yes || !process.stdin.isTTY ? found : await ask(found)
      const file = resolve('wireglot.config.jsonc')
      await writeFile(file, configText(choices), { flag: 'wx' })
      process.stdout.write(`${file} is written; start it with: npx wireglot serve\n`)
    })
}

async function ask(found: Choices): Promise<Choices> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const known = found.vendors.map(({ name }) => name).join(', ')
    const names = (
      await prompt.question(
        `Vendors, with commas between (npx wireglot vendors lists them) [${known || 'none'}]: `,
      )
    ).trim()
    const wanted = names === '' ? found.vendors : names.split(/[\s,]+/).map(toVendor)
    const response = await prompt.question('Do clients need a key? [Y/n]: ')
    return { vendors: wanted, needsKeys: !/^n/i.test(response.trim()) }
  } finally {
    prompt.close()
  }
}

/**
 * A configuration with comments. Without vendors it serves the demo model. With several, a client
 * chooses one: `openai/gpt-5`.
 */
export function configText({ vendors: wanted, needsKeys }: Choices): string {
  const channels = wanted.map(({ name, keyVariable, endpoints: [{ baseUrl }] }) => {
    const key = keyVariable === undefined ? '' : `, "apiKey": "env:${keyVariable}"`
    const base = baseUrl.includes('{') ? `, "baseUrl": "${baseUrl}"` : ''
    return `    { "vendor": "${name}"${key}${base} }`
  })
  const models = modelsText(wanted.map(({ name }) => name))
  const keys = '  "keys": [{ "name": "me", "key": "env:WIREGLOT_KEY" }],'
  return `{
  // Names and meanings of all keys: docs/guides/gateway.md of the package.
  "$schema": "./node_modules/wireglot/docs/config.schema.json",

  // Clients send this key. Without keys, only clients on this machine are served.
${needsKeys ? keys : `  // ${keys.trim()}`}

  // The upstreams. "env:NAME" is the environment variable NAME.
  "channels": [
${channels.length > 0 ? channels.join(',\n') : '    { "name": "demo", "embedded": "demo" }'}
  ],

${models}
}
`
}

/** The models of a configuration. Those of a single vendor need no entries. */
function modelsText(names: readonly string[]): string {
  const [first = 'demo'] = names
  const own = `{ "id": "my-model", "channels": [{ "name": "${first}", "model": "MODEL" }] }`
  if (names.length === 1)
    return `  // Without "models", the channel serves every model. An entry gives a model a name of its own:\n  // "models": [${own}],`
  const entries = names.map(
    name => `    { "id": "${name}/*", "channels": [{ "name": "${name}", "model": "*" }] },`,
  )
  const lines =
    names.length > 0 ? entries : ['    { "id": "demo", "channels": [{ "name": "demo" }] },']
  const about =
    names.length > 0 ? `Clients choose the vendor: ${first}/MODEL.` : 'What clients can request.'
  return `  // ${about} An entry gives a model a name of its own:\n  // ${own},\n  "models": [\n${lines.join('\n')}\n  ],`
}
