import { InvalidArgumentError } from 'commander'
import type { MappingOptions } from '../protocols/index.ts'
import type { Settings } from '../translate/settings.ts'

type Options = Settings & MappingOptions
/** Functions, and what has a flag of its own, cannot be said in words. */
type Sayable = Exclude<keyof Options, 'newId' | 'context' | 'ccStored'>
/** The words that an option may be, or what else it is. */
type Kind = 'true or false' | 'a number' | 'text' | 'a list' | readonly string[]

const repair = ['keep', 'synthesize', 'drop'] as const
const map = ['drop', 'map'] as const
const flag = 'true or false'

/** Every option that `--option` takes; one that is missing here does not compile. */
const known: Record<Sayable, Kind> = {
  strict: 'a list',
  model: 'text',
  maxEventLength: 'a number',
  now: 'a number',
  onUnresolvable: ['throw', 'note'],
  truncated: ['error', 'length'],
  hideUsage: flag,
  ccReasoning: ['reasoning_content', 'reasoning', 'details', 'omit'],
  ccSignature: ['field', 'id', 'store', 'none'],
  ccReasoningInHistory: ['never', 'tool-loop', 'always'],
  ccToolMedia: ['user-message', 'drop'],
  ccMaxTokensField: ['max_completion_tokens', 'max_tokens'],
  ccAlwaysUsage: flag,
  ccTopK: ['drop', 'write'],
  fastIsSpeed: flag,
  ccCacheMarks: ['write', 'drop'],
  cacheTtlRound: ['drop', 'up'],
  ccDoneWithoutFinish: ['accept', 'error'],
  extractThinkTags: 'true or false',
  errorPrefix: 'text',
  instructionsRole: ['system', 'developer'],
  repairToolPairs: repair,
  serverTools: map,
  midSystem: ['accept', 'reject'],
  requireMaxTokens: flag,
  systemPlacement: ['auto', 'user', 'hoist'],
  amThinking: ['auto', 'adaptive', 'enabled'],
  amUnsigned: ['drop', 'text'],
  amAllowedTools: ['filter', 'keep'],
  amForcedToolWithThinking: ['effort-only', 'keep', 'disable-thinking'],
  amSamplingWithThinking: ['drop', 'keep'],
  amAutoCache: flag,
  amJsonMode: ['drop', 'instruct'],
  defaultMaxTokens: 'a number',
  apiVersion: ['2023-06-01', '2026-10-21'],
  amPrefixMismatch: ['drop_block'],
  amToolAddition: ['merge', 'block'],
  amLeadingUser: ['keep', 'synthesize'],
  amForeignCallers: ['drop', 'map'],
  openResponses: flag,
  rsReasoningId: ['keep', 'omit'],
  retryWithoutReasoning: flag,
  rsSequential: flag,
  deferStart: flag,
  rsMidStreamError: ['both', 'failed-only'],
  strictEnums: flag,
  rsInputAudio: flag,
  expandClientTools: flag,
  foreignCallers: map,
  serverToolHistory: ['drop', 'text'],
}

/**
 * `name=value` beside the options that came before it.
 * @throws InvalidArgumentError for a name that is no option, or a value that it does not take
 */
export function readOption(text: string, before: Record<string, unknown>): Record<string, unknown> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('An option is written name=value.')
  const name = text.slice(0, at)
  if (!Object.hasOwn(known, name)) throw new InvalidArgumentError(`There is no option ${name}; there are ${Object.keys(known).sort().join(', ')}.`)
  return { ...before, [name]: read(name, known[name as Sayable], text.slice(at + 1)) }
}

function read(name: string, kind: Kind, word: string): unknown {
  const refuse = (expected: string) => new InvalidArgumentError(`${name} is ${expected}.`)
  if (typeof kind === 'object') {
    if (kind.includes(word)) return word
    throw refuse(`one of ${kind.join(', ')}`)
  }
  switch (kind) {
    case 'text':
      return word
    case 'a number':
      if (/^\d+$/.test(word)) return Number(word)
      throw refuse(kind)
    case 'true or false':
      if (word === 'true' || word === 'false') return word === 'true'
      throw refuse(kind)
    case 'a list': {
      if (word === 'true' || word === 'false') return word === 'true'
      const kinds = word.replaceAll(/[[\]"\s]/g, '').split(',')
      if (kinds.every(one => ['dropped', 'approximated', 'synthesized'].includes(one))) return kinds
      throw refuse('true, false, or some of dropped, approximated, synthesized, with commas between')
    }
    default:
      return kind satisfies never
  }
}
