import type { CanonicalError } from './canonical/error.ts'
import type { CanonicalEvent, EncoderEvent, PartDelta } from './canonical/event.ts'
import type { Signature } from './canonical/message.ts'
import type { Note, NoteKind } from './canonical/note.ts'
import type { CanonicalRequest } from './canonical/request.ts'
import type { CanonicalResponse } from './canonical/response.ts'

/** What both halves of a protocol have. */
export type ProtocolFacts<Options extends object = object> = {
  name: string
  address: Pick<Address, 'path'>
  /** The key of its group of options, such as `chatCompletions`. */
  optionsKey: string
  /** Its options, for configurations and command lines. */
  options: Record<string, OptionWords>
  /**
   * Where this wire has a canonical field, so that notes point into the source body:
   * `'sampling.topK'` → `top_k`.
   */
  fieldNames: FieldNames
  /** By canonical field: further paths at which older clients write it. Absent: none. */
  olderNames?: Record<string, readonly string[]>
  /** Signs that a body belongs to this protocol and to no other. */
  detect(body: unknown): Detection
  /** Never throws: any body of any upstream becomes an error with the same status. */
  decodeError(wire: WireError, options?: CodecOptions & Options): Decoded<CanonicalError>
  /** How a stream is framed on the wire. Absent: as text/event-stream. */
  framing?: Framing
  /**
   * Its signatures where a reseller passes them on: the `format` of the entry, the issuer that they
   * get, and the form that a signature without text has here. Absent: there are none.
   * Source: https://openrouter.ai/docs/use-cases/reasoning-tokens, November 2026.
   */
  resold?: { format: string; issuer: string; form: NonNullable<Signature['form']> }
}

/**
 * The half of a protocol that serves its clients: it decodes requests, and encodes responses,
 * errors and streams.
 */
export type ClientHalf<
  Options extends object = object,
  Wire extends WireTypes = WireTypes,
> = ProtocolFacts<Options> & {
  /** @throws TranslationError `malformed` */
  decodeRequest(wire: unknown, options?: CodecOptions & Options): Decoded<CanonicalRequest>
  /**
   * The fields of a request, without secrets, that `encodeResponse` and `streamEncoder` need in
   * addition to those that all protocols need. Absent: none.
   */
  remembered?(request: CanonicalRequest): Partial<CanonicalRequest>
  /** @throws TranslationError `inexpressible` */
  encodeResponse(
    value: CanonicalResponse,
    options?: CodecOptions & Options,
  ): Encoded<Wire['response']>
  /** The HTTP error response of an error. */
  encodeError(
    value: CanonicalError,
    options?: CodecOptions & Options,
  ): Encoded<WireError<Wire['error']>>
  streamEncoder: StreamMachine<EncoderEvent, Wire['event'], MachineState, Options>
  frames: Frames
  /**
   * The fast path of `streamEncoder` for text deltas: the frame of this delta. `literal`: its text
   * as a JSON string. Changes the state as `step` would. Undefined: the state is unchanged, and
   * `step` has to take the delta. Absent: `step` takes every event.
   */
  writeDelta?(state: MachineState, delta: PartDelta, literal: string): string | undefined
  /** How the parts of a candidate may mix when they reach `streamEncoder`. Absent: `any`. */
  streamParts?(options: CodecOptions & Options): StreamParts
  /**
   * Can `streamEncoder` write the signature of a call after its end? Then a call with whole
   * arguments ends as soon as another part waits for it.
   */
  takesLateSignatures?: true
  /** A response has one candidate: the events of further ones do not reach `streamEncoder`. */
  oneCandidate?: true
  /** The arguments of calls are objects on the wire, not text. */
  objectArguments?: true
}

/**
 * The half of a protocol that calls its servers: it encodes requests, and decodes responses, errors
 * and streams.
 */
export type UpstreamHalf<
  Options extends object = object,
  Wire extends WireTypes = WireTypes,
