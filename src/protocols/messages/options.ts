import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How requests and replies of this protocol are read and written, where the protocols leave a choice. */
export type MessagesOptions = {
  /** Reading a request with role `system` inside the conversation, which newer clients send and older servers refuse. Default `accept`. */
  midSystem?: 'accept' | 'reject'
  /**
   * The line `x-anthropic-billing-header: …` that some clients put first in their system prompt. `keep` (default): it may mean
   * something to the server. `drop`: left out on the way to another protocol, because it differs in every request and voids
   * prompt caches.
   */
  billingLine?: 'keep' | 'drop'
  /** Refuses to read a request without `max_tokens`. Default false: requests that count tokens have none. */
  requireMaxTokens?: boolean
  /**
   * Where instructions in the middle of a conversation go. `auto` (default): role `system` for models that know it there, else
   * as with `user`. `keep`: role `system` for every model. `user`: they become text of the user, in place. `hoist`: they move to the system field, which voids prompt
   * caches and signed thinking.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /**
   * How an effort is written. `auto` (default): `enabled` with a budget for models up to 4.5, else `adaptive` with an effort.
   * `adaptive` and `enabled`: always so.
   */
  thinking?: 'auto' | 'adaptive' | 'enabled'
  /** Earlier reasoning without a signature of this protocol, which the server refuses as thinking. `drop` (default). `text`: as text. */
  unsignedReasoning?: 'drop' | 'text'
  /**
   * Signatures behind the last text of a reply without calls, for which a text has no place here. `block` (default): each follows
   * in a `redacted_thinking` block. `drop`: providers allow that outside of a tool loop, and some clients take the last block for
   * the answer. The gateway says `drop` for Claude Code, which is one of them.
   */
  lastSignature?: 'block' | 'drop'
  /**
   * A tool choice that allows only some of the tools. `filter`: only these tools are sent. `keep`: all are sent, so that
   * caches and signed thinking stay valid. Default `filter`, but `keep` when the history holds signed thinking.
   */
  allowedTools?: 'filter' | 'keep'
  /**
   * A forced tool beside reasoning, which manual thinking refuses. `keep`: both are written. `effort-only`: `thinking` is left
   * out where another protocol asked for it. `disable-thinking`: it is left out also where this protocol asked for it. Default
   * `keep` for models known to think adaptively, else `effort-only`.
   */
  forcedToolWithThinking?: 'effort-only' | 'keep' | 'disable-thinking'
  /**
   * Temperature and the like beside thinking that another protocol asked for. `drop` (default): sampling is left out, because
   * the server refuses the pair. `keep`: both are written.
   */
  samplingWithThinking?: 'drop' | 'keep'
  /**
   * A conversation that begins with the assistant, or holds instructions only. `keep` (default): written as it is, and the
   * server may refuse it. `synthesize`: a user message `.` is put before it.
   */
  leadingUser?: 'keep' | 'synthesize'
  /**
   * A conversation that ends with text of the assistant, which older models continue and newer ones refuse. `synthesize`: a user message
   * that asks to continue follows it. `keep`: written as it is. `auto` (default): `synthesize` for models known to refuse it.
   */
  trailingAssistant?: 'auto' | 'keep' | 'synthesize'
  /** Marks the last block that can be cached, as providers do that cache by themselves. Default false: cache writes cost extra. */
  autoCache?: boolean
  /** JSON without a schema, which the protocol cannot demand. `drop` (default). `instruct`: one more line of the system prompt asks for it. */
  jsonMode?: 'drop' | 'instruct'
  /**
   * `max_tokens` of a request that says no limit, in tokens. Default 32000: a small model that refuses it is better than an
   * answer that is cut off.
   */
  defaultMaxTokens?: number | ((model: string | undefined) => number)
  /** The API version whose rules a written request keeps. Default `2023-06-01`; the newer one has no sampling fields. */
  apiVersion?: '2023-06-01' | '2026-10-21'
  /** Writes the fast tier as `speed: fast`, which some models refuse. Default false. */
  fastIsSpeed?: boolean
  /**
   * Makes a picture that the server takes (JPEG, PNG, GIF or WebP) out of one in another format; gives undefined where it
   * cannot. Default: such pictures are left out.
   */
  convertMedia?: (media: { mime: string; data: string }) => { mime: string; data: string } | undefined
  /**
   * Asks the server to drop thinking that does not fit the conversation before it, instead of refusing the request. Needs the
   * beta header in `context.headers`. Default: not asked.
   */
  prefixMismatch?: 'drop_block'
  /**
   * Tools that are added in the middle of a conversation. `merge` (default): they stand in the list of all tools, which every
   * server takes. `block`: they stay in place, which keeps prompt caches valid and needs the beta headers in
   * `context.headers`.
   */
  toolAddition?: 'merge' | 'block'
  /**
   * An effort that changes in the middle of a conversation. `drop` (default). `write`: on a system message, where the model
   * takes one; needs the beta header in `context.headers`.
   */
  turnEffort?: 'drop' | 'write'
  /**
   * The efforts that the model knows, with spaces between them; the nearest one is written, and none where there are none. Default: all.
   */
  efforts?: string
}

export type Options = CodecOptions & ToolOptions & MessagesOptions

/** The same for configurations and command lines. */
export const options = {
  midSystem: ['accept', 'reject'],
  billingLine: ['keep', 'drop'],
  requireMaxTokens: 'flag',
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
  thinking: ['auto', 'adaptive', 'enabled'],
  unsignedReasoning: ['drop', 'text'],
  lastSignature: ['block', 'drop'],
  allowedTools: ['filter', 'keep'],
  forcedToolWithThinking: ['effort-only', 'keep', 'disable-thinking'],
  samplingWithThinking: ['drop', 'keep'],
  leadingUser: ['keep', 'synthesize'],
  trailingAssistant: ['auto', 'keep', 'synthesize'],
  autoCache: 'flag',
  jsonMode: ['drop', 'instruct'],
  defaultMaxTokens: 'number',
  convertMedia: 'function',
  apiVersion: ['2023-06-01', '2026-10-21'],
  fastIsSpeed: 'flag',
  prefixMismatch: ['drop_block'],
  toolAddition: ['merge', 'block'],
  turnEffort: ['drop', 'write'],
  efforts: 'text',
} as const satisfies OptionTable<MessagesOptions>

/** With max_tokens absent. */
export const defaultMaxTokens = 32_000
