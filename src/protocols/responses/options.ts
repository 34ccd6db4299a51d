import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type ResponsesOptions = {
  /**
   * Writes `presence_penalty`, `frequency_penalty` and `input_video`, which the Open Responses
   * specification has and OpenAI refuses. Default false.
   */
  openResponses?: boolean
  /**
   * The id of a reasoning item in a request. `keep` (default). `omit`: for servers that look the id
   * up and do not find it.
   */
  reasoningId?: 'keep' | 'omit'
  /**
   * How clients receive raw reasoning of chat-completions servers. `content` (default): as the
   * content of a reasoning item. `summary`: as its summary, for clients that show only that.
   */
  rawReasoning?: 'content' | 'summary'
  /**
   * Drops earlier reasoning from a request, for a retry after `invalid_encrypted_content`. Default
   * false.
   */
  retryWithoutReasoning?: boolean
  /**
   * Starts an item of a stream only after the previous one has ended, for clients that read one
   * item at a time. Default false: several items may be open.
   */
  sequential?: boolean
  /**
   * Delays the first events of a stream until the upstream has sent something, so that an immediate
   * error can be an HTTP status. Default true. False: for clients with a short timeout for the
   * first byte.
   */
  deferStart?: boolean
  /**
   * How a stream reports a failure. `both` (default): an `error` event, then `response.failed`, as
   * OpenAI does. `failed-only`: for clients that throw on `error` and lose the text before it.
   */
  midStreamError?: 'both' | 'failed-only'
  /**
   * The usage of a response when the upstream sent none. `zero` (default): counts of 0, because
   * opencode and the AI SDK 5 reject a response without counts. `null`: no counts, which the
   * protocol allows.
   */
  missingUsage?: 'zero' | 'null'
  /**
   * Writes only values of the API reference, for clients that reject others: a pause becomes
   * `max_output_tokens`, an unknown service tier is dropped. Default false.
   */
  strictEnums?: boolean
  /**
   * Writes audio into messages, which only some models accept. Default false: it is dropped with a
   * note.
   */
  inputAudio?: boolean
  /**
   * The values of `reasoning.effort` that the server accepts, separated by spaces. The nearest one
   * is written; none if the list is empty. Default: all values.
   */
  efforts?: string
  /** `tool_choice` without tools. `keep` (default). `drop`: for servers that refuse it. */
  choiceWithoutTools?: 'keep' | 'drop'
  /**
   * A cache lifetime of one hour, which the protocol does not have. `drop` (default): the
   * provider's own, half an hour. `up`: twelve hours, at their price.
   */
  cacheTtlRound?: 'drop' | 'up'
}

export type Options = CodecOptions & ToolOptions & ResponsesOptions

/** The same for configurations and command lines. */
export const options = {
  openResponses: 'flag',
  reasoningId: ['keep', 'omit'],
  rawReasoning: ['content', 'summary'],
  retryWithoutReasoning: 'flag',
  sequential: 'flag',
  deferStart: 'flag',
  midStreamError: ['both', 'failed-only'],
  missingUsage: ['zero', 'null'],
  strictEnums: 'flag',
  inputAudio: 'flag',
  efforts: 'text',
  choiceWithoutTools: ['keep', 'drop'],
  cacheTtlRound: ['drop', 'up'],
} as const satisfies OptionTable<ResponsesOptions>