> = ProtocolFacts<Options> & {
  /**
   * A request body of this protocol in the form that its server demands by the options, with a note
   * for each change, whose path is in this body. The same object if all demands are met. Absent:
   * there are no such options.
   */
  fitRequest?(wire: unknown, options: CodecOptions & Options): { wire: unknown; notes: Note[] }
  /**
   * Codes of its notes that only say how a field is spelled. Callers of other protocols have not
   * spelled it.
   */
  spellings?: readonly string[]
  /** What a request of another protocol must be like before `encodeRequest` gets it. */
  demands(request: CanonicalRequest, options: CodecOptions & Options): Demands
  /** @throws TranslationError `inexpressible` */
  encodeRequest(value: CanonicalRequest, options?: CodecOptions & Options): Encoded<Wire['request']>
  /** @throws TranslationError `malformed` */
  decodeResponse(wire: unknown, options?: CodecOptions & Options): Decoded<CanonicalResponse>
  /** A wire event is the parsed `data` of a frame, or the string `[DONE]`. */
  streamDecoder: StreamMachine<unknown, CanonicalEvent, MachineState, Options>
  /**
   * The fast path of `streamDecoder` for text deltas, which need not be parsed one by one. Absent:
   * `step` takes every event.
   */
  shortcut?: Shortcut
}

/**
 * The contract of a protocol folder; nothing else of the folder is used from outside.
 *
 * Decoding is wire → canonical, encoding is canonical → wire. Neither changes its argument. A
 * decoder takes any JSON value and throws `TranslationError` `malformed`, with the path, when it
 * cannot be read. An encoder throws `inexpressible` when a note would not be enough.
 */
export type Protocol<
  Options extends object = object,
  Wire extends WireTypes = WireTypes,
> = ClientHalf<Options, Wire> &
  UpstreamHalf<Options, Wire> & {
    address: Address
    /**
     * By code: the notes that its codecs alone make. Those of several protocols stand in
     * `kit/notes/shared.ts`.
     */
    notes: NoteTable
    /** A copy of a request, complete response or stream event with this model name. */
    withModel(wire: unknown, model: string): unknown
    /** Does the request ask for a stream? Undefined: the body does not say. */
    wantsStream(wire: unknown): boolean | undefined
    /** The types of the tools in a request, for protocols that have several. */
    toolTypes?(wire: unknown): readonly string[]
    /** For protocols whose streams contain usage only on request. Absent: they always do. */
    streamUsage?: StreamUsage
    /** For protocols without a field for reasoning signatures that every client sends back. */
    signatureStorage?: SignatureStorage<Options>
    /** For protocols that require an output limit in each request. */
    outputLimit?: OutputLimit<Options>
    /**
     * Defaults for requests of agents that speak another protocol. An agent sends its growing
     * conversation again with each request.
     */
    agentDefaults?: SharedOptions
    /**
     * Usage and error of a complete response, as `decodeResponse` would give them, without reading
     * the rest. Never throws: of an invalid body it gives what can be read. The gateway may pass an
     * outline in which long lists are `[null]`, long objects `{}` and long strings `''`; a response
     * with a key `error` somewhere inside is passed in full.
     */
    outcome(wire: unknown, options?: CodecOptions & Options): Outcome
  }

/** What the encoders of a protocol write. `error`: the body of an error. */
export type WireTypes = { request: unknown; response: unknown; event: unknown; error: unknown }

/**
 * The values of an option in a configuration file: a boolean, an integer, any text, or one of these
 * words.
 */
export type OptionWords = 'flag' | 'number' | 'text' | 'function' | readonly string[]

/**
 * Options that several protocols have. Outside of groups one applies to every protocol that has it;
 * in the group of a protocol to this one alone.
 */
export type SharedOptions = {
  /**
   * Where instructions inside the conversation go. `auto` (default): in place, as the target takes
   * them: as instructions where the model accepts those, else as user text. Toward chat-completions
   * those before the conversation are joined into one. `keep`: in place, always as instructions.
   * `user`: in place, as user text. `hoist`: before the conversation, which invalidates prompt
   * caches and signed thinking. Generate-content and converse have no place for them inside the
   * conversation, so `keep` is `user` there.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /**
   * A conversation that begins with the assistant, or contains instructions only. `auto` (default):
   * toward generate-content and converse a user message `.` is inserted before the assistant's.
   * `keep`: unchanged; the server may refuse it. `synthesize`: always inserted.
   */
  leadingUser?: 'auto' | 'keep' | 'synthesize'
  /**
   * The efforts of reasoning that the model accepts, in lower case, separated by spaces. The nearest
   * one is written; none if the list is empty. Default: all, but `xhigh` and above toward
   * generate-content.
   */
  efforts?: string
  /**
   * JSON without a schema, which the protocol cannot require. `drop` (default). `instruct`: a line
   * of the system prompt requests it.
   */
  jsonMode?: 'drop' | 'instruct'
  /**
   * JSON without a schema. `keep` (default). `add`: the conversation gets a sentence with the word
   * JSON if it has none, as some servers require.
   */
  jsonWord?: 'keep' | 'add'
  /**
   * A `prompt_cache_key` of more than 64 characters. `keep` (default). `hash`: a hash of it is
   * written, for servers that refuse it.
   */
  longCacheKey?: 'keep' | 'hash'
  /**
   * Marks the last cacheable block for the prompt cache, as providers with automatic caching do, for
   * models that are known to cache. Requests with marks of their own stay as they are. Default
   * false, because cache writes cost extra; in the gateway true for requests with tools of clients
   * that speak another protocol.
   */
  autoCache?: boolean
  /**
   * Converts media to a format that the server accepts, such as an image to JPEG, PNG, GIF or WebP;
   * returns undefined if it cannot. Default: media in other formats are dropped.
   */
  convertMedia?: (media: {
    mime: string
    data: string
  }) => { mime: string; data: string } | undefined
}

