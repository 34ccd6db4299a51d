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
  serviceTier?: { tier?: string; speed?: string }
  user?: { safetyId?: string; user?: string }
  metadata?: Record<string, string>
  state?: StateSpec
  safety?: { settings?: unknown; moderation?: unknown }
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

export type ReasoningSpec = {
  /** A word outside the known ones is kept as it came. */
  effort?: Effort | (string & {})
  /** Tokens; -1: the model decides, 0: off. */
  budgetTokens?: number
  mode?: ReasoningMode | (string & {})
  summary?: 'auto' | 'concise' | 'detailed' | 'none' | (string & {})
  display?: 'summarized' | 'omitted' | (string & {})
  context?: string
  execution?: string
}

export type OutputFormat =
  | { type: 'text' }
  | { type: 'json' }
  | { type: 'schema'; schema: JsonSchema; name?: string; description?: string; strict?: boolean | null }
  /** One of the words of the schema, as plain text. */
  | { type: 'enum'; schema: JsonSchema }
  | { type: 'opaque'; protocol: string; raw: unknown }

export type OutputSpec = {
  format?: OutputFormat
  verbosity?: string
  modalities?: string[]
  audio?: unknown
}

export type CacheSpec = {
  key?: string
  mode?: string
  ttl?: CacheTtl | (string & {})
  /** The provider marks the last cacheable part by itself. */
  auto?: { ttl?: CacheTtl }
  retention?: string
  /** Stored content that stands before the messages. */
  contentRef?: string
  diagnostics?: unknown
}

/** Everything that refers to, or asks for, memory on the provider's side. */
export type StateSpec = {
  store?: boolean
  previousId?: string
  conversation?: unknown
  background?: boolean
  prompt?: unknown
  include?: string[]
  truncation?: string
  contextManagement?: unknown
  maxToolCalls?: number
  container?: unknown
  thread?: unknown
  continuationToken?: string
}
