import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** What a caller may choose where more than one mapping is right. */
export type ResponsesOptions = {
  /**
   * Writes `presence_penalty`, `frequency_penalty` and `input_video`, which the Open Responses specification has and OpenAI's
   * server refuses. Default false.
   */
  openResponses?: boolean
  /**
   * The id of a reasoning item in a request. Default `keep`: the item goes back as it came. `omit`: for servers that look the
   * id up in a store and find nothing.
   */
  reasoningId?: 'keep' | 'omit'
  /**
   * How clients are shown the thoughts themselves, which chat servers tell. Default `content`: as the content of a reasoning
   * item, beside its summary. `summary`: as its summary, for clients that show nothing else.
   */
  rawReasoning?: 'content' | 'summary'
  /**
   * Leaves earlier reasoning out of a request: for a second try after the server has answered `invalid_encrypted_content`.
   * Default false: it is sent back, so that the model goes on where it was.
   */
  retryWithoutReasoning?: boolean
  /**
   * Opens an item of a stream only when the one before is done, for clients that take one item at a time. Default false: the
   * protocol allows several open items, so nothing has to wait.
   */
  sequential?: boolean
  /**
   * Holds the first events of a stream back until the upstream has said something. Default true: an error that comes at once
   * can then still be an HTTP status. False: for clients that wait only a short while for the first byte.
   */
  deferStart?: boolean
  /**
   * How a stream tells that it failed. Default `both`: an `error` event, then `response.failed`, as OpenAI does.
   * `failed-only`: for clients that throw on `error` and so lose what came before it.
   */
  midStreamError?: 'both' | 'failed-only'
  /**
   * The usage of a response when the upstream sent none. Default `zero`: counts of 0, because opencode and the AI SDK 5 reject a
   * response without counts. `null`: no counts, which the protocol allows.
   */
  missingUsage?: 'zero' | 'null'
  /**
   * Writes only words that the reference lists, for clients that refuse others: a pause becomes `max_output_tokens`, an
   * unknown service tier is left out. Default false: the true word is written.
   */
  strictEnums?: boolean
  /** Writes audio into messages, which only some models take. Default false: it is left out, with a note. */
  inputAudio?: boolean
  /**
   * The words of `reasoning.effort` that the server knows, with spaces between them; the nearest one is written, and none where there are
   * none. Default: all words.
   */
  efforts?: string
  /** `tool_choice` without tools. Default `keep`. `drop`: for servers that refuse it. */
  choiceWithoutTools?: 'keep' | 'drop'
  /**
   * A cache lifetime of one hour, which the protocol cannot say. Default `drop`: the provider's own, half an hour. `up`:
   * twelve hours, at their price.
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
