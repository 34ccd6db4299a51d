import type { CacheTtl, Node, ServerToolKind } from './node.ts'
import type { Tool } from './tool.ts'

export type { CacheTtl, Ext, ExtMap, Node, Place, ServerToolKind } from './node.ts'

/**
 * The protocol that a request or response was decoded from, and its body: this protocol writes
 * unedited parts back unchanged. Other protocols do not read it. `wire` absent: the protocol writes
 * everything anew. `at`: JSON pointer to the request or response in its body, if it is nested
 * there.
 */
export type Source = { readonly protocol: string; readonly wire?: unknown; readonly at?: string }

/** Who wrote a message. `tool`: results of tool calls. */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

/**
 * One container of the source: a chat message, a messages-protocol message, a responses item.
 * Decoders never merge and never split containers; encoders that need another grouping do it
 * themselves.
 */
export type Message = Node & {
  role: Role
  parts: Part[]
  /**
   * Where it was: in the request's field for instructions, or in the conversation as a message or
   * an item.
   */
  origin: 'message' | 'item' | 'instructions'
  /** The container's own id, where the wire gives one. */
  id?: string
  status?: 'in_progress' | 'completed' | 'incomplete'
  phase?: 'commentary' | 'final_answer' | null
  /** The name of the participant. */
  name?: string
}

/**
 * Proves that reasoning or a tool call is genuine. Valid only for its issuer, often only for one
 * model.
 */
export type Signature = {
  /** Empty: a placeholder that a later signature delta replaces. */
  value: string
  /** The protocol of the provider that made it. */
  issuer: string
  model?: string
  form?: 'thinking' | 'redacted' | 'encrypted' | 'thought' | 'phase'
  /** A proxy gave it in a field of its own, where it expects it back. */
  byProxy?: true
}

type PartBase = Node & {
  /** Cache breakpoint after this part. `ttl` absent: the provider's default. */
  cache?: { ttl?: CacheTtl }
  signature?: Signature
}

/** Text. */
export type TextPart = PartBase & {
  type: 'text'
  text: string
  citations?: Citation[]
  logprobs?: TokenLogprob[]
  /**
   * The phase of the message that held this text, when a client sent several messages of a response
   * back as one.
   */
  phase?: NonNullable<Message['phase']>
}

/** Where the content of a media part is: in place, at a URL, or in a file of the provider. */
export type MediaSource =
  | { type: 'base64'; data: string; mime?: string }
  | { type: 'url'; url: string; mime?: string }
  /** An id that means something only to its issuer. */
  | { type: 'file-id'; id: string; issuer: string }
  | { type: 'text'; text: string; mime: string }
  /** A document made of other content. */
  | { type: 'parts'; parts: Part[] }
  /** Media of an earlier response, by its id. */
  | { type: 'reference'; id: string }

/** An image, audio, video or another file. */
export type MediaPart = PartBase & {
  type: 'media'
  kind: 'image' | 'audio' | 'video' | 'document' | 'file'
  source: MediaSource
  filename?: string
  title?: string
  /** Further information about the document for the model. */
  context?: string
  /** The resolution at which the model sees an image. */
  detail?: 'auto' | 'low' | 'high' | 'original' | 'ultra_high'
  /** May the model cite it? */
  citations?: { enabled?: boolean }
  /** Of audio. */
  transcript?: string
  /** The provider's own id of media in a response. */
  id?: string
  /** Unix seconds. */
  expiresAt?: number
  video?: { startOffset?: string; endOffset?: string; fps?: number }
}

/** The text with which the model refuses to respond. */
export type RefusalPart = PartBase & {
  type: 'refusal'
  text: string
  logprobs?: TokenLogprob[]
  phase?: NonNullable<TextPart['phase']>
}

/**
 * A segment of visible reasoning. `summary`: summarized by the provider; `raw`: as the model wrote
 * it.
 */
export type ReasoningSegment = { kind: 'summary' | 'raw'; text: string }

/** Reasoning of the model, visible or only as a signature. */
export type ReasoningPart = PartBase & {
  type: 'reasoning'
  /** Empty: the provider does not show the text. */
  segments: ReasoningSegment[]
  /** Only the encrypted form exists. */
  redacted?: boolean
  id?: string
}

