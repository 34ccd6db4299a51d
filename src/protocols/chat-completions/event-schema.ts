import * as z from 'zod/mini'
import { anything, count, number, string, text } from '../../kit/schema/wire.ts'
import { ChatCompletionsAssistantMessage } from './schema.ts'

// Only for users of the schemas: the decoder checks each chunk by hand, because it reports or
// repairs what these schemas refuse.

/**
 * The body of an error response, and the last event of a failed stream. Some servers send only a
 * text.
 */
export const ChatCompletionsErrorResponse = z.looseObject({
  error: z.union([
    z.looseObject({
      message: string,
      type: text,
      param: text,
      code: z.nullish(z.union([string, number])),
    }),
    string,
  ]),
})
export type ChatCompletionsErrorResponse = z.infer<typeof ChatCompletionsErrorResponse>

/** The first delta of a call has its name. Later ones have only further arguments. */
const callDelta = z.looseObject({
  index: count,
  id: text,
  type: text,
  function: z.nullish(z.looseObject({ name: text, arguments: anything })),
  custom: z.nullish(z.looseObject({ name: text, input: text })),
})

const delta = z.looseObject({
  ...ChatCompletionsAssistantMessage.shape,
  role: text,
  tool_calls: z.nullish(z.array(callDelta)),
  function_call: z.nullish(z.looseObject({ name: text, arguments: anything })),
})

const usage = z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count })

/** A chunk: the data of an event that is neither an error nor the end. */
export const ChatCompletionsChunk = z.looseObject({
  id: text,
  object: anything,
  created: anything,
  model: text,
  choices: z.array(
    z.looseObject({
      index: count,
      delta: z.nullish(delta),
      finish_reason: text,
      logprobs: anything,
    }),
  ),
  usage: z.nullish(usage),
  service_tier: text,
})
export type ChatCompletionsChunk = z.infer<typeof ChatCompletionsChunk>

/** The data of one event of a stream: a chunk, an error, or the text that ends the stream. */
export const ChatCompletionsStreamEvent = z.union([
  ChatCompletionsErrorResponse,
  ChatCompletionsChunk,
  z.literal('[DONE]'),
])
export type ChatCompletionsStreamEvent = z.infer<typeof ChatCompletionsStreamEvent>
