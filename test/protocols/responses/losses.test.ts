import { describe, expect, test } from 'vitest'
import { createStreamTranslator, type ProtocolName } from '../../../src/index.ts'
import { translateError, translateRequest, translateResponse } from '../../support/untyped.ts'

type Case = [string, ProtocolName, Record<string, unknown>, string]

const options = (to: ProtocolName) =>
  ({ from: 'responses', to, now: 0, newId: (prefix: string) => `${prefix}1` }) as const
const report = (notes: { code: string; path: string }[]) =>
  notes.map(({ code, path }) => `${code} ${path}`)
const tool = { type: 'function', name: 'find', parameters: null, strict: true }

describe('drops of a request are noted at their path', () => {
  test.each<Case>([
    [
      'the seal of reasoning without text',
      'chat-completions',
      {
        input: [
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEAL' },
          { type: 'function_call', call_id: 'c', name: 'find', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'x' },
        ],
      },
      'reasoning.foreign-signature /input/0/encrypted_content',
    ],
    [
      'unknown fields of a cache mark',
      'messages',
      {
        input: [
          {
            role: 'user',
            content: [
              {
                type: 'input_text',
                text: 'a',
                prompt_cache_breakpoint: { mode: 'explicit', odd: 1 },
              },
            ],
          },
        ],
      },
      'field.unknown /input/0/content/0/prompt_cache_breakpoint/odd',
    ],
    [
      'an unknown lifetime',
      'chat-completions',
      {
        input: [
          {
            role: 'user',
            content: [
              {
                type: 'input_text',
                text: 'a',
                prompt_cache_breakpoint: { mode: 'explicit', ttl: '9h' },
              },
            ],
          },
        ],
      },
      'field.unknown /input/0/content/0/prompt_cache_breakpoint/ttl',
    ],
    [
      'unknown fields of a choice',
      'chat-completions',
      { tools: [tool], tool_choice: { type: 'function', name: 'find', odd: 1 } },
      'field.unknown /tool_choice/odd',
    ],
    ...(['chat-completions', 'messages'] as const).map<Case>(to => [
      `unknown fields of one of the allowed tools, for ${to}`,
      to,
      {
        tools: [tool],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'find', odd: 1 }],
        },
      },
      'field.unknown /tool_choice/tools',
    ]),
    ...(['system', 'developer'] as const).map<Case>(role => [
      `an image in what a ${role} says`,
      'chat-completions',
      {
        input: [
          {
            role,
            content: [
              { type: 'input_text', text: 'a' },
              { type: 'input_image', image_url: 'https://example.org/a.png' },
            ],
          },
        ],
      },
      'system.not-text /input/0/content/1',
    ]),
    [
      'what a function gives',
      'messages',
      { tools: [{ ...tool, output_schema: {} }] },
      'field.unsupported /tools/0/output_schema',
    ],
    [
      'the older name of a summary',
      'messages',
      { reasoning: { generate_summary: 'auto' } },
      'reasoning.older-summary /reasoning/generate_summary',
    ],
    [
      'an older summary beside a newer',
      'messages',
      { reasoning: { summary: 'auto', generate_summary: 'concise' } },
      'field.unknown /reasoning/generate_summary',
    ],
    [
      'what a namespace says of itself',
      'messages',
      { tools: [{ type: 'namespace', name: 'n', description: 'all of them', tools: [tool] }] },
      'field.unsupported /tools/0/description',
    ],
    [
      'the name of a namespace',
      'chat-completions',
      { tools: [{ type: 'namespace', name: 'n', tools: [tool] }] },
      'tool.namespace /tools/0/name',
    ],
    [
      'an unknown field of a namespace',
      'chat-completions',
      { tools: [{ type: 'namespace', name: 'n', odd: 1, tools: [tool] }] },
      'field.unknown /tools/0/odd',
    ],
    [
      'the namespace of a call to a tool that is not defined',
      'chat-completions',
      {
        input: [
          { type: 'function_call', call_id: 'c', name: 'find', namespace: 'n', arguments: '{}' },
        ],
      },
      'tool.namespace /input/0/namespace',
    ],
    [
      'the name of a result without its call',
      'chat-completions',
      { input: [{ type: 'function_call_output', call_id: 'c', name: 'find', output: 'x' }] },
      'field.unsupported /input/0/name',
    ],
    [
      'the namespace of a result without its call',
      'chat-completions',
      {
        input: [
          { type: 'function_call_output', call_id: 'c', name: 'find', namespace: 'n', output: 'x' },
        ],
      },
      'field.unsupported /input/0/namespace',
    ],
    [
      'the namespace of a result without its call',
      'messages',
      {
        input: [
          { type: 'function_call_output', call_id: 'c', name: 'find', namespace: 'n', output: 'x' },
        ],
      },
      'field.unsupported /input/0/namespace',
    ],
    [
      'the lifetime of a breakpoint in a result',
      'messages',
      {
        input: [
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [
              { type: 'input_text', text: 'x', prompt_cache_breakpoint: { ttl: '12h' } },
              { type: 'odd' },
            ],
          },
        ],
      },
      'cache.ttl /input/0/output/0/prompt_cache_breakpoint/ttl',
    ],
    [
      'allowed tools that are no tools',
      'messages',
      {
        tools: [tool],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'find' }, null],
        },
      },
      'field.unsupported /tool_choice',
    ],
    [
      'the name of a function that an allowed tool of another kind has, too',
      'messages',
      {
        tools: [tool],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'novel', name: 'find' }],
        },
      },
      'tool-choice.subset-filtered /tool_choice',
    ],
  ])('%s', (_, to, body, note) => {
    const { notes } = translateRequest(
      { model: 'm', input: 'hi', ...body },
      { ...options(to), tools: { repair: 'keep' } },
    )
    expect(report(notes)).toContain(note)
  })

  test('notes a namespaced call once, at the definition of its tool', () => {
    const input = [
      { type: 'function_call', call_id: 'c', name: 'find', namespace: 'n', arguments: '{}' },
    ]
    const { notes } = translateRequest(
      { model: 'm', input, tools: [{ type: 'namespace', name: 'n', tools: [tool] }] },
      options('chat-completions'),
    )
    expect(report(notes).filter(note => note.startsWith('tool.namespace'))).toEqual([
      'tool.namespace /tools/0/name',
    ])
  })
})

