import { describe, expect, test } from 'vitest'
import type { Message, Part } from '../../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { translateRequest } from '../../../src/index.ts'
import { withoutWire } from '../../../src/kit/fields/source.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import type { CodecOptions, ToolOptions } from '../../../src/protocol.ts'
import { type ResponsesOptions, responses } from '../../../src/protocols/responses/index.ts'
import { written } from '../../support/written.ts'

const read = (wire: unknown) => responses.decodeRequest(wire)
const write = (
  value: CanonicalRequest,
  options?: CodecOptions & ToolOptions & ResponsesOptions,
) => {
  const { wire, notes, context } = written(value, responses, options)
  return {
    wire: wire as Record<string, unknown>,
    codes: notes.map(({ code }) => code),
    notes,
    context,
  }
}
const foreign = (messages: Message[], more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  model: 'm',
  messages,
  state: { store: true },
  ...more,
})
const say = (role: Message['role'], ...parts: Part[]): Message => ({
  role,
  origin: 'message',
  parts,
})
const text = (value: string, more: Partial<Part> = {}) =>
  ({ type: 'text', text: value, ...more }) as Part
const items = (...messages: Message[]) => write(foreign(messages)).wire['input']

describe('restores a body without a note', () => {
  test.each([
    ['input as text', { model: 'm', input: 'hi' }],
    ['no input', { prompt: { id: 'pmpt_1' } }],
    ['an invalid previous response', { input: 'x', previous_response_id: '' }],
    ['a previous response that is null', { input: 'x', previous_response_id: null }],
    [
      'an unknown key of an allowed tool',
      {
        input: 'x',
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'f', odd: 1 }],
        },
      },
    ],
    ['an empty input', { input: [] }],
    ['a message without type', { input: [{ role: 'user', content: 'hi' }] }],
    ['a message whose type is null', { input: [{ type: null, role: 'user', content: [] }] }],
    [
      'content as parts',
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] },
    ],
    [
      'instructions beside developer items',
      {
        instructions: 'I',
        input: [
          { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'P' }] },
        ],
      },
    ],
    ['instructions that are null', { instructions: null, input: 'x' }],
    [
      'reasoning whose content is null',
      {
        input: [
          { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'SEAL' },
        ],
      },
    ],
    [
      'reasoning that has been sealed for an empty text',
      { input: [{ type: 'reasoning', id: '', summary: [], encrypted_content: '' }] },
    ],
    [
      'calls and their results',
      {
        input: [
          {
            type: 'function_call',
            id: 'fc_1',
            call_id: 'c',
            name: 'f',
            namespace: 'n',
            arguments: '{"a":',
            status: 'completed',
            async: true,
            caller: { type: 'direct' },
          },
          { type: 'function_call_output', call_id: 'c', output: '' },
          { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'raw' },
          {
            type: 'custom_tool_call_output',
            id: 'ctco_1',
            call_id: 'd',
            output: [{ type: 'input_text', text: 'ok' }],
          },
        ],
      },
    ],
    [
      'a reference to an item',
      { input: [{ type: 'item_reference', id: 'msg_1' }, { id: 'msg_2' }] },
    ],
    [
      'media in every spelling',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'low' },
              { type: 'input_image', image_url: 'data:image/png;base64,QQ==' },
              { type: 'input_image', file_id: 'file_1', image_url: null },
              {
                type: 'input_file',
                file_data: 'data:application/pdf;base64,QQ==',
                filename: 'a.pdf',
              },
              { type: 'input_file', file_data: 'QQ==', filename: 'a.pdf' },
              { type: 'input_file', file_url: 'https://example.org/a.pdf' },
              { type: 'input_audio', input_audio: { data: 'QQ==', format: 'mp3' } },
              { type: 'input_hologram', data: 1 },
            ],
          },
        ],
      },
    ],
    [
      'cache breakpoints',
      {
        input: [
          {
            role: 'user',
            content: [
              {
                type: 'input_text',
                text: 'x',
                prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h', odd: 1 },
              },
            ],
          },
        ],
      },
    ],
    [
      'tools of every kind',
      {
        input: 'x',
        tools: [
          {
            type: 'function',
            name: 'f',
            description: null,
            parameters: null,
            strict: null,
            defer_loading: true,
          },
          { type: 'function', name: 'g', parameters: { type: 'object' }, strict: false, odd: 1 },
          {
            type: 'custom',
            name: 'h',
            format: { type: 'grammar', syntax: 'lark', definition: 's' },
          },
          {
            type: 'namespace',
            name: 'n',
            description: 'D',
            tools: [
              { type: 'function', name: 'f', parameters: {}, strict: true },
              { type: 'custom', name: 'k' },
            ],
          },
          {
            type: 'namespace',
            name: 'n',
            description: 'E',
            tools: [{ type: 'custom', name: 'l' }],
          },
          { type: 'namespace', name: 'empty', description: '', tools: [] },
          { type: 'web_search', search_context_size: 'low', newer: true },
          { type: 'acme:tool', a: 1 },
        ],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [
            { type: 'function', name: 'f' },
            { type: 'mcp', server_label: 's' },
          ],
        },
      },
    ],
    [
      'items that steer',
      {
        input: [
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [{ type: 'function', name: 'f', parameters: {}, strict: true }],
          },
          { type: 'configuration_update', reasoning: { effort: 'low' } },
          { type: 'compaction', encrypted_content: 'C' },
          { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
          { type: 'mcp_approval_response', approval_request_id: 'a', approve: true },
          { type: 'acme:item', id: 'i' },
        ],
      },
    ],
    [
      'a choice with unknown fields',
      { input: 'x', tool_choice: { type: 'function', name: 'f', namespace: 'n', odd: 1 } },
    ],
    [
      'a choice among tools with unknown fields',
      {
        input: 'x',
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'mcp', server_label: 's' }],
          odd: 1,
        },
      },
    ],
    [
      'a choice among tools in an unknown mode',
      { input: 'x', tool_choice: { type: 'allowed_tools', mode: 'moon', tools: [] } },
    ],
    ...[
      'file_search',
      'web_search_preview',
      'computer',
      'code_interpreter',
      'image_generation',
      'shell',
      'apply_patch',
      'programmatic_tool_calling',
      'moon',
    ].map((type): [string, object] => [
      `a choice of ${type}`,
      { input: 'x', tool_choice: { type } },
    ]),
    [
      'a choice of a server',
      { input: 'x', tool_choice: { type: 'mcp', server_label: 's', name: 'n' } },
    ],
    ['a choice of a custom tool', { input: 'x', tool_choice: { type: 'custom', name: 'n' } }],
    [
      'the older word for summaries',
      { input: 'x', reasoning: { effort: null, generate_summary: 'auto' } },
    ],
    [
      'both words for summaries',
      { input: 'x', reasoning: { summary: 'concise', generate_summary: 'auto', odd: 1 } },
    ],
    [
      'empty objects',
      { input: 'x', reasoning: {}, text: {}, stream_options: {}, prompt_cache_options: {} },
    ],
    [
      'a schema',
      {
        input: 'x',
        text: {
          verbosity: 'low',
          format: { type: 'json_schema', name: 'r', schema: {}, strict: null, odd: 1 },
        },
      },
    ],
    [
      'includes in their order',
      {
        input: 'x',
        include: [
          'reasoning.encrypted_content',
          'message.output_text.logprobs',
          'file_search_call.results',
        ],
        top_logprobs: 2,
      },
    ],
    [
      'everything about state',
      {
        input: 'x',
        store: true,
        previous_response_id: 'resp_1',
        background: false,
        conversation: null,
        truncation: 'auto',
        max_tool_calls: 3,
      },
    ],
    [
      'unknown fields',
      {
        input: 'x',
        client_metadata: { a: 1 },
        access_programs: { cyber: 'standard' },
        presence_penalty: 0.5,
        stream: null,
      },
    ],
  ])('%s', (_name, wire) => {
    const { value } = read(wire)
    const { wire: again, notes } = write(value)
    expect(again).toEqual(wire)
    expect(notes).toEqual([])
  })
})

