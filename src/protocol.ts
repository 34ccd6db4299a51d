import type { CanonicalError } from './canonical/error.ts'
import type { CanonicalEvent, PartDelta } from './canonical/event.ts'
import type { Note, NoteKind } from './canonical/note.ts'
import type { CanonicalRequest } from './canonical/request.ts'
import type { CanonicalResponse } from './canonical/response.ts'

/**
 * What a protocol folder promises. Nothing outside the folder sees more of it.
 *
 * Decode is wire → canonical, encode is canonical → wire. Neither changes its argument. A decoder takes any JSON value
 * and throws `TranslationError` `malformed` with the path when it cannot be read. An encoder throws `inexpressible` when
 * a note would not be enough.
 */
export type Protocol<Options extends object = object> = {
  name: string
  address: Address
  /** Every note its codecs may make beside the common ones of `kit/report.ts`, by code. */
  notes: NoteTable
  /** Its mapping options, for configurations and command lines. */
  options: Record<string, OptionWords>
  /** Where this wire has a canonical field, so that notes point into the source body: `'sampling.topK'` → `top_k`. */
  fieldNames: FieldNames
  /** Signs that a body can only be of this protocol, as sentences; empty when there are none. */
  detect(body: unknown): Detection
  /** The request, whole response or stream event with this model name; everything else is the same value. */
  withModel(wire: unknown, model: string): unknown
  /** Does the request ask for a stream? `undefined` where the body does not say. */
  wantsStream(wire: unknown): boolean | undefined

  /** For wires whose streams tell counts only when asked to. Absent: they always do. */
  streamUsage?: StreamUsage
  /** For wires without a place for proofs of reasoning that every client sends back. */
  keptProofs?: KeptProofs<Options>
  /** For wires that demand a limit of the reply's length. */
  outputLimit?: OutputLimit<Options>

  decodeRequest(wire: unknown, options?: CodecOptions & Options): Decoded<CanonicalRequest>
  encodeRequest(value: CanonicalRequest, options?: CodecOptions & Options): Encoded<unknown>
  /** What writing its replies takes of their request beside what all need, and no secrets. Absent: nothing. */
  remembered?(request: CanonicalRequest): Partial<CanonicalRequest>
  decodeResponse(wire: unknown, options?: CodecOptions & Options): Decoded<CanonicalResponse>
  /**
   * Usage and failure of a whole reply, as `decodeResponse` has them, without reading the rest; of a body that cannot be read, what
   * can. The gateway may give an outline, in which long lists stand as `[null]`, long objects as `{}` and long texts as `''`; a
   * reply that may tell a failure deeper inside, by a key `error`, comes whole.
   */
  outcome(wire: unknown, options?: CodecOptions & Options): Outcome
  encodeResponse(value: CanonicalResponse, options?: CodecOptions & Options): Encoded<unknown>
  /** Total: any body of any upstream becomes an error that keeps its status. */
  decodeError(wire: WireError, options?: CodecOptions & Options): Decoded<CanonicalError>
  encodeError(value: CanonicalError, options?: CodecOptions & Options): Encoded<WireError>

  /** On the wire's side an event is the parsed `data` of a frame, or the text `[DONE]`. */
  streamDecoder: StreamMachine<unknown, CanonicalEvent, MachineState, Options>
  streamEncoder: StreamMachine<CanonicalEvent, unknown, MachineState, Options>
  frames: Frames
  /** For streams whose deltas need not be parsed one by one. Absent: `step` takes every event. */
  shortcut?: Shortcut
}

/** What an option may be where it is written down: true or false, a whole number, any text, or one of these words. */
export type OptionWords = 'flag' | 'number' | 'text' | readonly string[]

/** Every option that can be written down; functions cannot. */
export type OptionTable<Options> = {
  readonly [Name in keyof Options as NonNullable<Options[Name]> extends (...given: never[]) => unknown ? never : Name]-?: OptionWords
}

