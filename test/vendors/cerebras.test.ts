import { expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const schema = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
  additionalProperties: false,
}
const names = Object.keys(protocols) as ProtocolName[]

/** A request of each protocol with these functions. */
const requests: Record<ProtocolName, (...strict: (boolean | undefined)[]) => object> = {
  'chat-completions': (...all) => ({
    messages: [{ role: 'user', content: 'x' }],
    tools: all.map((strict, i) => ({
      type: 'function',
      function: { name: `f${i}`, parameters: schema, ...(strict !== undefined && { strict }) },
    })),
  }),
  responses: (...all) => ({
    input: 'x',
    tools: all.map((strict = false, i) => ({
      type: 'function',
      name: `f${i}`,
      parameters: schema,
      strict,
    })),
  }),
  messages: (...all) => ({
    max_tokens: 9,
    messages: [{ role: 'user', content: 'x' }],
    tools: all.map((strict, i) => ({
      name: `f${i}`,
      input_schema: schema,
      ...(strict !== undefined && { strict }),
    })),
  }),
  // Without strict functions of its own.
  'generate-content': (...all) => ({
    contents: [{ role: 'user', parts: [{ text: 'x' }] }],
    tools: [
      {
        functionDeclarations: all.map((_, i) => ({ name: `f${i}`, parametersJsonSchema: schema })),
      },
    ],
  }),
  converse: (...all) => ({
    messages: [{ role: 'user', content: [{ text: 'x' }] }],
    toolConfig: {
      tools: all.map((strict, i) => ({
        toolSpec: {
          name: `f${i}`,
          inputSchema: { json: schema },
          ...(strict !== undefined && { strict }),
        },
      })),
    },
  }),
}

const sent = (from: ProtocolName, ...strict: (boolean | undefined)[]) => {
  const { body, notes } = translateRequest(
    { model: 'gpt-oss-120b', ...requests[from](...strict) },
    { from, to: 'chat-completions', vendor: 'cerebras', model: 'gpt-oss-120b' },
  )
  const { tools } = body as { tools: { function: { strict?: boolean } }[] }
  return {
    strict: tools.map(tool => tool.function.strict === true),
    notes: notes.filter(({ code }) => code === 'tool.strict').length,
  }
}

test.each(names)('Cerebras gets no mix of strict functions and others from %s', from => {
  expect(sent(from, true, undefined)).toEqual({
    strict: [false, false],
    notes: from === 'generate-content' ? 0 : 1,
  })
})

test.each(names.filter(name => name !== 'generate-content'))(
  'functions of %s that are all strict stay so',
  from => expect(sent(from, true, true)).toEqual({ strict: [true, true], notes: 0 }),
)
