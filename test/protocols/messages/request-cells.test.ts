import { describe, expect, test } from 'vitest'
import { protocols } from '../../../src/protocols.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

type Options = Partial<Parameters<typeof translateRequest>[1]>
type Row = [cell: string, given: object, written: object, notes: string[], options?: Options]

const chat = (more: object = {}) => ({
  model: 'claude-opus-5-5',
  max_completion_tokens: 99,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})
const from = (protocol: 'chat-completions' | 'responses', body: object, options: Options = {}) =>
  reported(body, { from: protocol, to: 'messages', ...options })
const blocks = (more: object = {}) => ({
  model: 'm',
  max_tokens: 99,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})
/** Nothing is written under this key. */
const absent = (key: string): object => expect.not.objectContaining({ [key]: expect.anything() })
const reported = (body: object, options: Parameters<typeof translateRequest>[1]) => {
  const { body: written, notes } = translateRequest(body, options)
  return {
    written,
    notes: notes
      .filter(({ kind }) => kind !== 'synthesized')
      .map(({ code, path }) => `${code} ${path}`),
  }
}

describe('instructions in mid-conversation, for each model and place', () => {
  const user = { role: 'user', content: 'hi' }
  const assistant = { role: 'assistant', content: 'yes' }
  const system = { role: 'system', content: 'B' }
  const native = { messages: [{ role: 'user' }, { role: 'system', content: 'B' }] }
  const wrapped = (...contents: unknown[]) => ({
    messages: contents.map(content => expect.objectContaining({ content })),
  })
  const tag = expect.objectContaining({ type: 'text', text: '<system>B</system>' })
  test.each<[model: string, knows: boolean]>([
    ['claude-opus-4-8', true],
    ['claude-sonnet-5', true],
    ['claude-fable-5', true],
    ['claude-opus-5-5', true],
    ['claude-novel-9', true],
    ['claude-opus-4-7', false],
    ['claude-opus-4-1', false],
    ['claude-sonnet-4-5', false],
    ['claude-haiku-4-5', false],
    ['claude-3-7-sonnet-latest', false],
    ['gpt-5', false],
  ])('%s accepts a system message in mid-conversation: %s', (model, knows) => {
    const { written, notes } = from('chat-completions', chat({ model, messages: [user, system] }))
    expect(written).toMatchObject(knows ? native : wrapped(expect.arrayContaining([tag])))
    expect(notes).toEqual(knows ? [] : ['system.mid-conversation-as-user /messages/1'])
  })

  test.each<Row>([
    [
      'after an assistant turn, with a user turn to come',
      { messages: [user, assistant, system, user] },
      {},
      ['system.mid-conversation-as-user /messages/2'],
    ],
    [
      'hoisted, as requested',
      { messages: [user, assistant, system, user] },
      { system: 'B' },
      ['system.hoisted /messages/2'],
      { messages: { systemPlacement: 'hoist' } },
    ],
    [
      'as the user, as requested',
      { messages: [user, system] },
      {},
      ['system.mid-conversation-as-user /messages/1'],
      { messages: { systemPlacement: 'user' } },
    ],
    [
      'before everything else',
      { messages: [system, user] },
      { system: expect.anything(), messages: [{ role: 'user' }] },
      [],
    ],
    [
      'of a developer, before everything else',
      { messages: [{ ...system, role: 'developer' }, user] },
      { system: expect.anything() },
      ['system.developer-role /messages/0/role'],
    ],
  ])('%s', (_, given, expected, notes, options) => {
    const result = from('chat-completions', chat(given), options)
    expect(result.written).toMatchObject(expected)
    expect(result.notes).toEqual(notes)
  })
})

