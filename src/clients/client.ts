import type { AddressUsage } from '../address/check.ts'
import type { ProtocolName, WrittenOptions } from '../protocols/index.ts'

/** The language of a snippet. */
export type Language = 'sh' | 'json' | 'toml' | 'yaml' | 'js' | 'python' | 'text'

/** One way to set a client up, ready to paste. */
export type Snippet = {
  title: string
  protocol: ProtocolName
  /** The address that it contains. */
  address: string
  language: Language
  /** The path of the file, if it is one of the client's. */
  file?: string
  text: string
}

/**
 * The values for the settings. `model`: the one it uses; `models`: all that it can choose from, including `model`. `webSocket`: the gateway
 * accepts WebSocket connections.
 */
export type ClientSetup = {
  model: string
  models: readonly string[]
  keyEnv: string
  webSocket: boolean
  addressFor(usage: AddressUsage): string
}

/** A client program. To add one, write a file next to this one and a line in `index.ts`. */
export type Client = {
  title: string
  /** How it uses its address, the most common way first. */
  usages: readonly AddressUsage[]
  /** Hints for users, one sentence each. */
  remarks?: readonly string[]
  /** Mapping options that it requires. `agents`: prefixes of the `user-agent` by which it is recognized. */
  needs?: readonly { agents: readonly string[]; options: WrittenOptions }[]
  snippets(setup: ClientSetup): Snippet[]
}

/** A string literal that is valid in JSON, JavaScript, Python and TOML. */
export const quoted = (text: string): string => JSON.stringify(text)

/** A word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const json = (value: unknown): string => JSON.stringify(value, null, 2)

export const lines = (...all: string[]): string => all.join('\n')
