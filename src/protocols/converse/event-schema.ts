import * as z from 'zod/mini'
import {
  anyObject,
  anything,
  count,
  others,
  string,
  text,
  wholeNumber,
} from '../../kit/schema/wire.ts'
import { ConverseBlock, ConverseCitation, ConverseResponse, ConverseSource } from './schema.ts'

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
const kinds = {
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
const other = z
  .looseObject({})
  .check(others(event => !Object.keys(kinds).some(key => Object.hasOwn(event, key))))

/**
 * One event of a stream: its payload under its type, which is in the header `:event-type` or
 * `:exception-type` of the frame.
 */
export const ConverseStreamEvent = z.union([
  kinds.messageStart,
  kinds.contentBlockStart,
  kinds.contentBlockDelta,
  kinds.contentBlockStop,
  kinds.messageStop,
  kinds.metadata,
  kinds.ping,
  kinds.internalServerException,
  kinds.modelStreamErrorException,
  kinds.validationException,
  kinds.throttlingException,
  kinds.serviceUnavailableException,
  other,
])
export type ConverseStreamEvent = z.infer<typeof ConverseStreamEvent>
