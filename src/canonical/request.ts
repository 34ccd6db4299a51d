import type { CacheTtl, ExtMap, Message, Part, Source } from './message.ts'
import type { JsonSchema, Tool, ToolChoice } from './tool.ts'

/** A request. An absent key was not given; absence never means a default value. */
export type CanonicalRequest = {
  model?: string
  /**
   * The conversation with its instructions, which come first when the wire has a separate field for
   * them.
   */
  messages: Message[]
  tools?: Tool[]
  toolChoice?: ToolChoice
  parallelToolCalls?: boolean
  output?: OutputSpec
  reasoning?: ReasoningSpec
  sampling?: Sampling
  /** Tokens, reasoning included. */
  maxOutputTokens?: number
  stop?: string[]
  /** Number of candidates. */
  candidateCount?: number
  logprobs?: { enabled: boolean; top?: number }
  cache?: CacheSpec
  /** In the words of the source protocol. */
  serviceTier?: { tier?: string; speed?: string }
  /** The end user. `safetyId`: a stable id for the provider's own safety checks. */
  user?: { safetyId?: string; user?: string }
  metadata?: Record<string, string>
  state?: StateSpec
  safety?: { settings?: unknown; moderation?: unknown }
  /** Predicted output: text that the response will mostly repeat, which makes it faster. */
  prediction?: { parts: Part[] }
  stream?: { enabled: boolean; includeUsage?: boolean; obfuscation?: boolean }
  ext?: ExtMap
  /** Absent: made here. */
  source?: Source
}

/** How tokens are sampled. Absent fields: the defaults of the provider. */
export type Sampling = {
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  seed?: number
  logitBias?: Record<string, number>
  /**
   * On servers of open models: the minimum probability of a token, relative to that of the most
   * likely one.
   */
  minP?: number
  /** On the same servers: divides the probability of tokens that were used already. */
  repetitionPenalty?: number
}

/** How much the model should reason. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How the model decides whether to reason. */
export type ReasoningMode = 'adaptive' | 'enabled' | 'disabled' | 'between_tools'

/** All values of `ReasoningMode`. */
export const reasoningModes: ReadonlySet<unknown> = new Set<ReasoningMode>([
  'adaptive',
  'enabled',
  'disabled',
  'between_tools',
])

/** How much the model should think, and how much of it is shown. */
export type ReasoningSpec = {
  /** Unknown words are kept as they are. */
  effort?: Effort | (string & {})
  /** In tokens; -1: the model decides, 0: off. */
  budgetTokens?: number
  mode?: ReasoningMode | (string & {})
  /** The kind of summary that the client gets. */
  summary?: 'auto' | 'concise' | 'detailed' | 'none' | (string & {})
  /** Does the client get reasoning at all? */
  display?: 'summarized' | 'omitted' | (string & {})
  /** Which earlier reasoning the model sees, on some providers. */
  context?: string
  /** A mode of execution such as `standard`, on some providers. */
  execution?: string
}

/** The format of the text of the response. */
export type OutputFormat =
  | { type: 'text' }
  | { type: 'json' }
  | {
      type: 'schema'
      schema: JsonSchema
      name?: string
      description?: string
      strict?: boolean | null
    }
  /** Plain text: one of the enum values of the schema. */
  | { type: 'enum'; schema: JsonSchema }
  | { type: 'opaque'; protocol: string; raw: unknown }

/** The form of the response. */
export type OutputSpec = {
  format?: OutputFormat
  verbosity?: string
  modalities?: string[]
  audio?: unknown
}

/** Prompt caching of the whole request. Breakpoints are `cache` of the parts. */
export type CacheSpec = {
  /** Requests with the same key are likely to share a cache. */
  key?: string
  mode?: string
  /** Lifetime of an entry. Unknown words are kept as they are. */
  ttl?: CacheTtl | (string & {})
  /** The provider marks the last cacheable part by itself. */
  auto?: { ttl?: CacheTtl }
  /** An older field for the lifetime. */
  retention?: string
  /** Reference to cached content that precedes the messages. */
  contentRef?: string
  /** Asks for information about cache misses. */
  diagnostics?: unknown
}

/** Everything that refers to data stored by the provider, or asks to store some. */
export type StateSpec = {
  /** Should the provider store the response? Absent: its own default. */
  store?: boolean
  /** Id of the response that this request continues. */
  previousId?: string
  /** A conversation stored by the provider, which this request continues. */
  conversation?: unknown
  /** Generate the response in the background. */
  background?: boolean
  /** A prompt stored by the provider, with its version and variables. */
  prompt?: unknown
  /** What the response should contain in addition. */
  include?: string[]
  /**
   * Should reasoning in the response contain its encrypted form, which another request can
   * continue?
   */
  encryptedReasoning?: true
  /** How a conversation that is too long is shortened. */
  truncation?: string
  /** Edits that the provider should make to a long context. */
  contextManagement?: unknown
  maxToolCalls?: number
  /** The container for code that the provider runs. */
  container?: unknown
  /** As `conversation`, on wires that call it a thread. */
  thread?: unknown
  /**
   * Only shorten the conversation, into a form that the provider reads: no response is generated.
   */
  compaction?: unknown
  continuationToken?: string
}
