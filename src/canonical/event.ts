import type { CanonicalError } from './error.ts'
import type { Citation, ExtMap, Message, Node, Part, ReasoningSegment, Role, Signature, TokenLogprob } from './message.ts'
import type { Finish, Usage } from './response.ts'

/**
 * One step of a streamed reply. A whole stream obeys this grammar (`grammar.ts` holds it as code):
 *
 *     stream  = start { message | usage | ping | opaque | error } { finish } [ usage ] end
 *     message = message.start { part } message.end
 *     part    = part.start { part.delta } part.end        (several messages and parts may be open at once)
 *
 * `candidate` counts answers, `message` counts messages inside a candidate, `part` counts parts inside a candidate;
 * all from 0, dense, never used twice. Every part is ended before its message, every message before its candidate's
 * `finish`. Only the signature of reasoning may come when its part has ended: some wires tell proofs last. There is one `finish`
 * for each candidate that appeared. Nothing follows an `error` but `end` with `clean: false`.
 * Wires that announce no messages or parts have them announced by their decoder. `at` is where things stand in the whole reply.
 */
export type CanonicalEvent =
  | { type: 'start'; id?: string; model?: string; createdAt?: number; serviceTier?: string; ext?: ExtMap }
  | MessageStart
  | PartStart
  | PartDelta
  | PartEnd
  | { type: 'message.end'; candidate: number; message: number; status?: Message['status']; at?: string }
  /** `logprobs`: of tokens that stand in no part. */
  | { type: 'finish'; candidate: number; finish: Finish; logprobs?: TokenLogprob[]; at?: string; ext?: ExtMap }
  /** Cumulative; merge with `mergeUsage`. */
  | { type: 'usage'; usage: Usage }
  | { type: 'ping' }
  /** What the reply says of itself beside its parts, at any time: merged into the reply's top level. */
  | { type: 'update'; serviceTier?: string; completedAt?: number; promptBlocked?: { reason: string; message?: string; raw?: unknown }; ext?: ExtMap }
  /** The upstream said that it failed. `unheard`: not where clients of its protocol look. */
  | { type: 'error'; error: CanonicalError; unheard?: true }
  /** A wire event of a type nobody modelled. */
  | { type: 'opaque'; protocol: string; raw: unknown }
  /** `clean: false`: the source stopped without saying that it had ended, or ended in an error. */
  | { type: 'end'; clean: boolean }

export type MessageStart = {
  type: 'message.start'
  candidate: number
  message: number
  role: Role
  /** Absent: `message`. */
  origin?: 'message' | 'item' | 'instructions'
  id?: string
  phase?: 'commentary' | 'final_answer' | null
  /** Participant name. */
  name?: string
  at?: string
  ext?: ExtMap
}

/** `head` is the part as far as it is known now; deltas add to it. A part that comes whole has no deltas. */
export type PartStart = { type: 'part.start'; candidate: number; message: number; part: number; head: Part }

export type PartDelta = { type: 'part.delta'; candidate: number; part: number; delta: Delta }

/** `final`: the part as the wire gave it whole at its end; it wins over what the deltas added up to. */
export type PartEnd = { type: 'part.end'; candidate: number; part: number; final?: Part }

/** `at`, `ext`: of the wire's own delta, for keys that nobody modelled. */
export type Delta = Node &
  /** Of a text, refusal or media part (there: its transcript). */
  (
    | { kind: 'text'; text: string }
    /** Of a tool call. */
    | { kind: 'input'; text: string }
    /** Of a reasoning part; `segment` counts from 0. */
    | { kind: 'reasoning'; segment: number; of: 'summary' | 'raw'; text: string }
    /** Whole; replaces an earlier one. */
    | ({ kind: 'signature' } & Proof)
    | { kind: 'citation'; citation: Citation }
    | { kind: 'logprobs'; logprobs: TokenLogprob[] }
    /** More base64 of a media part. */
    | { kind: 'media'; base64: string }
  )

/** A signature, and what only arrives together with it: the id of the reasoning and the kinds of its segments. */
export type Proof = { signature: Signature; id?: string; kinds?: ReasoningSegment['kind'][] }
