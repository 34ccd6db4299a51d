import type { OptionTable } from '../../protocol.ts'

/** What a caller may choose where more than one mapping is right. */
export type ResponsesOptions = {
  /**
   * Writes `presence_penalty`, `frequency_penalty` and `input_video`, which Open Responses has and OpenAI's own type has
   * not. Default false: the stricter server decides.
   */
  openResponses?: boolean
  /**
   * What happens to the known id of a reasoning item in a request. Default `keep`: the item is sent back as it came.
   * `omit` is for servers that look the id up in a store and find nothing.
   */
  rsReasoningId?: 'keep' | 'omit'
  /**
   * Leaves the reasoning of the history out of a request. Default false: it is sent back, so that the model goes on where it
   * was. For the second try after the server has answered `invalid_encrypted_content`.
   */
  retryWithoutReasoning?: boolean
  /**
   * Opens the next item of a stream only when the one before is done. Default false: the wire allows several open items,
   * so nothing has to wait.
   */
  rsSequential?: boolean
  /**
   * Writes the first events of a stream only when the upstream has said something. Default true: an error that comes at once
   * can then still be an HTTP status. False is for clients that wait for the first byte only a short while.
   */
  deferStart?: boolean
  /**
   * How a stream tells that it failed. Default `both` (an `error` event, then `response.failed`), as OpenAI does;
   * `failed-only` lets accumulators that throw on `error` give out what had come before.
   */
  rsMidStreamError?: 'both' | 'failed-only'
  /**
   * Writes only words that the reference lists, for clients that refuse others: a pause becomes `max_output_tokens`, an
   * unknown service tier is left out. Default false: a truer word outside the list is better.
   */
  strictEnums?: boolean
  /**
   * What happens to a call without its result, and to a result without its call; the server refuses both. Default `keep`:
   * nothing is invented. `synthesize` answers open calls with an error text, `drop` leaves the lonely half out (with the
   * reasoning that led to it).
   */
  repairToolPairs?: 'keep' | 'synthesize' | 'drop'
  /** Put in front of a failed tool's text, for which this wire has no flag. Default none: the text stays as it is. */
  errorPrefix?: string
  /** Writes audio into messages, which only some models take. Default false: it is left out with a note. */
  rsInputAudio?: boolean
  /**
   * Tools that another provider runs. Default `drop`, with a note; `map` writes the nearest tool of this protocol, whose
   * results differ.
   */
  serverTools?: 'drop' | 'map'
  /**
   * Tools of another provider that the client runs itself (a shell, an editor, a memory) become functions with the input that
   * is documented for them, so that the loop still works. Default false: the model knows such a tool by training, not by
   * schema, and another model may use it badly.
   */
  expandClientTools?: boolean
  /**
   * Callers of a tool that are programs of another provider. Default `drop`, with a note; `map` lets the programs of this
   * provider call it, which are others.
   */
  foreignCallers?: 'drop' | 'map'
  /** Past uses of tools that another provider ran. Default `drop`; `text` tells of them in one line of text. */
  serverToolHistory?: 'drop' | 'text'
  /**
   * A cache lifetime below the shortest that can be said here: default `drop`, and the entry lives half an hour; `up` writes the
   * longer one at its price.
   */
  cacheTtlRound?: 'drop' | 'up'
}

/** The same for configurations and command lines. */
export const options = {
  openResponses: 'flag',
  rsReasoningId: ['keep', 'omit'],
  retryWithoutReasoning: 'flag',
  rsSequential: 'flag',
  deferStart: 'flag',
  rsMidStreamError: ['both', 'failed-only'],
  strictEnums: 'flag',
  repairToolPairs: ['keep', 'synthesize', 'drop'],
  errorPrefix: 'text',
  rsInputAudio: 'flag',
  serverTools: ['drop', 'map'],
  expandClientTools: 'flag',
  foreignCallers: ['drop', 'map'],
  serverToolHistory: ['drop', 'text'],
  cacheTtlRound: ['drop', 'up'],
} as const satisfies OptionTable<ResponsesOptions>
