import type { CanonicalError } from './error.ts'
import type { ExtMap, Message, Place, Source, TokenLogprob } from './message.ts'

/** A complete response. */
export type CanonicalResponse = {
  id?: string
  model?: string
  /** Unix seconds, like `completedAt`. */
  createdAt?: number
  completedAt?: number
  /** The candidates, sorted by `index`; mostly one. */
  candidates: Candidate[]
  usage?: Usage
  /** The prompt was refused, so there are no candidates. */
  promptBlocked?: { reason: string; message?: string; raw?: unknown }
  /** The tier that served the request, in the provider's word. */
  serviceTier?: string
  /**
   * What the provider changed in the request, as on its wire; only its own protocol writes it, and
   * the decoder notes it.
   */
  transformations?: unknown
  /** The response as a whole failed. */
  error?: CanonicalError
  /**
   * Fields of the request that the response repeats, in the source protocol. The client has them
   * already.
   */
  echo?: Record<string, unknown>
  ext?: ExtMap
  /** Absent: made here. */
  source?: Source
}

/** One candidate. */
export type Candidate = {
  /** Counts from 0. */
  index: number
  /** Its place in the body that it was decoded from; used for the paths of notes. */
  at?: Place
  messages: Message[]
  /** Absent: the source gave no finish reason. Never filled in with a default. */
  finish?: Finish
  logprobs?: TokenLogprob[]
  /**
   * Sources and citations of all parts in one object, as on the wire that has it; only its own
   * protocol writes it, while the citations are the same.
   */
  grounding?: unknown
  ext?: ExtMap
}

/** Why a candidate ended. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_window'
  | 'tool_calls'
  | 'content_filter'
  | 'refusal'
  | 'recitation'
  | 'pause'
  | 'compaction'
  | 'malformed_tool_call'
  | 'cancelled'
  | 'error'
  | 'other'

/** How a candidate ended. */
export type Finish = {
  reason: FinishReason
  /** `reason` is only the nearest to what `raw` means. Absent: it means the same. */
  approximate?: true
  /** The finish reason as it was on the wire. */
  raw?: string
  /** The protocol of `raw`. */
  protocol?: string
  /** The stop sequence that matched. */
  sequence?: string
  /** An explanation for people. */
  message?: string
  /** Of a refusal: its category, in the provider's word. */
  category?: string
  /** Further information about the ending, as on the wire. */
  details?: unknown
}

/**
 * Token counts. Totals are inclusive: `input` contains tokens read from and written to the cache,
 * `output` contains reasoning. An unknown count is absent, never 0.
 */
export type Usage = {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  /** Part of `cacheWrite`, by lifetime. */
  cacheWriteByTtl?: Record<string, number>
  /** Part of `output`. */
  reasoning?: number
  /** Part of `input`: results of built-in tools. */
  toolPrompt?: number
  /** Part of `input`, as `inputImage`. `outputAudio`: part of `output`. */
  inputAudio?: number
  outputAudio?: number
  inputImage?: number
  /** Tokens of a predicted output that were used, and those that were not. */
  acceptedPrediction?: number
  rejectedPrediction?: number
  /** Number of calls of built-in tools, by tool. */
  serverTools?: Record<string, number>
  serviceTier?: string
  ext?: ExtMap
}

/** Later counts replace earlier ones field by field; fields that `later` does not have stay. */
export function mergeUsage(earlier: Usage | undefined, later: Usage): Usage {
  return earlier ? Object.assign({}, earlier, later) : later
}
