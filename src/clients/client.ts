import type { AddressUsage } from '../address/check.ts'
import type { ProtocolName, WrittenOptions } from '../protocols/index.ts'

/** The language of a snippet. */
export type Language = 'sh' | 'json' | 'toml' | 'yaml' | 'js' | 'python' | 'text'

/** One way to set a client up, ready to paste. */
export type Snippet = {
  title: string
  protocol: ProtocolName
  /** The address that it contains, or, if it contains none, the one that it belongs to. */
  address: string
  language: Language
  /** The path of the file, if it is one of the client's. */
  file?: string
  text: string
}

/**
 * The values for the settings. `model`: the one it uses; `smallModel`: for background tasks;
 * `models`: all that it can choose from, including these two. `limits`: of those whose limits are
 * known, by id. `webSocket`: the gateway accepts WebSocket connections.
 */
export type ClientSetup = {
  model: string
  smallModel: string
  models: readonly string[]
  limits: Readonly<Record<string, ModelLimits>>
  keyEnv: string
  webSocket: boolean
  addressFor(usage: AddressUsage): string
}

/** In tokens. Absent: not known. */
export type ModelLimits = {
  /** The context window. */
  contextTokens?: number | undefined
  /** The longest response. */
  maxOutputTokens?: number | undefined
}

/** A client program. To add one, write a file next to this one and a line in `index.ts`. */
export type Client = {
  title: string
  /** How it uses its address, the most common way first. */
  usages: readonly AddressUsage[]
  /** Hints for users, one sentence each. */
  remarks?: readonly string[]
  /**
   * Mapping options that it requires. `agents`: prefixes of the `user-agent` by which it is
   * recognized.
   */
  needs?: readonly { agents: readonly string[]; options: WrittenOptions }[]
  snippets(setup: ClientSetup): Snippet[]
  /**
   * How `wireglot run` starts it. Absent: it is no program, or has no settings that leave the
   * user's files alone.
   */
  run?: ClientProgram
}

/** A client that is a program on the PATH. */
export type ClientProgram = {
  /** The command that starts it. */
  command: string
  /** The npm package that has the command. */
  npm: string
  /** The settings for one run. `folder`: an empty folder, which is removed after the run. */
  settings(setup: ClientSetup & { key: string; folder: string }): RunSettings
}

/** What the snippets say, for one run. */
export type RunSettings = {
  /** Arguments before those of the user. */
  args?: readonly string[]
  /** Variables in addition to the one with the key. */
  env?: Readonly<Record<string, string>>
  /** Variables that would win over these settings. */
  unset?: readonly string[]
  /** A settings file in the folder. */
  file?: SettingsFile
}

/**
 * `path`: in the folder. `homeVariable`: the folder takes the place of the user's home, which this
 * variable names, or HOME. Then the settings are added to the user's own ones, and the files beside
 * them are those of the user.
 */
export type SettingsFile = { path: string; settings: object; homeVariable?: string }

/** A string literal that is valid in JSON, JavaScript, Python and TOML. */
export const quoted = (text: string): string => JSON.stringify(text)

/** A word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * Gives the variable with the key a value, unless it has one: clients refuse to start without. The
 * comment has a line of its own, because zsh takes one behind a command for its arguments.
 */
export const keyLines = (keyEnv: string): string =>
  lines(
    '# your key, or any text where the gateway asks for none',
    `export ${keyEnv}="\${${keyEnv}:-${anyKey}}"`,
  )

/** A key for gateways that ask for none. */
export const anyKey = 'any-text'

export const json = (value: unknown): string => JSON.stringify(value, null, 2)

export const lines = (...all: string[]): string => all.join('\n')
