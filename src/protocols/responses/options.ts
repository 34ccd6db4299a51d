import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type ResponsesOptions = {
  /**
   * Writes `presence_penalty`, `frequency_penalty` and `input_video`, which the Open Responses
   * specification has and OpenAI refuses. Default false.
   */
  openResponses?: boolean
  /**
   * How clients receive raw reasoning of chat-completions servers. `content` (default): as the
   * content of a reasoning item. `summary`: as its summary, for clients that show only that.
   */
  rawReasoning?: 'content' | 'summary'
  /**
   * The usage of a response when the upstream sent none. `zero` (default): counts of 0, because
   * opencode and the AI SDK 5 reject a response without counts. `null`: no counts, which the
   * protocol allows.
   */
  missingUsage?: 'zero' | 'null'
  /**
   * The values of `reasoning.effort` that the server accepts, separated by spaces. The nearest one
   * is written; none if the list is empty. Default: all values.
   */
  efforts?: string
  /**
   * A `prompt_cache_key` of more than 64 characters. `keep` (default). `hash`: a hash of it is
   * written, for servers that refuse it.
   */
  longCacheKey?: 'keep' | 'hash'
  /**
   * JSON without a schema. `keep` (default). `add`: the input gets a sentence with the word JSON if
   * it has none, as some servers require.
   */
  jsonWord?: 'keep' | 'add'
  /** `tool_choice` without tools. `keep` (default). `drop`: for servers that refuse it. */
  choiceWithoutTools?: 'keep' | 'drop'
}

export type Options = CodecOptions & ToolOptions & ResponsesOptions

/** The same for configurations and command lines. */
export const options = {
  openResponses: 'flag',
  rawReasoning: ['content', 'summary'],
  missingUsage: ['zero', 'null'],
  efforts: 'text',
  longCacheKey: ['keep', 'hash'],
  jsonWord: ['keep', 'add'],
  choiceWithoutTools: ['keep', 'drop'],
} as const satisfies OptionTable<ResponsesOptions>