/** A call of a tool. `input`: its arguments as the model wrote them. */
export type ToolCallPart = PartBase & {
  type: 'tool-call'
  /** Links call and result. `idOrigin: 'synthesized'`: the wire had none, the decoder made it. */
  id: string
  idOrigin?: 'wire' | 'synthesized'
  /** The id of the item, where that is another one. */
  itemId?: string
  name: string
  namespace?: string
  kind: 'function' | 'freeform'
  /** The raw text: for a function JSON, possibly invalid or empty. */
  input: string
  /** The caller, as on the wire. Absent: the model itself. */
  caller?: unknown
  /** The model continues without waiting for the result. */
  async?: boolean
  /** The set of tools that the tool belongs to. */
  toolset?: string
  status?: string
  /** A token limit cut off the arguments. Encoders add it. */
  cut?: true
}

/** The result of a tool call. */
export type ToolResultPart = PartBase & {
  type: 'tool-result'
  callId: string
  name?: string
  namespace?: string
  kind: 'function' | 'freeform'
  content: Part[]
  /** The original object, on wires where results are objects. */
  structured?: unknown
  isError?: boolean
  /** The call had no result, so this one is synthesized. */
  synthesized?: true
  itemId?: string
  caller?: unknown
  toolset?: string
  status?: string
}

/** A tool that the provider ran itself, or its result. Never a call that the client should run. */
export type ServerToolPart = PartBase & {
  type: 'server-tool'
  phase: 'call' | 'result' | 'call+result'
  tool: ServerToolKind
  id: string
  /** The protocol of `raw`. */
  protocol: string
  raw: unknown
  /** The model waits for the client's result for this item. */
  awaitsClient?: boolean
  /** The tools that a tool search has found. They are added to those of the request. */
  tools?: Tool[]
  /** The generated image, for wires where images are content. */
  image?: MediaPart
}

/** A search result that the client passes to the model. */
export type SearchResultPart = PartBase & {
  type: 'search-result'
  source: string
  title: string
  parts: Part[]
  citations?: { enabled?: boolean }
}

/** Controls the conversation; has no content. */
export type ControlPart = PartBase & {
  type: 'control'
  control:
    | 'compaction'
    | 'compaction-trigger'
    | 'tool-addition'
    | 'tool-removal'
    | 'configuration'
    | 'fallback'
    | 'container-upload'
    | 'item-reference'
  protocol: string
  raw: unknown
  /**
   * Of a `tool-addition`: the tools. Wires without such parts write them among those of the
   * request.
   */
  tools?: Tool[]
  /** Of a `configuration`: the reasoning effort from here on. */
  effort?: string
}

/**
 * Something of a type this library does not know, or that only its protocol has. `plain`: what it is
 * for other protocols.
 */
export type OpaquePart = PartBase & {
  type: 'opaque'
  protocol: string
  raw: unknown
  plain?: TextPart | MediaPart
}

/** A part of a message. */
export type Part =
  | TextPart
  | MediaPart
  | RefusalPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | ServerToolPart
  | SearchResultPart
  | ControlPart
  | OpaquePart

/** A source of a text. */
export type Citation = {
  kind: 'url' | 'file' | 'document' | 'opaque'
  url?: string
  title?: string
  citedText?: string
  /**
   * Offsets into the text of the response, in Unicode code points; the end is exclusive. Absent:
   * the whole part.
   */
  start?: number
  end?: number
  fileId?: string
  filename?: string
  /** The location of a file that a tool of the provider created. */
  container?: string
  index?: number
  /** A place inside the cited source. */
  source?: { unit: 'char' | 'page' | 'block'; document: number; start: number; end: number }
  /** Opaque signature of a search hit, valid only for its issuer. */
  encrypted?: string
  protocol: string
  /** The value on the wire, unchanged. */
  raw: unknown
}

/** The log probability of a token. */
export type TokenLogprob = Node & {
  token: string
  logprob: number
  /** UTF-8 bytes of the token; null when it has none, absent when unknown. */
  bytes?: number[] | null
  /** The alternatives to this token. */
  top?: Omit<TokenLogprob, 'top'>[]
}