/** The same for configurations and command lines. */
export const sharedOptions = {
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
  leadingUser: ['auto', 'keep', 'synthesize'],
  efforts: 'text',
  jsonMode: ['drop', 'instruct'],
  jsonWord: ['keep', 'add'],
  longCacheKey: ['keep', 'hash'],
  autoCache: 'flag',
  convertMedia: 'function',
} as const satisfies OptionTable<SharedOptions>

/** Options about tools, in the group `tools`. They apply to every target that has the choice. */
export type ToolOptions = {
  /**
   * Dangling tool calls and orphaned results, which servers refuse. `synthesize` (default): such a
   * call gets a result that says that it was interrupted, and the content of such a result becomes
   * user text. `keep`: both are written unchanged.
   */
  repair?: 'synthesize' | 'keep'
  /**
   * Tools that the provider of the source runs. `drop` (default): tools of different providers
   * never match. `map`: the nearest tool of the target.
   */
  serverTools?: 'drop' | 'map'
  /**
   * Tools that the client runs, but that only another provider knows by name (a shell, an editor, a
   * memory), become functions with their documented input. In responses so do `shell` in the local
   * environment, `local_shell` and `apply_patch`. Default false: a model that was not trained on
   * such a tool may use it badly. The messages protocol ignores it.
   */
  expandClientTools?: boolean
  /**
   * The schemas of tools. `keep` (default): between equal protocols they stay; between others they
   * are what every server of the target takes. `fitting`: the latter always. `plain`: besides, no
   * `$schema` and `$id`, no unions at the root, and no types next to unions. `typed`: besides, a type in
   * every schema, and nothing next to references. `flat`: no references, and nothing but `type`,
   * `properties` and `required` at the root. `portable`: patterns that Python does not compile
   * move into the description. `anchored`: so do those that do not begin with `^` and end with `$`.
   * `linear`: as `fitting`, and patterns that look around or back move.
   */
  schemas?: 'keep' | 'fitting' | 'linear' | 'plain' | 'typed' | 'flat' | 'portable' | 'anchored'
  /**
   * How many tools the server takes. Further ones are left out with a note each: those that the
   * conversation has called and those that are chosen stay, then the first ones. A namespace of
   * responses counts once. Default: no limit. Between equal protocols it applies with a vendor.
   */
  mostTools?: number
  /**
   * Put before the text of a failed tool result, in protocols without an error flag. Default:
   * nothing. Targets: chat-completions, responses.
   */
  errorPrefix?: string
}

/** The same for configurations and command lines. */
export const toolOptions = {
  repair: ['synthesize', 'keep'],
  serverTools: ['drop', 'map'],
  expandClientTools: 'flag',
  schemas: ['keep', 'fitting', 'linear', 'plain', 'typed', 'flat', 'portable', 'anchored'],
  mostTools: 'number',
  errorPrefix: 'text',
} as const satisfies OptionTable<ToolOptions>

/**
 * The values of every option. `function`: one that no configuration file or command line can hold.
 */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionWords }

/** The options that a configuration file can hold: all but functions. */
export type WrittenOnly<Options> = {
  [Name in keyof Options as NonNullable<Options[Name]> extends (...given: never[]) => unknown
    ? never
    : Name]: Options[Name]
}

/** Usage and error of a response. `error` absent: it did not fail. */
export type Outcome = Pick<CanonicalResponse, 'usage' | 'error'>

/**
 * `fieldNames`: names of fields in this body that differ from the protocol's own table. Under the
 * key `''`: a JSON pointer to the body, when it is nested inside another one.
 */