describe('cache marks, toward messages', () => {
  const text = (ttl?: string) => ({
    type: 'text',
    text: 'a',
    prompt_cache_breakpoint: { mode: 'explicit', ...(ttl && { ttl }) },
  })
  const marked = (...ttls: (string | undefined)[]) => ({
    messages: [{ role: 'user', content: ttls.map(text) }],
  })
  const written = (...ttls: (string | undefined)[]) => ({
    messages: [
      {
        content: ttls.map(ttl => ({
          type: 'text',
          text: 'a',
          cache_control: { type: 'ephemeral', ...(ttl && { ttl }) },
        })),
      },
    ],
  })
  const unmarked = expect.not.objectContaining({ cache_control: expect.anything() })
  const lastFour = {
    messages: [
      {
        content: [
          unmarked,
          ...Array.from({ length: 4 }, () =>
            expect.objectContaining({ cache_control: { type: 'ephemeral' } }),
          ),
        ],
      },
    ],
  }
  const at = (index: number) => `/messages/0/content/${index}/prompt_cache_breakpoint`
  test.each<Row>([
    ['no lifetime stays none', marked(undefined), written(undefined), []],
    ['30m is 1h', marked('30m'), written('1h'), [`cache.ttl ${at(0)}/ttl`]],
    ['12h is 1h', marked('12h'), written('1h'), [`cache.ttl ${at(0)}/ttl`]],
    [
      'five marks are four, the last ones',
      marked(...Array.from({ length: 5 }, () => undefined)),
      lastFour,
      [`cache.too-many ${at(0)}`],
    ],
    ['a key has no place', { prompt_cache_key: 'k' }, {}, ['field.unsupported /prompt_cache_key']],
    [
      'a retention has no place',
      { prompt_cache_retention: '24h' },
      {},
      ['field.unsupported /prompt_cache_retention'],
    ],
    ['the implicit mode is the default', { prompt_cache_options: { mode: 'implicit' } }, {}, []],
    [
      'the explicit mode without marks writes none',
      { prompt_cache_options: { mode: 'explicit' } },
      {},
      [],
    ],
  ])('%s', (_, given, expected, notes) => {
    const result = from('chat-completions', chat(given))
    expect(result.written).toMatchObject(expected)
    expect(result.notes).toEqual(notes)
  })
})

describe.each(['chat-completions', 'responses'] as const)(
  'cache marks of messages, toward %s',
  to => {
    const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
    const says = (...marks: object[]) => ({
      messages: [
        { role: 'user', content: marks.map(one => ({ type: 'text', text: 'a', ...one })) },
      ],
    })
    test.each<[string, object, string[]]>([
      ['no lifetime stays none', says(mark()), []],
      ['5m is none', says(mark('5m')), ['cache.ttl /messages/0/content/0/cache_control/ttl']],
      ['1h is none', says(mark('1h')), ['cache.ttl /messages/0/content/0/cache_control/ttl']],
      [
        'a tool takes none',
        { tools: [{ name: 't', input_schema: { type: 'object' }, ...mark() }] },
        ['cache.unsupported /tools/0/cache_control'],
      ],
      [
        'text of the assistant takes none',
        {
          messages: [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: [{ type: 'text', text: 'a', ...mark() }] },
          ],
        },
        ['cache.unsupported /messages/1/content/0/cache_control'],
      ],
      [
        'five marks are four',
        says(mark(), mark(), mark(), mark(), mark()),
        ['cache.too-many /messages/0/content/0/cache_control'],
      ],
      ['a mark of the whole request is the default', mark(), []],
    ])('%s', (_, given, notes) => {
      expect(
        reported(blocks(given), { from: 'messages', to, chatCompletions: { cacheMarks: 'write' } })
          .notes,
      ).toEqual(notes)
    })
  },
)

describe('tiers, toward messages', () => {
  test.each<Row>([
    ['auto', { service_tier: 'auto' }, { service_tier: 'auto' }, []],
    ['default', { service_tier: 'default' }, { service_tier: 'standard_only' }, []],
    ['flex', { service_tier: 'flex' }, absent('service_tier'), ['field.unsupported /service_tier']],
    [
      'priority',
      { service_tier: 'priority' },
      { service_tier: 'auto' },
      ['tier.nearest /service_tier'],
    ],
    ['fast', { service_tier: 'fast' }, absent('service_tier'), ['field.unsupported /service_tier']],
    [
      'scale',
      { service_tier: 'scale' },
      absent('service_tier'),
      ['field.unsupported /service_tier'],
    ],
    [
      'ultrafast',
      { service_tier: 'ultrafast' },
      absent('service_tier'),
      ['field.unsupported /service_tier'],
    ],
  ])('%s', (_, given, expected, notes, options) => {
    const result = from('chat-completions', chat(given), options)
    expect(result.written).toMatchObject(expected)
    expect(result.notes).toEqual(notes)
  })
})

