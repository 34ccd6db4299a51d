import { addressFor } from '../address/check.ts'
import { mergeOptions } from '../kit/fields/option-groups.ts'
import type { WrittenOptions } from '../protocols/index.ts'
import { aiSdk } from './ai-sdk.ts'
import { anthropicSdk } from './anthropic-sdk.ts'
import { claudeCode } from './claude-code.ts'
import type { Client, Snippet } from './client.ts'
import { codex } from './codex.ts'
import { curl } from './curl.ts'
import { geminiCli } from './gemini-cli.ts'
import { genaiSdk } from './genai-sdk.ts'
import { langchain } from './langchain.ts'
import { litellm } from './litellm.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { openaiSdk } from './openai-sdk.ts'
import { opencode } from './opencode.ts'

export type { Language, Snippet } from './client.ts'

/** All clients. To add one, write a file next to this one and a line here. */
export const clients = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  opencode,
  'openai-sdk': openaiSdk,
  'anthropic-sdk': anthropicSdk,
  'genai-sdk': genaiSdk,
  'ai-sdk': aiSdk,
  langchain,
  litellm,
  'openai-compatible': openaiCompatible,
  curl,
} as const satisfies Record<string, Client>

/** A client that `clientConfig` has settings for. */
export type ClientName = keyof typeof clients

/** All values of `ClientName`. */
export const clientNames = Object.keys(clients) as ClientName[]

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(clients, name)
}

const known = Object.values<Client>(clients).flatMap(({ needs }) => needs ?? [])

/** The mapping options that the client with this `user-agent` requires. Undefined: none are known. */
export function neededBy(userAgent = ''): WrittenOptions | undefined {
  const wanted = known.filter(({ agents }) => agents.some(agent => userAgent.startsWith(agent)))
  return wanted.length > 0 ? mergeOptions(...wanted.map(({ options }) => options)) : undefined
}

/** The default environment variable for the key. */
export const defaultKeyEnv = 'WIREGLOT_KEY'

/** Is this a valid name of an environment variable? */
export const isEnvName = (name: string): boolean => /^[A-Za-z_]\w{0,63}$/.test(name)

/** Options of `clientConfig`. */
export type ClientConfigOptions = {
  /** Address of the gateway; with or without version and endpoint. */
  base: string
  /** The model to use. Absent: the first of `models`, or a placeholder. */
  model?: string
  /** All models that the client can choose from. Absent: only `model`. */
  models?: readonly string[]
  /** Name of the environment variable with the key; the settings never contain the key itself. Default `WIREGLOT_KEY`. */
  keyEnv?: string
  /** The gateway accepts WebSocket connections, and clients that can use them should do so. Default false. */
  webSocket?: boolean
}

/** The settings of a client for a gateway. */
export type ClientConfig = {
  client: ClientName
  title: string
  model: string
  keyEnv: string
  /** Alternatives: one is enough, unless a title says that it belongs to another. */
  snippets: Snippet[]
  remarks: string[]
}

/**
 * Settings that point a client at a gateway, ready to paste.
 * @throws RangeError for an unknown client, a `base` that is not a URL, or an invalid name of an environment variable
 * @example
 * import { clientConfig } from 'wireglot/clients'
 *
 * const { snippets } = clientConfig('claude-code', { base: 'http://127.0.0.1:4000', model: 'demo' })
 * console.log(snippets[0]?.text) // … http://127.0.0.1:4000 …
 */
export function clientConfig(
  client: ClientName,
  {
    base,
    models = [],
    model = models[0] ?? 'MODEL',
    keyEnv = defaultKeyEnv,
    webSocket = false,
  }: ClientConfigOptions,
): ClientConfig {
  if (!isClientName(client))
    throw new RangeError(`no client "${String(client)}"; there are ${clientNames.join(', ')}`)
  if (!isEnvName(keyEnv))
    throw new RangeError(
      '`keyEnv` must be the name of an environment variable, such as WIREGLOT_KEY: letters, digits and _',
    )
  const { title, remarks = [], snippets }: Client = clients[client]
  const setup = {
    model,
    models: models.includes(model) ? models : [model, ...models],
    keyEnv,
    webSocket,
  }
  return {
    client,
    title,
    model,
    keyEnv,
    snippets: snippets({ ...setup, addressFor: usage => addressFor(base, { ...usage, model }) }),
    remarks: [...remarks],
  }
}

/**
 * The settings as text.
 * @example
 * import { clientConfig, clientConfigText } from 'wireglot/clients'
 *
 * console.log(clientConfigText(clientConfig('curl', { base: 'http://127.0.0.1:4000', model: 'demo' }))) // … curl …
 */
export function clientConfigText({ title, keyEnv, snippets, remarks }: ClientConfig): string {
  const parts = snippets.map(
    ({ title: way, file, address, text }) =>
      `# ${way}${file === undefined ? '' : `: ${file}`} (address ${address})\n\n${text}\n`,
  )
  const head = `# ${title}. The key is read from ${keyEnv}; where the gateway asks for none, any text will do.\n`
  return `${[head, ...parts, ...remarks.map(remark => `# ${remark}\n`)].join('\n')}`
}
