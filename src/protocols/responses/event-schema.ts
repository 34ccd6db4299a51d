import * as z from 'zod/mini'
import { count, number, open, string, text } from '../../kit/schema/wire.ts'
import { ResponsesContent, ResponsesError, ResponsesItem, ResponsesResponse } from './schema.ts'

// Only for users of the schemas: the decoder checks each event by hand, because it reports or
// repairs what these schemas refuse.

/** The body of an error response. Some servers send only a text. */
export const ResponsesErrorResponse = z.looseObject({ error: z.union([ResponsesError, string]) })
export type ResponsesErrorResponse = z.infer<typeof ResponsesErrorResponse>

const numbered = { sequence_number: count }
const item = { ...numbered, item_id: text, output_index: count }
const part = { ...item, content_index: count }
const segment = { ...part, summary_index: count }

/** The data of one event of a stream. `[DONE]` ends the streams of some servers. */
export const ResponsesStreamEvent = z.union([
  open([
    z.looseObject({
      type: z.literal(
        ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map(
          state => `response.${state}` as const,
        ),
      ),
      ...numbered,
      response: ResponsesResponse,
    }),
    z.looseObject({
      type: z.literal(['response.output_item.added', 'response.output_item.done']),
      ...numbered,
      output_index: count,
      item: ResponsesItem,
    }),
    z.looseObject({
      type: z.literal(['response.content_part.added', 'response.content_part.done']),
      ...part,
      part: ResponsesContent,
    }),
    z.looseObject({ type: z.literal('response.output_text.delta'), ...part, delta: string }),
    z.looseObject({ type: z.literal('response.output_text.done'), ...part, text: string }),
    z.looseObject({
      type: z.literal('response.output_text.annotation.added'),
      ...part,
      annotation_index: count,
      annotation: z.looseObject({ type: string }),
    }),
    z.looseObject({ type: z.literal('response.refusal.delta'), ...part, delta: string }),
    z.looseObject({ type: z.literal('response.refusal.done'), ...part, refusal: string }),
    z.looseObject({
      type: z.literal('response.function_call_arguments.delta'),
      ...item,
      delta: string,
    }),
    z.looseObject({
      type: z.literal('response.function_call_arguments.done'),
      ...item,
      name: text,
      arguments: z.union([string, z.looseObject({})]),
    }),
    z.looseObject({
      type: z.literal('response.custom_tool_call_input.delta'),
      ...item,
      delta: string,
    }),
    z.looseObject({
      type: z.literal('response.custom_tool_call_input.done'),
      ...item,
      input: string,
    }),
    z.looseObject({
      type: z.literal([
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_part.done',
      ]),
      ...segment,
      part: z.looseObject({ type: string, text }),
    }),
    z.looseObject({
      type: z.literal(['response.reasoning_text.delta', 'response.reasoning_summary_text.delta']),
      ...segment,
      delta: string,
    }),
    z.looseObject({
      type: z.literal(['response.reasoning_text.done', 'response.reasoning_summary_text.done']),
      ...segment,
      text: string,
    }),
    z.looseObject({
      type: z.literal('error'),
      ...numbered,
      message: text,
      code: z.nullish(z.union([string, number])),
      param: text,
      error: z.nullish(z.union([ResponsesError, string])),
    }),
  ]),
  z.literal('[DONE]'),
])
export type ResponsesStreamEvent = z.infer<typeof ResponsesStreamEvent>