describe('output formats, toward messages', () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false }
  const format = (more: object) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema, ...more } },
  })
  const as = { output_config: { format: { type: 'json_schema', schema } } }
  test.each<Row>([
    ['text', { response_format: { type: 'text' } }, absent('output_config'), []],
    [
      'json without a schema',
      { response_format: { type: 'json_object' } },
      absent('output_config'),
      ['field.unsupported /response_format'],
    ],
    ['a schema, whose name is cosmetic', format({ strict: true }), as, []],
    [
      'a schema that is not strict',
      format({ strict: false }),
      as,
      ['output.strict /response_format/json_schema/strict'],
    ],
    ['verbosity', { verbosity: 'low' }, {}, ['field.unsupported /verbosity']],
  ])('%s', (_, given, expected, notes) => {
    const result = from('chat-completions', chat(given))
    expect(result.written).toMatchObject(expected)
    expect(result.notes).toEqual(notes)
  })

  // The official SDK closes them, too: the server refuses objects that do not say it.
  const closed = { additionalProperties: false }
  const point = { type: 'object', properties: { x: { type: 'number' } } }
  test('moves keywords that the server refuses into the description', () => {
    const property = { type: 'integer', description: 'A size', minimum: 1, maximum: 9 }
    const list = { type: 'array', items: { type: 'string', maxLength: 3 }, minItems: 2 }
    const kept = { type: 'string', format: 'date', pattern: '^1' }
    const schema = {
      type: 'object',
      properties: { property, list, kept, minimum: { type: 'null' } },
      ...closed,
    }
    const { written, notes } = from('chat-completions', chat(format({ schema, strict: true })))
    expect(written).toMatchObject({
      output_config: {
        format: {
          schema: {
            properties: {
              property: { type: 'integer', description: 'A size (minimum: 1, maximum: 9)' },
              list: {
                type: 'array',
                items: { type: 'string', description: '(maxLength: 3)' },
                description: '(minItems: 2)',
              },
              kept,
              minimum: { type: 'null' },
            },
          },
        },
      },
    })
    expect(JSON.stringify(written)).not.toMatch(/"(minimum|maximum|maxLength|minItems)":\d/)
    expect(notes).toEqual(['schema.keywords /response_format/json_schema/schema'])
  })

  test('leaves a tool unstrict when its request did not set it, and its schema has refused keywords', () => {
    const parameters = {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 1 } },
      required: ['a'],
      additionalProperties: false,
    }
    const ask = (strict?: boolean) => ({
      model: 'm',
      input: 'Hi',
      tools: [{ type: 'function', name: 'f', parameters, ...(strict !== undefined && { strict }) }],
    })
    const unreported = from('responses', ask())
    expect(unreported.written).toMatchObject({ tools: [{ name: 'f', input_schema: parameters }] })
    expect(JSON.stringify(unreported.written)).not.toContain('"strict"')
    const message = from('responses', ask(true))
    expect(message.written).toMatchObject({
      tools: [
        {
          strict: true,
          input_schema: { properties: { a: { type: 'integer', description: '(minimum: 1)' } } },
        },
      ],
    })
    expect(message.notes).toContain('schema.keywords /tools/0/parameters')
  })

  test.each<[string, object, object]>([
    ['an object', point, { ...point, ...closed }],
    [
      'keys of any name beside others',
      { ...point, additionalProperties: true },
      { ...point, ...closed },
    ],
    [
      'an object without properties',
      { type: ['object', 'null'] },
      { type: ['object', 'null'], ...closed },
    ],
    [
      'objects in lists',
      { type: 'array', items: point },
      { type: 'array', items: { ...point, ...closed } },
    ],
    [
      'objects among others',
      { anyOf: [point, { type: 'null' }] },
      { anyOf: [{ ...point, ...closed }, { type: 'null' }] },
    ],
    [
      'objects in objects, and definitions',
      { ...point, properties: { items: point, ['__proto__']: point }, $defs: { p: point } },
      {
        ...point,
        properties: { items: { ...point, ...closed }, ['__proto__']: { ...point, ...closed } },
        $defs: { p: { ...point, ...closed } },
        ...closed,
      },
    ],
  ])('an open schema is closed: %s', (_, schema, expected) => {
    const open = format({ schema, strict: true })
    const { written, notes } = from('chat-completions', chat(open))
    expect(JSON.stringify(written)).toContain(JSON.stringify(expected))
    expect(notes).toEqual(['output.closed /response_format/json_schema/schema'])
  })

  // Closed, it would have none.
  test.each([
    ['keys of any name', { type: 'object', additionalProperties: { type: 'number' } }],
    ['names of a pattern', { type: 'object', patternProperties: { '^x': { type: 'string' } } }],
    ['anything', { type: 'object' }],
    [
      'an object in it that may hold anything',
      { ...point, properties: { any: { type: 'object' } } },
    ],
  ])('an object with %s is asked for in the instructions', (_, schema) => {
    const { written, notes } = from('chat-completions', chat(format({ schema, strict: true })))
    expect(JSON.stringify(written)).toContain('Respond with JSON that fits this schema')
    expect(written).not.toHaveProperty('output_config')
    expect(notes).toContain('output.format-instructed /response_format')
  })

  test('leaves a schema without objects as it is', () => {
    const { written, notes } = from(
      'chat-completions',
      chat(format({ schema: { type: 'string' }, strict: true })),
    )
    expect(written).toMatchObject({
      output_config: { format: { type: 'json_schema', schema: { type: 'string' } } },
    })
    expect(notes).toEqual([])
  })

  test('writes oneOf as anyOf, and as words next to an anyOf', () => {
    const kinds = [{ type: 'string' }, { type: 'integer', minimum: 1 }]
    const fitting = [{ type: 'string' }, { type: 'integer', description: '(minimum: 1)' }]
    const properties = {
      a: { oneOf: kinds, description: 'One' },
      b: { anyOf: [{ type: 'string' }], oneOf: [{ type: 'string' }] },
    }
    const received = format({ schema: { type: 'object', properties, ...closed }, strict: true })
    const { written, notes } = from('chat-completions', chat(received))
    const { a, b } = (
      written as { output_config: { format: { schema: { properties: Record<string, unknown> } } } }
    ).output_config.format.schema.properties
    expect(a).toEqual({ anyOf: fitting, description: 'One' })
    expect(b).toEqual({ anyOf: [{ type: 'string' }], description: '(oneOf: [{"type":"string"}])' })
    expect(notes).toEqual(['schema.keywords /response_format/json_schema/schema'])
  })

  test('closes the objects of a strict tool, and leaves one unstrict that did not ask to be strict', () => {
    const parameters = { type: 'object', properties: { a: point }, required: ['a'], ...closed }
    const ask = (more: object) => ({
      model: 'm',
      input: 'Hi',
      tools: [{ type: 'function', name: 'f', parameters, ...more }],
    })
    const message = from('responses', ask({ strict: true }))
    expect(message.written).toMatchObject({
      tools: [{ strict: true, input_schema: { properties: { a: { ...point, ...closed } } } }],
    })
    expect(message.notes).toContain('output.closed /tools/0/parameters')
    const unreported = from('responses', ask({}))
    expect((unreported.written as { tools: unknown[] }).tools).toEqual([
      { name: 'f', input_schema: parameters },
    ])
    expect(unreported.notes).toContain('tool.strict /tools/0/parameters')
  })

  test('accepts a schema of any depth', () => {
    let schema: object = point
    for (let level = 0; level < 2_500; level++) schema = { type: 'array', items: schema }
    expect(() => from('chat-completions', chat(format({ schema, strict: true })))).not.toThrow()
  })

  test('within the protocol a schema is unchanged', () => {
    const open = { output_config: { format: { type: 'json_schema', schema: point } } }
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...open }
    const { messages } = protocols
    expect(messages.encodeRequest(messages.decodeRequest(body).value)).toMatchObject({
      wire: body,
      notes: [],
    })
    expect(JSON.stringify(body)).not.toContain('additionalProperties')
  })
})

