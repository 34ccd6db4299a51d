import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How this protocol is written where more than one way is right. */
export type ChatCompletionsOptions = {
  /**
   * The field that carries reasoning as text, for which the protocol has none of its own. Default `reasoning_content`, which
   * most servers and clients know. `details`: only the list `reasoning_details`. `omit`: reasoning is dropped.
   */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'details' | 'omit'
  /**
   * How signatures of reasoning reach a client. Default `field`: in `reasoning_details` and `extra_content`, for clients that
   * send the message back as they got it. `id`: those of calls, which Gemini gives, as part of the call's id, for clients that
   * rebuild messages from the fields they know; others stay in `reasoning_details`, and some servers refuse such long ids.
   * `store`: not in the message at all, but beside the answer as `signatures`, which the caller keeps and gives back through
   * `storedSignatures`. `none`: dropped; the next turn of a model that signs then fails. All spellings are read, whatever this says.
   */
  signatures?: 'field' | 'id' | 'store' | 'none'
  /**
   * Where a reply tells reasoning that has a proof. `details` (default): in `reasoning_details`. `calls`: also in the signature of the
   * call it led to, with `signatures: 'field'`, for clients that forget details and keep the signatures of calls, such as the AI
   * SDK: the reply is longer by it.
   */
  signedReasoning?: 'details' | 'calls'
  /**
   * Reasoning of a reply that nothing proves. `bare` (default): it reaches clients without a signature. `seal`: with one that is
   * empty inside, for clients that forget thoughts without, such as the AI SDK over messages and responses; with the next request
   * the server gets its reasoning back as it gave it.
   */
  unsignedReasoning?: 'bare' | 'seal'
  /** Looks up what was kept of `signatures`, by call id, wherever a client's message lacks it. Default: nothing is looked up. */
  storedSignatures?: (callId: string) => string | undefined
  /**
   * Earlier reasoning that is sent to a server again. Default `tool-turns`: that of every turn with a tool call (all assistant
   * messages between two user messages), which servers that reason between calls require. `always`: that of every turn. `never`: none, for servers that refuse the field. When
   * this is not set, reasoning that came in this protocol stays as it came.
   */
  reasoningInHistory?: 'never' | 'tool-turns' | 'always'
  /**
   * Calls of the history whose reasoning is missing, because the client forgot it. `omit` (default). `blank`:
   * a space stands in for it, for servers that refuse calls without (DeepSeek).
   */
  missingReasoning?: 'omit' | 'blank'
  /** Media in tool results, which tool messages cannot hold. Default `user-message`: they follow in a user message. `drop`: they are left out. */
  toolMedia?: 'user-message' | 'drop'
  /**
   * Tools that take free text. Default `write`: as custom tools; a server that answers with a function call all the same is
   * understood. `wrap`: as functions with one string, for servers that know functions only.
   */
  customTools?: 'write' | 'wrap'
  /** The field for the token limit. Default `max_completion_tokens`: reasoning models refuse the older one. */
  maxTokensField?: 'max_completion_tokens' | 'max_tokens'
  /** The field for the seed of sampling. Default `seed`. */
  seedField?: 'seed' | 'random_seed'
  /** Writes usage at the end of every stream, even if the request did not ask for it. Default false. */
  alwaysUsage?: boolean
  /**
   * `top_k`, `min_p` and `repetition_penalty`, which only some servers take. Default `drop`: other servers refuse unknown
   * fields. `write`: they are written.
   */
  topK?: 'drop' | 'write'
  /**
   * `store`, `metadata`, `moderation`, `safety_identifier`, `prompt_cache_key`, `prompt_cache_options` and `prompt_cache_retention`,
   * which many servers refuse as unknown. Default `drop`: left out, with a note. `write`: for servers that accept them, such as OpenAI.
   */
  optionalFields?: 'drop' | 'write'
  /** Writes the faster mode of another provider as the tier `fast`. Default false: its price is another. */
  fastIsSpeed?: boolean
  /**
   * Cache breakpoints of other protocols. Default `drop`: left out with a note, because many servers refuse unknown fields. `write`: as
   * `prompt_cache_breakpoint`, which OpenAI reads. `cache_control`: in that field, which LiteLLM, OpenRouter and Alibaba read, also on
   * tools and tool messages.
   */
  cacheMarks?: 'drop' | 'write' | 'cache_control'
  /**
   * A cache lifetime of one hour, which the protocol cannot say. Default `drop`: the provider's own lifetime. `up`: twelve
   * hours, at their price.
   */
  cacheTtlRound?: 'drop' | 'up'
  /**
   * A stream that ends in `[DONE]` although no choice said how it ended. Default `accept`: a normal end, since the server says
   * that it is done. `error`: a failure.
   */
  doneWithoutFinish?: 'accept' | 'error'
  /**
   * Takes what stands between `<think>` and `</think>` (also `thinking`, `thought`) in the text of an answer for reasoning.
   * Default false: a text may speak about such tags, and only who knows the server can tell.
   */
  extractThinkTags?: boolean
  /**
   * The role of instructions. Default `system`, which every server accepts: developer messages become system messages. `developer`,
   * for OpenAI and Azure: developer messages stay, and instructions that came in a field of their own become one.
   */
  instructionsRole?: 'system' | 'developer'
  /**
   * Where system messages go. Default `auto`: those before the conversation are joined into one, later ones become text of the user
   * in place, because many servers refuse others. `keep`: all stay where they are. `user`: as `auto`. `hoist`: later ones move to the
   * front, which voids prompt caches.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /** Call ids of nine letters and digits, which some servers demand. Default false: other servers take longer ones. */
  shortIds?: boolean
  /**
   * Joins names of calls that come in pieces over several chunks of a stream, as old previews of Azure sent them. Default
   * false: a name that comes again is the same name, so a call is announced as soon as it has one.
   */
  splitToolNames?: boolean
  /** Pictures in answers, which the protocol cannot hold. Default `drop`. `write`: in `images`, as OpenRouter has them. */
  images?: 'drop' | 'write'
  /** What the source said about an error beyond its message. Default `drop`: it was not meant for this client. `write`: in `error.source`. */
  errorDetails?: 'drop' | 'write'
  /**
   * The words of `reasoning_effort` that the server knows, with spaces between them; the nearest one is written, and none where there are
   * none. Default: all words.
   */
  efforts?: string
  /**
   * How reasoning is switched on and off. Default `effort`: by `reasoning_effort` alone. `always`: it cannot be switched off. `type` and
   * `adaptive`: by `thinking.type`. `flag`: by `enable_thinking`. `template`: by `chat_template_kwargs`. `disable`: off by
   * `disable_reasoning`. `object`: by `reasoning`.
   */
  thinking?: 'effort' | 'always' | 'type' | 'adaptive' | 'flag' | 'template' | 'disable' | 'object'
  /**
   * Where reasoning of the history is put. Default `field`: in the field of `reasoningField`. `parts`: as parts `thinking` of the content.
   * `tags`: between `<think>` and `</think>` before the text.
   */
  historyReasoning?: 'field' | 'parts' | 'tags'
  /**
   * The values of `tool_choice` that the server knows. Default `all`. `auto`: only that one. `any`: it can force a call, but no tool by
   * its name: then only that tool is offered. `omit`: the field is not written.
   */
  toolChoice?: 'all' | 'auto' | 'any' | 'omit'
  /** `forbid`: the server makes one call at a time and refuses requests that allow several. Default `allow`. */
  parallelCalls?: 'allow' | 'forbid'
  /** Writes `tool_stream: true`, without which some servers stream the arguments of calls in one piece. Default false. */
  toolStream?: boolean
  /** Content that is nothing but text. Default `parts`: as a list where there are several parts. `string`: as one text. */
  textContent?: 'parts' | 'string'
  /**
   * The types of `response_format` that the server knows, with spaces between them. A schema that it does not know is asked for in
   * words. Default: all types.
   */
  formats?: string
  /** Images by address. Default `write`. `text`: for servers that cannot fetch them, the address is written as text. */
  imageUrls?: 'write' | 'text'
  /** A user message straight after a tool message. Default `keep`. `assistant`: an assistant message is put between them. */
  afterResults?: 'keep' | 'assistant'
}

