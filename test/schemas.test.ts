import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import type { Wire } from '../src/index.ts'
import * as schemas from '../src/schemas.ts'

const request: schemas.MessagesRequest = {
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Hello' }],
  x_trace: 'kept',
}

describe('the exported schemas', () => {
  test('are those of requests, responses, messages, tools, stream events and errors', () => {
    expect(Object.keys(schemas).toSorted()).toEqual(
      [
        ...[
          'ChatCompletionsChunk',
          'ChatCompletionsErrorResponse',
          'ChatCompletionsMessage',
          'ChatCompletionsRequest',
          'ChatCompletionsResponse',
        ],
        ...['ChatCompletionsStreamEvent', 'ChatCompletionsTool'],
        ...[
          'ConverseErrorResponse',
          'ConverseMessage',
          'ConverseRequest',
          'ConverseResponse',
          'ConverseStreamEvent',
          'ConverseTool',
        ],
        ...[
          'GenerateContentContent',
          'GenerateContentErrorResponse',
          'GenerateContentRequest',
          'GenerateContentResponse',
          'GenerateContentStreamEvent',
          'GenerateContentTool',
        ],
        ...[
          'MessagesErrorResponse',
          'MessagesMessage',
          'MessagesRequest',
          'MessagesResponse',
          'MessagesStreamEvent',
          'MessagesTool',
        ],
        ...[
          'ResponsesErrorResponse',
          'ResponsesItem',
          'ResponsesRequest',
          'ResponsesResponse',
          'ResponsesStreamEvent',
          'ResponsesTool',
        ],
      ].toSorted(),
    )
  })

  test.each([
    [
      'ChatCompletionsStreamEvent',
      schemas.ChatCompletionsStreamEvent,
      { choices: [{ index: 0, delta: { content: 5 } }] },
    ],
    [
      'ChatCompletionsErrorResponse',
      schemas.ChatCompletionsErrorResponse,
      { error: { type: 'server_error' } },
    ],
    [
      'ResponsesStreamEvent',
      schemas.ResponsesStreamEvent,
      { type: 'response.output_text.delta', delta: 5 },
    ],
    ['ResponsesErrorResponse', schemas.ResponsesErrorResponse, { message: 'Overloaded' }],
    [
      'MessagesStreamEvent',
      schemas.MessagesStreamEvent,
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } },
    ],
    [
      'MessagesErrorResponse',
      schemas.MessagesErrorResponse,
      { type: 'error', error: { type: 'overloaded_error' } },
    ],
    [
      'GenerateContentStreamEvent',
      schemas.GenerateContentStreamEvent,
      { candidates: [{ content: { parts: [{ text: 5 }] } }] },
    ],
    ['GenerateContentStreamEvent', schemas.GenerateContentStreamEvent, { error: 'Overloaded' }],
    [
      'GenerateContentErrorResponse',
      schemas.GenerateContentErrorResponse,
      { error: { code: '503' } },
    ],
    [
      'ConverseStreamEvent',
      schemas.ConverseStreamEvent,
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 5 } } },
    ],
    ['ConverseErrorResponse', schemas.ConverseErrorResponse, { message: 5 }],
  ] as const)('%s refuses a faulty value (%#)', (_, schema, event) => {
    expect(schema.safeParse(event).success).toBe(false)
  })

  test.each([
    [
      'ResponsesStreamEvent',
      schemas.ResponsesStreamEvent,
      { type: 'response.hologram.delta', x: 1 },
    ],
    ['MessagesStreamEvent', schemas.MessagesStreamEvent, { type: 'hologram', x: 1 }],
    ['ConverseStreamEvent', schemas.ConverseStreamEvent, { hologram: { x: 1 } }],
    [
      'MessagesStreamEvent',
      schemas.MessagesStreamEvent,
      { type: 'content_block_delta', index: 0, delta: { type: 'hologram_delta' } },
    ],
  ] as const)('%s accepts an unknown kind (%#)', (_, schema, event) => {
    expect(schema.parse(event)).toEqual(event)
  })

  test('have types that include what encoders write', () => {
    expectTypeOf<Wire['chat-completions']['event']>().toExtend<schemas.ChatCompletionsStreamEvent>()
    expectTypeOf<Wire['responses']['event']>().toExtend<schemas.ResponsesStreamEvent>()
    expectTypeOf<Wire['messages']['event']>().toExtend<schemas.MessagesStreamEvent>()
    expectTypeOf<Wire['generate-content']['event']>().toExtend<schemas.GenerateContentStreamEvent>()
    expectTypeOf<Wire['converse']['event']>().toExtend<schemas.ConverseStreamEvent>()
    expectTypeOf<
      Wire['chat-completions']['error']
    >().toExtend<schemas.ChatCompletionsErrorResponse>()
    expectTypeOf<Wire['responses']['error']>().toExtend<schemas.ResponsesErrorResponse>()
    expectTypeOf<Wire['messages']['error']>().toExtend<schemas.MessagesErrorResponse>()
    expectTypeOf<
      Wire['generate-content']['error']
    >().toExtend<schemas.GenerateContentErrorResponse>()
    expectTypeOf<Wire['converse']['error']>().toExtend<schemas.ConverseErrorResponse>()
  })

  test('work inside of the schemas of zod, with paths and types', () => {
    const Call = z.object({ tenant: z.string(), body: schemas.MessagesRequest })
    expect(Call.parse({ tenant: 't', body: request })).toEqual({ tenant: 't', body: request })
    const { error } = Call.safeParse({
      tenant: 't',
      body: { ...request, max_tokens: 1.5, messages: [{ role: 'user', content: 7 }] },
    })
    expect(error?.issues.map(({ path }) => path.slice(0, 4).join('.')).toSorted()).toEqual([
      'body.max_tokens',
      'body.messages.0',
    ])
    expect(error?.issues.find(({ path }) => path.includes('max_tokens'))?.message).toBe(
      'expected a whole number',
    )
    expectTypeOf<z.infer<typeof Call>['body']>().toEqualTypeOf<schemas.MessagesRequest>()
  })

  test('are extended by zod, and stay open', () => {
    const Own = z.looseObject({
      ...schemas.ChatCompletionsRequest.shape,
      model: z.enum(['fast', 'good']),
      team: z.string(),
    })
    const body = {
      model: 'fast',
      team: 'a',
      messages: [{ role: 'user', content: 'Hello' }],
      x_trace: 1,
    }
    expect(Own.parse(body)).toEqual(body)
    expect(Own.safeParse({ ...body, model: 'm' }).success).toBe(false)
    expectTypeOf<z.infer<typeof Own>['model']>().toEqualTypeOf<'fast' | 'good'>()
    const Limited = mini.extend(schemas.MessagesRequest, { max_tokens: z.int().max(100) })
    expect(Limited.safeParse(request).success).toBe(true)
    expect(Limited.safeParse({ ...request, max_tokens: 101 }).success).toBe(false)
  })

  test('take unknown kinds, and refuse a known kind with a fault', () => {
    const bodyWith = (block: object) => ({
      ...request,
      messages: [{ role: 'user', content: [block] }],
    })
    expect(schemas.MessagesRequest.safeParse(bodyWith({ type: 'hologram', x: 1 })).success).toBe(
      true,
    )
    expect(schemas.MessagesRequest.safeParse(bodyWith({ type: 'text' })).success).toBe(false)
  })

  test.each(Object.entries(schemas))(
    '%s is a Standard Schema, and has a JSON Schema',
    async (_, schema) => {
      const { version, vendor, validate } = schema['~standard']
      expect([version, vendor]).toEqual([1, 'zod'])
      expect(await validate(3)).toHaveProperty('issues')
      expect(z.toJSONSchema(schema, { unrepresentable: 'any' })).toHaveProperty('$schema')
    },
  )
})