export type Decoded<T> = { value: T; notes: Note[]; fieldNames?: FieldNames }
/**
 * `context`, and `isEmpty` (no message of the conversation was written): of requests only.
 * `signatures`: of responses, when the caller keeps them for the client.
 */
export type Encoded<W> = {
  wire: W
  notes: Note[]
  context?: EncodingContext
  isEmpty?: boolean
  signatures?: Signatures
}

/** How a gateway keeps reasoning signatures for clients that do not send them back. */
export type SignatureStorage<Options> = {
  /** The ids of the tool calls in a request; signatures are stored under them. */
  keysOf(request: unknown): string[]
  /** Options for decoding a request. `signatureOf`: looks up what was stored for a call. */
  reading(signatureOf: (callId: string) => string | undefined): Options
  /**
   * Options for encoding a response, so that its signatures are returned as `Encoded.signatures`.
   */
  writing: Options
}

/** What the passes over a conversation make of it, see `translate/passes/`. */
export type Demands = {
  /** What it takes as schemas of tools and responses. Absent: every object schema. */
  schemas?: SchemaDialect
  toolNames: ToolNameDemands
  toolPairs: ToolPairDemands
  /**
   * Where tools are that the conversation adds. `list`: with the others in the request; `parts`: in
   * the parts that add them; `controls`: in control parts, and those that a tool search has found
   * in the list.
   */
  lateTools: 'list' | 'parts'
  /** Absent: instructions may be anywhere in the conversation. */
  instructions?: InstructionDemands
  /** There is the tool choice `validated`. Default: functions are made strict instead. */
  validatedChoice?: boolean
}

/**
 * What a target takes as the schema of a function's parameters, which is always one of JSON Schema
 * 2020-12 with an object at the root.
 */
export type SchemaDialect = {
  /** No combination of schemas at the root. */
  plainRoot?: boolean
  /**
   * `bare`: references of any schema name a schema in `$defs`, and nothing stands next to them.
   * `none`: there are none. Absent: all are taken.
   */
  references?: 'bare' | 'none'
  /**
   * `plain`: no `$schema` and `$id`, and no type next to a union. `typed`: besides, every schema has a type.
   */
  form?: 'plain' | 'typed'
  /** Names of properties are checked, too, so that they are looked at in the same reading. */
  checkedNames?: boolean
  /** Arrays need no items, and an object at the root no properties. */
  incomplete?: boolean
  /**
   * Which patterns of texts it takes: those that Python compiles, or of these only those that look
   * neither around nor back, or only those that begin with `^` and end with `$`. Absent: all.
   */
  patterns?: 'python' | 'linear' | 'anchored'
  /** The only keywords of the root. */
  rootKeys?: readonly string[]
  /** Keywords that it refuses in the schema of a response. */
  outputWithout?: readonly string[]
  /**
   * `closed`: strict functions have closed objects with all properties required, and no other
   * keywords than few. Limits: they have closed objects and no keywords that a grammar cannot
   * express; encoders see to it, except between equal protocols. Absent: all are taken.
   */
  strict?: 'closed' | GrammarLimits
}

/**
 * How much of what a request enforces becomes one grammar: functions, properties that are not
 * required, and schemas of several types.
 */
export type GrammarLimits = { functions: number; optional: number; unions: number }

/**
 * `resultsFollowCalls`: results stand right behind the turn of the model that called, in the order
 * of the calls, in messages of their own; default: anywhere behind the call. `namesInResults`:
 * results have the name of the tool, not only calls. `callId`: the id as the wire takes it,
 * unchanged if it can stay; absent: every id can. `uniqueCallIds`: no two calls of this have
 * the same id.
 */
export type ToolPairDemands = {
  resultsFollowCalls?: boolean
  namesInResults?: boolean
  /** The id as the protocol takes it. */
  wireCallId?(id: string): string
  uniqueCallIds?: 'request' | 'turn'
}

/**
 * `spell`: the name as the wire takes it, unchanged if it can stay, at most `longest` characters.
 * `namespaces`: tools have them. `freeform`: `wrapped`: freeform tools are written as functions;
 * `freeform`: they are written as they are, but servers may call them as functions; absent: they
 * are written as they are.
 */
export type ToolNameDemands = {
  /** The name as the protocol takes it. */
  spell(name: string): string
  /** The name of a property of its parameters likewise. Absent: every name can stay. */
  spellProperty?(name: string): string
  longest: number
  namespaces?: boolean
  freeform?: 'wrapped' | 'freeform'
}

