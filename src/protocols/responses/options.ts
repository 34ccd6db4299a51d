import type { CodecOptions, OptionTable } from '../../protocol.ts'

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
  rsReasoningId?: 'keep' | 'omit'
  /**
   * How clients are shown the thoughts themselves, which chat servers tell. Default `content`: as the content of a reasoning
   * item, beside its summary. `summary`: as its summary, for clients that show nothing else.
   */
  rsRawReasoning?: 'content' | 'summary'
  /**
   * Leaves earlier reasoning out of a request: for a second try after the server has answered `invalid_encrypted_content`.
   * Default false: it is sent back, so that the model goes on where it was.
   */
  retryWithoutReasoning?: boolean
  /**
   * Opens an item of a stream only when the one before is done, for clients that take one item at a time. Default false: the
   * protocol allows several open items, so nothing has to wait.
   */
  rsSequential?: boolean
  /**
   * Holds the first events of a stream back until the upstream has said something. Default true: an error that comes at once
   * can then still be an HTTP status. False: for clients that wait only a short while for the first byte.
   */
  deferStart?: boolean
  /**
   * How a stream tells that it failed. Default `both`: an `error` event, then `response.failed`, as OpenAI does.
   * `failed-only`: for clients that throw on `error` and so lose what came before it.
   */
  rsMidStreamError?: 'both' | 'failed-only'
  /**
   * The usage of a response when the upstream sent none. Default `zero`: counts of 0, because opencode and the AI SDK 5 reject a
   * response without counts. `null`: no counts, which the protocol allows.
   */
  rsMissingUsage?: 'zero' | 'null'
  /**
   * Writes only words that the reference lists, for clients that refuse others: a pause becomes `max_output_tokens`, an
   * unknown service tier is left out. Default false: the true word is written.
   */
  strictEnums?: boolean
  /** Put before the text of a tool result that is an error, for which the protocol has no flag. Default: nothing. */
  errorPrefix?: string
  /** Writes audio into messages, which only some models take. Default false: it is left out, with a note. */
  rsInputAudio?: boolean
  /** Tools that another provider runs. Default `drop`. `map`: the nearest tool of this provider, whose results differ. */
  serverTools?: 'drop' | 'map'
  /**
   * Proofs of other providers in the history. `drop` (default): they are left out, because only their issuer takes them. `wrap`:
   * they are sent in the envelopes that clients hold, for a server that is such a gateway itself and opens them.
   */
  foreignProofs?: 'drop' | 'wrap'
  /**
   * Tools that the client runs itself, but that only another provider knows by name (a shell, an editor, a memory), become
   * functions with their documented input. So do `shell` in the local environment, `local_shell` and `apply_patch` of a request of this
   * protocol, whose calls come back as their own items. Default false: a model that was not trained on such a tool may use it badly.
   */
  expandClientTools?: boolean
  /**
   * Who may call a tool, where that is a program of another provider. Default `drop`: only the model may. `map`: programs of
   * this provider may, too.
   */
  foreignCallers?: 'drop' | 'map'
  /**
   * The words of `reasoning.effort` that the server knows, with spaces between them; the nearest one is written, and none where there are
   * none. Default: all words.
   */
  rsEfforts?: string
  /** `tool_choice` without tools. Default `keep`. `drop`: for servers that refuse it. */
  rsChoiceWithoutTools?: 'keep' | 'drop'
  /**
   * The schemas of tools. Default `keep`. `plain`: for servers that refuse `$schema`, unions at the root, lists under `items` and types
   * next to unions.
   */
  toolSchemas?: 'keep' | 'plain'
  /** Earlier uses of tools that another provider ran. Default `drop`. `text`: each in one line of text. */
  serverToolHistory?: 'drop' | 'text'
  /**
   * A cache lifetime of one hour, which the protocol cannot say. Default `drop`: the provider's own, half an hour. `up`:
   * twelve hours, at their price.
   */
  cacheTtlRound?: 'drop' | 'up'
}

export type Options = CodecOptions & ResponsesOptions

/** The same for configurations and command lines. */
export const options = {
  openResponses: 'flag',
  rsReasoningId: ['keep', 'omit'],
  rsRawReasoning: ['content', 'summary'],
  retryWithoutReasoning: 'flag',
  rsSequential: 'flag',
  deferStart: 'flag',
  rsMidStreamError: ['both', 'failed-only'],
  rsMissingUsage: ['zero', 'null'],
  strictEnums: 'flag',
  errorPrefix: 'text',
  rsInputAudio: 'flag',
  serverTools: ['drop', 'map'],
  foreignProofs: ['drop', 'wrap'],
  expandClientTools: 'flag',
  foreignCallers: ['drop', 'map'],
  rsEfforts: 'text',
  rsChoiceWithoutTools: ['keep', 'drop'],
  toolSchemas: ['keep', 'plain'],
  serverToolHistory: ['drop', 'text'],
  cacheTtlRound: ['drop', 'up'],
} as const satisfies OptionTable<ResponsesOptions>
