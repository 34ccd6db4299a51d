import { expect, test } from 'vitest'
import { protocols } from '../../src/protocols/index.ts'

const { decodeRequest, encodeRequest } = protocols['chat-completions']
const messages = [{ role: 'user', content: 'hi', odd: 1 }]

test('an edited field that the body has under an older name is written under the current one', () => {
  const { value } = decodeRequest({ model: 'm', messages, max_tokens: 5 })
  expect(encodeRequest({ ...value, maxOutputTokens: 6 }).wire).toEqual({
    model: 'm',
    messages,
    max_completion_tokens: 6,
  })
})

test('an edited object that the body has in an older form is written in one form', () => {
  const body = {
    model: 'm',
    messages,
    response_format: { type: 'json_object', schema: { type: 'object' } },
  }
  const { value } = decodeRequest(body)
  const format = value.output?.format
  if (format?.type !== 'schema') throw new Error('the format is read as a schema')
  const edited = { ...value, output: { format: { ...format, schema: { type: 'array' } } } }
  expect(encodeRequest(edited).wire).toMatchObject({
    messages,
    response_format: { type: 'json_schema', json_schema: { schema: { type: 'array' } } },
  })
  expect(encodeRequest(value).wire).toEqual(body)
})