describe('decoding', () => {
  test('instructions are the first message', () => {
    expect(read({ instructions: 'I', input: 'x' }).value.messages).toMatchObject([
      { role: 'system', origin: 'instructions', parts: [{ text: 'I', at: '/instructions' }] },
      { role: 'user', origin: 'message', parts: [{ text: 'x', at: '/input' }] },
    ])
  })

  test('tools that an item adds can be read, each with its namespace', () => {
    const tools = [
      {
        type: 'namespace',
        name: 'functions',
        description: '',
        tools: [{ type: 'custom', name: 'exec', format: { type: 'text' } }],
      },
    ]
    expect(
      read({ input: [{ type: 'additional_tools', role: 'developer', tools }] }).value.messages,
    ).toMatchObject([
      {
        role: 'developer',
        parts: [
          {
            type: 'control',
            control: 'tool-addition',
            protocol: 'responses',
            tools: [{ type: 'freeform', name: 'exec', namespace: 'functions' }],
          },
        ],
      },
    ])
  })

  test.each([
    ['additional_tools', { type: 'function', name: ['a'] }, '/name'],
    ['additional_tools', { type: 'custom', name: 'a', description: {} }, '/description'],
    ['tool_search_output', { type: 'function', name: 'a', description: 5 }, '/description'],
    ['tool_search_output', { type: 'namespace', name: 5, tools: [] }, '/name'],
  ])('refuses a tool of an item that is none: %s with %j', (type, tool, path) => {
    const input = [{ type, call_id: 'c', tools: [{ type: 'function', name: 'fine' }, tool] }]
    expect(() => responses.decodeRequest({ model: 'm', input })).toThrow(
      expect.objectContaining({ code: 'malformed', path: `/input/0/tools/1${path}` }),
    )
  })

  test('an envelope is opened, and a carried signature goes back to its call', () => {
    const signature = { value: 'QUJD', issuer: 'generate-content', form: 'thought' as const }
    const { value } = read({
      input: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'so' }],
          encrypted_content: wrapSignature({ signature: { value: 'S', issuer: 'messages' } }),
        },
        {
          type: 'reasoning',
          id: 'rs_2',
          summary: [],
          encrypted_content: wrapSignature({ signature, attach: 'next' }),
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      ],
    })
    expect(value.messages).toMatchObject([
      { parts: [{ type: 'reasoning', signature: { value: 'S', issuer: 'messages' } }] },
      { parts: [{ type: 'tool-call', signature }] },
    ])
  })

  test('drops a carrier without its owner, with a note', () => {
    const { value, notes } = read({
      input: [
        {
          type: 'reasoning',
          id: 'rs_2',
          summary: [],
          encrypted_content: wrapSignature({
            signature: { value: 'x', issuer: 'messages' },
            attach: 'next',
          }),
        },
      ],
    })
    expect(value.messages).toEqual([])
    expect(notes).toMatchObject([{ code: 'reasoning.signature-orphaned', path: '/input/0' }])
  })

  test('a result without the id of its call is paired by name', () => {
    const { value, notes } = read({
      input: [
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'g', arguments: '{}' },
        { type: 'function_call_output', call_id: null, name: 'g', output: 'r' },
      ],
    })
    expect(value.messages[2]?.parts).toMatchObject([{ type: 'tool-result', callId: 'c2' }])
    expect(notes).toMatchObject([{ code: 'tool-result.call-id', path: '/input/2' }])
  })

  test.each([{}, { call_id: null }])(
    'a result of no call keeps the name of its tool (%j)',
    message => {
      const output = { type: 'function_call_output', ...message, name: 'f', output: 'r' }
      const { value, notes } = read({ input: [output] })
      expect(value.messages[0]?.parts).toMatchObject([
        { type: 'tool-result', callId: '', name: 'f' },
      ])
      expect(notes).toEqual([])
      expect(write(value).wire['input']).toEqual([output])
      const { body } = translateRequest(
        { model: 'm', input: [output] },
        { from: 'responses', to: 'generate-content', tools: { repair: 'keep' } },
      )
      expect(body).toMatchObject({
        contents: [{ parts: [{ functionResponse: { name: 'f', response: { output: 'r' } } }] }],
      })
      expect(JSON.stringify(body)).not.toContain('"id"')
    },
  )

  test.each([
    ['computer_call', {}, true],
    ['apply_patch_call', {}, true],
    ['mcp_approval_request', {}, true],
    ['shell_call', { environment: { type: 'local' } }, true],
    ['shell_call', { environment: { type: 'container_reference' } }, undefined],
    ['tool_search_call', { execution: 'client' }, true],
    ['tool_search_call', { execution: 'server' }, undefined],
    ['mcp_call', {}, undefined],
    ['web_search_call', {}, undefined],
  ])('%s %j waits for the client: %s', (type, more, awaitsClient) => {
    const part = read({ input: [{ type, id: 'x', ...more }] }).value.messages[0]?.parts[0]
    expect(part?.type === 'server-tool' && part.awaitsClient).toBe(awaitsClient)
  })

  test('treats a schema without `strict` as strict when it fits, and notes its change otherwise', () => {
    const fits = {
      type: 'object',
      properties: { a: {} },
      required: ['a'],
      additionalProperties: false,
    }
    const { value, notes } = read({
      input: 'x',
      tools: [
        { type: 'function', name: 'f', parameters: fits },
        { type: 'function', name: 'g', parameters: { type: 'object', properties: { a: {} } } },
      ],
    })
    expect(value.tools).toMatchObject([{ strict: true }, { name: 'g' }])
    expect(value.tools?.[1]).not.toHaveProperty('strict')
    expect(notes).toMatchObject([{ code: 'tool.schema-normalized', path: '/tools/1/parameters' }])
  })

  test.each([
    ['/input/0/role', { input: [{ role: 'robot', content: 'x' }] }],
    ['/input/0/call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['/input/0/content/0/text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    ['/tools/0/name', { tools: [{ type: 'function' }] }],
    ['/temperature', { temperature: 'hot' }],
    [
      '/text/format/strict',
      { text: { format: { type: 'json_schema', name: 'a', schema: {}, strict: 'true' } } },
    ],
    ['/text/format/schema', { text: { format: { type: 'json_schema', name: 'a' } } }],
    ['/text/format/name', { text: { format: { type: 'json_schema', name: 7, schema: {} } } }],
  ])('a fault at %s is malformed', (path, wire) => {
    expect(() => read(wire)).toThrow(expect.objectContaining({ code: 'malformed', path }))
  })
})