describe('documents of messages, toward others', () => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
  const plain = { type: 'text', media_type: 'text/plain', data: 'words' }
  const parts = { type: 'content', content: [{ type: 'text', text: 'inner' }] }
  const url = { type: 'url', url: 'https://example.org/a.pdf' }
  const file = { type: 'file', file_id: 'file_1' }
  const at = '/messages/0/content/0'
  test.each<['chat-completions' | 'responses', string, object, unknown, string[]]>([
    [
      'chat-completions',
      'a PDF',
      { source: pdf },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } },
      [],
    ],
    [
      'chat-completions',
      'a PDF with a title',
      { source: pdf, title: 't.pdf' },
      { file: { filename: 't.pdf' } },
      [`media.title-as-filename ${at}/title`],
    ],
    [
      'chat-completions',
      'a context',
      { source: pdf, context: 'c' },
      { type: 'file' },
      [`field.unsupported ${at}/context`],
    ],
    [
      'chat-completions',
      'requested citations',
      { source: pdf, citations: { enabled: true } },
      { type: 'file' },
      [`field.unsupported ${at}/citations`],
    ],
    [
      'responses',
      'a PDF',
      { source: pdf },
      { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=' },
      [],
    ],
    [
      'responses',
      'a PDF at an address',
      { source: url },
      { type: 'input_file', file_url: 'https://example.org/a.pdf' },
      [],
    ],
    [
      'responses',
      'plain text',
      { source: plain },
      { type: 'input_file', file_data: 'data:text/plain;base64,d29yZHM=' },
      [],
    ],
    [
      'responses',
      'plain text with a charset, which JSON has already',
      { source: { ...plain, media_type: 'Text/Plain; charset=UTF-8' } },
      { type: 'input_file', file_data: 'data:text/plain;base64,d29yZHM=' },
      [],
    ],
    [
      'responses',
      'parts',
      { source: parts },
      { type: 'input_text', text: 'inner' },
      [`content.as-text ${at}`],
    ],
    [
      'responses',
      'a PDF with a title',
      { source: pdf, title: 't.pdf' },
      { filename: 't.pdf' },
      [`media.title-as-filename ${at}/title`],
    ],
    [
      'responses',
      'a context',
      { source: pdf, context: 'c' },
      { type: 'input_file' },
      [`field.unsupported ${at}/context`],
    ],
    [
      'responses',
      'requested citations',
      { source: pdf, citations: { enabled: true } },
      { type: 'input_file' },
      [`field.unsupported ${at}/citations`],
    ],
  ])('%s: %s', (to, _, document, expected, notes) => {
    const body = blocks({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', ...document },
            { type: 'text', text: 'x' },
          ],
        },
      ],
    })
    const result = reported(body, { from: 'messages', to })
    const list = to === 'responses' ? 'input' : 'messages'
    expect(result.written).toMatchObject({
      [list]: [{ content: expect.arrayContaining([expect.objectContaining(objectIn(expected))]) }],
    })
    expect(result.notes).toEqual(notes)
  })

  test('a type in other letters comes back to messages as it was', () => {
    const source = { ...plain, media_type: 'Text/Plain; charset=UTF-8' }
    const body = blocks({ messages: [{ role: 'user', content: [{ type: 'document', source }] }] })
    expect(
      protocols.messages.encodeRequest(protocols.messages.decodeRequest(body).value),
    ).toMatchObject({ wire: body, notes: [] })
  })

  test.each(['chat-completions', 'responses'] as const)('refuses a file id toward %s', to => {
    const body = blocks({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: file },
            { type: 'text', text: 'see' },
          ],
        },
      ],
    })
    expect(() => translateRequest(body, { from: 'messages', to })).toThrow(/file id/)
    expect(reported(body, { from: 'messages', to, onUnresolvable: 'note' }).notes).toContain(
      `file.foreign-id ${at}`,
    )
  })
})

