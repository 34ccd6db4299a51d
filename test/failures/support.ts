import { expect } from 'vitest'
import { createStreamTranslator, type TranslateOptions } from '../../src/api.ts'
import type { Note } from '../../src/canonical/note.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { isObject } from '../../src/testing/strict/faults.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf } from '../support/clients/index.ts'
import { type Covered, covered } from '../support/covered.ts'

export const pairs = covered.flatMap(from =>
  covered.filter(to => to !== from).map(to => ({ from, to })),
)

/** The protocols that are not this one. */
export const others = (from: Covered) => covered.filter(to => to !== from)

/**
 * What a user gets of a stream: its events, what the official client makes of it, and what was
 * noted.
 */
export type Reported = {
  text: string
  events: unknown[]
  notes: Note[]
  outcome: 'success' | 'failed' | 'cut'
  /** The official accumulator's response; rejects when the client throws. */
  response(): Promise<Record<string, unknown>>
}

/** A stream of one protocol in another. Whatever came, what goes out is legal. */
export function report(
  wires: unknown[] | string | Uint8Array[],
  options: TranslateOptions & { from: Covered; to: Covered },
): Reported {
  const translator = createStreamTranslator({ now: 1_760_000_000, ...options })
  const text =
    (Array.isArray(wires) ? wires : [wires])
      .map(wire => translator.push(written(wire, options.from)))
      .join('') + translator.end()
  const events = framesOf(text).map(({ wire }) => wire)
  const strict = strictOf(options.to)
  expect(strict.checkStream(events)).toEqual([])
  return {
    text,
    events,
    notes: translator.notes,
    outcome: strict.outcome(events),
    response: async () => (await clientOf(options.to).foldStream(text)) as Record<string, unknown>,
  }
}

const written = (wire: unknown, from: Covered): string | Uint8Array => {
  if (wire === '[DONE]') return 'data: [DONE]\n\n'
  if (typeof wire === 'string' || wire instanceof Uint8Array) return wire
  return protocols[from].frames.write(wire)
}

/** The types of named events in order, repeats in a row once. */
export function typesOf(events: unknown[]): string[] {
  const types = events.map(event =>
    isObject(event) && typeof event['type'] === 'string' ? event['type'] : String(event),
  )
  return types.filter((type, i) => type !== types[i - 1])
}

/** One frame of a generate-content stream. */
export const frame = (parts: object[], finishReason?: string, more: object = {}) => ({
  candidates: [
    { index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) },
  ],
  modelVersion: 'm-7',
  responseId: 'r7',
  ...more,
})

export const generatedResponse = (parts: object[], finishReason = 'STOP', more: object = {}) =>
  frame(parts, finishReason, {
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 4, totalTokenCount: 16 },
    ...more,
  })

/** The notes as `kind path code`. */
export const shown = (notes: Note[]) =>
  notes.map(({ kind, path, code }) => `${kind} ${path} ${code}`)

export const done = '[DONE]'

/** One chunk of a chat stream. */
export const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-7',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'm-7',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})

export const chatUsage = (prompt: number, completion: number, more: object = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
})

/** The chunk after the last one, which holds nothing but the counts. */
export const usageChunk = (usage: object) => ({ ...chunk({}), choices: [], usage })

/** A chunk of a call in a chat stream. */
export const part = (index: number, args: string, head?: { id: string; name: string }) =>
  chunk({
    tool_calls: [
      {
        index,
        ...(head && { id: head.id, type: 'function' }),
        function: { ...(head && { name: head.name }), arguments: args },
      },
    ],
  })

export const chatResponse = (message: object, finish: string, more: object = {}) => ({
  id: 'chatcmpl-7',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'm-7',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, refusal: null, ...message },
      finish_reason: finish,
      logprobs: null,
    },
  ],
  usage: chatUsage(12, 4),
  ...more,
})

export const messagesResponse = (content: object[], stop: string, more: object = {}) => ({
  id: 'msg_7',
  type: 'message',
  role: 'assistant',
  model: 'm-7',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 4 },
  ...more,
})

export const begun = (usage: object = { input_tokens: 12, output_tokens: 1 }, id = 'msg_7') => ({
  type: 'message_start',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model: 'm-7',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
})

export const ended = (stop: string, usage: object = { output_tokens: 4 }) => [
  { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
  { type: 'message_stop' },
]

/** A block of a messages stream: its head, its deltas, its end. */
export const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

export const textBlock = (index: number, ...chunks: string[]) =>
  block(index, { type: 'text', text: '' }, ...chunks.map(text => ({ type: 'text_delta', text })))

export const toolBlock = (index: number, id: string, name: string, ...chunks: string[]) =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} },
    ...chunks.map(partial_json => ({ type: 'input_json_delta', partial_json })),
  )

export const responsesUsage = (
  input: number,
  output: number,
  { cached = 0, written: cache_write_tokens = 0, reasoning = 0 } = {},
) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
})

export const responsesResponse = (output: object[], more: object = {}) => ({
  id: 'resp_7',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'm-7',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage: responsesUsage(12, 4),
  ...more,
})

/** A responses stream: `created`, these events and the terminal one, numbered. */
export const responsesStream = (
  events: object[],
  end: object | undefined,
  type = 'response.completed',
) =>
  [
    {
      type: 'response.created',
      response: { ...responsesResponse([], { status: 'in_progress' }), usage: null },
    },
    ...events,
    ...(end ? [{ type, response: end }] : []),
  ].map((event, sequence_number) => ({ ...event, sequence_number }))

export const messageItem = (text: string, more: object = {}) => ({
  type: 'message',
  id: 'msg_7',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  ...more,
})

export const callItem = (call_id: string, name: string, args: string, id = `fc_${call_id}`) => ({
  type: 'function_call',
  id,
  call_id,
  name,
  arguments: args,
  status: 'completed',
})

/** The events of a message with one text, as their own server sends them. */
export const textEvents = (output_index: number, text: string, id = 'msg_7') => {
  const at = { output_index, content_index: 0, item_id: id }
  const item = messageItem(text, { id })
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      ...at,
      part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
    },
    { type: 'response.output_text.delta', ...at, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: item.content[0] },
    { type: 'response.output_item.done', output_index, item },
  ]
}

/** The events of a call; without chunks its arguments come only at the end. */
export const callEvents = (
  output_index: number,
  item: ReturnType<typeof callItem>,
  ...chunks: string[]
) => [
  {
    type: 'response.output_item.added',
    output_index,
    item: { ...item, arguments: '', status: 'in_progress' },
  },
  ...chunks.map(delta => ({
    type: 'response.function_call_arguments.delta',
    output_index,
    item_id: item.id,
    delta,
  })),
  {
    type: 'response.function_call_arguments.done',
    output_index,
    item_id: item.id,
    name: item.name,
    arguments: item.arguments,
  },
  { type: 'response.output_item.done', output_index, item },
]
