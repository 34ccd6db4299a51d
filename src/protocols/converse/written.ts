import type { AsSdk } from '../../kit/schema/sdk-types.ts'
import type { Written } from '../../kit/schema/written.ts'
import type * as read from './schema.ts'

export type ConverseWrittenSource = {
  bytes?: string
  s3Location?: { uri: string; bucketOwner?: string | undefined }
  text?: string
  content?: { text: string }[]
}
export type ConverseWrittenMedia = {
  format?: string | undefined
  source?: ConverseWrittenSource | undefined
}
export type ConverseWrittenDocument = ConverseWrittenMedia & {
  name?: string | undefined
  context?: string | undefined
  citations?: { enabled?: boolean } | undefined
}
export type ConverseWrittenCall = {
  toolUseId: string
  name: string
  input: unknown
  type?: string | undefined
}
export type ConverseWrittenResult = {
  toolUseId: string
  content: ConverseWrittenBlock[]
  status?: string | undefined
  type?: string | undefined
}
export type ConverseWrittenReasoning = {
  reasoningText?: { text: string; signature?: string | undefined }
  redactedContent?: string
}
export type ConversePoint = { type: 'default'; ttl?: string }
export type ConverseWrittenPlace = {
  documentIndex?: number
  searchResultIndex?: number
  start: number
  end: number
}
export type ConverseWrittenCitation = {
  title?: string | undefined
  source?: string | undefined
  sourceContent?: { text: string }[] | undefined
  location?: {
    web?: { url: string; domain?: string | undefined }
    documentChar?: ConverseWrittenPlace
    documentPage?: ConverseWrittenPlace
    documentChunk?: ConverseWrittenPlace
    searchResultLocation?: ConverseWrittenPlace
  }
}

/** A block of a request or response. Its kind is the key that it has, so all are optional. */
export type ConverseWrittenBlock = {
  text?: string
  image?: ConverseWrittenMedia
  document?: ConverseWrittenDocument
  video?: ConverseWrittenMedia
  audio?: ConverseWrittenMedia
  toolUse?: ConverseWrittenCall
  toolResult?: ConverseWrittenResult
  reasoningContent?: ConverseWrittenReasoning
  cachePoint?: ConversePoint
  citationsContent?: {
    content?: { text: string }[]
    citations: ConverseWrittenCitation[]
  }
  searchResult?: {
    source: string
    title: string
    content: { text: string }[]
    citations?: { enabled?: boolean } | undefined
  }
  json?: unknown
}

export type ConverseWrittenMessage = {
  role: 'user' | 'assistant' | 'system'
  content: ConverseWrittenBlock[]
}

export type ConverseWrittenTool = {
  toolSpec?: {
    name: string
    description?: string | undefined
    inputSchema: { json: unknown }
    strict?: boolean | undefined
  }
  systemTool?: { name: string }
  cachePoint?: ConversePoint
}
export type ConverseWrittenToolChoice = {
  auto?: object
  any?: object
  tool?: { name: string }
}
export type ConverseWrittenFormat = {
  type: 'json_schema'
  structure: {
    jsonSchema: {
      schema: string
      name?: string | undefined
      description?: string | undefined
    }
  }
}

/** The body of a request. */
export type ConverseBody = Omit<
  Written<read.ConverseRequest>,
  'messages' | 'system' | 'toolConfig' | 'outputConfig' | 'additionalModelRequestFields'
> & {
  messages?: ConverseWrittenMessage[] | undefined
  system?: ConverseWrittenBlock[] | undefined
  toolConfig?:
    | {
        tools?: ConverseWrittenTool[] | undefined
        toolChoice?: ConverseWrittenToolChoice | undefined
      }
    | undefined
  outputConfig?:
    | {
        textFormat?: ConverseWrittenFormat | undefined
        effort?: string | undefined
      }
    | undefined
  additionalModelRequestFields?: unknown
}

export type ConverseWrittenUsage = {
  inputTokens: number
  outputTokens: number
  totalTokens: number
  cacheReadInputTokens?: number | undefined
  cacheWriteInputTokens?: number | undefined
  cacheDetails?: { ttl: string; inputTokens: number }[] | undefined
  serverToolUsage?: unknown
}

/** How a response ends. */
export type ConverseStop = {
  stopReason: string
  additionalModelResponseFields?: unknown
}

/** What a response says apart from its message; also the last event of a stream. */
export type ConverseMetadata = {
  usage: ConverseWrittenUsage
  metrics: { latencyMs: number }
  trace?: unknown
  performanceConfig?: unknown
  serviceTier?: { type: string } | undefined
}

/** A whole response. */
export type ConverseWrittenResponse = {
  output: { message: { role: 'assistant'; content: ConverseWrittenBlock[] } }
} & ConverseStop &
  ConverseMetadata

/**
 * The body of an error. The name of the exception is in the header `x-amzn-errortype`, or, of a
 * stream, in that of the frame.
 */
export type ConverseErrorBody = {
  message: string
  originalStatusCode?: number | undefined
  originalMessage?: string | undefined
  resourceName?: string | undefined
}

/** What a delta adds to its block. */
export type ConverseDelta = {
  text?: string
  toolUse?: { input: string }
  reasoningContent?: {
    text?: string
    signature?: string
    redactedContent?: string
  }
  citation?: ConverseWrittenCitation
  toolResult?: ConverseWrittenBlock[]
  image?: { source?: ConverseWrittenSource }
}

/** What the start of a block says. Text and reasoning have no start. */
export type ConverseStart = {
  toolUse?: { toolUseId: string; name: string; type?: string | undefined }
  toolResult?: {
    toolUseId: string
    type?: string | undefined
    status?: string | undefined
  }
  image?: { format: string }
}

/** Names of the exceptions that a stream may end with, as they are in the header of the frame. */
export type ConverseStreamException =
  | 'internalServerException'
  | 'modelStreamErrorException'
  | 'validationException'
  | 'throttlingException'
  | 'serviceUnavailableException'

/**
 * An event of a stream: its payload under its type. `p`, which only pads the frame, is not part of
 * it.
 */
export type ConverseWrittenEvent =
  | { messageStart: { role: 'assistant' } }
  | { contentBlockStart: { contentBlockIndex: number; start: ConverseStart } }
  | { contentBlockDelta: { contentBlockIndex: number; delta: ConverseDelta } }
  | { contentBlockStop: { contentBlockIndex: number } }
  | { messageStop: ConverseStop }
  | { metadata: ConverseMetadata }
  | { ping: Record<string, never> }
  | { [Name in ConverseStreamException]?: ConverseErrorBody }

/** What the encoders of this protocol write. */
export type ConverseWire = {
  request: ConverseBody
  response: ConverseWrittenResponse | ConverseErrorBody
  event: ConverseWrittenEvent
  error: ConverseErrorBody
}

// ---- as the official SDK has it

/** A request of converse that wireglot writes. */
export interface ConverseRequest extends AsSdk<ConverseWire['request']> {}

/** A complete response of converse that wireglot writes, or the body of an error. */
export type ConverseResponse = AsSdk<ConverseWire['response']>

/** The data of an event of converse that wireglot writes. */
export type ConverseEvent = AsSdk<ConverseWire['event']>

/** The body of an error of converse. */
export type ConverseError = AsSdk<ConverseWire['error']>

/** The bodies on the wire. The official SDK has bytes where these have base64. */
export type ConverseSdk = {
  request: ConverseRequest
  response: ConverseResponse
  event: ConverseEvent
  error: ConverseError
}
