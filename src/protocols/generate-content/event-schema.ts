import * as z from 'zod/mini'
import { count, others, text } from '../../kit/schema/wire.ts'
import { GenerateContentResponse } from './schema.ts'

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/** The body of an error response, and the last event of a failed stream. */
export const GenerateContentErrorResponse = z.looseObject({
  error: z.looseObject({
    code: count,
    message: text,
    status: text,
    details: z.nullish(z.array(z.looseObject({}))),
  }),
})
export type GenerateContentErrorResponse = z.infer<typeof GenerateContentErrorResponse>

/** The data of one event of a stream: a response with what is new, or an error. */
export const GenerateContentStreamEvent = z.union([
  GenerateContentErrorResponse,
  GenerateContentResponse.check(others(event => event['error'] == null)),
])
export type GenerateContentStreamEvent = z.infer<typeof GenerateContentStreamEvent>
