import { similar } from '../kit/text/similar.ts'
import { type OptionWords, toolOptions } from '../protocol.ts'
import { protocols } from './index.ts'

/** By group: its options with their values. */
export const optionGroups: Readonly<Record<string, Readonly<Record<string, OptionWords>>>> = {
  ...Object.fromEntries(Object.values(protocols).map(({ optionsKey, options }) => [optionsKey, options])),
  tools: toolOptions,
}

/** The options outside of groups that a configuration file can hold. */
export const ungroupedOptions = { foreignSignatures: ['drop', 'wrap'] } as const satisfies Record<string, OptionWords>

/** `path`: such as `messages.thinking`. */
export type OptionFault = { path: string; message: string }

/** Values of an option outside of groups. `any`: checked by whoever uses it. */
export type Ungrouped = Readonly<Record<string, OptionWords | 'any'>>

/** Every unknown option and every invalid value, in groups and outside of them. Empty: none. Undefined counts as absent. */
export function optionFaults(options: object, ungrouped: Ungrouped): OptionFault[] {
  let faults: OptionFault[] | undefined
  // Not `Object.entries`: this runs in every call, and takes a tenth of a microsecond so.
  for (const name in options) {
    const value: unknown = options[name as keyof typeof options]
    if (value === undefined) continue
    const words = Object.hasOwn(ungrouped, name) ? ungrouped[name] : undefined
    if (words === 'any') continue
    if (words !== undefined) {
      const message = valueFault(value, words)
      if (message) faults = [...(faults ?? []), { path: name, message }]
    } else if (Object.hasOwn(optionGroups, name)) faults = [...(faults ?? []), ...groupFaults(name, value)]
    else faults = [...(faults ?? []), { path: name, message: `there is no such option${suggestion(name, Object.keys(ungrouped))}` }]
  }
  return faults ?? []
}

function groupFaults(group: string, value: unknown): OptionFault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path: group, message: 'expected an object with options' }]
  const table = optionGroups[group] ?? {}
  return Object.entries(value).flatMap(([name, option]): OptionFault[] => {
    if (option === undefined) return []
    const path = `${group}.${name}`
    if (!Object.hasOwn(table, name)) return [{ path, message: `there is no such option${suggestion(name, [], group)}` }]
    const message = valueFault(option, table[name] ?? 'text')
    return message ? [{ path, message }] : []
  })
}

const types = { flag: 'boolean', number: 'number', text: 'string', function: 'function' } as const

/** What is wrong with the value. Undefined: nothing. A function may stand for a number. */
export function valueFault(value: unknown, words: OptionWords): string | undefined {
  if (typeof words === 'object') return words.some(word => word === value) ? undefined : `expected one of ${words.join(', ')}`
  const wanted = types[words]
  if (typeof value === wanted || (words === 'number' && typeof value === 'function')) return undefined
  return `expected a ${wanted}`
}

/** The option that was meant: of the same group, or else of any. */
function suggestion(name: string, ungrouped: readonly string[], group?: string): string {
  const groups = Object.entries(optionGroups)
  const pathsIn = (of: readonly (readonly [string, Readonly<Record<string, OptionWords>>])[]) =>
    of.flatMap(([key, table]) => {
      const meant = similar(name, Object.keys(table))
      return meant === undefined ? [] : `${key}.${meant}`
    })
  const own = pathsIn(groups.filter(([key]) => key === group))
  const outside = similar(name, [...ungrouped, ...Object.keys(optionGroups)]) ?? []
  const paths = own.length > 0 ? own : pathsIn(groups).concat(outside)
  return paths.length > 0 ? `; did you mean ${paths.join(' or ')}?` : ''
}
