import { defaultsOf } from '../../kit/fields/option-groups.ts'
import {
  type CodecOptions,
  type OptionTable,
  type SharedOptions,
  sharedOptions,
  type ToolOptions,
} from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type ChatCompletionsOptions = Pick<
  SharedOptions,
  'systemPlacement' | 'efforts' | 'longCacheKey' | 'jsonWord'
> & {
  /**
   * The field for reasoning text, which the protocol does not define. `reasoning_content`
   * (default): most servers and clients read it. `details`: only the list `reasoning_details`.
   * `omit`: reasoning is dropped.
   */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'details' | 'omit'
  /**
   * How reasoning signatures reach a client. `field` (default): in `reasoning_details` and
   * `extra_content`, for clients that return the whole message. `id`: signatures of calls become
   * part of the call id, for clients that rebuild messages; some servers refuse long ids. `store`:
   * not in the message, but in `signatures` of the result, for the caller to store and return
   * through `storedSignatures`. `none`: dropped; the next turn of a model that signs then fails.
   * All forms are accepted as input.
   */
  signatures?: 'field' | 'id' | 'store' | 'none'
  /**
   * Where a response carries signed reasoning. `details` (default): in `reasoning_details`.
   * `calls`: also in the signature of the following tool call, with `signatures: 'field'`, for
   * clients that keep only call signatures, such as the AI SDK. Responses get longer.
   */
  signedReasoning?: 'details' | 'calls'
  /**
   * Reasoning of a response without a signature. `bare` (default): clients receive it without one.
   * `seal`: it gets an empty signature, for clients that drop unsigned reasoning, such as the AI
   * SDK over messages and responses. The next request returns the reasoning to the server.
   */
  unsignedReasoning?: 'bare' | 'seal'
  /**
   * Returns the stored signature of a call id, where a client's message lacks it. Default: none.
   */
  storedSignatures?: (callId: string) => string | undefined
  /**
   * Which earlier reasoning a server receives. `tool-turns` (default): of every turn with a tool
   * call, as servers that reason between calls require. `always`: of every turn. `never`: none. If
   * this is not set, reasoning that arrived in this protocol stays unchanged.
   */
  reasoningInHistory?: 'never' | 'tool-turns' | 'always'
  /**
   * Tool calls of the history whose reasoning the client dropped. `omit` (default). `blank`: a
   * space is written, for servers that refuse such calls, such as DeepSeek.
   */
  missingReasoning?: 'omit' | 'blank'
  /**
   * Freeform tools. `wrap` (default): as functions with one string, as most servers refuse others.
   * `write`: as custom tools; a server that responds with a function call is understood.
   */
  customTools?: 'wrap' | 'write'
  /**
   * The field for the token limit. Default `max_completion_tokens`: reasoning models refuse the
   * older one.
   */
  maxTokensField?: 'max_completion_tokens' | 'max_tokens'
  /** The field for the sampling seed. Default `seed`. */
  seedField?: 'seed' | 'random_seed'
  /**
   * `top_k`, `min_p` and `repetition_penalty`, which only some servers accept. `drop` (default).
   * `write`: for these servers.
   */
  topK?: 'drop' | 'write'
  /**
   * `store`, `metadata`, `moderation`, `safety_identifier`, `prompt_cache_key`,
   * `prompt_cache_options` and `prompt_cache_retention`, which many servers refuse. `drop`
   * (default): with a note. `write`: for servers that accept them, such as OpenAI.
   */
  optionalFields?: 'drop' | 'write'
  /**
   * Cache breakpoints of other protocols. `drop` (default): with a note, because many servers
   * refuse unknown fields. `write`: as `prompt_cache_breakpoint`, for OpenAI. `cache_control`: in
   * that field, for LiteLLM, OpenRouter and Alibaba, also on tools and tool messages.
   */
  cacheMarks?: 'drop' | 'write' | 'cache_control'
  /**
   * Reads text between `<think>` and `</think>` (also `thinking`, `thought`) as reasoning. Default
   * false: a text may contain such tags for other reasons.
   */
  extractThinkTags?: boolean
  /**
   * The role of instructions. `system` (default), which every server accepts: developer messages
   * become system messages. `developer`, for OpenAI and Azure: developer messages stay, and
   * instructions from a separate field become one.
   */
  instructionsRole?: 'system' | 'developer'
  /** Writes call ids of nine letters and digits, which some servers require. Default false. */
  shortIds?: boolean
  /**
   * Tool names begin with a letter or an underscore and have three characters at least, which some
   * servers require. Default false.
   */
  namesByLetter?: boolean
  /**
   * How reasoning is turned on and off. `effort` (default): by `reasoning_effort` only. `always`:
   * it cannot be turned off. `type` and `adaptive`: by `thinking.type`. `flag`: by
   * `enable_thinking`, with a budget in `thinking_budget`. `template`: by `chat_template_kwargs`.
   * `disable`: off by `disable_reasoning`. `object`: by `reasoning`, with a budget in it.
   */
  thinking?: 'effort' | 'always' | 'type' | 'adaptive' | 'flag' | 'template' | 'disable' | 'object'
  /**
   * `least`: the model cannot be told not to think, so its lowest effort is written, or nothing if
   * none is known. Default `write`.
   */
  thinkingOff?: 'write' | 'least'
  /**
   * Where reasoning of the history is written. `field` (default): in the field of `reasoningField`.
   * `parts`: as `thinking` parts of the content. `tags`: between `<think>` and `</think>` before
   * the text.
   */
  historyReasoning?: 'field' | 'parts' | 'tags'
  /**
   * Reasoning next to tools. `keep` (default). `none`: the effort becomes `none`, for models that
   * take tools only without reasoning.
   */
  effortWithTools?: 'keep' | 'none'
  /**
   * Strict functions next to others. `each` (default): both are sent. `all`: strict only if all
   * are, for servers that refuse a mix.
   */
  strictFunctions?: 'each' | 'all'
  /**
   * The values of `tool_choice` that the server accepts. `all` (default). `auto`: only that one.
   * `any`: it can force a call, but not a tool by name; then only that tool is offered. `words`:
   * the same, for servers that know `required` instead of `any`. `unforced`: `auto` and `none`.
   * `unthinking`: the same while the model thinks, which servers with `thinking: 'flag'` are told
   * not to do where the client says nothing about it.
   * `omit`: the field is not written.
   */
  toolChoice?: 'all' | 'auto' | 'any' | 'words' | 'unforced' | 'unthinking' | 'omit'
  /**
   * `forbid`: the server makes one call at a time and refuses requests that allow several. Default
   * `allow`.
   */
  parallelCalls?: 'allow' | 'forbid'
  /**
   * Writes `tool_stream: true`, without which some servers stream the arguments of a call in one
   * chunk. Default false.
   */
  toolStream?: boolean
  /**
   * Content of text only. `parts` (default): a list if there are several parts. `string`: one text.
   */
  textContent?: 'parts' | 'string'
  /**
   * The types of `response_format` that the server accepts, separated by spaces. A schema that it
   * does not accept is requested in words. Default: all types.
   */
  formats?: string
  /**
   * Images by URL. `write` (default). `text`: the URL becomes text, for servers that cannot fetch
   * it.
   */
  imageUrls?: 'write' | 'text'
  /**
   * A user message directly after a tool message. `keep` (default). `assistant`: an assistant
   * message is inserted between them.
   */
  afterResults?: 'keep' | 'assistant'
  /**
   * Earlier calls without a signature. `keep` (default). `placeholder`: the first of each message
   * gets the placeholder that servers of Gemini accept.
   */
  missingSignature?: 'keep' | 'placeholder'
  /**
   * A text of the assistant at the end of the conversation. `keep` (default). `continue`: a user
   * message asks to go on, for servers that refuse it. `unthinking`: the same unless thinking is
   * turned off in the chat template.
   */
  assistantAtEnd?: 'keep' | 'continue' | 'unthinking'
  /**
   * Arguments of earlier calls that are no JSON object, such as those that a token limit cut off.
   * `keep` (default): those that arrived in this protocol stay. `wrap`: they are put into an object,
   * for servers that parse them. Those of other protocols always are.
   */
  brokenArguments?: 'keep' | 'wrap'
  /**
   * `content: null` of messages with calls. `keep` (default). `text`: an empty text is written, for
   * servers that refuse `null`.
   */
  nullContent?: 'keep' | 'text'
}

