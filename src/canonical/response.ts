import type { CanonicalError } from './error.ts'
import type { ExtMap, Message, TokenLogprob } from './message.ts'

/** A whole reply. */
export type CanonicalResponse = {
  id?: string
  model?: string
  /** Unix seconds, as `completedAt`. */
  createdAt?: number
  completedAt?: number
  /** The answers, in the order of their `index`; most requests ask for one. */
  candidates: Candidate[]
  usage?: Usage
  /** The prompt was refused before any answer was made. */
  promptBlocked?: { reason: string; message?: string; raw?: unknown }
  /** Which tier served the request, in the provider's own word. */
  serviceTier?: string
  /** Only for a reply that failed as a whole. */
  error?: CanonicalError
  ext?: ExtMap
}

/** One answer. */
export type Candidate = {
  /** Counts from 0. */
  index: number
  /** Where this answer stood in the body it was decoded from, a JSON pointer. Only notes read it. */
  at?: string
  messages: Message[]
  /** Absent: the source did not say how it ended, and nobody may pretend it did. */
  finish?: Finish
  logprobs?: TokenLogprob[]
  ext?: ExtMap
}

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

export type Finish = {
  reason: FinishReason
  /** The wire's own word. */
  raw?: string
  /** Protocol whose word `raw` is. */
  protocol?: string
  /** The stop sequence that matched. */
  sequence?: string
  /** What the provider says about the ending, for people. */
  message?: string
  /** Of a refusal: its kind, in the provider's own word. */
  category?: string
  /** What else the provider says about the ending, as it stood on the wire. */
  details?: unknown
}

/**
 * Tokens. Totals are inclusive: `input` counts cached and cache-written tokens, `output` counts reasoning. A number that
 * was not told is absent, never 0.
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
  /** Part of `input`: results of tools that the provider ran. */
  toolPrompt?: number
  /** Parts of `input` and of `output`. */
  inputAudio?: number
  outputAudio?: number
  inputImage?: number
  /** Of a predicted output: tokens that were used, and those that were not. */
  acceptedPrediction?: number
  rejectedPrediction?: number
  /** Calls of provider-run tools, by tool. */
  serverTools?: Record<string, number>
  serviceTier?: string
  ext?: ExtMap
}

/** Later counts replace earlier ones field by field; what the later one does not tell stays. */
export function mergeUsage(earlier: Usage | undefined, later: Usage): Usage {
  return earlier ? { ...earlier, ...later } : later
}
