import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type MessagesOptions = {
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
   * The efforts that the model accepts, separated by spaces. The nearest one is written; none if
   * the list is empty. Default: all.
   */
  efforts?: string
}

export type Options = CodecOptions & ToolOptions & MessagesOptions

/** The same for configurations and command lines. */
export const options = {
  billingLine: ['keep', 'drop'],
  requireMaxTokens: 'flag',
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
  thinking: ['auto', 'adaptive', 'enabled'],
  unsignedReasoning: ['drop', 'text'],
  lastSignature: ['block', 'drop'],
  leadingUser: ['keep', 'synthesize'],
  trailingAssistant: ['auto', 'keep', 'synthesize'],
  autoCache: 'flag',
  jsonMode: ['drop', 'instruct'],
  defaultMaxTokens: 'number',
  convertMedia: 'function',
  apiVersion: ['2023-06-01', '2026-10-21'],
  prefixMismatch: ['drop_block'],
  efforts: 'text',
} as const satisfies OptionTable<MessagesOptions>

/** With max_tokens absent. */
export const defaultMaxTokens = 32_000
