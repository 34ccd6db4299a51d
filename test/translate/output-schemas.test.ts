import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const schema = {
  type: 'object',
  properties: {
    any: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
    some: { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
  },
}
const fitted = {
  type: 'object',
  properties: {
    any: { type: 'object', additionalProperties: {} },
    some: { type: 'object', description: '(propertyNames: {"pattern":"^[a-z]+$"})' },
  },
}

/** A request for this format, which is not enforced. */
const written = (from: ProtocolName, given: object) =>
  protocols[from].encodeRequest({
    source: { protocol: from },
    messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] }],
    output: { format: { type: 'schema', schema: given, name: 'found', strict: false } },
    maxOutputTokens: 9,
    model: 'm',
  } as never).wire

describe.each(['chat-completions', 'responses'] as const)('the schema of a response to %s', to => {
  const schemaIn = (body: unknown) => {
    const format = protocols[to].decodeRequest(body).value.output?.format
    return format && 'schema' in format ? format.schema : undefined
  }
  const callers = (
    ['messages', 'generate-content', 'chat-completions', 'responses'] as const
  ).filter(from => from !== to)

  test.each(callers)('names no properties by a schema, which is refused, from %s', from => {
    const { body, notes } = translateRequest(written(from, schema), { from, to })
    expect(schemaIn(body)).toEqual(fitted)
    expect(notes.map(({ code }) => code)).toContain('schema.keywords')
  })

  test('from its own protocol, where the vendor is known', () => {
    const given = written(to, schema)
    const options = { from: to, to, model: 'gpt-5.6' } as const
    const { body } = translateRequest(given, { ...options, vendor: 'openai' })
    expect(schemaIn(body)).toEqual(fitted)
    expect(schemaIn(translateRequest(given, options).body)).toEqual(schema)
  })

  test('loses nothing with a keyword that allows all names', () => {
    const { any } = schema.properties
    const { body, notes } = translateRequest(
      written('messages', { type: 'object', properties: { any } }),
      { from: 'messages', to },
    )
    expect(schemaIn(body)).toEqual({ type: 'object', properties: { any: fitted.properties.any } })
    expect(notes.map(({ code }) => code)).not.toContain('schema.keywords')
  })
})