/** What a whole reply says of its tokens, and of its failure where it is one. */
export type Outcome = Pick<CanonicalResponse, 'usage' | 'error'>

/**
 * `fieldNames`: fields that this body spells in another way than the protocol's own table says; under `''` a pointer to the body,
 * where it stands inside another one.
 */
export type Decoded<T> = { value: T; notes: Note[]; fieldNames?: FieldNames }
/** `context`: of requests; `signatures`: proofs that the caller keeps in place of its client. */
export type Encoded<W> = { wire: W; notes: Note[]; context?: EncodingContext; signatures?: Signatures }

/** How a gateway keeps proofs of reasoning for clients that do not send them back. */
export type KeptProofs<Options> = {
  /** The ids of a request's tool calls: proofs are kept by them. */
  keysOf(request: unknown): string[]
  /** Options for reading a request. `proof`: what was kept for a call. */
  reading(proof: (callId: string) => string | undefined): Options
  /** Options for writing a reply, whose proofs then come beside it as `signatures`. */
  writing: Options
}

/** `demanded`: options for reading a request that must say its limit. `usual`: options for writing one that says none, in tokens. */
export type OutputLimit<Options> = { demanded: Options; usual(tokens: number): Options }

/** Proofs of reasoning that a reply's wire has no place for and the caller asked to keep: opaque texts by call id. */
export type Signatures = Record<string, string>

export type Emit<Out> = (out: Out) => void

/** Where a stream decoder gives its canonical events. */
export type EmitEvent = Emit<CanonicalEvent>

/** Where a stream encoder gives the events of its wire. */
export type EmitWire = Emit<unknown>

/** State is plain and cloneable, and holds the notes made so far. */
export type MachineState = {
  notes: Note[]
  signatures?: Signatures
  /** Of a decoder: where fields stand in this stream, if not where its protocol says. Known when it has told the first event. */
  places?: FieldNames
}

/**
 * One direction of a stream. `step` takes one event, changes the state and emits what is due; `end` is called once, when
 * the source has ended (maybe too early), and emits what is still owed. After `end`, `step` emits nothing.
 */
export type StreamMachine<In, Out, State extends MachineState, Options extends object = object> = {
  initial(options?: CodecOptions & Options): State
  step(state: State, event: In, emit: Emit<Out>): void
  end(state: State, emit: Emit<Out>): void
}

/** What every codec may be told. Times and ids come in here, so that the same input always gives the same output. */
export type CodecOptions = {
  /** Unix seconds, for fields that demand a time nobody told. Absent: 0. */
  now?: number
  /** For ids that the target demands and nobody gave; gets the usual prefix, e.g. `msg_`. Absent: the prefix + `0`. */
  newId?: (prefix: string) => string
  /** What `translateRequest` learned of the request that is being answered. Absent: tools keep the names that the upstream knows. */
  context?: TranslationContext
  /** Of a request: the path that it was sent to, for protocols whose path says the model or whether to stream. Absent: only the body is read. */
  path?: string
  /** The source protocol's field names, and over them those of the decoded body. Absent: notes use canonical names. */
  fieldNames?: FieldNames
  /**
   * What to do about references that only the source's provider can resolve, and about its own tools where a request forces one
   * or has no others. Default `throw`. `note`: leave them out, with a note.
   */
  onUnresolvable?: 'throw' | 'note'
  /** How a source that stopped early ends: as an error (default), or as if the length limit was reached. */
  truncated?: 'error' | 'length'
}

/** What an encoder did to a request that the answer has to undo, and what has to be sent beside the body. Plain JSON. */
export type EncodingContext = {
  /** Headers that the body relies on, in lower case. Their values are lists: what is sent under the same name anyway stands before them, with a comma. */
  headers?: Headers
  /** Where the body is sent to, on wires whose path says the model, or whether to stream. */
  path?: string
  /**
   * By the name written on the target's wire. `wrapped`: a freeform tool told as a function; `freeform`: one told as what it
   * is, so that a call of it that comes as a function is a freeform call all the same.
   */
  tools?: Record<string, { name: string; namespace?: string; wrapped?: boolean; freeform?: boolean }>
}