test.each<[type: string, written: object]>([
  [
    'image/jpg',
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' } },
  ],
  [
    'IMAGE/PNG',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
  ],
  [
    'Application/PDF',
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' } },
  ],
])('normalizes the media type %s for messages', (mimeType, written) => {
  const contents = [{ role: 'user', parts: [{ inlineData: { mimeType, data: 'aGk=' } }] }]
  const { body, notes } = translateRequest(
    { contents },
    { from: 'generate-content', to: 'messages', model: 'm' },
  )
  expect(body).toMatchObject({ messages: [{ content: [written] }] })
  expect(notes.map(({ code }) => code)).toEqual(['max-tokens.default'])
})

/** Inner objects may have more than is named. */
function objectIn(expected: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(expected as object).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? expect.objectContaining(value) : value,
    ]),
  )
}

describe('replacements for content that messages cannot express', () => {
  const audio = {
    role: 'assistant',
    content: null,
    refusal: null,
    audio: { id: 'a1', data: 'UklGRg==', transcript: 'hello', expires_at: 9 },
  }
  const choices = [{ index: 0, message: audio, finish_reason: 'stop', logprobs: null }]
  const spoken = { id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices }

  test('writes the transcript of audio', () => {
    const { body, notes } = translateResponse(spoken, { from: 'chat-completions', to: 'messages' })
    expect(body).toMatchObject({ content: [{ type: 'text', text: 'hello' }] })
    expect(notes.map(({ code }) => code)).toContain('media.transcript')
    expect(
      translateResponse(spoken, { from: 'chat-completions', to: 'responses' }).body,
    ).toMatchObject({ output: [{ content: [{ text: 'hello' }] }] })
  })

  test.each<[string, object, object, string, Options?]>([
    [
      'nothing for an image among instructions (2.1)',
      {
        input: [
          {
            role: 'system',
            content: [
              { type: 'input_text', text: 'A' },
              { type: 'input_image', image_url: 'https://example.org/a.png' },
            ],
          },
          { role: 'user', content: 'hi' },
        ],
      },
      { system: expect.anything(), messages: [{ role: 'user' }] },
      'system.not-text /input/0/content/1',
    ],
    [
      'the uses of its one tool for the calls of all (2.5)',
      { input: 'hi', tools: [{ type: 'web_search' }], max_tool_calls: 3 },
      { tools: [{ name: 'web_search', max_uses: 3 }] },
      'tool.max-uses /max_tool_calls',
      { tools: { serverTools: 'map' } },
    ],
    [
      'a document for a file of unknown kind (2.3)',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'JVBERi0=' }] }] },
      {
        messages: [
          {
            content: [
              { type: 'document', source: { media_type: 'application/pdf', data: 'JVBERi0=' } },
            ],
          },
        ],
      },
      'media.guessed /input/0/content/0/file_data',
    ],
    [
      'the text of a result that is an object (2.7)',
      {
        input: [
          { role: 'user', content: 'hi' },
          { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: { a: 1 } },
        ],
      },
      { messages: [{}, {}, { content: [{ type: 'tool_result', content: '{"a":1}' }] }] },
      'tool-result.stringified /input/2/output',
    ],
    [
      'text of the assistant, however it was marked (2.3)',
      {
        input: [
          { role: 'user', content: 'hi' },
          { type: 'message', role: 'assistant', content: [{ type: 'input_text', text: 'yes' }] },
          { role: 'user', content: 'so' },
        ],
      },
      { messages: [{}, { role: 'assistant', content: 'yes' }, {}] },
      'content.input-by-assistant /input/1/content/0',
    ],
  ])('%s', (_, given, expected, note, options) => {
    const result = from(
      'responses',
      { model: 'claude-opus-5-5', max_output_tokens: 99, ...given },
      options,
    )
    expect(result.written).toMatchObject(expected)
    expect(result.notes).toContain(note)
  })
})