/**
 * `later`: what becomes of a system message inside the conversation. `user`: text of the user;
 * `front`: it moves before the conversation; `behind-user`: it stays behind a user message or tool
 * results, elsewhere `user`; `keep`: it stays. `joined`: there is only one system message at the
 * front. `developer`: there is the role developer, also for instructions of the request; default:
 * system is written.
 */
export type InstructionDemands = {
  later: 'user' | 'front' | 'behind-user' | 'keep'
  joined?: boolean
  developer?: boolean
}

/**
 * `demanded`: options for decoding, which refuse a request without a limit. `defaults`: options for
 * encoding, with the limit for requests that have none.
 */
export type OutputLimit<Options> = {
  demanded: Options
  /** Options for encoding. `tokens`: the limit of requests that have none. */
  defaults(tokens: number): Options
}

/**
 * By call id: opaque reasoning signatures that the response has no field for, and that the caller
 * stores itself.
 */
export type Signatures = Record<string, string>

/** Takes the output of a stream machine. */
export type Emit<Out> = (out: Out) => void

/** Takes the canonical events of a stream decoder. */
export type EmitEvent = Emit<CanonicalEvent>

/** Plain data that can be cloned with `structuredClone`. `notes`: those made so far. */
export type MachineState = {
  notes: Note[]
  signatures?: Signatures
  /**
   * Of a decoder: names of fields in this stream that differ from the protocol's own table. Known
   * once the first event is emitted.
   */
  places?: FieldNames
  /**
   * Of a decoder whose stream may lack a last event: changes with each finish reason, once every
   * candidate has one. 0 or absent: one has none yet.
   */
  finishes?: number
  /** Of a decoder: the stream reported an error, and ended without the event that follows it. */
  lacksFailure?: true
  /** Of an encoder: the error that it ended the stream with, although its source ended properly. */
  failure?: CanonicalError
}

/**
 * One direction of a stream. `step` takes one event, updates the state and emits zero or more
 * events. `end` is called once, when the source has ended (perhaps too early), and emits the
 * remaining ones. After `end`, `step` emits nothing.
 */
export type StreamMachine<In, Out, State extends MachineState, Options extends object = object> = {
  /** The state of a stream before its first event. */
  initial(options?: CodecOptions & Options): State
  /** Takes one event. */
  step(state: State, event: In, emit: Emit<Out>): void
  /** Called once when the source has ended. */
  end(state: State, emit: Emit<Out>): void
}

/**
 * `any`: several parts may be open at once, and their deltas may alternate. `sequential`: a part
 * starts only when the one before it has ended. `one-per-kind`: the same within the texts, the
 * refusals, the reasoning and the calls of a candidate; all but calls also wait for the end of
 * earlier messages. Only where the source is cut off may earlier parts lack their end.
 */
export type StreamParts = 'any' | 'sequential' | 'one-per-kind'

/**
 * Options of every codec. Times and ids are passed in, so that the same input always gives the same
 * output.
 */
export type CodecOptions = SharedOptions & {
  /** Unix seconds, for required time fields that the source does not have. Absent: 0. */
  now?: number
  /**
   * Creates ids that the target requires and the source does not have. `prefix`: of the protocol,
   * such as `msg_`. Absent: the prefix + `0`.
   */
  newId?: (prefix: string) => string
  /**
   * Of a response: the context that `translateRequest` returned for its request. Absent: tools keep
   * the upstream's names.
   */
  context?: TranslationContext
  /**
   * Of a request: the path it was sent to, for protocols whose path contains the model or whether
   * to stream. Absent: only the body is read.
   */
  path?: string
  /**
   * Names of fields in the source, for the paths of notes: those of its protocol, overridden by
   * `Decoded.fieldNames`. Absent: notes use canonical names.
   */
  fieldNames?: FieldNames
  /**
   * For references that only the source's provider can resolve, and for its built-in tools when the
   * request forces one or has no others. `throw` (default): refuse the request. `note`: leave them
   * out, with a note.
   */
  onUnresolvable?: 'throw' | 'note'
  /**
   * Reasoning signatures of other providers in the history. `drop` (default): they are left out,
   * because only their issuer accepts them. `wrap`: they are sent in the envelopes that clients
   * receive, for an upstream that is wireglot itself and opens them.
   */
  foreignSignatures?: 'drop' | 'wrap'
  /**
   * How the output ends when the source stopped early: as an error (default), or as if the length
   * limit was reached.
   */
  truncated?: 'error' | 'length'
}

/**
 * What an encoder changed in a request, to be undone in the response, and what to send along with
 * the body. Plain JSON.
 */
