import type { CanonicalError } from './error.ts'
import type {
  Citation,
  ExtMap,
  Message,
  Node,
  Part,
  Place,
  ReasoningPart,
  ReasoningSegment,
  RefusalPart,
  Role,
  Signature,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from './message.ts'
import type { CanonicalResponse, Finish, Usage } from './response.ts'

/**
 * One step of a streamed response. A whole stream obeys this grammar (`grammar.ts` holds it as
 * code):
 *
 *     stream  = start { message | usage | ping | opaque | error } { finish } [ usage ] end
 *     message = message.start { part } message.end
 *     part    = part.start { part.delta } part.end        (several messages and parts may be open at once)
 *
 * `candidate` numbers the candidates, `message` the messages of a candidate, `part` the parts of a
 * candidate; all count from 0, without gaps, and no number is used twice. A part ends before its
 * message, a message before the `finish` of its candidate, and there is one `finish` for each
 * candidate that appeared. Only a signature may come after the end of its part, as some wires send
 * it last. Nothing follows an `error` except `end` with `clean: false`. For wires without start and
 * end events of messages or parts the decoder makes them. `at` is a JSON pointer into the complete
 * response.
 */
export type CanonicalEvent =
  /** `source`: the protocol of the stream; absent: made here. */
  | ({ type: 'start' } & Pick<
      CanonicalResponse,
      'id' | 'model' | 'createdAt' | 'serviceTier' | 'transformations' | 'echo' | 'ext' | 'source'
    >)
  | MessageStart
  | PartStart
  | PartDelta
  | PartEnd
  | MessageEnd
  /** `logprobs`: of tokens that belong to no part. */
  | {
      type: 'finish'
      candidate: number
      finish: Finish
      logprobs?: TokenLogprob[]
      grounding?: unknown
      at?: Place
      ext?: ExtMap
    }
  /** Counts so far, not increments; merge with `mergeUsage`. */
  | { type: 'usage'; usage: Usage }
  | { type: 'ping' }
  /** Top-level fields of the response, at any time; merged into those so far. */
  | ({ type: 'update' } & Pick<
      CanonicalResponse,
      'serviceTier' | 'completedAt' | 'promptBlocked' | 'transformations' | 'echo' | 'ext'
    >)
  /**
   * The upstream failed. `unrecognized`: clients of its protocol do not recognize the form of the
   * error.
   */
  | { type: 'error'; error: CanonicalError; unrecognized?: true }
  /** A wire event that only reports the progress of a provider's tool. */
  | { type: 'opaque'; protocol: string; raw: unknown }
  /** `clean: false`: the source was cut off, or ended with an error. */
  | { type: 'end'; clean: boolean }

/** A message of the response begins. */
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
  at?: Place
  ext?: ExtMap
}

/** `ext`: what its end says beyond its start. */
export type MessageEnd = {
  type: 'message.end'
  candidate: number
  message: number
  status?: Message['status']
  at?: Place
  ext?: ExtMap
}

/**
 * `head`: the part as known at its start; deltas add to it. A part that arrives complete has no
 * deltas.
 */
export type PartStart = {
  type: 'part.start'
  candidate: number
  message: number
  part: number
  head: Part
}

/** More content of an open part. */
export type PartDelta = { type: 'part.delta'; candidate: number; part: number; delta: Delta }

/**
 * `final`: the complete part, when the wire repeats it at its end; it replaces what the deltas
 * added up to.
 */
export type PartEnd = EncodedPartEnd & { final?: Part }

/**
 * The end of a part as stream encoders receive it. `cut`: whether a token limit cut off the
 * arguments of the call, if they are not whole. Absent: the next event of the candidate shows it.
 */
export type EncodedPartEnd = { type: 'part.end'; candidate: number; part: number; cut?: boolean }

/** An event as stream encoders receive it: the normalizer has turned each `final` into deltas. */
export type EncoderEvent = Exclude<CanonicalEvent, PartEnd> | EncodedPartEnd

/** `at`, `ext`: of the delta on the wire, for its unknown keys. */
export type Delta = Node &
  /** Of a text or refusal part, or the transcript of a media part. */
  (
    | { kind: 'text'; text: string }
    /** Of a tool call. */
    | { kind: 'input'; text: string }
    /** Of a reasoning part; `segment` counts from 0. */
    | { kind: 'reasoning'; segment: number; of: 'summary' | 'raw'; text: string }
    /** Always complete; replaces an earlier one. */
    | ({ kind: 'signature' } & PlacedSignature)
    | { kind: 'citation'; citation: Citation }
    | { kind: 'logprobs'; logprobs: TokenLogprob[] }
    /** More base64 of a media part. */
    | { kind: 'media'; base64: string }
    /**
     * Fields next to the content of a text, refusal, reasoning part or tool call that arrive only
     * at its end. Each replaces an earlier value. `at`: the path of the part from here on.
     */
    | { kind: 'fields'; fields: LateFields }
    /**
     * A complete part of another type, which has no deltas or is known in full only at its end.
     * Replaces the part.
     */
    | { kind: 'whole'; whole: Part }
  )

type Late<Of extends Part> = {
  [Key in Exclude<keyof Of, 'type' | 'text' | 'input' | 'signature' | keyof Node>]?:
    | Of[Key]
    | undefined
}

/**
 * The fields of a `fields` delta. Absent: the field keeps its value. Undefined: the field has no
 * value after all, as an id that was made up at the start. `citations`, `logprobs` and `segments`
 * are complete lists; `segments` divides the reasoning that was streamed otherwise, and may have an
 * empty line less between two segments.
 */
export type LateFields = Late<TextPart> &
  Late<RefusalPart> &
  Late<ReasoningPart> &
  Late<ToolCallPart>

/**
 * A signature, and what arrives only with it: the id of the reasoning part and the kinds of its
 * segments.
 */
export type PlacedSignature = {
  signature: Signature
  id?: string
  kinds?: ReasoningSegment['kind'][]
}
