import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import * as schemas from '../src/schemas.ts'

const request: schemas.MessagesRequest = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], x_trace: 'kept' }

describe('the exported schemas', () => {
  test('are the ones of requests, responses, messages and tools', () => {
    expect(Object.keys(schemas).toSorted()).toEqual(
      [
        ...['ChatCompletionsMessage', 'ChatCompletionsRequest', 'ChatCompletionsResponse', 'ChatCompletionsTool'],
        ...['GeminiContent', 'GeminiRequest', 'GeminiResponse', 'GeminiTool'],
        ...['MessagesMessage', 'MessagesRequest', 'MessagesResponse', 'MessagesTool'],
        ...['ResponsesItem', 'ResponsesRequest', 'ResponsesResponse', 'ResponsesTool'],
      ].toSorted(),
    )
  })

  test('work inside of the schemas of zod, with paths and types', () => {
    const Call = z.object({ tenant: z.string(), body: schemas.MessagesRequest })
    expect(Call.parse({ tenant: 't', body: request })).toEqual({ tenant: 't', body: request })
    const { error } = Call.safeParse({ tenant: 't', body: { ...request, max_tokens: 1.5, messages: [{ role: 'user', content: 7 }] } })
    expect(error?.issues.map(({ path }) => path.slice(0, 4).join('.')).toSorted()).toEqual(['body.max_tokens', 'body.messages.0'])
    expect(error?.issues.find(({ path }) => path.includes('max_tokens'))?.message).toBe('expected a whole number')
    expectTypeOf<z.infer<typeof Call>['body']>().toEqualTypeOf<schemas.MessagesRequest>()
  })

  test('are extended by zod, and stay open', () => {
    const Own = z.looseObject({ ...schemas.ChatCompletionsRequest.shape, model: z.enum(['fast', 'good']), team: z.string() })
    const body = { model: 'fast', team: 'a', messages: [{ role: 'user', content: 'Hello' }], x_trace: 1 }
    expect(Own.parse(body)).toEqual(body)
    expect(Own.safeParse({ ...body, model: 'm' }).success).toBe(false)
    expectTypeOf<z.infer<typeof Own>['model']>().toEqualTypeOf<'fast' | 'good'>()
    const Limited = mini.extend(schemas.MessagesRequest, { max_tokens: z.int().max(100) })
    expect(Limited.safeParse(request).success).toBe(true)
    expect(Limited.safeParse({ ...request, max_tokens: 101 }).success).toBe(false)
  })

  test('take unknown kinds, and refuse a known kind with a fault', () => {
    const bodyWith = (block: object) => ({ ...request, messages: [{ role: 'user', content: [block] }] })
    expect(schemas.MessagesRequest.safeParse(bodyWith({ type: 'hologram', x: 1 })).success).toBe(true)
    expect(schemas.MessagesRequest.safeParse(bodyWith({ type: 'text' })).success).toBe(false)
  })

  test.each(Object.entries(schemas))('%s is a Standard Schema, and has a JSON Schema', async (_, schema) => {
    const { version, vendor, validate } = schema['~standard']
    expect([version, vendor]).toEqual([1, 'zod'])
    expect(await validate(3)).toHaveProperty('issues')
    expect(z.toJSONSchema(schema, { unrepresentable: 'any' })).toHaveProperty('$schema')
  })
})