export type Options = CodecOptions & ToolOptions & ChatCompletionsOptions

/** The same for configurations and command lines. */
export const options = {
  reasoningField: ['reasoning_content', 'reasoning', 'details', 'omit'],
  signatures: ['field', 'id', 'store', 'none'],
  storedSignatures: 'function',
  signedReasoning: ['details', 'calls'],
  unsignedReasoning: ['bare', 'seal'],
  reasoningInHistory: ['tool-turns', 'never', 'always'],
  missingReasoning: ['omit', 'blank'],
  customTools: ['wrap', 'write'],
  maxTokensField: ['max_completion_tokens', 'max_tokens'],
  seedField: ['seed', 'random_seed'],
  shortIds: 'flag',
  namesByLetter: 'flag',
  efforts: sharedOptions.efforts,
  thinking: ['effort', 'always', 'type', 'adaptive', 'flag', 'template', 'disable', 'object'],
  historyReasoning: ['field', 'parts', 'tags'],
  thinkingOff: ['write', 'least'],
  toolChoice: ['all', 'auto', 'any', 'words', 'unforced', 'unthinking', 'omit'],
  longCacheKey: sharedOptions.longCacheKey,
  jsonWord: sharedOptions.jsonWord,
  effortWithTools: ['keep', 'none'],
  strictFunctions: ['each', 'all'],
  parallelCalls: ['allow', 'forbid'],
  toolStream: 'flag',
  textContent: ['parts', 'string'],
  formats: 'text',
  imageUrls: ['write', 'text'],
  afterResults: ['keep', 'assistant'],
  missingSignature: ['keep', 'placeholder'],
  assistantAtEnd: ['keep', 'continue', 'unthinking'],
  brokenArguments: ['keep', 'wrap'],
  nullContent: ['keep', 'text'],
  topK: ['drop', 'write'],
  optionalFields: ['drop', 'write'],
  cacheMarks: ['drop', 'write', 'cache_control'],
  extractThinkTags: 'flag',
  instructionsRole: ['system', 'developer'],
  systemPlacement: sharedOptions.systemPlacement,
} as const satisfies OptionTable<ChatCompletionsOptions>

export const defaults = defaultsOf(options)
