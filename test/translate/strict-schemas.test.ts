import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { strictToolsOf } from '../../src/testing/index.ts'
import { requests } from '../support/tool-requests.ts'
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

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const optional = (count: number, prefix: string) => ({
  type: 'object',
  properties: Object.fromEntries(names(count, prefix).map(name => [name, { type: 'string' }])),
  additionalProperties: false,
})
const unions = (count: number, prefix: string) => ({
  type: 'object',
  properties: Object.fromEntries(
    names(count, prefix).map((name, i) => [
      name,
      i % 2 ? { type: ['string', 'null'] } : { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ]),
  ),
  required: names(count, prefix),
  additionalProperties: false,
})
const conditional = {
  type: 'object',
  properties: {
    place: {
      type: 'object',
      properties: { kind: { type: 'string' } },
      allOf: [{ if: { required: ['kind'] }, ['then' as string]: { properties: { zip: {} } } }],
    },
  },
}

describe.each([
  { to: 'messages', model: 'claude-opus-5', host: 'anthropic' },
  { to: 'converse', model: claude, host: 'bedrock' },
] as const)('what is too much for one grammar, toward $to', ({ to, model, host }) => {
  const callers = (['chat-completions', 'responses', 'messages', 'converse'] as const).filter(
    from => from !== to || to === 'messages',
  )

  test.each<[string, object[], boolean[]]>([
    ['24 optional properties', [optional(24, 'a')], [true]],
    ['25 optional properties', [optional(25, 'a')], [false]],
    [
      'optional ones of all',
      [optional(14, 'a'), optional(14, 'b'), optional(10, 'c')],
      [true, false, true],
    ],
    ['16 unions', [unions(16, 'a')], [true]],
    ['17 unions', [unions(17, 'a'), unions(1, 'b')], [false, true]],
    ['properties of a part of the conditions', [conditional, optional(1, 'b')], [false, true]],
  ])('is sent without `strict`: %s', (_, schemas, expected) => {
    for (const from of callers) {
      const given = requests[from](
        schemas.map((one, i) => ({ name: `find_${i}`, schema: one as never, strict: true })),
      )
      const vendor = to === 'messages' ? 'anthropic' : 'bedrock'
      const { body, notes } = translateRequest({ ...given, model }, { from, to, vendor, model })
      const { tools } = protocols[to].decodeRequest(body).value
      expect(tools?.map(tool => tool.type === 'function' && tool.strict === true)).toEqual(expected)
      expect(notes.filter(({ code }) => code === 'tool.strict')).toHaveLength(
        expected.filter(one => !one).length,
      )
      expect(strictToolsOf(host).checkTools(body, model)).toEqual([])
    }
  })

  test('the schema of the response counts, and stays', () => {
    const { body } = translateRequest(
      {
        ...requests['chat-completions']([
          { name: 'find', schema: optional(20, 'a'), strict: true },
        ]),
        model,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'found', strict: true, schema: optional(20, 'b') },
        },
      },
      { from: 'chat-completions', to, model },
    )
    const { tools, output } = protocols[to].decodeRequest(body).value
    expect(tools?.map(tool => tool.type === 'function' && tool.strict === true)).toEqual([false])
    expect(output?.format?.type).toBe('schema')
  })
})