export type EncodingContext = {
  /**
   * Headers that the body needs; names are lower case. Values are lists: append them to a header
   * that is sent anyway, after a comma.
   */
  headers?: Headers
  /** Path to send the body to, for protocols whose path contains the model or whether to stream. */
  path?: string
  /**
   * By the name in the written request: the tool's own name. `wrapped`: a freeform tool that was
   * written as a function. `freeform`: one that was written as a freeform tool; a call of it that
   * comes as a function call is converted too. `properties`: by the name in the written schema, the
   * property's own name. `value`: the arguments are an object `{ value }` around those that the
   * client wants.
   */
  tools?: Record<
    string,
    {
      name: string
      namespace?: string
      wrapped?: boolean
      freeform?: boolean
      properties?: Record<string, string>
      value?: boolean
    }
  >
  /**
   * The text of the response is an object `{ value }` around the value that the client wants.
   * `word`: a string, without its quotes.
   */
  output?: 'value' | 'word'
  /** By the name of a property in the text of the response: the name that the client knows. */
  outputNames?: Record<string, string>
  /** What the bridge has to do with the response. */
  bridge?: unknown
}

/** What translating the response needs to know of the request. Plain JSON. */
export type TranslationContext = EncodingContext & {
  from: string
  to: string
  /**
   * The fields of the request that the response needs. No secrets, and no messages except those
   * that a response repeats.
   */
  request?: CanonicalRequest
}

/**
 * An HTTP error response. `headers`: names are read in any case and written in lower case. `body`:
 * parsed JSON, else the text.
 */
export type WireError<Body = unknown> = {
  status: number
  headers: Record<string, string>
  body: Body
}

/**
 * By code: the notes that a codec may make. `advice`: what the reader of a note can do. Absent:
 * nothing.
 */
export type NoteTable = Record<string, { kind: NoteKind; meaning: string; advice?: string }>

/**
 * Canonical field → path on the wire, relative to its node. A key `'tool_calls:name'` applies to
 * nodes that are in `tool_calls`, directly or in a list, and wins over `'name'`; `'/tools/0:name'`
 * applies to that node alone. A path that begins with `../` is relative to what contains the node;
 * `''` is the node itself. A key `'metadata/*'` says that unknown fields kept under `metadata` are
 * the remaining ones of a known object; its value is the name of that object in this body, or empty
 * where that is the key.
 */
export type FieldNames = Record<string, string>

/**
 * Signs that a body belongs to this protocol, as sentences; an empty list: none. `shared`: the body
 * may be a request of this protocol even though it shows signs of another one that has shapes in
 * common with it. `maybe`: it holds a conversation where requests of this protocol have one, and so
 * may those of another. `weak`: the only sign of a request is one that requests of another may
 * bear, too.
 */
export type Detection = {
  request: string[]
  response: string[]
  event: string[]
  shared?: true
  maybe?: true
  weak?: true
}

/** How to ask for usage in a stream. */
export type StreamUsage = {
  /** Does the request ask for usage? */
  isRequested(wire: unknown): boolean
  /**
   * The request that asks for usage. `added`: the new field, when the request was only extended by
   * one.
   */
  ask(wire: unknown): { added?: Record<string, unknown>; wire: unknown }
  /** Does this event hold usage and nothing else? */
  isOnlyCounts(event: unknown): boolean
}

/** The fast path of a decoder for events that differ from the one before only in their text. */
export type Shortcut = {
  /** Keys under which the text of a delta may be found. */
  text: ReadonlySet<string>
  /**
   * Keys of an event outside its delta whose values may change: they are not read, or only once per
   * stream.
   */
  padding: ReadonlySet<string>
  /**
   * When the previous event became one delta like this and nothing else. Changes the state as
   * `step` would. False: the state is unchanged, and `step` has to take the event.
   */
  read(state: MachineState, delta: PartDelta): boolean
}

/**
 * A stream whose frames are not text on the wire. Inside the library such a stream is
 * text/event-stream like all others: it is converted where bytes come in and go out. Both functions
 * return a converter for one stream, which takes its chunks in order.
 */
export type Framing = {
  /** Of a streamed response. */
  contentType: string
  /**
   * Frames → text/event-stream. Chunks of a stream that is text already pass unchanged. Damaged
   * frames become an error event, and a stream that stops inside a frame stops inside a frame of
   * the text.
   */
  decode(): (chunk: Uint8Array | string) => Uint8Array | string
  /** text/event-stream → frames. Frames that were decoded get the same bytes again. */
  encode(): (chunk: Uint8Array | string) => Uint8Array
}

