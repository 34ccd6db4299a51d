import { addressFor } from '../address/check.ts'
import { mergeOptions } from '../kit/fields/option-groups.ts'
import type { WrittenOptions } from '../protocols/index.ts'
import { aiSdk } from './ai-sdk.ts'
import { aider } from './aider.ts'
import { anthropicSdk } from './anthropic-sdk.ts'
import { claudeCode } from './claude-code.ts'
import {
  type Client,
  type ClientSetup,
  keyLines,
  type ModelLimits,
  type Snippet,
} from './client.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { curl } from './curl.ts'
import { geminiCli } from './gemini-cli.ts'
import { genaiSdk } from './genai-sdk.ts'
import { langchain } from './langchain.ts'
import { litellm } from './litellm.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { openaiSdk } from './openai-sdk.ts'
import { opencode } from './opencode.ts'
import { zed } from './zed.ts'

export type { Language, ModelLimits, Snippet } from './client.ts'

/** All clients. To add one, write a file next to this one and a line here. */
export const clients = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  opencode,
  aider,
  cline,
  zed,
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

/**
 * The mapping options that the client with this `user-agent` requires. Undefined: none are known.
 */
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
  /** The model for background tasks, of clients that have a setting for it. Absent: `model`. */
  smallModel?: string
  /** All models that the client can choose from. Absent: only `model` and `smallModel`. */
  models?: readonly string[]
  /**
   * Limits of models, by id. Clients that cannot ask for them assume others, and fill a smaller
   * context until the provider refuses it.
   */
  limits?: Readonly<Record<string, ModelLimits>>
  /**
   * Name of the environment variable with the key; the settings never contain the key itself.
   * Default `WIREGLOT_KEY`.
   */
  keyEnv?: string
  /**
   * The gateway accepts WebSocket connections, and clients that can use them should do so. Default
   * false.
   */
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
 * @throws RangeError for an unknown client, a `base` that is not a URL, or an invalid name of an
 * environment variable
 * @example
 * import { clientConfig } from 'wireglot/clients'
 *
 * const { snippets } = clientConfig('claude-code', { base: 'http://127.0.0.1:4000', model: 'demo' })
 * console.log(snippets[0]?.text) // … http://127.0.0.1:4000 …
 */
export function clientConfig(client: ClientName, options: ClientConfigOptions): ClientConfig {
  if (!isClientName(client))
    throw new RangeError(`no client "${String(client)}"; there are ${clientNames.join(', ')}`)
  const { title, remarks = [], snippets }: Client = clients[client]
  const setup = setupOf(options)
  const { model, keyEnv } = setup
  return {
    client,
    title,
    model,
    keyEnv,
    snippets: withKey(snippets(setup), keyEnv),
    remarks: [...remarks],
  }
}

/**
 * The options with their defaults.
 * @throws RangeError for a `base` that is not a URL, or an invalid name of an environment variable
 */
export function setupOf({
  base,
  models = [],
  model = models[0] ?? 'MODEL',
  smallModel = model,
  limits = {},
  keyEnv = defaultKeyEnv,
  webSocket = false,
}: ClientConfigOptions): ClientSetup {
  if (!isEnvName(keyEnv))
    throw new RangeError(
      '`keyEnv` must be the name of an environment variable, such as WIREGLOT_KEY: letters, digits and _',
    )
  return {
    model,
    smallModel,
    models: [...new Set([...(models.includes(model) ? [] : [model]), ...models, smallModel])],
    limits,
    keyEnv,
    webSocket,
    addressFor: usage => addressFor(base, { ...usage, model }),
  }
}

/**
 * Snippets with one that sets the variable with the key, before the first that reads the variable
 * and does not set it.
 */
function withKey(snippets: readonly Snippet[], keyEnv: string): Snippet[] {
  const text = keyLines(keyEnv)
  const at = snippets.findIndex(one => one.text.includes(keyEnv) && !one.text.includes(text))
  const reader = snippets[at]
  if (!reader) return [...snippets]
  const { protocol, address } = reader
  const key: Snippet = {
    title: 'the key, for all that follows',
    protocol,
    address,
    language: 'sh',
    text,
  }
  return [...snippets.slice(0, at), key, ...snippets.slice(at)]
}

/**
 * The settings as text.
 * @example
 * import { clientConfig, clientConfigText } from 'wireglot/clients'
 *
 * console.log(clientConfigText(clientConfig('curl', { base: 'http://127.0.0.1:4000', model: 'demo' }))) // … curl …
 */
export function clientConfigText({ title, keyEnv, snippets, remarks }: ClientConfig): string {
  const parts = snippets.map(({ title: way, file, address, text }) => {
    const name = file === undefined ? way : `${way}: ${file}`
    const shown = text.includes(address) ? ` (address ${address})` : ''
    return `# ${name}${shown}\n\n${text}\n`
  })
  const head = `# Settings of ${title} for this gateway. They set ${keyEnv} to a placeholder, unless it has a value: a gateway with keys needs one of them.\n`
  return `${[head, ...parts, ...remarks.map(remark => `# ${remark}\n`)].join('\n')}`
}
