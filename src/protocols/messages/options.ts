import type { OptionTable } from '../../protocol.ts'

/** How requests and replies of this protocol are read and written, where the protocols leave a choice. */
export type MessagesOptions = {
  /** Requests with role `system` inside the conversation: newer clients send them, older servers refuse them. Default `accept`. */
  midSystem?: 'accept' | 'reject'
  /**
   * The line `x-anthropic-billing-header: …` that some clients put first in their system prompt. `keep` (default): it may mean
   * something to the server; `drop`: on the way to another protocol, where it differs in every request and voids prompt caches.
   */
  amBillingLine?: 'keep' | 'drop'
  /** Is a request without `max_tokens` refused? Default false: counting tokens needs none. */
  requireMaxTokens?: boolean
  /**
   * Where instructions in mid-conversation go. `auto` (default): role `system` for models that know it, else as `user`;
   * `user`: text of a user message, in place; `hoist`: the system field, which voids prompt caches and signed thinking.
   */
  systemPlacement?: 'auto' | 'user' | 'hoist'
  /** How an effort is said. `auto` (default): `enabled` with a budget for models up to 4.5, else `adaptive` with an effort. */
  amThinking?: 'auto' | 'adaptive' | 'enabled'
  /** Reasoning without a signature of this protocol, in a history. `drop` (default): the wire has no unsigned thinking. */
  amUnsigned?: 'drop' | 'text'
  /**
   * A subset of callable tools. `filter` sends only these; `keep` sends all, so that caches and signed thinking stay valid.
   * Default `filter`, and `keep` when the history holds signed thinking.
   */
  amAllowedTools?: 'filter' | 'keep'
  /**
   * A forced tool with reasoning that another protocol asked for. `keep`: both are written; `effort-only`: no `thinking`;
   * `disable-thinking`: also for thinking asked for in this protocol. Default `keep` for models known to think adaptively, else
   * `effort-only`: manual thinking refuses forced tools.
   */
  amForcedToolWithThinking?: 'effort-only' | 'keep' | 'disable-thinking'
  /**
   * Sampling beside thinking that another protocol asked for. `drop` (default): the server refuses the pair, and what the
   * source calls an effort takes no sampling there either; `keep`: both are written.
   */
  amSamplingWithThinking?: 'drop' | 'keep'
  /**
   * A conversation that an assistant begins, or instructions without one. `keep` (default): the server answers; `synthesize`: a
   * user says `.` first.
   */
  amLeadingUser?: 'keep' | 'synthesize'
  /**
   * Callers of a tool that only another provider knows. `drop` (default): the model itself may call it; `map`: code that the
   * provider runs stands for any of them.
   */
  amForeignCallers?: 'drop' | 'map'
  /** Marks the last cacheable block, as providers that cache by themselves would. Default false: cache writes cost extra. */
  amAutoCache?: boolean
  /** JSON without a schema, which this wire lacks. `drop` (default) or one more system line that asks for it. */
  amJsonMode?: 'drop' | 'instruct'
  /** `max_tokens` when nobody gave one. Default 32000: a loud refusal of a small model beats a silent cut. */
  defaultMaxTokens?: number | ((model: string | undefined) => number)
  /** The version whose rules a written request keeps to; the newer one has no sampling fields. Default `2023-06-01`. */
  apiVersion?: '2023-06-01' | '2026-10-21'
  /** Calls without result and results without call. `keep` (default): the server answers; nothing is invented. */
  repairToolPairs?: 'keep' | 'synthesize' | 'drop'
  /** The fast tier as `speed: fast`, which some models refuse. Default false. */
  fastIsSpeed?: boolean
  /**
   * Makes a picture that the server takes (JPEG, PNG, GIF or WebP) out of another; gives nothing where it cannot. Default: others are
   * left out.
   */
  convertMedia?: (media: { mime: string; data: string }) => { mime: string; data: string } | undefined
  /** Asks the server to drop thinking that does not fit its prefix instead of refusing it; needs the beta header of `context.headers`. Default: not said. */
  amPrefixMismatch?: 'drop_block'
  /**
   * Tools that join in mid-conversation. `merge` (default): they stand with the others, which any server takes; `block`: where
   * they stood, which keeps prompt caches valid and needs the beta headers of `context.headers`.
   */
  amToolAddition?: 'merge' | 'block'
  /**
   * An effort that changes in mid-conversation. `drop` (default), or `write`: on a system message, where the model takes one and
   * the server the beta header that `context.headers` names.
   */
  amTurnEffort?: 'drop' | 'write'
  /** Past uses of tools that another provider ran. `drop` (default): the text after them tells what came of it; `text`: in one line. */
  serverToolHistory?: 'drop' | 'text'
  /** Tools that another provider runs. `drop` (default): vendors' tools never match; `map`: the nearest one here. */
  serverTools?: 'drop' | 'map'
}

/** The same for configurations and command lines. */
export const options = {
  midSystem: ['accept', 'reject'],
  amBillingLine: ['keep', 'drop'],
  requireMaxTokens: 'flag',
  systemPlacement: ['auto', 'user', 'hoist'],
  amThinking: ['auto', 'adaptive', 'enabled'],
  amUnsigned: ['drop', 'text'],
  amAllowedTools: ['filter', 'keep'],
  amForcedToolWithThinking: ['effort-only', 'keep', 'disable-thinking'],
  amSamplingWithThinking: ['drop', 'keep'],
  amLeadingUser: ['keep', 'synthesize'],
  amForeignCallers: ['drop', 'map'],
  amAutoCache: 'flag',
  amJsonMode: ['drop', 'instruct'],
  defaultMaxTokens: 'number',
  apiVersion: ['2023-06-01', '2026-10-21'],
  repairToolPairs: ['keep', 'synthesize', 'drop'],
  fastIsSpeed: 'flag',
  amPrefixMismatch: ['drop_block'],
  amToolAddition: ['merge', 'block'],
  amTurnEffort: ['drop', 'write'],
  serverToolHistory: ['drop', 'text'],
  serverTools: ['drop', 'map'],
} as const satisfies OptionTable<MessagesOptions>

/** With max_tokens absent. */
export const defaultMaxTokens = 32_000