/**
 * A stream before its failure. `count`: of its frames. `hasBegun`: the response has begun.
 * `saysError`: the error is the last frame.
 */
export type Before = Partial<Record<'hasBegun' | 'saysError', boolean>> & {
  count?: number | undefined
  id?: string | undefined
  model?: string | undefined
  createdAt?: number
}

/** How events are written as `text/event-stream`. */
export type Frames = {
  /** Frames carry an `event:` line equal to the event's `type`. */
  named: boolean
  /** One wire event → the text of its frame, including the blank line. */
  write(wire: unknown): string
  /** The same for an object that is already written as JSON. */
  wrap(json: string, wire: unknown): string
  /**
   * Clients lose frames that contain U+2028 or U+2029, so both are escaped also in frames that
   * otherwise pass unchanged. Default false.
   */
  escapesLines?: boolean
  /**
   * Breaks the connection off behind an error frame, because clients read on after it, or retry
   * only then. `retryable`: only where a retry may help.
   */
  breaksOff?: 'always' | 'retryable'
  /**
   * No event contains the name of the model, so frames of the same protocol pass without being
   * edited.
   */
  withoutModel?: true
  /** Keeps an idle connection open; clients ignore it. */
  ping: string
  /**
   * Frames that end a stream as failed, in whatever state it is. `before`: what is known of the
   * stream so far.
   */
  failure(error: CanonicalError, before?: Before): string
  /** For numbered frames: the number of the frame after the one with this data. */
  countAfter?(data: string): number | undefined
  /** A last frame that carries no content but that clients wait for. */
  ending?: string
}

/** A model in a listing. `createdAt`: Unix seconds. Absent: not known. */
export type ModelInfo = {
  id: string
  owner?: string
  createdAt?: number
  contextTokens?: number
  maxOutputTokens?: number
  displayName?: string
}

export type Headers = Record<string, string>

/** `compact`: the provider shortens a conversation, into a form that only it can read. */
export type Operation = 'generate' | 'count-tokens' | 'compact'

/** A request endpoint that a path matches. */
export type RequestMatch = { operation: Operation; model?: string; stream?: boolean }

/** Names of headers and query parameters that hold API keys. */
export type KeyPlaces = { headers: readonly string[]; query: readonly string[] }

/** The HTTP endpoints of a protocol. Paths begin with `/` and are relative to the service root. */
export type Address = {
  /** The main endpoint, for messages to people. */
  path: string
  /** What a POST to this path asks for. Undefined: no path of this protocol. */
  match(path: string): RequestMatch | undefined
  /** Path (and query) of an upstream call. Undefined: the protocol has no such operation. */
  target(call: { operation: Operation; model: string; stream: boolean }): string | undefined
  /** Is the stream wanted as one JSON list of events? Absent: never. */
  asList?(query: URLSearchParams): boolean
  /** Where clients send their key, besides `authorization: Bearer`. Header names are lower case. */
  keyPlaces: KeyPlaces
  /**
   * Auth and version headers of an upstream call; `client`: the caller's own headers, when it
   * speaks the same protocol.
   */
  upstreamHeaders(apiKey: string | undefined, client: Headers | undefined): Headers
  /** Which response header carries the request id. */
  requestIdHeader: string
  /** How likely a request for a model listing is of this protocol: the highest wins, 0 is no. */
  listingClaim(path: string, headers: Headers, query: URLSearchParams): number
  /** Body of a model listing. */
  list(models: ModelInfo[]): unknown
  /** `JSON.stringify`, but faster, for the body of `list`. Absent: nothing is faster. */
  listJson?(body: unknown): string
  /**
   * Path and query of an upstream's model listing, with the largest page size. Absent:
   * `/v1/models`, which is not paged.
   */
  listing?: string
  /** The model ids in an upstream's listing. Absent: the `id` of each member of `data`. */
  listed?(body: unknown): string[]
  /** Body that describes one model. */
  describe(model: ModelInfo): unknown
  /** For protocols with an endpoint that counts the tokens of a request. */
  counting?: TokenCounting
  /** For protocols whose providers store responses, which can be retrieved and continued. */
  stored?: StoredResponses
}

/**
 * A protocol over WebSocket. Each message is one JSON object, and an event of a stream is one
 * message.
 */