describe('encoding what another protocol sent', () => {
  test('a history becomes items in order; ids of calls never become ids of items', () => {
    const call = (id: string, more = {}): Part => ({
      type: 'tool-call',
      id,
      name: 'f',
      kind: 'function',
      input: '{}',
      ...more,
    })
    const result = (callId: string, ...content: Part[]): Part => ({
      type: 'tool-result',
      callId,
      kind: 'function',
      content,
    })
    expect(
      items(
        say('system', text('S')),
        say('user', text('x')),
        say('assistant', text('a'), call('call_1'), {
          type: 'tool-call',
          id: 'call_2',
          name: 'p',
          kind: 'freeform',
          input: 'raw',
        }),
        say('tool', result('call_1', text('r'))),
        say('tool', { type: 'tool-result', callId: 'call_2', kind: 'freeform', content: [] }),
        say('assistant', text('b'), text('c')),
      ),
    ).toEqual([
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'S' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] },
      { type: 'message', role: 'assistant', content: 'a' },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'p', input: 'raw' },
      { type: 'function_call_output', call_id: 'call_1', output: 'r' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: '' },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'b', annotations: [] },
          { type: 'output_text', text: 'c', annotations: [] },
        ],
      },
    ])
  })

  test('instructions that are more than a text are a system item', () => {
    const own = { ...say('system', text('S')), origin: 'instructions' as const }
    expect(write(foreign([own])).wire).toMatchObject({ instructions: 'S', input: [] })
    const marked = { ...say('system', text('S', { cache: {} })), origin: 'instructions' as const }
    expect(write(foreign([marked])).wire).toMatchObject({
      input: [{ role: 'system', content: [{ prompt_cache_breakpoint: { mode: 'explicit' } }] }],
    })
  })

  test('an image in a result stays an image', () => {
    const image: Part = {
      type: 'media',
      kind: 'image',
      source: { type: 'base64', data: 'QQ==', mime: 'image/png' },
    }
    expect(
      items(
        say('tool', {
          type: 'tool-result',
          callId: 'c',
          kind: 'function',
          content: [text('see'), image],
        }),
      ),
    ).toMatchObject([
      {
        output: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'data:image/png;base64,QQ==' },
        ],
      },
    ])
  })

  test('stores nothing unless requested, and requests encrypted reasoning', () => {
    const { wire, notes } = write({ model: 'm', messages: [] })
    expect(wire).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(notes).toMatchObject([
      { kind: 'synthesized', code: 'store.default', path: '/store' },
      { kind: 'synthesized', code: 'reasoning.include-encrypted', path: '/include' },
    ])
    expect(write({ model: 'm', messages: [], state: { store: true } }).codes).toEqual([])
  })

  test('sends only its own signatures', () => {
    const thought = (
      signature?: Extract<Part, { type: 'reasoning' }>['signature'],
      id?: string,
    ): Part => ({
      type: 'reasoning',
      segments: [{ kind: 'summary', text: 's' }],
      ...(signature && { signature }),
      ...(id && { id }),
    })
    const { wire, codes } = write(
      foreign([
        say(
          'assistant',
          thought({ value: 'S', issuer: 'messages' }),
          thought(),
          thought({ value: 'OWN', issuer: 'responses' }, 'rs_1'),
          text('yes'),
        ),
      ]),
    )
    expect(wire['input']).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 's' }],
        encrypted_content: 'OWN',
      },
      { type: 'message', role: 'assistant', content: 'yes' },
    ])
    expect(codes).toEqual(['reasoning.foreign-signature', 'reasoning.unsigned'])
  })

  test.each([
    ['a turn that the length limit ended while the model thought', []],
    ['a turn that ended in an empty text', [{ type: 'text', text: '' }]],
  ] satisfies [string, Part[]][])(
    'drops reasoning without the item that follows it: %s',
    (_, ended) => {
      const thought: Part = {
        type: 'reasoning',
        segments: [],
        signature: { value: 'OWN', issuer: 'responses' },
      }
      const history = [
        say('user', text('yes')),
        say('assistant', thought, { ...thought }, ...ended),
        say('user', text('yes')),
        say('assistant', { ...thought }, text('yes')),
      ]
      const { wire, codes } = write(foreign(history))
      expect((wire['input'] as { type: string }[]).map(({ type }) => type)).toEqual([
        'message',
        'message',
        'reasoning',
        'message',
      ])
      expect(codes).toEqual(['reasoning.loose', 'reasoning.loose'])
    },
  )

  describe('reasoning that a client sends again', () => {
    const thought = (value: string, id?: string, ...message: string[]): Part => ({
      type: 'reasoning',
      segments: message.map(segment => ({ kind: 'summary', text: segment })),
      ...(id !== undefined && { id }),
      signature: { value, issuer: 'responses' },
    })
    const item = (encrypted_content: string, id?: string, ...message: string[]) => ({
      type: 'reasoning',
      ...(id !== undefined && { id }),
      summary: message.map(segment => ({ type: 'summary_text', text: segment })),
      encrypted_content,
    })
    const says = (content: string) => ({ type: 'message', role: 'assistant', content })
    const user = say('user', text('yes'))

    test.each<[string, ReturnType<typeof say>[], unknown[], string[]]>([
      [
        'is where it came first',
        [
          say('assistant', thought('A', 'rs_1'), text('a'), thought('A', 'rs_1'), text('b')),
          user,
          say('assistant', thought('A', 'rs_1'), text('c')),
        ],
        [item('A', 'rs_1'), says('a'), says('b'), {}, says('c')],
        [],
      ],
      [
        'says no more than it did',
        [
          say(
            'assistant',
            thought('A', 'rs_1', 'hm'),
            text('a'),
            thought('A', 'rs_1', 'hm'),
            thought('A', 'rs_1'),
            text('b'),
          ),
        ],
        [item('A', 'rs_1', 'hm'), says('a'), says('b')],
        [],
      ],
      [
        'says something else',
        [say('assistant', thought('A', 'rs_1'), text('a'), thought('A', 'rs_1', 'hm'), text('b'))],
        [item('A', 'rs_1'), says('a'), says('b')],
        ['reasoning.repeated'],
      ],
      [
        'had led to nothing where it came first',
        [
          say('assistant', thought('A', 'rs_1')),
          user,
          say('assistant', thought('A', 'rs_1'), text('a')),
        ],
        [{}, item('A', 'rs_1'), says('a')],
        ['reasoning.loose'],
      ],
      [
        'has another signature under the same id',
        [say('assistant', thought('A', 'rs_1'), text('a'), thought('B', 'rs_1', 'hm'), text('b'))],
        [item('A', 'rs_1'), says('a'), item('B', undefined, 'hm'), says('b')],
        ['reasoning.id-twice'],
      ],
      [
        'has no id',
        [say('assistant', thought('A'), text('a'), thought('A'), text('b'))],
        [item('A'), says('a'), item('A'), says('b')],
        [],
      ],
    ])('%s', (_, history, expected, notes) => {
      const { wire, codes } = write(foreign(history))
      expect(wire['input']).toMatchObject(expected)
      expect(wire['input']).toHaveLength(expected.length)
      const ids = (wire['input'] as { id?: string }[]).flatMap(({ id }) => id ?? [])
      expect(new Set(ids).size).toBe(ids.length)
      expect(codes).toEqual(notes)
    })

    test('is unchanged within one protocol', () => {
      const input = [item('A', 'rs_1'), says('a'), item('A', 'rs_1'), says('b')]
      const { value } = responses.decodeRequest({ model: 'm', input })
      expect(responses.encodeRequest(value).wire).toMatchObject({ input })
    })
  })

  test('an image of the model is the result of an image generation call, with the same id in every request', () => {
    const history = foreign([
      say('assistant', {
        type: 'media',
        kind: 'image',
        source: { type: 'base64', data: 'QQ==', mime: 'image/png' },
      }),
    ])
    const { wire, codes } = write(history)
    expect(wire['input']).toEqual([
      {
        type: 'image_generation_call',
        id: expect.stringMatching(/^ig_/),
        status: 'completed',
        result: 'QQ==',
        output_format: 'png',
      },
    ])
    expect(write(history).wire).toEqual(wire)
    expect(codes).toEqual(['media.as-image-call'])
  })

  test('the finest detail of an image is the original', () => {
    const { wire, codes } = write(
      foreign([
        say('user', {
          type: 'media',
          kind: 'image',
          source: { type: 'url', url: 'https://a.org/b.png' },
          detail: 'ultra_high',
        }),
      ]),
    )
    expect(wire['input']).toMatchObject([
      { content: [{ type: 'input_image', detail: 'original' }] },
    ])
    expect(codes).toEqual(['media.detail'])
  })

  test('notes unsupported fields of media', () => {
    const media = (kind: 'audio' | 'video'): Part => ({
      type: 'media',
      kind,
      source: { type: 'base64', data: 'QQ==' },
      filename: 'a',
      cache: {},
    })
    expect(write(foreign([say('user', media('video'))])).codes).toEqual(['media.unsupported'])
  })

  test('writes `strict: false` when it was absent', () => {
    const { wire, codes } = write(foreign([], { tools: [{ type: 'function', name: 'f' }] }))
    expect(wire['tools']).toEqual([
      { type: 'function', name: 'f', parameters: null, strict: false },
    ])
    expect(codes).toEqual([])
  })

  test('names and ids that are not allowed here are changed alike everywhere, and restored in the response', () => {
    const long = 'x'.repeat(416)
    const { wire, codes, context } = write(
      foreign(
        [
          say('assistant', {
            type: 'tool-call',
            id: long,
            name: 'a.b',
            kind: 'function',
            input: '',
          }),
          say('tool', { type: 'tool-result', callId: long, kind: 'function', content: [] }),
        ],
        {
          tools: [{ type: 'function', name: 'a.b' }],
          toolChoice: { mode: 'tool', kind: 'function', name: 'a.b' },
        },
      ),
    )
    const [call, result] = wire['input'] as Record<string, unknown>[]
    expect(call?.['call_id']).toMatch(/^call_[A-Za-z0-9]{24}$/)
    expect(result?.['call_id']).toBe(call?.['call_id'])
    expect(call?.['name']).toMatch(/^a_b_[0-9a-f]{8}$/)
    expect(wire['tool_choice']).toEqual({ type: 'function', name: call?.['name'] })
    expect(context?.tools).toEqual({ [String(call?.['name'])]: { name: 'a.b' } })
    expect(codes).toEqual(['tool-call.id', 'tool.renamed', 'tool-call.empty-input'])
  })

  test.each<[string, Partial<CanonicalRequest>, Record<string, unknown>, string[]]>([
    ['stop sequences have no field', { stop: ['END'] }, {}, ['field.unsupported']],
    [
      'sampling that is not here',
      { sampling: { topK: 3, seed: 1, logitBias: { a: 1 } } },
      {},
      ['field.unsupported', 'field.unsupported', 'field.unsupported'],
    ],
    [
      'penalties of zero are the default',
      { sampling: { presencePenalty: 0, frequencyPenalty: 0 } },
      {},
      [],
    ],
    ['penalties are dropped', { sampling: { presencePenalty: 1 } }, {}, ['field.unsupported']],
    ['one candidate is the default', { candidateCount: 1 }, {}, []],
    ['several candidates are not', { candidateCount: 2 }, {}, ['field.unsupported']],
    [
      'limits below 16 are raised',
      { maxOutputTokens: 5 },
      { max_output_tokens: 16 },
      ['max-tokens.raised'],
    ],
    [
      'a budget is an effort',
      { reasoning: { budgetTokens: 8000 } },
      { reasoning: { effort: 'medium' } },
      ['reasoning.budget-as-effort'],
    ],
    [
      'no budget is no reasoning',
      { reasoning: { budgetTokens: 0 } },
      { reasoning: { effort: 'none' } },
      [],
    ],
    ['the model decides', { reasoning: { budgetTokens: -1, mode: 'adaptive' } }, {}, []],
    [
      'reasoning switched off',
      { reasoning: { mode: 'disabled' } },
      { reasoning: { effort: 'none' } },
      [],
    ],
    [
      'the mode wins over the effort',
      { reasoning: { mode: 'disabled', effort: 'high' } },
      { reasoning: { effort: 'none' } },
      ['reasoning.off'],
    ],
    [
      'reasoning between tools, and how much',
      { reasoning: { mode: 'between_tools', effort: 'high' } },
      { reasoning: { effort: 'none' } },
      ['reasoning.mode-as-effort', 'reasoning.off'],
    ],
    [
      'reasoning between tools',
      { reasoning: { mode: 'between_tools' } },
      { reasoning: { effort: 'none' } },
      ['reasoning.mode-as-effort'],
    ],
    [
      'reasoning that is shown',
      { reasoning: { display: 'summarized' } },
      { reasoning: { summary: 'auto' } },
      ['reasoning.display-as-summary'],
    ],
    ['reasoning that is not shown', { reasoning: { display: 'omitted' } }, {}, []],
    [
      'a schema without a name',
      { output: { format: { type: 'schema', schema: {} } } },
      { text: { format: { type: 'json_schema', name: 'response', schema: { type: 'object' } } } },
      ['schema.name'],
    ],
    [
      'JSON',
      { output: { format: { type: 'json' } } },
      { text: { format: { type: 'json_object' } } },
      [],
    ],
    ['text alone is the default', { output: { modalities: ['text'] } }, {}, []],
    [
      'a long safety id',
      { user: { safetyId: 'x'.repeat(80) } },
      { safety_identifier: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ['user.hashed'],
    ],
    [
      'a limit of tool calls',
      { state: { store: true, maxToolCalls: 3 } },
      { max_tool_calls: 3 },
      [],
    ],
    [
      'log probabilities',
      { logprobs: { enabled: true, top: 2 } },
      { top_logprobs: 2, include: ['message.output_text.logprobs'] },
      [],
    ],
    [
      'an allowed subset',
      {
        tools: [{ type: 'function', name: 'f', parameters: null, strict: true }],
        toolChoice: { mode: 'allowed', require: true, tools: [{ kind: 'function', name: 'f' }] },
      },
      {
        tools: [{ type: 'function', name: 'f', parameters: null, strict: true }],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'required',
          tools: [{ type: 'function', name: 'f' }],
        },
      },
      [],
    ],
    [
      'usage is always there',
      { stream: { enabled: true, includeUsage: true } },
      { stream: true },
      [],
    ],
    [
      'a field of another protocol',
      { ext: { messages: { fields: { inference_geo: 'eu' } } } },
      {},
      ['field.unknown'],
    ],
  ])('%s', (_name, more, expected, codes) => {
    const { wire, codes: made } = write(foreign([], more))
    expect(wire).toEqual({ model: 'm', input: [], store: true, ...expected })
    expect(made).toEqual(codes)
  })

  test('notes point into the body they are about', () => {
    const { notes } = write(foreign([], { sampling: { topK: 1 } }), {
      fieldNames: { 'sampling.topK': 'top_k' },
    })
    expect(notes).toMatchObject([{ path: '/top_k' }])
  })

  test('a failed tool keeps its text, with a prefix on request', () => {
    const failed = foreign([
      say('tool', {
        type: 'tool-result',
        callId: 'c',
        kind: 'function',
        content: [text('bad')],
        isError: true,
      }),
    ])
    expect(write(failed)).toMatchObject({
      wire: { input: [{ output: 'bad' }] },
      codes: ['tool-result.error-flag'],
    })
    expect(write(failed, { errorPrefix: 'Error: ' })).toMatchObject({
      wire: { input: [{ output: 'Error: bad' }] },
    })
  })

  test('at most four cache breakpoints stay: those of the system, then the last', () => {
    const { wire, codes } = write(
      foreign([
        say('system', text('s', { cache: {} })),
        say('user', ...[1, 2, 3, 4].map(n => text(String(n), { cache: { ttl: '1h' } }))),
      ]),
    )
    const marks = JSON.stringify(wire['input']).match(/"text":"."(,"prompt_cache_breakpoint")?/g)
    expect(marks?.map(mark => mark.includes('breakpoint'))).toEqual([true, false, true, true, true])
    expect(codes.filter(code => code === 'cache.too-many')).toHaveLength(1)
    expect(codes.filter(code => code === 'cache.ttl')).toHaveLength(3)
  })

  test('keeps a call without a result and a result without a call', () => {
    const history = foreign([
      say('assistant', { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{}' }),
      say('tool', { type: 'tool-result', callId: 'other', kind: 'function', content: [text('r')] }),
    ])
    expect(write(history)).toMatchObject({
      wire: { input: [{ call_id: 'c' }, { call_id: 'other' }] },
      codes: [],
    })
  })

  describe('tools that another provider runs', () => {
    const search = {
      type: 'server' as const,
      tool: 'web_search' as const,
      protocol: 'messages',
      raw: {},
      common: { allowedDomains: ['a.org'] },
    }
    const own = { type: 'function' as const, name: 'f' }

    test('are left out next to others, refused alone, and mapped on request', () => {
      expect(write(foreign([], { tools: [own, search] })).codes).toEqual(['tool.server'])
      expect(() => write(foreign([], { tools: [search] }))).toThrow(
        expect.objectContaining({ code: 'inexpressible' }),
      )
      expect(write(foreign([], { tools: [search] }), { serverTools: 'map' })).toMatchObject({
        wire: { tools: [{ type: 'web_search', filters: { allowed_domains: ['a.org'] } }] },
        codes: ['tool.server-mapped'],
      })
    })

    test('are refused where the model must call them', () => {
      const forced = foreign([], {
        tools: [own, search],
        toolChoice: { mode: 'tool', kind: 'server', name: 'web_search' },
      })
      expect(() => write(forced)).toThrow(
        expect.objectContaining({ code: 'inexpressible', path: '/tool_choice' }),
      )
    })

    test('leave no trace in the history', () => {
      const history = foreign([
        say('assistant', {
          type: 'server-tool',
          phase: 'call',
          tool: 'web_search',
          id: 's',
          protocol: 'messages',
          raw: { input: { query: 'q' } },
        }),
      ])
      expect(write(history)).toMatchObject({ wire: { input: [] }, codes: ['server-tool.dropped'] })
    })
  })

  test.each<[string, CanonicalRequest]>([
    [
      'content that is stored elsewhere',
      foreign([], { cache: { contentRef: 'cachedContents/1' } }),
    ],
    ['a thread', foreign([], { state: { thread: { type: 'continue' } } })],
    [
      'a file of another provider',
      foreign([
        say('user', {
          type: 'media',
          kind: 'image',
          source: { type: 'file-id', id: 'f', issuer: 'messages' },
        }),
      ]),
    ],
    [
      'history that only another provider can read',
      foreign([
        say('assistant', { type: 'control', control: 'compaction', protocol: 'messages', raw: {} }),
      ]),
    ],
  ])('%s is refused, or noted on request', (_name, value) => {
    expect(() => write(value)).toThrow(expect.objectContaining({ code: 'inexpressible' }))
    expect(write(value, { onUnresolvable: 'note' }).notes).toContainEqual(
      expect.objectContaining({ kind: 'dropped' }),
    )
  })

  test('does not change its input in either direction', () => {
    const wire = {
      input: [{ type: 'function_call_output', call_id: null, output: { a: 1 } }],
      tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'k' }] }],
    }
    const before = structuredClone(wire)
    const { value } = read(wire)
    const kept = structuredClone(value)
    write(value)
    expect(wire).toEqual(before)
    expect(value).toEqual(kept)
  })
})

