import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type MessagesOptions = {
  /**
   * Role `system` inside the conversation of a request, which newer clients send and older servers
   * refuse. `accept` (default) or `reject`.
   */
  midSystem?: 'accept' | 'reject'
  /**
   * The line `x-anthropic-billing-header: …` that some clients put first in their system prompt.
   * `keep` (default). `drop`: dropped toward other protocols, because it changes in every request
   * and invalidates prompt caches.
   */
  billingLine?: 'keep' | 'drop'
  /**
   * Refuses a request without `max_tokens`. Default false: requests that count tokens have none.
   */
  requireMaxTokens?: boolean
  /**
   * Where instructions inside the conversation go. `auto` (default): role `system` for models that
   * accept it there, else as `user`. `keep`: role `system` for every model. `user`: user text, in
   * place. `hoist`: the system field, which invalidates prompt caches and signed thinking.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /**
   * How an effort is written. `auto` (default): `enabled` with a budget for models up to 4.5, else
   * `adaptive` with an effort. `adaptive` and `enabled`: always so.
   */
  thinking?: 'auto' | 'adaptive' | 'enabled'
  /**
   * Earlier reasoning without a signature of this protocol, which the server refuses as thinking.
   * `drop` (default). `text`: as text.
   */
  unsignedReasoning?: 'drop' | 'text'
  /**
   * Signatures after the last text of a response without calls. `block` (default): each is a
   * `redacted_thinking` block. `drop`: for clients that expect the last block to be the text;
   * providers allow that outside of tool loops. The gateway drops them for Claude Code.
   */
  lastSignature?: 'block' | 'drop'
  /**
   * A tool choice that allows only some tools. `filter`: only these are sent. `keep`: all are sent,
   * so that caches and signed thinking stay valid. Default `filter`, but `keep` if the history
   * contains signed thinking.
   */
  allowedTools?: 'filter' | 'keep'
  /**
   * A forced tool together with thinking, which manual thinking refuses. `keep`: both are written.
   * `effort-only`: `thinking` is dropped if another protocol requested it. `disable-thinking`: it
   * is dropped in any case. Default `keep` for models that think adaptively, else `effort-only`.
   */
  forcedToolWithThinking?: 'effort-only' | 'keep' | 'disable-thinking'
  /**
   * Temperature and other sampling together with thinking that another protocol requested. `drop`
   * (default): sampling is dropped, because the server refuses both. `keep`: both are written.
   */
  samplingWithThinking?: 'drop' | 'keep'
  /**
   * A conversation that begins with the assistant, or contains instructions only. `keep` (default):
   * unchanged; the server may refuse it. `synthesize`: a user message `.` is inserted before it.
   */
  leadingUser?: 'keep' | 'synthesize'
  /**
   * A conversation that ends with assistant text, which older models continue and newer ones
   * refuse. `auto` (default): `synthesize` for models that refuse it. `keep`: unchanged.
   * `synthesize`: a user message that asks to continue follows.
   */
  trailingAssistant?: 'auto' | 'keep' | 'synthesize'
  /**
   * Marks the last cacheable block for the prompt cache, as providers with automatic caching do;
   * requests with marks of their own stay as they are. Default false, because cache writes cost
   * extra; in the gateway true for requests with tools of clients that speak another protocol.
   */
  autoCache?: boolean
  /**
   * JSON without a schema, which the protocol cannot require. `drop` (default). `instruct`: a line
   * of the system prompt requests it.
   */
  jsonMode?: 'drop' | 'instruct'
  /** `max_tokens` of a request without a limit, in tokens. Default 32000. */
  defaultMaxTokens?: number | ((model: string | undefined) => number)
  /**
   * The API version whose rules a request follows. Default `2023-06-01`; the newer one has no
   * sampling fields.
   */
  apiVersion?: '2023-06-01' | '2026-10-21'
  /** Writes the fast tier as `speed: fast`, which some models refuse. Default false. */
  fastIsSpeed?: boolean
  /**
   * Converts an image to a format that the server accepts (JPEG, PNG, GIF or WebP); returns
   * undefined if it cannot. Default: images in other formats are dropped.
   */
  convertMedia?: (media: {
    mime: string
    data: string
  }) => { mime: string; data: string } | undefined
  /**
   * `drop_block`: the server drops thinking that does not fit the conversation before it, instead
   * of refusing the request. Needs the beta header in `context.headers`. Default: not requested.
   */
  prefixMismatch?: 'drop_block'
  /**
   * Tools that are added inside the conversation. `merge` (default): they join the list of all
   * tools, which every server accepts. `block`: they stay in place, which keeps prompt caches valid
   * and needs the beta headers in `context.headers`.
   */
  toolAddition?: 'merge' | 'block'
  /**
   * An effort that changes inside the conversation. `drop` (default). `write`: on a system message,
   * if the model accepts one there; needs the beta header in `context.headers`.
   */
  turnEffort?: 'drop' | 'write'
  /**
   * The efforts that the model accepts, separated by spaces. The nearest one is written; none if
   * the list is empty. Default: all.
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