describe('drops of a response are noted at their path', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'find', arguments: '{}' }
  const cited = (annotation: object) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'a', annotations: [annotation] }],
  })
  test.each<Case>([
    [
      'the id of reasoning that says nothing',
      'messages',
      { output: [{ type: 'reasoning', id: 'rs_1', summary: [] }] },
      'message.envelope /output/0/id',
    ],
    [
      'log probabilities',
      'messages',
      {
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'a', logprobs: [{ token: 'a', logprob: -1 }] }],
          },
        ],
      },
      'field.unsupported /output/0/content/0/logprobs',
    ],
    [
      'an unknown reason',
      'messages',
      {
        status: 'incomplete',
        incomplete_details: { reason: 'moon' },
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'a', annotations: [] }],
          },
        ],
      },
      'finish.approximated /incomplete_details/reason',
    ],
    [
      'an id that does not fit',
      'messages',
      { output: [{ ...call, call_id: 'c c' }] },
      'tool-call.id /output/0/call_id',
    ],
    [
      'the namespace of a call',
      'chat-completions',
      { output: [{ ...call, namespace: 'n' }] },
      'tool.namespace /output/0/namespace',
    ],
    [
      'what a tool gave',
      'messages',
      { output: [{ type: 'function_call_output', call_id: 'c', namespace: 'n', output: 'x' }] },
      'part.unsupported /output/0',
    ],
    [
      'lifetimes of what was cached',
      'chat-completions',
      {
        usage: {
          input_tokens: 9,
          input_tokens_details: { cache_write_tokens_details: { ttl_30m_tokens: 3 } },
        },
      },
      'usage.unsupported /usage/input_tokens_details/cache_write_tokens_details',
    ],
    [
      'an unknown lifetime of what was cached',
      'messages',
      {
        usage: {
          input_tokens: 9,
          input_tokens_details: { cache_write_tokens_details: { odd: 3 } },
        },
      },
      'field.unknown /usage/input_tokens_details/cache_write_tokens_details/odd',
    ],
    [
      'a count with a fraction',
      'messages',
      { usage: { input_tokens: 1.5, output_tokens: 2 } },
      'field.unknown /usage/input_tokens',
    ],
    [
      'the place of a source that is no number',
      'chat-completions',
      {
        output: [
          cited({
            type: 'url_citation',
            start_index: '0',
            end_index: 1,
            title: 't',
            url: 'https://example.org/',
          }),
        ],
      },
      'field.unknown /output/0/content/0/annotations',
    ],
    [
      'alternatives that are no list of tokens',
      'chat-completions',
      {
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [
              {
                type: 'output_text',
                text: 'a',
                logprobs: [{ token: 'a', logprob: -1, top_logprobs: [7] }],
              },
            ],
          },
        ],
      },
      'field.unknown /output/0/content/0/logprobs/0/top_logprobs',
    ],
    [
      'input that is less than its cached part',
      'messages',
      { usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 5 } } },
      'usage.overlap /usage/input_tokens',
    ],
    [
      'the format of audio',
      'chat-completions',
      {
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'input_audio', input_audio: { data: 'QQ==', format: 'odd' } }],
          },
        ],
      },
      'audio.type /output/0/content/0/input_audio/format',
    ],
    ...(['chat-completions', 'messages', 'generate-content'] as const).flatMap<Case>(to => [
      [
        `tools that are there from here on, toward ${to}`,
        to,
        { output: [{ type: 'additional_tools', id: 'at_1', role: 'developer', tools: [tool] }] },
        'part.unsupported /output/0',
      ],
      [
        `unknown fields of an annotation, for ${to}`,
        to,
        {
          output: [
            cited({
              type: 'url_citation',
              url: 'https://example.org',
              title: 't',
              start_index: 0,
              end_index: 1,
              odd: 1,
            }),
          ],
        },
        'field.unknown /output/0/content/0/annotations',
      ],
    ]),
    [
      'bytes of a token that its text has not',
      'generate-content',
      {
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [
              {
                type: 'output_text',
                text: 'a',
                logprobs: [{ token: 'a', logprob: -1, bytes: [1] }],
              },
            ],
          },
        ],
      },
      'logprobs.bytes /output/0/content/0/logprobs',
    ],
    [
      'the container of a cited file',
      'generate-content',
      {
        output: [
          cited({
            type: 'container_file_citation',
            container_id: 'cntr_1',
            file_id: 'f',
            filename: 'a.txt',
            start_index: 0,
            end_index: 1,
          }),
        ],
      },
      'citation.approximated /output/0/content/0/annotations',
    ],
  ])('%s', (_, to, body, note) => {
    const { notes } = translateResponse(
      { id: 'resp_1', model: 'm', status: 'completed', output: [], ...body },
      options(to),
    )
    expect(report(notes)).toContain(note)
  })
})