test('refuses a body with `messages` and no `input`', () => {
  const messages = [{ role: 'user', content: 'hi' }]
  expect(() => responses.decodeRequest({ model: 'm', messages })).toThrow(
    expect.objectContaining({ code: 'malformed', path: '/messages' }),
  )
  expect(() => responses.decodeRequest({ model: 'm', contents: [] })).toThrow(
    expect.objectContaining({ code: 'malformed', path: '/contents' }),
  )
})

test.each([
  { native: false, expected: ['reasoning.unsigned', 'reasoning.include-encrypted'] },
  // What this protocol's own client asks for is its own affair.
  { native: true, expected: [] },
])(
  'writes reasoning with only an id within this protocol only: $native',
  ({ native, expected }) => {
    const message = { type: 'message', role: 'assistant', content: 'yes' }
    const { value } = read({
      model: 'm',
      store: false,
      input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, message],
    })
    const { source: _, ...foreign } = value
    for (const one of native ? [value, withoutWire(value)] : [foreign]) {
      const { wire, codes } = write(one)
      expect(wire['input']).toHaveLength(native ? 2 : 1)
      expect(codes).toEqual(expected)
    }
  },
)

test('reads reasoning text of the type output_text, as LiteLLM sends it, and writes it unchanged', () => {
  const content = [{ type: 'output_text', text: 'hm', annotations: [] }]
  const item = { type: 'reasoning', id: 'rs_1', summary: [], content, encrypted_content: 'QUJD' }
  const input = [
    { role: 'user', content: 'hi' },
    item,
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
  ]
  const { value, notes } = responses.decodeRequest({ model: 'm', input })
  expect(value.messages[1]?.parts).toMatchObject([
    { type: 'reasoning', segments: [{ kind: 'raw', text: 'hm' }], signature: { value: 'QUJD' } },
  ])
  expect(notes).toEqual([])
  expect(responses.encodeRequest(value).wire).toMatchObject({ input: [{}, item, {}] })
})
