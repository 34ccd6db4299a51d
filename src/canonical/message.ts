import type { Tool } from './tool.ts'

/** What only one protocol can say, kept for that protocol alone. Keyed by protocol name. */
export type ExtMap = Record<string, Ext>

export type Ext = {
  /** Keys nobody modelled, as they stood on the wire. The same protocol writes them back, any other notes each. */
  fields?: Record<string, unknown>
  /** Which of several spellings with one meaning was used. Only the same protocol reads it. */
  form?: Record<string, unknown>
}

/** What every node of the model may carry. */
export type Node = {
  /** Where this stood in the body it was decoded from, a JSON pointer. Absent when it was made here. Only notes read it. */
  at?: string
  ext?: ExtMap
}

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

/**
 * One container of the source: a chat message, a messages-protocol message, a responses item. Decoders never merge and
 * never split containers; encoders that need another grouping do it themselves.
 */
export type Message = Node & {
  role: Role
  parts: Part[]
  /** `instructions`: the request's own field for instructions, `message`: in the conversation. */
  origin: 'message' | 'item' | 'instructions'
  /** The container's own id, where the wire gives one. */
  id?: string
  status?: 'in_progress' | 'completed' | 'incomplete'
  phase?: 'commentary' | 'final_answer' | null
  /** Participant name. */
  name?: string
}

export type CacheTtl = '5m' | '30m' | '1h' | '12h'

/** Proof that reasoning is genuine. Valid only for its issuer, often only for its model. */
export type Signature = {
  value: string
  /** Protocol name of whoever made it. */
  issuer: string
  model?: string
  form?: 'thinking' | 'redacted' | 'encrypted' | 'thought'
}

type PartBase = Node & {
  /** Cache breakpoint after this part. `ttl` absent: the provider's default. */
  cache?: { ttl?: CacheTtl }
  signature?: Signature
}

export type TextPart = PartBase & {
  type: 'text'
  text: string
  citations?: Citation[]
  logprobs?: TokenLogprob[]
  /** The phase of the message that this text was, where a client sent several messages of an answer back as one. */
  phase?: NonNullable<Message['phase']>
}

export type MediaSource =
  | { type: 'base64'; data: string; mime?: string }
  | { type: 'url'; url: string; mime?: string }
  /** An id that means something only to its issuer. */
  | { type: 'file-id'; id: string; issuer: string }
  | { type: 'text'; text: string; mime: string }
  /** A document made of other content. */
  | { type: 'parts'; parts: Part[] }
  /** Media of an earlier answer, by its id. */
  | { type: 'reference'; id: string }

export type MediaPart = PartBase & {
  type: 'media'
  kind: 'image' | 'audio' | 'video' | 'document' | 'file'
  source: MediaSource
  filename?: string
  title?: string
  /** What the model is told about the document, beside its title. */
  context?: string
  /** How closely a picture is looked at. */
  detail?: 'auto' | 'low' | 'high' | 'original' | 'ultra_high'
  /** May the answer cite it? */
  citations?: { enabled?: boolean }
  /** The words of a recording. */
  transcript?: string
  /** The provider's own id of media in an answer. */
  id?: string
  /** Unix seconds. */
  expiresAt?: number
  video?: { startOffset?: string; endOffset?: string; fps?: number }
}

export type RefusalPart = PartBase & { type: 'refusal'; text: string; logprobs?: TokenLogprob[] }

export type ReasoningSegment = { kind: 'summary' | 'raw'; text: string }

export type ReasoningPart = PartBase & {
  type: 'reasoning'
  /** Empty when the provider shows none of it. */
  segments: ReasoningSegment[]
  /** Only the encrypted form exists. */
  redacted?: boolean
  id?: string
}

export type ToolCallPart = PartBase & {
  type: 'tool-call'
  /** Links call and result. `synthesized`: the wire gave none, the decoder made it. */
  id: string
  idOrigin?: 'wire' | 'synthesized'
  /** The container's own id where it differs from the linking one. */
  itemId?: string
  name: string
  namespace?: string
  kind: 'function' | 'freeform'
  /** Always the raw text: JSON for a function (possibly invalid or empty), free text otherwise. */
  input: string
  /** Who called the tool where it was not the model itself, as on the wire. */
  caller?: unknown
  /** The model goes on without waiting for the result. */
  async?: boolean
  /** The set of tools that the tool belongs to. */
  toolset?: string
  status?: string
}

export type ToolResultPart = PartBase & {
  type: 'tool-result'
  callId: string
  name?: string
  namespace?: string
  kind: 'function' | 'freeform'
  content: Part[]
  /** The object as the wire had it, where results are objects. */
  structured?: unknown
  isError?: boolean
  itemId?: string
  caller?: unknown
  toolset?: string
  status?: string
}

export type ServerToolKind =
  | 'web_search'
  | 'web_fetch'
  | 'code_execution'
  | 'file_search'
  | 'image_generation'
  | 'mcp'
  | 'mcp_list'
  | 'mcp_approval'
  | 'tool_search'
  | 'computer'
  | 'shell'
  | 'apply_patch'
  | 'text_editor'
  | 'memory'
  | 'maps'
  | 'url_context'
  | 'advisor'
  | 'program'
  | 'other'

/** A tool the provider ran itself, or its result. Never a call for the client to run. */
export type ServerToolPart = PartBase & {
  type: 'server-tool'
  phase: 'call' | 'result' | 'call+result'
  tool: ServerToolKind
  id: string
  /** Whose `raw` this is. */
  protocol: string
  raw: unknown
  /** The client has to answer this item before the model goes on. */
  awaitsClient?: boolean
  /** What a search for tools has found, as of a `tool-addition`. */
  tools?: Tool[]
  /** What it drew, for wires in which a picture is content. */
  picture?: MediaPart
}

export type SearchResultPart = PartBase & {
  type: 'search-result'
  source: string
  title: string
  parts: Part[]
  citations?: { enabled?: boolean }
}

/** Steers the conversation and carries no content of its own. */
export type ControlPart = PartBase & {
  type: 'control'
  control: 'compaction' | 'compaction-trigger' | 'tool-addition' | 'tool-removal' | 'configuration' | 'fallback' | 'container-upload' | 'item-reference'
  protocol: string
  raw: unknown
  /** What a `tool-addition` adds, for wires that have only the request's own list. */
  tools?: Tool[]
  /** What a `configuration` says of the effort from here on. */
  effort?: string
}

/** Something of a type this library does not know. */
export type OpaquePart = PartBase & { type: 'opaque'; protocol: string; raw: unknown }

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

export type Citation = {
  kind: 'url' | 'file' | 'document' | 'opaque'
  url?: string
  title?: string
  citedText?: string
  /** Offsets into the text of the answer, in Unicode code points; the end is exclusive. Absent: the whole part. */
  start?: number
  end?: number
  fileId?: string
  filename?: string
  /** Where a file stands that a tool of the provider made. */
  container?: string
  index?: number
  /** A place inside the cited source. */
  source?: { unit: 'char' | 'page' | 'block'; document: number; start: number; end: number }
  /** Opaque proof of a search hit, valid only for its issuer. */
  encrypted?: string
  protocol: string
  /** As it stood on the wire. */
  raw: unknown
}

export type TokenLogprob = Node & {
  token: string
  logprob: number
  /** UTF-8 bytes of the token; null when it has none, absent when not told. */
  bytes?: number[] | null
  /** What else could have stood there. */
  top?: Omit<TokenLogprob, 'top'>[]
}
