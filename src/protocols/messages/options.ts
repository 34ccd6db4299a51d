import { defaultsOf } from '../../kit/fields/option-groups.ts'
import {
  type CodecOptions,
  type OptionTable,
  type SharedOptions,
  sharedOptions,
  type ToolOptions,
} from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type MessagesOptions = Pick<
  SharedOptions,
  'systemPlacement' | 'leadingUser' | 'efforts' | 'jsonMode' | 'autoCache' | 'convertMedia'
> & {
  /**
   * The line `x-anthropic-billing-header: …` that some clients put first in their system prompt.
   * `keep` (default). `drop`: dropped toward other protocols, because it changes in every request
   * and invalidates prompt caches. The gateway drops it for Claude Code.
   */
  billingLine?: 'keep' | 'drop'
  /**
   * Refuses a request without `max_tokens`. Default false: requests that count tokens have none.
   */
  requireMaxTokens?: boolean
  /**
   * How an effort is written. `auto` (default): `enabled` with a budget for models up to 4.5, else
   * `adaptive` with an effort. `adaptive` and `enabled`: always so.
   */
  thinking?: 'auto' | 'adaptive' | 'enabled'
  /**
   * Signatures after the last text of a response without calls. `block` (default): each is a
   * `redacted_thinking` block. `drop`: for clients that expect the last block to be the text;
   * providers allow that outside of tool loops. The gateway drops them for Claude Code.
   */
  lastSignature?: 'block' | 'drop'
  /** `max_tokens` of a request without a limit, in tokens. Default 32000. */
  defaultMaxTokens?: number | ((model: string | undefined) => number)
}

export type Options = CodecOptions & ToolOptions & MessagesOptions

/** The same for configurations and command lines. */
export const options = {
  billingLine: ['keep', 'drop'],
  requireMaxTokens: 'flag',
  systemPlacement: sharedOptions.systemPlacement,
  thinking: ['auto', 'adaptive', 'enabled'],
  lastSignature: ['block', 'drop'],
  leadingUser: sharedOptions.leadingUser,
  autoCache: sharedOptions.autoCache,
  jsonMode: sharedOptions.jsonMode,
  defaultMaxTokens: 'number',
  convertMedia: sharedOptions.convertMedia,
  efforts: sharedOptions.efforts,
} as const satisfies OptionTable<MessagesOptions>

/** With max_tokens absent. */
export const defaultMaxTokens = 32_000

export const defaults = defaultsOf(options)
