import type { AddressUsage } from '../address/check.ts'
import type { ProtocolName, WrittenOptions } from '../protocols/index.ts'

export type Language = 'sh' | 'json' | 'toml' | 'yaml' | 'js' | 'python' | 'text'

/** One way to set a client up, ready to paste. */
export type Snippet = {
  title: string
  protocol: ProtocolName
  /** The address that stands in it. */
  address: string
  language: Language
  /** Where it belongs, when it is a file of the client's. */
  file?: string
  text: string
}

/** What a client is told. `model`: the one it uses; `models`: all it may choose from, that one among them. */
export type Told = { model: string; models: readonly string[]; keyEnv: string; addressFor(usage: AddressUsage): string }

/** A program that people point at a gateway. A new one is a file beside this one, and a line in `index.ts`. */
export type Client = {
  title: string
  /** How it uses its address, the usual way first. */
  usages: readonly AddressUsage[]
  /** What surprises people, one sentence each. */
  remarks?: readonly string[]
  /** Mapping options without which it fails, and how the `user-agent` that it is known by may begin. */
  needs?: readonly { agents: readonly string[]; options: WrittenOptions }[]
  snippets(told: Told): Snippet[]
}

/** A string of JSON, JavaScript, Python and TOML. */
export const quoted = (text: string): string => JSON.stringify(text)

/** A word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const json = (value: unknown): string => JSON.stringify(value, null, 2)

export const lines = (...all: string[]): string => all.join('\n')
