import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const schema = {
  type: 'object',
  properties: { labels: { type: 'array', maxItems: 3, items: { type: 'string' } } },
  required: ['labels'],
  additionalProperties: false,
}
const fitting = {
  ...schema,
  properties: {
    labels: { type: 'array', items: { type: 'string' }, description: '(maxItems: 3)' },
  },
}

/** A request for this format that has a strict tool with the same schema. */
const request = {
  messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'hi' }] }],
  output: { format: { type: 'schema', schema, name: 'labels', strict: true } },
  tools: [{ type: 'function', name: 'label', parameters: schema, strict: true }],
  maxOutputTokens: 9,
  model: 'm',
}

/** As its own clients write it: a client of messages may write what its server refuses. */
const written = Object.fromEntries(
  protocolNames.map(name => {
    const { wire } = protocols[name].encodeRequest({
      ...request,
      source: { protocol: name },
    } as never)
    return [name, wire]
  }),
)

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const targets: { to: ProtocolName; model: string; isSubset: boolean }[] = [
  { to: 'messages', model: 'claude-sonnet-4-5', isSubset: true },
  { to: 'converse', model: claude, isSubset: true },
  { to: 'converse', model: 'mistral.mistral-large-3-675b-instruct', isSubset: false },
  { to: 'chat-completions', model: 'm', isSubset: false },
  { to: 'responses', model: 'm', isSubset: false },
  { to: 'generate-content', model: 'm', isSubset: false },
]

describe.each(
  protocolNames.flatMap(from =>
    targets.filter(({ to }) => to !== from).map(target => ({ from, ...target })),
  ),
)('schemas that are enforced, $from → $to of $model', ({ from, to, model, isSubset }) => {
  const wire = written[from]
  const { body, notes } = translateRequest(wire, { from, to, model })
  const { output, tools } = protocols[to].decodeRequest(body).value

  test('hold only keywords that the target enforces, and the rest in words', () => {
    expect(output?.format).toMatchObject({ schema: isSubset ? fitting : schema })
    const [tool] = tools ?? []
    // Google has no strict tools.
    const isStrict = tool?.type === 'function' && tool.strict === true && !tool.strictImplied
    const parameters = tool?.type === 'function' ? tool.parameters : undefined
    expect(parameters).toEqual(isStrict && isSubset ? fitting : schema)
    const codes = notes.filter(({ code }) => code === 'schema.keywords')
    expect(codes).toHaveLength(isSubset ? 1 + Number(isStrict) : 0)
  })
})
