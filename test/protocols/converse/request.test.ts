import { describe, expect, test } from 'vitest'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { translateRequest } from '../../support/untyped.ts'

const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const hi = { role: 'user', content: 'Hi' }
const f = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const call = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{"a":1}' },
  })),
})
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

type Wanted = [body: object, ...notes: string[]]

function expectWritten(
  from: 'chat-completions' | 'messages',
  request: object,
  [body, ...codes]: Wanted,
  options: object = {},
): void {
  const { body: written, notes } = translateRequest(
    { model: sonnet, messages: [hi], ...request },
    { from, to: 'converse', ...options },
  )
  expect(written).toMatchObject(body)
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(codes)
  expect(strictOf('converse').checkRequest(written)).toEqual([])
}

describe('from chat-completions', () => {
  test.each<[what: string, request: object, wanted: Wanted]>([
    [
      'model and streaming are in the path alone',
      { stream: true },
      [{ messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
    ],
    [
      'instructions have a field of their own, later ones are text of the user',
      { messages: [{ role: 'system', content: 'S' }, hi, { role: 'system', content: 'mid' }] },
      [
        {
          system: [{ text: 'S' }],
          messages: [{ content: [{ text: 'Hi' }, { text: '<system>mid</system>' }] }],
        },
        'system.mid-conversation-as-user /messages/2',
      ],
    ],
    [
      'an empty description is left out',
      { tools: [{ ...f, function: { ...f.function, description: '' } }] },
      [
        {
          toolConfig: {
            tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }],
          },
        },
      ],
    ],
    [
      'a tool must be called',
      { tools: [f], tool_choice: 'required' },
      [{ toolConfig: { toolChoice: { any: {} } } }],
    ],
    [
      'this tool must be called',
      { tools: [f], tool_choice: { type: 'function', function: { name: 'f' } } },
      [{ toolConfig: { toolChoice: { tool: { name: 'f' } } } }],
    ],
    [
      'no tool may be called',
      { tools: [f], tool_choice: 'none' },
      [{ messages: [{}] }, 'tool-choice.none /tools/0', 'tool-choice.none /tool_choice'],
    ],
    [
      'results of one turn are in one message',
      { messages: [hi, call('c1', 'c2'), result('c1', 'r'), result('c2', 's')], tools: [f] },
      [
        {
          messages: [
            {},
            { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', input: { a: 1 } } }, {}] },
            {
              role: 'user',
              content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'r' }] } }, {}],
            },
          ],
        },
      ],
    ],
    [
      'a history with calls has tools, as the service requires',
      { messages: [hi, call('c1'), result('c1', 'r')] },
      [
        { toolConfig: { tools: [{ toolSpec: { name: 'f' } }] } },
        'tool.from-history /toolConfig/tools/0',
      ],
    ],
    [
      'an assistant does not begin where the model refuses that',
      { model: 'amazon.nova-lite-v1:0', messages: [{ role: 'assistant', content: 'a' }, hi] },
      [
        {
          messages: [
            { role: 'user', content: [{ text: '.' }] },
            { role: 'assistant' },
            { role: 'user' },
          ],
        },
        'message.leading-user /messages/0',
      ],
    ],
    [
      'blank text is left out',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: ' ' },
              { type: 'text', text: 'x' },
            ],
          },
        ],
      },
      [{ messages: [{ content: [{ text: 'x' }] }] }, 'text.blank /messages/0/content/0'],
    ],
    [
      'settings',
      {
        temperature: 1.5,
        max_completion_tokens: 7,
        stop: ['E'],
        service_tier: 'priority',
        metadata: { a: 'b' },
        seed: 1,
      },
      [
        {
          inferenceConfig: { temperature: 1, maxTokens: 7, stopSequences: ['E'] },
          serviceTier: { type: 'priority' },
          requestMetadata: { a: 'b' },
        },
        'field.unsupported /seed',
        'sampling.temperature-clamped /temperature',
      ],
    ],
    [
      'a schema is JSON text',
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'r',
            strict: true,
            schema: { type: 'object', additionalProperties: false },
          },
        },
      },
      [
        {
          outputConfig: {
            textFormat: {
              type: 'json_schema',
              structure: {
                jsonSchema: { name: 'r', schema: '{"type":"object","additionalProperties":false}' },
              },
            },
          },
        },
      ],
    ],
    [
      'an image that must be fetched is left out',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image_url', image_url: { url: 'https://e.x/a.png' } },
            ],
          },
        ],
      },
      [{ messages: [{ content: [{ text: 'x' }] }] }, 'media.unsupported /messages/0/content/1'],
    ],
    [
      'an image has a format and bytes',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            ],
          },
        ],
      },
      [
        {
          messages: [
            { content: [{ image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }] },
          ],
        },
      ],
    ],
  ])('%s', (_, request, wanted) => expectWritten('chat-completions', request, wanted))

  test.each<[model: string, effort: string, wanted: Wanted]>([
    [
      sonnet,
      'high',
      [
        { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 16_384 } } },
        'reasoning.effort-as-budget /reasoning_effort',
      ],
    ],
    [
      'anthropic.claude-opus-4-6-v1',
      'high',
      [
        {
          additionalModelRequestFields: {
            thinking: { type: 'adaptive' },
            output_config: { effort: 'high' },
          },
        },
      ],
    ],
    [
      'us.amazon.nova-2-lite-v1:0',
      'high',
      [
        {
          additionalModelRequestFields: {
            reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
          },
        },
      ],
    ],
    [
      'openai.gpt-oss-120b-1:0',
      'low',
      [{ additionalModelRequestFields: { reasoning_effort: 'low' } }],
    ],
    [
      'us.openai.gpt-5.6-v1',
      'low',
      [{ additionalModelRequestFields: { reasoning: { effort: 'low' } } }],
    ],
    [
      'meta.llama3-70b-instruct-v1:0',
      'low',
      [{ messages: [{}] }, 'reasoning.no-effort /reasoning_effort'],
    ],
  ])(
    'reasoning of %s is requested in the fields of that model',
    (model, reasoning_effort, wanted) =>
      expectWritten('chat-completions', { model, reasoning_effort }, wanted),
  )

  test('a tool loop whose thinking was lost continues without thinking: the model would refuse it', () => {
    const loop = {
      reasoning_effort: 'high',
      messages: [hi, call('c1'), result('c1', 'r')],
      tools: [f],
    }
    const written = translateRequest(
      { model: sonnet, ...loop },
      { from: 'chat-completions', to: 'converse' },
    )
    expect(written.body).not.toHaveProperty('additionalModelRequestFields')
    expect(written.notes.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'reasoning.disabled-unsigned-loop /reasoning_effort',
    ])
    const continued = { ...loop, messages: [...loop.messages, hi] }
    expectWritten('chat-completions', continued, [
      { additionalModelRequestFields: { thinking: {} } },
      'reasoning.effort-as-budget /reasoning_effort',
    ])
    expectWritten('chat-completions', { ...loop, model: 'anthropic.claude-opus-4-6-v1' }, [
      { additionalModelRequestFields: { thinking: { type: 'adaptive' } } },
    ])
  })

  test('models of Claude that refuse schemas get none', () => {
    const schema = { type: 'object', additionalProperties: false }
    const requested = {
      response_format: { type: 'json_schema', json_schema: { name: 'r', schema } },
    }
    for (const model of ['anthropic.claude-opus-4-1-20250805-v1:0', 'anthropic.claude-opus-4-7-v1'])
      expectWritten('chat-completions', { model, ...requested }, [
        { messages: [{}] },
        'field.unsupported /response_format',
      ])
  })

  test('Opus 4.1 takes one of temperature and top_p', () =>
    expectWritten(
      'chat-completions',
      { model: 'anthropic.claude-opus-4-1-20250805-v1:0', temperature: 0.5, top_p: 0.9 },
      [{ inferenceConfig: { temperature: 0.5 } }, 'sampling.model /top_p'],
    ))

  test('the family of an application profile is configured', () => {
    const model =
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/mi1dadi0g15f'
    const effort = { model, reasoning_effort: 'low' }
    expectWritten('chat-completions', effort, [
      { messages: [{}] },
      'reasoning.no-effort /reasoning_effort',
    ])
    expectWritten(
      'chat-completions',
      effort,
      [{ additionalModelRequestFields: { reasoning_effort: 'low' } }],
      { converse: { family: 'gpt-oss' } },
    )
  })

  test('a model without forced calls is not forced', () => {
    expectWritten(
      'chat-completions',
      { model: 'openai.gpt-oss-120b-1:0', tools: [f], tool_choice: 'required' },
      [{ toolConfig: { toolChoice: { any: {} } } }],
    )
    expectWritten(
      'chat-completions',
      { model: 'meta.llama3-70b-instruct-v1:0', tools: [f], tool_choice: 'required' },
      [{ toolConfig: { tools: [{}] } }, 'tool-choice.not-forced /tool_choice'],
    )
  })
})

