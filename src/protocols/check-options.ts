import * as faults from '../kit/fields/option-faults.ts'
import { type OptionWords, sharedOptions, toolOptions } from '../protocol.ts'
import { protocols } from './index.ts'

export type { Ungrouped } from '../kit/fields/option-faults.ts'

/** By group: its options with their values. */
export const optionGroups: faults.OptionGroups = {
  ...Object.fromEntries(
    Object.values(protocols).map(({ optionsKey, options }) => [optionsKey, options]),
  ),
  tools: toolOptions,
}

/** The options outside of groups that a configuration file can hold. */
export const ungroupedOptions = {
  ...sharedOptions,
  foreignSignatures: ['drop', 'wrap'],
} as const satisfies Record<string, OptionWords>

/**
 * Every unknown option and every invalid value, in the groups of all protocols and outside of them.
 * Empty: none.
 */
export const optionFaults = (options: object, ungrouped: faults.Ungrouped): faults.OptionFault[] =>
  faults.optionFaults(options, ungrouped, optionGroups)

/** JSON Schemas of the options that a configuration file can hold, by name. */
export function optionSchemas(): Record<string, object> {
  const schemaOf = (words: OptionWords): object | undefined => {
    if (typeof words === 'object') return { enum: words }
    return words === 'function'
      ? undefined
      : { type: { flag: 'boolean', number: 'number', text: 'string' }[words] }
  }
  const properties = (table: Readonly<Record<string, OptionWords>>) =>
    Object.fromEntries(
      Object.entries(table).flatMap(([name, words]) => {
        const schema = schemaOf(words)
        return schema ? [[name, schema] as const] : []
      }),
    )
  const groups = Object.entries(optionGroups).map(
    ([name, table]) =>
      [
        name,
        { type: 'object', properties: properties(table), additionalProperties: false },
      ] as const,
  )
  return { ...Object.fromEntries(groups), ...properties(ungroupedOptions) }
}
