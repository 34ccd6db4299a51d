import * as z from 'zod/mini'
import { count, open, string, text, wholeNumber } from '../../kit/schema/wire.ts'
import { MessagesBlock, MessagesResponse } from './schema.ts'

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/** The body of an error response, and the last event of a failed stream. */
export const MessagesErrorResponse = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({ type: string, message: string }),
  request_id: text,
})
export type MessagesErrorResponse = z.infer<typeof MessagesErrorResponse>

const delta = open([
  z.looseObject({ type: z.literal('text_delta'), text: string }),
  z.looseObject({ type: z.literal('input_json_delta'), partial_json: string }),
  z.looseObject({ type: z.literal('thinking_delta'), thinking: string }),
  z.looseObject({ type: z.literal('signature_delta'), signature: string }),
  z.looseObject({ type: z.literal('citations_delta'), citation: z.looseObject({ type: string }) }),
])

/** The data of one event of a stream. */
export const MessagesStreamEvent = open([
  z.looseObject({ type: z.literal('message_start'), message: MessagesResponse }),
  z.looseObject({
    type: z.literal('content_block_start'),
    index: wholeNumber,
    content_block: MessagesBlock,
  }),
  z.looseObject({ type: z.literal('content_block_delta'), index: wholeNumber, delta }),
  z.looseObject({ type: z.literal('content_block_stop'), index: wholeNumber }),
  z.looseObject({
    type: z.literal('message_delta'),
    delta: z.looseObject({
      stop_reason: text,
      stop_sequence: text,
      stop_details: z.nullish(z.looseObject({})),
    }),
    usage: z.nullish(
      z.looseObject({
        input_tokens: count,
        output_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count,
      }),
    ),
  }),
  z.looseObject({ type: z.literal('message_stop') }),
  z.looseObject({ type: z.literal('ping') }),
  MessagesErrorResponse,
])
export type MessagesStreamEvent = z.infer<typeof MessagesStreamEvent>
