import { InvalidArgumentError } from 'commander'
import type { CodecOptions, OptionWords } from '../protocol.ts'
import { mappingOptionWords } from '../protocols/index.ts'
import { conversationOptions, type Settings } from '../translate/settings.ts'

/** All common options but functions, JSON values, and those that have flags of their own. */
type Sayable = Exclude<keyof (Settings & CodecOptions), 'newId' | 'context' | 'fieldNames' | keyof typeof conversationOptions>

/** The options of all protocols in common; a missing one does not compile. `strict` may also be a list. */
const common: Record<Sayable, OptionWords | 'list'> = {
  strict: 'list',
  model: 'text',
  path: 'text',
  maxEventLength: 'number',
  now: 'number',
  onUnresolvable: ['throw', 'note'],
  truncated: ['error', 'length'],
  hideUsage: 'flag',
  renewId: 'flag',
  keepsReply: 'flag',
}

const known: Record<string, OptionWords | 'list'> = Object.assign(mappingOptionWords(), conversationOptions, common)

/**
 * Adds an option `name=value` to those before it.
 * @throws InvalidArgumentError for an unknown name or an invalid value
 */
export function readOption(text: string, before: Record<string, unknown>): Record<string, unknown> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('An option is written name=value.')
  const name = text.slice(0, at)
  const words = known[name]
  if (!words) throw new InvalidArgumentError(`There is no option ${name}; there are ${Object.keys(known).sort().join(', ')}.`)
  return { ...before, [name]: read(name, words, text.slice(at + 1)) }
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
    case 'list': {
      if (text === 'true' || text === 'false') return text === 'true'
      const kinds = text.replaceAll(/[[\]"\s]/g, '').split(',')
      if (kinds.every(one => ['dropped', 'approximated', 'synthesized'].includes(one))) return kinds
      throw refuse('true, false, or some of dropped, approximated, synthesized, with commas between')
    }
    default:
      return words satisfies never
  }
}