export type SocketWire = {
  /** What the outermost fields of a client's message say. */
  glance(message: Record<string, unknown>): SocketGlance
  /** What a client's message asks for. @throws TranslationError `malformed` */
  read(message: Record<string, unknown>): SocketRequest
  /** The headers of the handshake as those of a request over HTTP. */
  requestHeaders(handshake: Headers): Headers
  /**
   * The body with the items of an earlier exchange before its own, in place of the reference to it.
   */
  continued(body: Record<string, unknown>, items: readonly unknown[]): Record<string, unknown>
  /** The items of a request, for `continued`. */
  itemsOf(body: Record<string, unknown>): readonly unknown[]
  /**
   * Those items of a response that a provider can read again. `isStored`: it has stored the
   * response.
   */
  readable(output: readonly unknown[], isStored: boolean): readonly unknown[]
  /**
   * What an event of a stream means for the connection. `type`: its name, if the stream has names.
   */
  meaning(data: string, type: string | undefined): SocketEvent
  /** The events of a response to a request that generates nothing. `id`: of the response. */
  prepared(body: Record<string, unknown>, id: string, createdAt: number): object[]
  /** The event for an HTTP error. `body`: of the error over HTTP. */
  failure(status: number, headers: Headers, body: unknown): object
  /**
   * The message that sends a request to a provider. `body`: of the request over HTTP, a JSON
   * object.
   */
  message(body: string): string
  /**
   * A provider's message: as a frame of text/event-stream, whether it is the last one of the
   * response, and as an HTTP error if it is one.
   */
  event(data: string): {
    frame: string
    ends: boolean
    refusal?: { status: number; headers: Headers; body: string }
  }
}

/**
 * `isAcknowledgement`: it gets no response. `marks`: fields that every event of its response has.
 */
export type SocketGlance = { isAcknowledgement: boolean; marks?: Record<string, unknown> }

/**
 * `body`: as over HTTP, for a stream. `previous`: the id of the response that it continues.
 * `generates` is false: the client only prepares a conversation. `isStored`: the provider may store
 * the response.
 */
export type SocketRequest = {
  body: Record<string, unknown>
  previous?: string
  generates: boolean
  isStored: boolean
}

/**
 * `item`: a finished item of the response. `end`: the response has ended, and `continues` is its id
 * if it can be continued; its own list of items is `output`, if it has one. `sent`: the data in
 * place of the original.
 */
export type SocketEvent = {
  item?: unknown
  end?: { continues?: string; output?: unknown[] }
  sent?: string
}

/** The endpoint that counts the tokens of a request. */
export type TokenCounting = {
  /** A generation request as this endpoint takes it. */
  ask(request: Record<string, unknown>, model: string): Record<string, unknown>
  /** The count in its response, unchecked. */
  read(response: Record<string, unknown>): unknown
  /** The body of the response. */
  write(inputTokens: number): unknown
}

/**
 * `input`: the input items of the response's request. `cancel`: stop a response that is still being
 * generated.
 */
export type StoredMatch = { id: string; part: 'response' | 'input' | 'cancel' }

/** A response stored by the gateway, in the form of the protocol. */
export type StoredResponse = { body: unknown; input: readonly unknown[] }

/** The endpoints for stored responses. */
export type StoredResponses = {
  /** What a call to this path is about. Undefined: no such path. */
  match(path: string): StoredMatch | undefined
  /** Path of the same call upstream. */
  target(match: StoredMatch): string
  /**
   * False: the request certainly has no references to earlier responses, conversations or items.
   */
  mayRefer(request: unknown): boolean
  /** Does the request want its response to be stored? */
  wantsToKeep(request: unknown): boolean
  /** The input items of a request, each with an id. `id`: of the response. */
  inputOf(request: unknown, id: string): unknown[]
  /** Body of the response to a GET. @throws TranslationError `malformed` for an invalid query */
  show(response: StoredResponse, part: 'response' | 'input', query: URLSearchParams): unknown
  /** The error for cancelling a response that is complete. */
  finished: CanonicalError
  /** Body of the response to a DELETE. */
  deleted(id: string): unknown
  /** The ids by which requests may refer to single items of a response. */
  itemsOf(response: unknown): string[]
  /** The item of the response that has this id. */
  itemOf(response: unknown, id: string): unknown
  /**
   * The request with item references replaced by the items. `find`: the item of an id; undefined:
   * the reference stays.
   */
  inFull(request: unknown, find: (id: string) => unknown): unknown
  /** The error for an unknown id. `previous`: the response that a request continues. */
  unknown(kind: 'response' | 'previous' | 'item', id: string): CanonicalError
}