test.each<ProtocolName>(['chat-completions', 'generate-content'])(
  'notes only the allowed tools that are dropped, toward %s',
  to => {
    const mcp = { type: 'mcp', server_label: 's', server_url: 'https://example.org/mcp' }
    const choose = (...tools: object[]) =>
      translateRequest(
        {
          model: 'm',
          input: 'x',
          tools: [tool, mcp],
          tool_choice: { type: 'allowed_tools', mode: 'required', tools },
        },
        options(to),
      ).notes
    const find = { type: 'function', name: 'find' }
    const server = { type: 'mcp', server_label: 's' }
    expect(report(choose(find, server))).toContain('tool-choice.unsupported /tool_choice/tools/1')
    expect(report(choose(find, server))).not.toContain('tool-choice.unsupported /tool_choice')
    expect(report(choose(server))).toContain('tool-choice.unsupported /tool_choice')
  },
)

test.each<ProtocolName>(['chat-completions', 'messages', 'generate-content'])(
  'notes only the `include` entries that are dropped, toward %s',
  to => {
    const include = [
      'reasoning.encrypted_content',
      'message.output_text.logprobs',
      'web_search_call.action.sources',
    ]
    const { notes } = translateRequest({ model: 'm', input: 'x', include }, options(to))
    const reported = report(notes).filter(note => note.includes('/include'))
    const lost = 'field.unsupported /include/2'
    expect(reported.sort()).toEqual(
      to === 'messages' ? ['field.unsupported /include/1', lost] : [lost],
    )
  },
)

test.each<ProtocolName>(['chat-completions', 'messages'])(
  'an invalid previous response is not looked up, for %s',
  to => {
    const { notes } = translateRequest(
      { model: 'm', input: 'x', max_output_tokens: 99, previous_response_id: '' },
      options(to),
    )
    expect(notes).toEqual([])
  },
)

test.each<ProtocolName>(['chat-completions', 'messages'])(
  'a namespace is noted once, however many tools it has, toward %s',
  to => {
    const tools = [
      tool,
      {
        type: 'namespace',
        name: 'n',
        description: null,
        tools: [
          { ...tool, name: 'a' },
          { ...tool, name: 'b' },
        ],
      },
    ]
    const { notes } = translateRequest(
      { model: 'm', input: 'x', max_output_tokens: 99, tools },
      options(to),
    )
    expect(report(notes)).toEqual(['tool.namespace /tools/1/name'])
  },
)

