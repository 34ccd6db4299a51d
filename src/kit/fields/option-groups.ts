import type { CodecOptions, OptionWords, ProtocolFacts, ToolOptions } from '../../protocol.ts'

/**
 * What codecs of one protocol read: the common options, those of tools and its own group, in one
 * object.
 */
export function optionsFor(
  { optionsKey }: Pick<ProtocolFacts, 'optionsKey'>,
  settings: CodecOptions & { tools?: ToolOptions },
): CodecOptions & ToolOptions {
  const { [optionsKey]: own, tools }: Record<string, unknown> & { tools?: ToolOptions } = settings
  return own === undefined && tools === undefined
    ? settings
    : Object.assign({}, settings, tools, own)
}

/**
 * Combines options, group by group; later ones win. Without a second one, the only one is returned.
 */
export function mergeOptions<Options extends object>(
  ...all: readonly (Options | undefined)[]
): Options {
  let merged: Options | undefined
  let isCopy = false
  for (const options of all) {
    if (!options || options === merged || Object.keys(options).length === 0) continue
    if (!merged) merged = options
    else {
      if (!isCopy) merged = Object.assign({}, merged)
      isCopy = true
      for (const key of Object.keys(options) as (keyof Options)[]) {
        const [before, value] = [merged[key], options[key]]
        merged[key] = isGroup(before) && isGroup(value) ? { ...before, ...value } : value
      }
    }
  }
  return merged ?? ({} as Options)
}

const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Defaults<Table> = {
  readonly [Name in keyof Table as Table[Name] extends readonly string[]
    ? Name
    : never]: Table[Name] extends readonly [infer First, ...unknown[]] ? First : never
}

/** The default of each option with words: the first one. */
export const defaultsOf = <const Table extends Readonly<Record<string, OptionWords>>>(
  table: Table,
): Defaults<Table> =>
  // A row has a default if it is a list of words.
  Object.fromEntries(
    Object.entries(table).flatMap(([name, words]) =>
      typeof words === 'object' ? [[name, words[0]]] : [],
    ),
  ) as Defaults<Table>
