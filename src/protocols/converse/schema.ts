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
  wholeNumber,
} from '../../kit/schema/wire.ts'

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

// ---- errors and events

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/**
 * The body of an error response, and the payload of an exception in a stream. Some services write
 * `Message`.
 */
export const ConverseErrorResponse = z.union([
  z.looseObject({ message: string }),
  z.looseObject({ Message: string }),
])
export type ConverseErrorResponse = z.infer<typeof ConverseErrorResponse>

const index = { contentBlockIndex: wholeNumber }

/** The payload of each kind of event. */
const events = {
  messageStart: z.looseObject({ messageStart: z.looseObject({ role: string }) }),
  contentBlockStart: z.looseObject({
    contentBlockStart: z.looseObject({
      ...index,
      start: z.nullish(
        z.looseObject({
          toolUse: z.nullish(z.looseObject({ toolUseId: text, name: string, type: text })),
          toolResult: z.nullish(z.looseObject({ toolUseId: string, type: text, status: text })),
          image: z.nullish(z.looseObject({ format: text })),
        }),
      ),
    }),
  }),
  contentBlockDelta: z.looseObject({
    contentBlockDelta: z.looseObject({
      ...index,
      delta: z.looseObject({
        text,
        toolUse: z.nullish(z.looseObject({ input: string })),
        reasoningContent: z.nullish(
          z.looseObject({ text, signature: text, redactedContent: text }),
        ),
        citation: z.nullish(ConverseCitation),
        toolResult: z.nullish(z.array(ConverseBlock)),
        image: z.nullish(z.looseObject({ source: z.nullish(ConverseSource) })),
      }),
    }),
  }),
  contentBlockStop: z.looseObject({ contentBlockStop: z.looseObject(index) }),
  messageStop: z.looseObject({
    messageStop: z.looseObject({ stopReason: text, additionalModelResponseFields: anything }),
  }),
  metadata: z.looseObject({
    metadata: z.looseObject({
      usage: ConverseResponse.shape.usage,
      metrics: z.nullish(z.looseObject({ latencyMs: count })),
      trace: anyObject,
      performanceConfig: anyObject,
      serviceTier: z.nullish(z.looseObject({ type: text })),
    }),
  }),
  ping: z.looseObject({ ping: z.looseObject({}) }),
  internalServerException: z.looseObject({ internalServerException: ConverseErrorResponse }),
  modelStreamErrorException: z.looseObject({ modelStreamErrorException: ConverseErrorResponse }),
  validationException: z.looseObject({ validationException: ConverseErrorResponse }),
  throttlingException: z.looseObject({ throttlingException: ConverseErrorResponse }),
  serviceUnavailableException: z.looseObject({
    serviceUnavailableException: ConverseErrorResponse,
  }),
}

/**
 * An event of an unknown kind. An event of a known kind that does not match its schema is refused.
 */
const otherEvent = z
  .looseObject({})
  .check(others(event => !Object.keys(events).some(key => Object.hasOwn(event, key))))

/**
 * One event of a stream: its payload under its type, which is in the header `:event-type` or
 * `:exception-type` of the frame.
 */
export const ConverseStreamEvent = z.union([
  events.messageStart,
  events.contentBlockStart,
  events.contentBlockDelta,
  events.contentBlockStop,
  events.messageStop,
  events.metadata,
  events.ping,
  events.internalServerException,
  events.modelStreamErrorException,
  events.validationException,
  events.throttlingException,
  events.serviceUnavailableException,
  otherEvent,
])
export type ConverseStreamEvent = z.infer<typeof ConverseStreamEvent>