/** What translating the answer needs to know of the request. Plain JSON. */
export type TranslationContext = EncodingContext & {
  from: string
  to: string
  /** What the answer needs to know of the request; it holds no secrets, and of the messages only those that an answer repeats. */
  request?: CanonicalRequest
}

/** An answer of failure as HTTP has it. `headers`: names are read in any case and written in lower case; `body`: parsed where it was JSON, else its text. */
export type WireError = { status: number; headers: Record<string, string>; body: unknown }

export type NoteTable = Record<string, { kind: NoteKind; reason: string; source: string }>

/**
 * Where a wire has a canonical field. `'tool_calls:name'` holds for nodes that stand in `tool_calls`, alone or in a list,
 * and goes before `'name'`; `'/tools/0:name'` is of that one node. A place that begins with `../` stands beside the container of the node; `''` is the node.
 * `'metadata/*'` says that what is kept under `metadata` as unknown is what was left of a known object.
 */
export type FieldNames = Record<string, string>

/**
 * The unmistakable signs of this protocol in a body, in words; an empty list where there are none. `shared`: it may be a request of
 * this protocol although it bears signs of others, for a wire that has shapes in common with one of them. Absent: then it is theirs.
 */
export type Detection = { request: string[]; response: string[]; event: string[]; shared?: true }

export type StreamUsage = {
  /** Does the request ask for counts? */
  isAsked(wire: unknown): boolean
  /** The same request, asking for them; where only a field is to be added, that field alone. */
  ask(wire: unknown): { added?: Record<string, unknown>; wire: unknown }
  /** Does this event tell counts and nothing else? */
  isOnlyCounts(event: unknown): boolean
}

/**
 * The short way for events that differ from the one before in nothing but their text. Both functions change the state as
 * `step` would, or leave it alone and give the event to `step`.
 */
export type Shortcut = {
  /** Keys that the text of a delta may stand under. */
  text: ReadonlySet<string>
  /** Keys of an event, beside its delta, whose values may be any: nobody reads them, or only the first one. */
  padding: ReadonlySet<string>
  /** For the decoder, which made of the event before a delta like this one and nothing else. False: `step` has to take it. */
  read(state: MachineState, delta: PartDelta): boolean
  /** For the encoder: the frame of this delta, whose text JSON writes as `literal`. Undefined: `step` has to write it. */
  write(state: MachineState, delta: PartDelta, literal: string): string | undefined
}

/** How events stand in `text/event-stream`. */
export type Frames = {
  /** Frames carry an `event:` line equal to the event's `type`. */
  named: boolean
  /** One wire event → the text of its frame, blank line included. */
  write(wire: unknown): string
  /** The same, of an event that is an object and has been written as JSON already. */
  wrap(json: string, wire: unknown): string
  /** What keeps an idle connection open and means nothing. */
  ping: string
  /** Frames that end a stream of this protocol as failed, whatever it has said before. `count`: how many frames went before, where known. */
  failure(error: CanonicalError, count?: number): string
  /** Of the data of a frame: how many went before the next one, where frames are numbered. */
  countAfter?(data: string): number | undefined
  /** The last frame of a reply, where clients wait for it although all was said before. */
  ending?: string
}

/** A model as a listing shows it. Absent means not known. */
export type ModelInfo = { id: string; owner?: string; createdAt?: number; contextTokens?: number; maxOutputTokens?: number; displayName?: string }

export type Headers = Record<string, string>

/** `compact`: the provider makes a conversation short, in a form that it alone can read. */
export type Operation = 'generate' | 'count-tokens' | 'compact'

export type RequestMatch = { operation: Operation; model?: string; stream?: boolean }