describe('from messages', () => {
  const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
  const marked = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }
  const pdf = {
    type: 'document',
    title: 'a.b',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
  }

  test.each<[what: string, request: object, wanted: Wanted]>([
    ['top-k of Claude', { top_k: 5 }, [{ additionalModelRequestFields: { top_k: 5 } }]],
    [
      'top-k of Nova',
      { top_k: 5, model: 'amazon.nova-lite-v1:0' },
      [{ additionalModelRequestFields: { inferenceConfig: { topK: 5 } } }],
    ],
    [
      'a cache mark is a block behind',
      { system: [{ ...marked, cache_control: { type: 'ephemeral', ttl: '1h' } }], ...user(marked) },
      [
        {
          system: [{ text: 'Hi' }, { cachePoint: { type: 'default', ttl: '1h' } }],
          messages: [{ content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
        },
      ],
    ],
    [
      'a mark at the end of a result is behind the result',
      {
        tools: [{ name: 'f', input_schema: { type: 'object' } }],
        messages: [
          hi,
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [marked] }] },
        ],
      },
      [
        {
          messages: [
            {},
            {},
            {
              content: [
                { toolResult: { content: [{ text: 'Hi' }] } },
                { cachePoint: { type: 'default' } },
              ],
            },
          ],
        },
      ],
    ],
    [
      'a document has a name of allowed characters, and a text next to it',
      user(pdf),
      [
        {
          messages: [
            {
              content: [
                { text: '.' },
                { document: { format: 'pdf', name: 'a', source: { bytes: 'JVBERi0=' } } },
              ],
            },
          ],
        },
        'media.document-text /messages/0/content/0',
      ],
    ],
    [
      'reasoning of Claude keeps its signatures; redacted data is base64 of that of messages',
      {
        max_tokens: 4000,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        messages: [
          hi,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'T', signature: 'EqQB' },
              { type: 'redacted_thinking', data: 'EuQFCk' },
              { type: 'text', text: 'x' },
            ],
          },
          hi,
        ],
      },
      [
        {
          messages: [
            {},
            {
              content: [
                { reasoningContent: { reasoningText: { text: 'T', signature: 'EqQB' } } },
                { reasoningContent: { redactedContent: 'RXVRRkNr' } },
                { text: 'x' },
              ],
            },
            {},
          ],
          additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
        },
      ],
    ],
  ])('%s', (_, request, wanted) =>
    expectWritten('messages', { max_tokens: 100, ...request }, wanted),
  )

  test('documents of one request have different names', () => {
    const { body } = translateRequest(
      { model: sonnet, max_tokens: 5, ...user({ type: 'text', text: 'a' }, pdf, pdf) },
      { from: 'messages', to: 'converse' },
    )
    const names = [...JSON.stringify(body).matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name)
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^[\w ()[\]-]+$/)
  })
})
