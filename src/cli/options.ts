import { InvalidArgumentError } from 'commander'
import { noteKinds } from '../canonical/note.ts'
import type { CodecOptions, OptionWords } from '../protocol.ts'
import { optionFaults, optionGroups, ungroupedOptions } from '../protocols/check-options.ts'
import type { Settings } from '../translate/settings.ts'

/** All common options but functions, JSON values, and those that have flags of their own. */
type Common = Exclude<
  keyof (Settings & CodecOptions),
  | 'newId'
  | 'context'
  | 'fieldNames'
  | 'tools'
  | 'bridge'
  | 'keepsResponse'
  | 'hideUsage'
  | keyof typeof ungroupedOptions
>

/**
 * The options of all protocols in common; a missing one does not compile. `strict` may also be a
 * list.
 */
const common: Record<Common, OptionWords | 'list'> = {
  strict: 'list',
  model: 'text',
  path: 'text',
  maxEventLength: 'number',
  now: 'number',
  onUnresolvable: ['throw', 'note'],
  truncated: ['error', 'length'],
  renewId: 'flag',
}

const known: Readonly<Record<string, OptionWords | 'list'>> = { ...common, ...ungroupedOptions }

/**
 * Adds an option `name=value` or `group.name=value` to those before it.
 * @throws InvalidArgumentError for an unknown name or an invalid value
 */
export function readOption(text: string, before: Record<string, unknown>): Record<string, unknown> {
  const at = text.indexOf('=')
  if (at < 1)
    throw new InvalidArgumentError('An option is written name=value, or group.name=value.')
  const [path, value] = [text.slice(0, at), text.slice(at + 1)]
  const [group = '', option, ...deeper] = path.split('.')
  if (option === undefined || deeper.length > 0) {
    const words = Object.hasOwn(known, path) ? known[path] : undefined
    if (!words) throw new InvalidArgumentError(faultOf({ [path]: value }))
    return { ...before, [path]: read(path, words, value) }
  }
  const words =
    Object.hasOwn(optionGroups, group) && Object.hasOwn(optionGroups[group] ?? {}, option)
      ? optionGroups[group]?.[option]
      : undefined
  if (!words) throw new InvalidArgumentError(faultOf({ [group]: { [option]: value } }))
  return {
    ...before,
    [group]: Object.assign({}, before[group], { [option]: read(path, words, value) }),
  }
}

function faultOf(options: object): string {
  const [{ path, message } = { path: '', message: 'invalid' }] = optionFaults(
    options,
    known as Record<string, OptionWords>,
  )
  return `${path}: ${message}`
}

function read(name: string, words: OptionWords | 'list', text: string): unknown {
  const refuse = (expected: string) => new InvalidArgumentError(`${name} is ${expected}.`)
  if (typeof words === 'object') {
    if (words.includes(text)) return text
    throw refuse(`one of ${words.join(', ')}`)
  }
  switch (words) {
    case 'text':
      return text
    case 'number':
      if (/^\d+$/.test(text)) return Number(text)
      throw refuse('a number')
    case 'flag':
      if (text === 'true' || text === 'false') return text === 'true'
      throw refuse('true or false')
    case 'function':
      throw refuse('a function, which only a program can pass')
    case 'list': {
      if (text === 'true' || text === 'false') return text === 'true'
      const kinds = text.replaceAll(/[[\]"\s]/g, '').split(',')
      if (kinds.every(one => noteKinds.some(kind => kind === one))) return kinds
      throw refuse(
        'true, false, or some of dropped, approximated, synthesized, emulated, with commas between',
      )
    }
    default:
      return words satisfies never
  }
}