describe.each<ProtocolName>(['chat-completions', 'messages', 'generate-content'])(
  'a finish reason without an exact match is noted once, at its path, for %s',
  to => {
    test.each<[string, Record<string, unknown>, string[]]>([
      [
        'an unknown reason',
        { status: 'incomplete', incomplete_details: { reason: 'moon' } },
        ['finish.approximated /incomplete_details/reason'],
      ],
      [
        'a limit of messages',
        { status: 'incomplete', incomplete_details: { reason: 'max_messages' } },
        ['finish.approximated /incomplete_details/reason'],
      ],
      [
        'an end for new input',
        { status: 'incomplete', incomplete_details: { reason: 'steered' } },
        ['finish.approximated /incomplete_details/reason'],
      ],
      [
        'an end without a reason',
        { status: 'incomplete', incomplete_details: null },
        ['finish.approximated /status'],
      ],
      [
        'an end that was called off',
        { status: 'cancelled', incomplete_details: null },
        ['finish.approximated /status'],
      ],
      [
        'a reason next to an end that needs none',
        { status: 'completed', incomplete_details: { reason: 'moon' } },
        ['field.unknown /incomplete_details/reason'],
      ],
      [
        'other fields of a reason',
        { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens', odd: 1 } },
        ['field.unknown /incomplete_details/odd'],
      ],
    ])('%s', (_, ending, expected) => {
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
      const output = [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'x', annotations: [] }],
        },
      ]
      const response = { id: 'resp_1', created_at: 1, model: 'm', output, usage, ...ending }
      const isOfEnding = (note: string) => /finish|incomplete|status/.test(note)
      expect(report(translateResponse(response, options(to)).notes).filter(isOfEnding)).toEqual(
        expected,
      )
      const translator = createStreamTranslator(options(to))
      const type = ending['status'] === 'cancelled' ? 'response.cancelled' : 'response.incomplete'
      translator.push(`data: ${JSON.stringify({ type, response })}\n\n`)
      translator.end()
      expect(report(translator.notes).filter(isOfEnding)).toEqual(expected)
    })
  },
)

test.each<ProtocolName>(['chat-completions', 'messages'])(
  'tools that a search has found are tools of the request, toward %s',
  to => {
    const input = [
      { role: 'user', content: 'q' },
      { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} },
      {
        type: 'tool_search_output',
        call_id: 'c',
        execution: 'client',
        status: 'completed',
        tools: [{ ...tool, name: 'found' }],
      },
    ]
    const { body, notes } = translateRequest({ model: 'm', tools: [tool], input }, options(to))
    expect(JSON.stringify((body as { tools: unknown }).tools)).toMatch(
      /"name":"find".*"name":"found"/,
    )
    expect(report(notes)).toContain('tool.added-late /input/2')
  },
)

test.each<ProtocolName>(['chat-completions', 'messages'])(
  'adds a found tool only once when the request already has it, toward %s',
  to => {
    const input = [
      { role: 'user', content: 'q' },
      {
        type: 'tool_search_output',
        call_id: 'c',
        execution: 'client',
        status: 'completed',
        tools: [tool],
      },
    ]
    const { body, notes } = translateRequest(
      { model: 'm', max_output_tokens: 99, tools: [tool], input },
      options(to),
    )
    expect(body).toMatchObject({ tools: [expect.anything()] })
    expect(notes.map(({ code }) => code)).not.toContain('tool.added-late')
  },
)

describe.each<ProtocolName>(['chat-completions', 'messages', 'generate-content'])(
  'unknown fields of an error are noted, for %s',
  to => {
    test.each<[string, object, string]>([
      [
        'a code that is no text, in a flat body',
        { message: 'm', code: { a: 1 } },
        'field.unknown /code',
      ],
      [
        'a code that is no text, beside the error',
        { error: 'm', code: ['x'] },
        'field.unknown /code',
      ],
      [
        'a param that is no text, in a flat body',
        { message: 'm', param: 3 },
        'field.unknown /param',
      ],
      [
        'an unknown type',
        { error: { message: 'm', type: 'moon', code: null } },
        'error.details /error/type',
      ],
      ['an unknown type, in a flat body', { message: 'm', type: 'moon' }, 'field.unknown /type'],
      [
        'an unknown type, next to the error',
        { error: { message: 'm' }, error_type: 'moon' },
        'field.unknown /error_type',
      ],
    ])('%s', (_, body, note) => {
      expect(report(translateError({ status: 400, headers: {}, body }, options(to)).notes)).toEqual(
        [note],
      )
    })

    test.each<object>([
      { error: { message: 'm', type: 'invalid_request_error', code: null } },
      { error: { message: 'm' }, error_type: 'invalid_request_error' },
      { type: 'error', message: 'm', code: null, param: null },
    ])('makes no note for known fields: %j', body => {
      expect(translateError({ status: 400, headers: {}, body }, options(to)).notes).toEqual([])
    })
  },
)
