import type { Part } from '../../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { Candidate, CanonicalResponse } from '../../../src/canonical/response.ts'

/** The smallest bodies of each wire, to which an example adds what it shows. */

export const user = { role: 'user', content: 'hi' }
export const parameters = { type: 'object', properties: {} }
export const png = 'iVBORw0KGgo='
export const seal = 'c2VhbGVk'

export const chat = {
  request: (body: object) => ({ model: 'm', max_completion_tokens: 50, messages: [user], ...body }),
  says: (...messages: object[]) => ({ model: 'm', max_completion_tokens: 50, messages }),
  tool: (name: string, more: object = {}) => ({
    type: 'function',
    function: { name, parameters },
    ...more,
  }),
  call: (id: string, input: string, name = 'look') => ({
    id,
    type: 'function',
    function: { name, arguments: input },
  }),
  response: (message: object, choice: object = {}, body: object = {}) => ({
    id: 'c1',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, ...message },
        finish_reason: 'stop',
        logprobs: null,
        ...choice,
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    ...body,
  }),
  chunk: (delta: object, choice: object = {}, body: object = {}) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...body,
  }),
}

export const items = {
  request: (body: object) => ({ model: 'm', max_output_tokens: 50, input: 'hi', ...body }),
  says: (...input: object[]) => ({ model: 'm', max_output_tokens: 50, input }),
  tool: (name: string, more: object = {}) => ({
    type: 'function',
    name,
    parameters,
    strict: false,
    ...more,
  }),
  call: (id: string, input: string, name = 'look') => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: input,
  }),
  result: (id: string, output: unknown = 'done') => ({
    type: 'function_call_output',
    call_id: id,
    output,
  }),
  text: (text: string, more: object = {}) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], ...more }],
  }),
  response: (output: object[], body: object = {}) => ({
    id: 'resp_1',
    object: 'response',
    model: 'm',
    status: 'completed',
    output,
    usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
    ...body,
  }),
  /** The events of a stream of one text, before and after its deltas. */
  get opening() {
    return [
      {
        type: 'response.created',
        response: items.response([], { status: 'in_progress', usage: null, created_at: 1 }),
      },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', role: 'assistant', content: [] },
      },
      {
        type: 'response.content_part.added',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
    ]
  },
  ending: (text: string) => [
    { type: 'response.output_text.done', output_index: 0, content_index: 0, text },
    {
      type: 'response.content_part.done',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text, annotations: [] },
    },
    { type: 'response.output_item.done', output_index: 0, item: items.text(text) },
    { type: 'response.completed', response: items.response([items.text(text)], { created_at: 1 }) },
  ],
}

export const blocks = {
  request: (body: object) => ({ model: 'm', max_tokens: 50, messages: [user], ...body }),
  says: (...messages: object[]) => ({ model: 'm', max_tokens: 50, messages }),
  tool: (name: string, more: object = {}) => ({ name, input_schema: parameters, ...more }),
  call: (id: string, input: object = { a: 1 }, name = 'look') => ({
    type: 'tool_use',
    id,
    name,
    input,
  }),
  result: (id: string, content: unknown = 'done', more: object = {}) => ({
    type: 'tool_result',
    tool_use_id: id,
    content,
    ...more,
  }),
  response: (content: object[], body: object = {}) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 2 },
    ...body,
  }),
  /** The events of a stream: `inside` is between the start of the message and its end. */
  stream: (inside: unknown[], stop: object = {}, message: object = {}) => [
    { type: 'message_start', message: { ...blocks.response([]), stop_reason: null, ...message } },
    ...inside,
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, ...stop },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  ],
  block: (index: number, start: object, ...deltas: object[]) => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ],
}

/** Functions with such a schema can be strict. */
const closed = { type: 'object', properties: {}, additionalProperties: false }

export const gemini = {
  response: (parts: object[], body: object = {}, candidate: object = {}) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts }, finishReason: 'STOP', ...candidate },
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
    modelVersion: 'm',
    responseId: 'r1',
    createTime: '2026-01-01T00:00:00Z',
    ...body,
  }),
  request: (body: object) => ({
    model: 'm',
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 50 },
    ...body,
  }),
  says: (...contents: object[]) => ({
    model: 'm',
    contents,
    generationConfig: { maxOutputTokens: 50 },
  }),
  brokenWithImage: (model = 'm') => ({
    ...gemini.says(
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'c1',
              name: 'look',
              response: { error: 'broken' },
              parts: [{ inlineData: { mimeType: 'image/png', data: png } }],
            },
          },
        ],
      },
    ),
    model,
  }),
  heldToSchemas: () =>
    gemini.request({
      tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: closed }] }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    }),
  oneWord: () =>
    gemini.request({
      generationConfig: {
        maxOutputTokens: 50,
        responseMimeType: 'text/x.enum',
        responseSchema: { type: 'STRING', enum: ['yes', 'no'] },
      },
    }),
}

/** What no wire of the registry says, but the model can hold. */
export const canonical = {
  response: (
    parts: Part[],
    candidate: Partial<Candidate> = {},
    response: Partial<CanonicalResponse> = {},
  ): CanonicalResponse => ({
    id: 'r1',
    model: 'm',
    candidates: [
      {
        index: 0,
        at: '/candidates/0',
        messages: [{ role: 'assistant', origin: 'message', parts }],
        finish: { reason: 'stop' },
        ...candidate,
      },
    ],
    usage: { input: 5, output: 2 },
    ...response,
  }),
  request: (parts: Part[], request: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
    model: 'm',
    maxOutputTokens: 50,
    messages: [{ role: 'user', origin: 'message', parts }],
    ...request,
  }),
}

export const overloaded = {
  status: 529,
  headers: {},
  body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
}
export const detailed = {
  status: 400,
  headers: {},
  body: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'No.', details: { limit: 3 } },
  },
}
