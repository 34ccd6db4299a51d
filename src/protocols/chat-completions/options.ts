import type { CodecOptions, OptionTable } from '../../protocol.ts'

/** How this protocol is written where more than one way is right. */
export type ChatCompletionsOptions = {
  /**
   * The field that carries reasoning as text; the wire has none of its own. Default `reasoning_content`: most servers
   * and clients know it. `details`: only the array `reasoning_details`. `omit`: reasoning is dropped.
   */
  ccReasoning?: 'reasoning_content' | 'reasoning' | 'details' | 'omit'
  /**
   * How signatures of reasoning reach a client. Default `field`: in `reasoning_details` and `extra_content`, which clients
   * that send the received message back keep. `id`: that of a call becomes part of the call's id, for clients that rebuild
   * messages from the fields they know; such ids are longer than some servers take. `store`: not at all; the answer comes
   * with `signatures`, which the caller keeps and gives back by `ccStored`. `none`: they are dropped, and the next turn of a
   * signing model fails. Every spelling is read, whatever is said here.
   */
  ccSignature?: 'field' | 'id' | 'store' | 'none'
  /** What was kept of `signatures`, by call id: read wherever a client's message lacks it. Default: nothing. */
  ccStored?: (callId: string) => string | undefined
  /**
   * Which reasoning of the history a server is shown. Default `tool-loop`: what came after the last user message, which
   * servers that think with tools want back and older ones refuse. Reasoning that came in this protocol is kept as it came
   * unless this is said.
   */
  ccReasoningInHistory?: 'never' | 'tool-loop' | 'always'
  /** Media in tool results, for which tool messages have no place. Default `user-message`: a user message after them. */
  ccToolMedia?: 'user-message' | 'drop'
  /**
   * Tools that take free text. Default `write`: the wire has them, and a server that answers with a function all the same is
   * understood. `wrap`: functions with one string, for servers that know no other tools.
   */
  ccCustomTools?: 'write' | 'wrap'
  /** The field for the token limit. Default `max_completion_tokens`: the older one is refused by reasoning models. */
  ccMaxTokensField?: 'max_completion_tokens' | 'max_tokens'
  /** Usage at the end of every stream, also of one whose request did not ask for it. Default false. */
  ccAlwaysUsage?: boolean
  /** `top_k`, `min_p` and `repetition_penalty`, which only some servers take. Default `drop`: others answer an unknown field with an error. */
  ccTopK?: 'drop' | 'write'
  /** The faster mode of another provider becomes the tier `fast`. Default false: it is priced otherwise. */
  fastIsSpeed?: boolean
  /** Cache breakpoints of other protocols. Default `write`. `drop`: for servers that refuse the field. */
  ccCacheMarks?: 'write' | 'drop'
  /** A lifetime of one hour, which this wire lacks. Default `drop`: the provider's own. `up`: twelve hours, at a price. */
  cacheTtlRound?: 'drop' | 'up'
  /** `[DONE]` where no choice said how it ended. Default `accept`: the server did say that it was done. */
  ccDoneWithoutFinish?: 'accept' | 'error'
  /**
   * Reasoning between `<think>` and `</think>` (also `thinking`, `thought`) in the text of an answer becomes reasoning.
   * Default false: a text may speak of such tags, and only who knows the server can tell.
   */
  extractThinkTags?: boolean
  /** Put before the text of a tool result that is an error, for which the wire has no flag. Default: nothing. */
  errorPrefix?: string
  /** Role of instructions that came in a field of their own. Default `system`: every server knows it. */
  instructionsRole?: 'system' | 'developer'
  /**
   * Calls without a result and results without a call. Default `keep`: written as they are, the server may refuse them.
   * `synthesize`: such a call gets an answer. `drop`: such a call is left out. Both leave out a result without a call.
   */
  repairToolPairs?: 'keep' | 'synthesize' | 'drop'
  /** Past uses of tools that another provider ran. Default `drop`: the text after them tells what came of it. `text`: in one line. */
  serverToolHistory?: 'drop' | 'text'
  /**
   * Tools that the client runs itself, but that only another provider knows by name (a shell, an editor, a memory), become
   * functions with the input that is documented for them. Default false: another model may use them badly.
   */
  expandClientTools?: boolean
  /** Call ids of nine letters and digits, which Mistral's servers demand. Default false: other servers take longer ones. */
  mistralIds?: boolean
  /**
   * Names of calls that come in pieces over several chunks of a stream, as old previews of Azure sent them. Default false: a
   * name that comes again is the same name, and a call is announced as soon as it has one.
   */
  ccNamesInPieces?: boolean
  /** Pictures in answers, for which the wire has no place. Default `drop`. `write`: in `images`, as OpenRouter has them. */
  ccImages?: 'drop' | 'write'
  /** What the source said of an error beyond its message, in `error.source`. Default `drop`: it was not meant for this client. */
  ccErrorDetails?: 'drop' | 'write'
  /** Tools that run at the provider. Default `drop`. `map`: a web search becomes `web_search_options`. */
  serverTools?: 'drop' | 'map'
}

/** The same for configurations and command lines. */
export const options = {
  ccReasoning: ['reasoning_content', 'reasoning', 'details', 'omit'],
  ccSignature: ['field', 'id', 'store', 'none'],
  ccReasoningInHistory: ['never', 'tool-loop', 'always'],
  ccToolMedia: ['user-message', 'drop'],
  ccCustomTools: ['write', 'wrap'],
  ccMaxTokensField: ['max_completion_tokens', 'max_tokens'],
  ccAlwaysUsage: 'flag',
  mistralIds: 'flag',
  expandClientTools: 'flag',
  serverToolHistory: ['drop', 'text'],
  ccNamesInPieces: 'flag',
  ccImages: ['drop', 'write'],
  ccErrorDetails: ['drop', 'write'],
  ccTopK: ['drop', 'write'],
  fastIsSpeed: 'flag',
  ccCacheMarks: ['write', 'drop'],
  cacheTtlRound: ['drop', 'up'],
  ccDoneWithoutFinish: ['accept', 'error'],
  extractThinkTags: 'flag',
  errorPrefix: 'text',
  instructionsRole: ['system', 'developer'],
  repairToolPairs: ['keep', 'synthesize', 'drop'],
  serverTools: ['drop', 'map'],
} as const satisfies OptionTable<ChatCompletionsOptions>

export type Options = CodecOptions & ChatCompletionsOptions
