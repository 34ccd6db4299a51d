import type { CacheTtl, ExtMap, Message, Part } from './message.ts'
import type { JsonSchema, Tool, ToolChoice } from './tool.ts'

/** What a client asks of a model. A key that is absent was not said; it never stands for a default. */
export type CanonicalRequest = {
  model?: string
  /** Instructions stand in place: at the front when the wire has a field for them. */
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
  /** How many answers are wanted. */
  candidateCount?: number
  logprobs?: { enabled: boolean; top?: number }
  cache?: CacheSpec
  /** In the words of the protocol that said them. */
  serviceTier?: { tier?: string; speed?: string }
  /** The end user. `safetyId`: a stable id for the provider's own safety checks. */
  user?: { safetyId?: string; user?: string }
  metadata?: Record<string, string>
  state?: StateSpec
  safety?: { settings?: unknown; moderation?: unknown }
  /** Text that the answer will mostly repeat, to make it faster. */
  prediction?: { parts: Part[] }
  stream?: { enabled: boolean; includeUsage?: boolean; obfuscation?: boolean }
  ext?: ExtMap
}

export type Sampling = {
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  seed?: number
  logitBias?: Record<string, number>
  /** As servers of open models have it: the least probability of a token, as a share of the likeliest one's. */
  minP?: number
  /** The same servers: what the odds of a token that was used already are divided by. */
  repetitionPenalty?: number
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export type ReasoningMode = 'adaptive' | 'enabled' | 'disabled' | 'between_tools'

export const reasoningModes: ReadonlySet<unknown> = new Set<ReasoningMode>(['adaptive', 'enabled', 'disabled', 'between_tools'])

/** How much to think, and what of it is shown. */
export type ReasoningSpec = {
  /** A word outside the known ones is kept as it came. */
  effort?: Effort | (string & {})
  /** Tokens; -1: the model decides, 0: off. */
  budgetTokens?: number
  mode?: ReasoningMode | (string & {})
  /** How the reasoning is summed up for the reader. */
  summary?: 'auto' | 'concise' | 'detailed' | 'none' | (string & {})
  /** Is it shown at all? */
  display?: 'summarized' | 'omitted' | (string & {})
  /** Which earlier reasoning the model is shown. Only some providers know it. */
  context?: string
  /** A way of working, such as `standard`. Only some providers know it. */
  execution?: string
}

export type OutputFormat =
  | { type: 'text' }
  | { type: 'json' }
  | { type: 'schema'; schema: JsonSchema; name?: string; description?: string; strict?: boolean | null }
  /** One of the words of the schema, as plain text. */
  | { type: 'enum'; schema: JsonSchema }
  | { type: 'opaque'; protocol: string; raw: unknown }

/** What the answer has to look like. */
export type OutputSpec = {
  format?: OutputFormat
  verbosity?: string
  modalities?: string[]
  audio?: unknown
}

/** Prompt caching for the whole request; breakpoints stand at the parts themselves. */
export type CacheSpec = {
  /** Requests with the same key are likely to share a cache. */
  key?: string
  mode?: string
  /** How long an entry lives; a word outside the known ones is kept as it came. */
  ttl?: CacheTtl | (string & {})
  /** The provider marks the last cacheable part by itself. */
  auto?: { ttl?: CacheTtl }
  /** An older word for a lifetime. */
  retention?: string
  /** Stored content that stands before the messages. */
  contentRef?: string
  /** What the provider is to tell about cache misses. */
  diagnostics?: unknown
}

/** Everything that refers to, or asks for, memory on the provider's side. */
export type StateSpec = {
  /** Is the provider to keep the reply? Absent: its own default. */
  store?: boolean
  /** The reply that this request goes on from. */
  previousId?: string
  /** A conversation kept by the provider, which this request goes on from. */
  conversation?: unknown
  /** The reply is made while nobody waits for it. */
  background?: boolean
  /** A prompt kept by the provider, with its version and variables. */
  prompt?: unknown
  /** What the reply is to hold beside its usual content. */
  include?: string[]
  /** What becomes of a conversation that is too long. */
  truncation?: string
  /** Edits that the provider makes to a long context. */
  contextManagement?: unknown
  maxToolCalls?: number
  /** Where code that the provider runs has its files. */
  container?: unknown
  /** A conversation kept by the provider, by its other name. */
  thread?: unknown
  continuationToken?: string
}
