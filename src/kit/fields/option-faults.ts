import type { OptionWords } from '../../protocol.ts'
import { plain, similar } from '../text/similar.ts'

/** `path`: such as `messages.thinking`. */
export type OptionFault = { path: string; message: string }

/** Values of an option outside of groups, or a function that returns what is wrong with a value. */
export type Ungrouped = Readonly<
  Record<string, OptionWords | ((value: unknown) => string | undefined)>
>

/** By group: its options with their values. */
export type OptionGroups = Readonly<Record<string, Readonly<Record<string, OptionWords>>>>

/**
 * Every unknown option and every invalid value, in groups and outside of them. Empty: none.
 * Undefined counts as absent.
 */
export function optionFaults(
  options: object,
  ungrouped: Ungrouped,
  groups: OptionGroups,
): OptionFault[] {
  let faults: OptionFault[] | undefined
  // Not `Object.entries`: this runs in every call, and takes a tenth of a microsecond so.
  for (const name in options) {
    const value: unknown = options[name as keyof typeof options]
    if (value === undefined) continue
    const words = Object.hasOwn(ungrouped, name) ? ungrouped[name] : undefined
    if (words !== undefined) {
      const message = typeof words === 'function' ? words(value) : valueFault(value, words)
      if (message) faults = [...(faults ?? []), { path: name, message }]
    } else if (Object.hasOwn(groups, name))
      faults = [...(faults ?? []), ...groupFaults(name, value, { groups, ungrouped })]
    else
      faults = [
        ...(faults ?? []),
        {
          path: name,
          message: `there is no such option${suggestion(name, groups, { ungrouped: Object.keys(ungrouped) })}`,
        },
      ]
  }
  return faults ?? []
}

function groupFaults(
  group: string,
  value: unknown,
  { groups, ungrouped }: { groups: OptionGroups; ungrouped: Ungrouped },
): OptionFault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ path: group, message: 'expected an object with options' }]
  const table = groups[group] ?? {}
  const faults: OptionFault[] = []
  for (const name in value) {
    const option: unknown = value[name as keyof typeof value]
    if (option === undefined) continue
    const words = Object.hasOwn(table, name) ? table[name] : undefined
    const message =
      words === undefined
        ? `there is no such option${suggestion(name, groups, { group, ungrouped: Object.keys(ungrouped) })}`
        : valueFault(option, words)
    if (message) faults.push({ path: `${group}.${name}`, message })
  }
  return faults
}

const types = { flag: 'boolean', number: 'number', text: 'string', function: 'function' } as const

/** What is wrong with the value. Undefined: nothing. A function may stand for a number. */
export function valueFault(value: unknown, words: OptionWords): string | undefined {
  if (typeof words === 'object')
    return words.some(word => word === value) ? undefined : `expected one of ${words.join(', ')}`
  const wanted = types[words]
  if (
    (typeof value === wanted && !Number.isNaN(value)) ||
    (words === 'number' && typeof value === 'function')
  )
    return undefined
  return `expected a ${wanted}`
}

type Table = OptionGroups[string]

/**
 * The option that was meant: of the same group, of a group that its name begins with, outside of
 * groups, or else of any group.
 */
function suggestion(
  name: string,
  groups: OptionGroups,
  { ungrouped, group }: { ungrouped: readonly string[]; group?: string },
): string {
  const inGroup = (key: string, table: Table, word: string) => {
    const meant = similar(word, Object.keys(table))
    return meant === undefined ? [] : [`${key}.${meant}`]
  }
  const all = Object.entries(groups)
  const own = all.flatMap(([key, table]) => (key === group ? inGroup(key, table, name) : []))
  const prefixed = all.flatMap(([key, table]) =>
    remaindersOf(name, key).flatMap(rest => inGroup(key, table, rest)),
  )
  const outside = similar(name, [...ungrouped, ...(group === undefined ? Object.keys(groups) : [])])
  const elsewhere = [
    ...all.flatMap(([key, table]) => inGroup(key, table, name)),
    ...(outside === undefined ? [] : [outside]),
  ]
  const ofMaker =
    group === undefined
      ? all.flatMap(([key]) => (makersOf(key).includes(plain(name)) ? [key] : []))
      : []
  const exact = elsewhere.filter(
    path => plain(path.slice(path.lastIndexOf('.') + 1)) === plain(name),
  )
  const [paths = []] = [own, exact, ofMaker, prefixed, elsewhere].filter(found => found.length > 0)
  const isOutside = group !== undefined && paths.length === 1 && paths[0] === outside
  return paths.length > 0
    ? `; did you mean ${[...new Set(paths)].join(' or ')}${isOutside ? ', outside of groups' : ''}?`
    : ''
}

/**
 * What is left of a name without the prefix of a group, such as `thinking` of `messagesThinking` or
 * `messages.thinking`. Empty: it has none.
 */
function remaindersOf(name: string, group: string): string[] {
  const text = plain(name)
  return [plain(group), ...makersOf(group)].flatMap(prefix =>
    text.startsWith(prefix) && text.length > prefix.length ? [text.slice(prefix.length)] : [],
  )
}

/** Other names that people give to a group. */
const makersOf = (group: string): readonly string[] =>
  Object.hasOwn(makers, group) ? (makers[group] ?? []) : []
const makers: Readonly<Record<string, readonly string[]>> = {
  chatCompletions: ['chat', 'openai', 'completions'],
  responses: ['openai', 'response'],
  messages: ['anthropic', 'claude', 'message'],
  generateContent: ['gemini', 'google', 'content'],
  tools: ['tool'],
}
