import * as z from 'zod/mini'
import {
  anyObject,
  anything,
  boolean,
  count,
  flag,
  number,
  others,
  string,
  text,
  texts,
  unknown,
  whole,
} from '../../kit/schema/wire.ts'
import type { Written } from '../../kit/schema/written.ts'

/**
 * Shapes as in the public reference of Amazon Bedrock Converse; loose, because a new field must
 * never break an old client.
 */

const texted = z.looseObject({ text })
const enabled = z.nullish(z.looseObject({ enabled: flag }))
const cachePoint = z.looseObject({ type: text, ttl: anything })

/** Where media are: their bytes in base64, an object of S3, or, of documents, text. */
export const ConverseSource = z.looseObject({
  bytes: text,
  s3Location: z.nullish(z.looseObject({ uri: string, bucketOwner: text })),
  text,
  content: z.nullish(z.array(texted)),
})
export type ConverseSource = z.infer<typeof ConverseSource>

const image = z.looseObject({ format: text, source: z.nullish(ConverseSource) })
const document = z.looseObject({
  format: text,
  name: text,
  source: z.nullish(ConverseSource),
  context: text,
  citations: enabled,
})

const place = z.nullish(
  z.looseObject({
    documentIndex: count,
    searchResultIndex: count,
    start: count,
    end: count,
  }),
)
export const ConverseCitation = z.looseObject({
  title: text,
  source: text,
  sourceContent: z.nullish(z.array(texted)),
  location: z.nullish(
    z.looseObject({
      web: z.nullish(z.looseObject({ url: text, domain: text })),
      documentChar: place,
      documentPage: place,
      documentChunk: place,
      searchResultLocation: place,
    }),
  ),
})
export type ConverseCitation = z.infer<typeof ConverseCitation>

/** A JSON value other than null, which means absence. */
const json = z.union([z.record(string, unknown), z.array(unknown), string, number, boolean])

/** Blocks inside blocks. The type annotation ends the recursion of types. */
const blocks = z.nullish(z.array(z.lazy((): z.ZodMiniType<ConverseBlock> => ConverseBlock)))

/** What a block of each kind holds under the key of its kind. */
const kinds = {
  text: z.looseObject({ text: string }),
  image: z.looseObject({ image }),
  document: z.looseObject({ document }),
  video: z.looseObject({ video: image }),
  audio: z.looseObject({ audio: image }),
  toolUse: z.looseObject({
    toolUse: z.looseObject({
      toolUseId: text,
      name: string,
      input: anything,
      type: text,
    }),
  }),
  toolResult: z.looseObject({
    toolResult: z.looseObject({
      toolUseId: string,
      content: blocks,
      status: text,
      type: text,
    }),
  }),
  reasoningContent: z.looseObject({
    reasoningContent: z.looseObject({
      reasoningText: z.nullish(z.looseObject({ text, signature: text })),
      redactedContent: text,
    }),
  }),
  cachePoint: z.looseObject({ cachePoint }),
  guardContent: z.looseObject({ guardContent: z.looseObject({}) }),
  citationsContent: z.looseObject({
    citationsContent: z.looseObject({
      content: z.nullish(z.array(texted)),
      citations: z.nullish(z.array(ConverseCitation)),
    }),
  }),
  searchResult: z.looseObject({
    searchResult: z.looseObject({
      source: string,
      title: string,
      content: z.nullish(z.array(texted)),
      citations: enabled,
    }),
  }),
  json: z.looseObject({ json }),
  toolAddition: z.looseObject({ toolAddition: z.looseObject({}) }),
  toolRemoval: z.looseObject({ toolRemoval: z.looseObject({}) }),
}
type Kinds = { [Key in keyof typeof kinds]: z.infer<(typeof kinds)[Key]> }

/** The kind of a block is its key. */
export type ConverseKind = keyof Kinds

/** A block of any kind, as it is on the wire. */
export type ConverseBlock = { [key: string]: unknown }
export type ConverseBlockOf<Key extends ConverseKind> = Kinds[Key]
/** What a block of this kind holds. */
export type ConverseInside<Key extends ConverseKind & keyof Kinds[Key]> = Kinds[Key][Key]

/**
 * A block of an unknown kind. A block of a known kind that does not match its schema is refused.
 */
const other = z
  .looseObject({})
  .check(
    others(
      block => !Object.keys(kinds).some(key => Object.hasOwn(block, key) && block[key] != null),
    ),
  )