export type Options = CodecOptions & ToolOptions & ChatCompletionsOptions

/** The same for configurations and command lines. */
export const options = {
  reasoningField: ['reasoning_content', 'reasoning', 'details', 'omit'],
  signatures: ['field', 'id', 'store', 'none'],
  storedSignatures: 'function',
  signedReasoning: ['details', 'calls'],
  unsignedReasoning: ['bare', 'seal'],
  reasoningInHistory: ['never', 'tool-turns', 'always'],
  missingReasoning: ['omit', 'blank'],
  toolMedia: ['user-message', 'drop'],
  customTools: ['write', 'wrap'],
  maxTokensField: ['max_completion_tokens', 'max_tokens'],
  seedField: ['seed', 'random_seed'],
  alwaysUsage: 'flag',
  shortIds: 'flag',
  efforts: 'text',
  thinking: ['effort', 'always', 'type', 'adaptive', 'flag', 'template', 'disable', 'object'],
  historyReasoning: ['field', 'parts', 'tags'],
  toolChoice: ['all', 'auto', 'any', 'omit'],
  parallelCalls: ['allow', 'forbid'],
  toolStream: 'flag',
  textContent: ['parts', 'string'],
  formats: 'text',
  imageUrls: ['write', 'text'],
  afterResults: ['keep', 'assistant'],
  splitToolNames: 'flag',
  images: ['drop', 'write'],
  errorDetails: ['drop', 'write'],
  topK: ['drop', 'write'],
  optionalFields: ['drop', 'write'],
  fastIsSpeed: 'flag',
  cacheMarks: ['drop', 'write', 'cache_control'],
  cacheTtlRound: ['drop', 'up'],
  doneWithoutFinish: ['accept', 'error'],
  extractThinkTags: 'flag',
  instructionsRole: ['system', 'developer'],
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
} as const satisfies OptionTable<ChatCompletionsOptions>