/** Names of headers and of parameters of the query whose values are keys. */
export type KeyPlaces = { headers: readonly string[]; query: readonly string[] }

/** Where a protocol lives on HTTP. Paths begin with `/` and are relative to the service root. */
export type Address = {
  /** The path that people know it by. */
  path: string
  /** What a POST to this path asks for; undefined: not of this protocol. */
  match(path: string): RequestMatch | undefined
  /** Path (and query) of an upstream call. */
  target(call: { operation: Operation; model: string; stream: boolean }): string | undefined
  /** Is a stream wanted as one JSON list of its events? Absent: it never is. */
  asList?(query: URLSearchParams): boolean
  /** Where clients show their key beside `authorization: Bearer`. Header names are lower case. */
  keyPlaces: KeyPlaces
  /** Auth and version headers of an upstream call; `client`: the caller's own headers, when it speaks the same protocol. */
  upstreamHeaders(apiKey: string | undefined, client: Headers | undefined): Headers
  /** Which response header carries the request id. */
  requestIdHeader: string
  /** How sure it is that a model listing is asked for in this dialect: higher wins, 0 is no. */
  listingClaim(path: string, headers: Headers, query: URLSearchParams): number
  /** Body of a model listing. */
  list(models: ModelInfo[]): unknown
  /** Path and query of a listing of an upstream's models, as long as it gives them. Absent: `/v1/models`, which gives all. */
  listing?: string
  /** The ids of the models in a listing of an upstream. Absent: the `id` of each member of `data`. */
  listed?(body: unknown): string[]
  /** Body that describes one model. */
  describe(model: ModelInfo): unknown
  /** For protocols that have a call which tells how many tokens a request has. */
  counting?: TokenCounting
  /** For protocols whose providers keep replies, so that they can be asked for again and gone on from. */
  stored?: StoredReplies
}

export type TokenCounting = {
  /** A request for an answer as this call takes it. */
  ask(request: Record<string, unknown>, model: string): Record<string, unknown>
  /** What its answer tells, unchecked. */
  read(answer: Record<string, unknown>): unknown
  write(inputTokens: number): unknown
}

/** `input`: what the reply was an answer to; `cancel`: a reply that is still being made is to be stopped. */
export type StoredMatch = { id: string; part: 'reply' | 'input' | 'cancel' }

/** A reply that is kept in place of the provider, as the protocol shows it. */
export type StoredReply = { body: unknown; input: readonly unknown[] }

/** The calls that speak of kept replies, and the words of their answers. */
export type StoredReplies = {
  /** What a call to this path speaks of; undefined: not of this protocol. */
  match(path: string): StoredMatch | undefined
  /** Path of the same call upstream. */
  target(match: StoredMatch): string
  /** Is it worth reading the request for references to earlier replies, conversations and items? Never false where it has one. */
  mayRefer(request: unknown): boolean
  /** Is the reply to be kept? */
  wantsToKeep(request: unknown): boolean
  /** The items of a request, each with an id. `id`: of the reply. */
  inputOf(request: unknown, id: string): unknown[]
  /** Body of the answer to a GET. @throws TranslationError `malformed` when the query asks for what there is not */
  show(reply: StoredReply, part: 'reply' | 'input', query: URLSearchParams): unknown
  /** What is said to whoever wants a reply to be stopped that is whole. */
  finished: CanonicalError
  /** Body of the answer to a DELETE. */
  deleted(id: string): unknown
  /** The ids by which requests refer to single items of a reply. */
  itemsOf(reply: unknown): string[]
  /** The item of the reply that has this id. */
  itemOf(reply: unknown, id: string): unknown
  /** The request with items in the place of references to them. `find`: what an id refers to; undefined: the reference stays. */
  inFull(request: unknown, find: (id: string) => unknown): unknown
  /** What is said of an id that nobody knows. `previous`: the reply that a request goes on from. */
  unknown(kind: 'reply' | 'previous' | 'item', id: string): CanonicalError
}