export const ConverseBlock = z.union([
  kinds.text,
  kinds.toolUse,
  kinds.toolResult,
  kinds.reasoningContent,
  kinds.image,
  kinds.document,
  kinds.video,
  kinds.audio,
  kinds.cachePoint,
  kinds.guardContent,
  kinds.citationsContent,
  kinds.searchResult,
  kinds.json,
  kinds.toolAddition,
  kinds.toolRemoval,
  other,
])

/** Only for blocks that `ConverseBlock` has checked. */
export function isBlockOf<Key extends ConverseKind>(
  block: ConverseBlock,
  key: Key,
): block is ConverseBlockOf<Key> & ConverseBlock {
  return block[key] != null
}

/** A message of a request or response. */
export const ConverseMessage = z.looseObject({
  role: z.literal(['user', 'assistant', 'system']),
  content: z.nullish(z.array(ConverseBlock)),
})
export type ConverseMessage = z.infer<typeof ConverseMessage>

const toolSpec = z.looseObject({
  name: string,
  description: text,
  inputSchema: z.nullish(z.looseObject({ json: anyObject })),
  strict: flag,
})
export type ConverseToolSpec = z.infer<typeof toolSpec>

/** A function, a tool of the provider, or a cache point behind the tools before it. */
export const ConverseTool = z.looseObject({
  toolSpec: z.nullish(toolSpec),
  systemTool: z.nullish(z.looseObject({ name: text })),
  cachePoint: z.nullish(cachePoint),
})
export type ConverseTool = z.infer<typeof ConverseTool>

export const ConverseToolChoice = z.looseObject({
  auto: anyObject,
  any: anyObject,
  tool: z.nullish(z.looseObject({ name: text })),
})
export type ConverseToolChoice = z.infer<typeof ConverseToolChoice>

export const ConverseTextFormat = z.looseObject({
  type: text,
  structure: z.nullish(
    z.looseObject({
      jsonSchema: z.nullish(z.looseObject({ schema: text, name: text, description: text })),
    }),
  ),
})
export type ConverseTextFormat = z.infer<typeof ConverseTextFormat>

/**
 * Body of POST /model/{modelId}/converse and /converse-stream. The model is in the path; SDK inputs
 * have it as `modelId`.
 */
export const ConverseRequest = z.looseObject({
  modelId: text,
  messages: z.nullish(z.array(ConverseMessage)),
  system: z.nullish(z.array(ConverseBlock)),
  inferenceConfig: z.nullish(
    z.looseObject({
      maxTokens: whole,
      temperature: count,
      topP: count,
      stopSequences: texts,
    }),
  ),
  toolConfig: z.nullish(
    z.looseObject({
      tools: z.nullish(z.array(ConverseTool)),
      toolChoice: z.nullish(ConverseToolChoice),
    }),
  ),
  outputConfig: z.nullish(
    z.looseObject({ textFormat: z.nullish(ConverseTextFormat), effort: text }),
  ),
  /** Fields of the model's own API. */
  additionalModelRequestFields: anything,
  additionalModelResponseFieldPaths: texts,
  guardrailConfig: anyObject,
  performanceConfig: z.nullish(z.looseObject({ latency: text })),
  promptVariables: anyObject,
  requestMetadata: z.nullish(z.record(string, string)),
  serviceTier: z.nullish(z.looseObject({ type: text })),
})
export type ConverseRequest = z.infer<typeof ConverseRequest>

// ---- responses

export const ConverseUsage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  cacheReadInputTokens: count,
  cacheWriteInputTokens: count,
  cacheDetails: z.nullish(z.array(z.looseObject({ ttl: text, inputTokens: count }))),
  serverToolUsage: anyObject,
})
export type ConverseUsage = z.infer<typeof ConverseUsage>

/** A response that is not streamed. It has no id, no model and no time. */
export const ConverseResponse = z.looseObject({
  output: z.looseObject({
    message: z.nullish(z.looseObject({ role: text, content: z.nullish(z.array(ConverseBlock)) })),
  }),
  stopReason: text,
  usage: z.nullish(ConverseUsage),
  metrics: z.nullish(z.looseObject({ latencyMs: count })),
  additionalModelResponseFields: anything,
  trace: anyObject,
  performanceConfig: z.nullish(z.looseObject({ latency: text })),
  serviceTier: z.nullish(z.looseObject({ type: text })),
})
export type ConverseResponse = z.infer<typeof ConverseResponse>

// ---- what is written

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
  Written<ConverseRequest>,
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
export type ConverseEvent =
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
  event: ConverseEvent
  error: ConverseErrorBody
}
