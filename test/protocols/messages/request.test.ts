import { describe, expect, test } from 'vitest'
import type { Message, Part } from '../../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { TranslationError } from '../../../src/errors.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import type { CodecOptions, ToolOptions } from '../../../src/protocol.ts'
import { type MessagesOptions, messages } from '../../../src/protocols/messages/index.ts'
import { translateRequest } from '../../support/untyped.ts'
import { written } from '../../support/written.ts'

type Wire = { [key: string]: unknown; messages: { role: string; content: unknown }[] }

/**
 * A request that another protocol made, as this one writes it. Many of these conversations are only
 * a beginning.
 */
function write(
  request: Partial<CanonicalRequest>,
  options?: CodecOptions & ToolOptions & MessagesOptions,
) {
  const { context, ...result } = written(
    { model: 'claude-sonnet-5', maxOutputTokens: 100, messages: [user('x')], ...request },
    messages,
    options,
  )
  const wire = result.wire as Wire
  const notes = result.notes.filter(({ code }) => code !== 'message.trailing-user')
  if (notes.length < result.notes.length) wire.messages = wire.messages.slice(0, -1)
  return { wire, codes: notes.map(({ code }) => code), notes, context }
}

const text = (of: string, more: object = {}): Part => ({ type: 'text', text: of, ...more })
const message = (role: Message['role'], ...parts: Part[]): Message => ({
  role,
  origin: 'message',
  parts,
})
const user = (of: string) => message('user', text(of))
const assistant = (...parts: Part[]) => message('assistant', ...parts)
const call = (id: string, input = '{}', more: object = {}): Part => ({
  type: 'tool-call',
  id,
  name: 'w',
  kind: 'function',
  input,
  ...more,
})
const result = (callId: string, of: string) =>
  message('tool', { type: 'tool-result', callId, kind: 'function', content: [text(of)] })
const blocksOf = ({ messages: list }: Wire, index: number) =>
  (list[index]?.content ?? []) as { type: string }[]
const typesIn = (wire: Wire, index: number) => blocksOf(wire, index).map(({ type }) => type)
const block = (type: string, more: object) => ({ type, ...more })
const thrown = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (TranslationError.is(error)) return `${error.code} ${error.path}`
    throw error
  }
  return 'nothing'
}

describe('a decoded request is written back unchanged', () => {
  const base = { model: 'claude-sonnet-5', max_tokens: 10 }
  test.each<[string, object]>([
    ['content as a string', { messages: [{ role: 'user', content: 'hi' }] }],
    [
      'content as blocks',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] },
    ],
    [
      'no content at all',
      {
        messages: [
          { role: 'user', content: [] },
          { role: 'assistant', content: '' },
        ],
      },
    ],
    ['a system string', { system: 'a', messages: [] }],
    ['an empty system string', { system: '', messages: [] }],
    [
      'system blocks with marks',
      {
        system: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
          { type: 'text', text: 'b' },
        ],
        messages: [],
      },
    ],
    [
      'null where it is absent',
      {
        system: null,
        tools: null,
        thinking: null,
        stop_sequences: null,
        temperature: null,
        metadata: { user_id: null },
        messages: [],
      },
    ],
    [
      'a system message in mid-conversation',
      {
        messages: [
          { role: 'user', content: 'u' },
          { role: 'system', content: 's', output_config: { effort: 'low' } },
        ],
      },
    ],
    [
      'a system message that is the first',
      { messages: [{ role: 'system', content: [{ type: 'text', text: 's' }] }] },
    ],
    [
      'unknown fields',
      {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a', new: 1 }], clear_at: 3 }],
        safeguards: [{ type: 'x' }],
        mcp_servers: [],
      },
    ],
    [
      'thinking in every mode',
      {
        thinking: { type: 'enabled', budget_tokens: 2048, display: null, block_binding: { a: 1 } },
        messages: [],
      },
    ],
    [
      'output config',
      {
        output_config: { effort: 'max', format: null, task_budget: { type: 'tokens', total: 1 } },
        messages: [],
      },
    ],
    [
      'an output schema',
      {
        output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
        messages: [],
      },
    ],
    [
      'the old name of the output schema',
      { output_format: { type: 'json_schema', schema: { type: 'object' } }, messages: [] },
    ],
    [
      'parallel tools forbidden',
      { tools: [], tool_choice: { type: 'any', disable_parallel_tool_use: true }, messages: [] },
    ],
    [
      'parallel tools allowed',
      { tools: [], tool_choice: { type: 'auto', disable_parallel_tool_use: false }, messages: [] },
    ],
    ['a choice of a new kind', { tool_choice: { type: 'newest', name: 'a' }, messages: [] }],
    [
      'a server-held thread',
      {
        thread: { type: 'continue', id: 't' },
        context_management: { edits: [] },
        container: 'c',
        diagnostics: { previous_message_id: null },
        messages: [],
      },
    ],
    [
      'a conversation that is only shortened',
      { compaction: { type: 'summarize', instructions: 'i' }, messages: [] },
    ],
    [
      'tiers, speed and marks',
      {
        service_tier: 'standard_only',
        speed: 'fast',
        cache_control: { type: 'ephemeral' },
        inference_geo: null,
        messages: [],
      },
    ],
  ])('%s', (_, more) => {
    const body = { ...base, ...more }
    const decoded = messages.decodeRequest(body)
    const encoded = messages.encodeRequest(decoded.value)
    expect(encoded.wire).toEqual(body)
    expect([...decoded.notes, ...encoded.notes]).toEqual([])
  })

  test.each<[string, object]>([
    [
      'an image',
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'AA' },
        transformations: { oversized_image: 'error' },
      },
    ],
    ['an image by address', { type: 'image', source: { type: 'url', url: 'https://a/b' } }],
    ['an image by file', { type: 'image', source: { type: 'file', file_id: 'f' } }],
    ['an image of a new source', { type: 'image', source: { type: 'newest', x: 1 } }],
    [
      'a document',
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AA' },
        title: 't',
        context: null,
        citations: { enabled: true },
      },
    ],
    [
      'a text document',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } },
    ],
    [
      'a document of blocks',
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }] } },
    ],
    ['a document of a string', { type: 'document', source: { type: 'content', content: 'a' } }],
    [
      'a search result',
      {
        type: 'search_result',
        source: 's',
        title: 't',
        content: [{ type: 'text', text: 'a' }],
        citations: { enabled: false },
      },
    ],
    ['thinking', { type: 'thinking', thinking: 'a  b\n', signature: 'S==' }],
    ['thinking that is not shown', { type: 'thinking', thinking: '', signature: 'S' }],
    ['hidden thinking', { type: 'redacted_thinking', data: 'D' }],
    [
      'a call',
      {
        type: 'tool_use',
        id: 't',
        name: 'n',
        input: { b: 1, a: [2] },
        caller: { type: 'direct' },
        toolset_name: 'browser',
      },
    ],
    [
      'a call by code',
      {
        type: 'tool_use',
        id: 't',
        name: 'n',
        input: {},
        caller: { type: 'code_execution_20250825', tool_id: 'x' },
      },
    ],
    ['a call without input', { type: 'tool_use', id: 't', name: 'n' }],
    ['a result', { type: 'tool_result', tool_use_id: 't', content: 'a', is_error: false }],
    ['a result without content', { type: 'tool_result', tool_use_id: 't', is_error: true }],
    ['a result with an empty string', { type: 'tool_result', tool_use_id: 't', content: '' }],
    [
      'a result of blocks',
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [
          { type: 'text', text: 'a' },
          { type: 'tool_reference', tool_name: 'n' },
        ],
      },
    ],
    [
      'a call of a server tool',
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    ],
    [
      'a result of a server tool',
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    ],
    ['a compaction', { type: 'compaction', content: 'c' }],
    ['an upload', { type: 'container_upload', file_id: 'f' }],
    ['a block of a new kind', { type: 'newest', x: { y: 1 } }],
    [
      'citations',
      {
        type: 'text',
        text: 'a',
        citations: [
          {
            type: 'char_location',
            cited_text: 'c',
            document_index: 0,
            document_title: null,
            start_char_index: 0,
            end_char_index: 1,
          },
        ],
      },
    ],
    ['no citations', { type: 'text', text: 'a', citations: [] }],
    [
      'a mark of a new kind',
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h', scope: 'global' } },
    ],
  ])('%s', (_, one) => {
    const body = {
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'assistant', content: [one, { type: 'text', text: 'z' }] }],
    }
    const decoded = messages.decodeRequest(body)
    const encoded = messages.encodeRequest(decoded.value)
    expect(encoded.wire).toEqual(body)
    expect([...decoded.notes, ...encoded.notes]).toEqual([])
  })

  test.each<[string, object]>([
    [
      'without type',
      { name: 'a', description: 'd', input_schema: { type: 'object' }, cache_control: null },
    ],
    [
      'of type custom',
      {
        type: 'custom',
        name: 'a',
        input_schema: { type: 'object' },
        strict: false,
        defer_loading: true,
      },
    ],
    [
      'of type null',
      {
        type: null,
        name: 'a',
        input_schema: { type: 'object' },
        input_examples: [{}],
        eager_input_streaming: true,
      },
    ],
    [
      'that the server runs',
      { type: 'web_search_20260318', name: 'web_search', max_uses: 3, allowed_callers: ['direct'] },
    ],
    ['that the client runs', { type: 'bash_20250124', name: 'bash' }],
    ['of a new kind', { type: 'newest_2030', x: 1 }],
  ])('a tool %s', (_, tool) => {
    const body = { model: 'm', max_tokens: 1, messages: [], tools: [tool] }
    const decoded = messages.decodeRequest(body)
    expect(messages.encodeRequest(decoded.value)).toMatchObject({ wire: body, notes: [] })
  })
})

describe('unknown fields of a known object are kept, and every other protocol notes them', () => {
  const part = (cache_control: object) => ({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control }] }],
  })
  const ofPart = ({ messages: [first] }: CanonicalRequest) =>
    first?.parts[0]?.ext?.['messages']?.fields
  const ofRequest = ({ ext }: CanonicalRequest) => ext?.['messages']?.fields
  const ofTool = ({ tools }: CanonicalRequest) =>
    tools?.[0] && 'ext' in tools[0] && tools[0].ext?.['messages']?.fields

  test.each<[string, object, (request: CanonicalRequest) => unknown, object]>([
    [
      'a key of a mark',
      part({ type: 'ephemeral', scope: 'global' }),
      ofPart,
      { cache_control: { scope: 'global' } },
    ],
    ['a kind of mark', part({ type: 'lasting' }), ofPart, { cache_control: { type: 'lasting' } }],
    [
      'a lifetime of a mark',
      part({ type: 'ephemeral', ttl: '9m' }),
      ofPart,
      { cache_control: { ttl: '9m' } },
    ],
    [
      'a mark of a tool',
      { messages: [], tools: [{ name: 't', cache_control: { type: 'lasting' } }] },
      ofTool,
      { cache_control: { type: 'lasting' } },
    ],
    [
      'a mark of the request',
      { messages: [], cache_control: { type: 'ephemeral', scope: 'x' } },
      ofRequest,
      { cache_control: { scope: 'x' } },
    ],
    [
      'a kind of format',
      { messages: [], output_config: { format: { type: 'grammar', rule: 'a' } } },
      ofRequest,
      { output_config: { format: { type: 'grammar', rule: 'a' } } },
    ],
    [
      'a kind of format, in its old place',
      { messages: [], output_format: { type: 'grammar' } },
      ofRequest,
      { output_format: { type: 'grammar' } },
    ],
    [
      'a key of a format',
      { messages: [], output_config: { format: { type: 'json_schema', schema: {}, x: 1 } } },
      ofRequest,
      { output_config: { format: { x: 1 } } },
    ],
    [
      'a key of a format, in its old place',
      { messages: [], output_format: { type: 'json_schema', schema: {}, x: 1 } },
      ofRequest,
      { output_format: { x: 1 } },
    ],
  ])('%s', (_, wire, read, fields) => {
    const { value } = messages.decodeRequest(wire)
    expect(read(value)).toEqual(fields)
    expect(messages.encodeRequest(value)).toMatchObject({ wire, notes: [] })
  })
})

describe('invalid requests are refused with their path', () => {
  test.each<[string, unknown, string]>([
    ['no object', 3, ''],
    ['no messages', { model: 'm' }, '/messages'],
    ['an unknown role', { messages: [{ role: 'tool', content: 'a' }] }, '/messages/0/role'],
    [
      'text without text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      '/messages/0/content/0/text',
    ],
    [
      'a result without its call',
      { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
      '/messages/0/content/0/tool_use_id',
    ],
    ['a function without name', { messages: [], tools: [{ input_schema: {} }] }, '/tools/0/name'],
  ])('%s', (_, body, path) => {
    expect(thrown(() => messages.decodeRequest(body))).toBe(`malformed ${path}`)
  })

  test('a missing max_tokens, when the options require it', () => {
    expect(thrown(() => messages.decodeRequest({ messages: [] }, { requireMaxTokens: true }))).toBe(
      'malformed /max_tokens',
    )
  })
})

describe('instructions', () => {
  test('writes leading instructions into the field `system`', () => {
    const { wire, codes } = write({
      messages: [message('system', text('S')), message('developer', text('D')), user('x')],
    })
    expect(wire['system']).toEqual([block('text', { text: 'S' }), block('text', { text: 'D' })])
    expect(wire.messages).toEqual([{ role: 'user', content: 'x' }])
    expect(codes).toEqual(['system.developer-role'])
  })

  const middle = [
    message('system', text('A')),
    user('u1'),
    assistant(text('a1')),
    user('u2'),
    message('developer', text('D')),
    assistant(text('a2')),
  ]

  test('keeps later instructions in place for models that accept them', () => {
    const { wire, codes } = write({ model: 'claude-opus-4-8', messages: middle })
    expect(wire.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'system',
      'assistant',
    ])
    expect(wire.messages[3]).toEqual({ role: 'system', content: 'D' })
    expect(codes).toEqual(['system.developer-role'])
  })

  test.each(['claude-opus-4-5', 'claude-3-5-sonnet-latest', 'claude-sonnet-4-5', 'm-1'])(
    'writes later instructions as user text for %s',
    model => {
      const { wire, codes } = write({ model, messages: middle })
      expect(wire.messages[2]).toEqual({
        role: 'user',
        content: [block('text', { text: 'u2' }), block('text', { text: '<system>D</system>' })],
      })
      expect(codes).toContain('system.mid-conversation-as-user')
    },
  )

  test.each([
    ['auto', ['c', 'd', 'e', 'f']],
    ['hoist', ['b', 'd', 'e', 'f']],
  ] as const)(
    'of too many cache marks that of instructions counts by where it is written: %s',
    (systemPlacement, expected) => {
      const marked = (role: Message['role'], of: string) => message(role, text(of, { cache: {} }))
      const received = [
        user('a'),
        marked('developer', 'b'),
        marked('user', 'c'),
        marked('user', 'd'),
        marked('user', 'e'),
        marked('user', 'f'),
      ]
      const { wire } = write(
        { model: 'm-1', messages: [user('x'), assistant(text('y')), ...received] },
        { systemPlacement },
      )
      const blocks = [
        wire['system'] ?? [],
        ...wire.messages.map(({ content }) => content),
      ].flat() as { text?: string; cache_control?: object }[]
      expect(blocks.filter(({ cache_control }) => cache_control).map(one => one.text)).toEqual(
        expected,
      )
    },
  )

  test('hoists instructions only on request', () => {
    const { wire, codes } = write({ messages: middle }, { systemPlacement: 'hoist' })
    expect(wire['system']).toEqual([block('text', { text: 'A' }), block('text', { text: 'D' })])
    expect(codes).toContain('system.hoisted')
  })

  test('one after an assistant is at the head of the next user message', () => {
    const { wire } = write({
      messages: [user('a'), assistant(text('b')), message('system', text('S')), user('c')],
    })
    expect(wire.messages[2]).toEqual({
      role: 'user',
      content: [block('text', { text: '<system>S</system>' }), block('text', { text: 'c' })],
    })
  })

  test('one between a call and its result is after the result', () => {
    const { wire } = write({
      model: 'm-1',
      messages: [user('a'), assistant(call('c1')), message('system', text('S')), result('c1', 'r')],
    })
    expect(wire.messages).toHaveLength(3)
    expect(typesIn(wire, 2)).toEqual(['tool_result', 'text'])
  })
})

describe('turns', () => {
  test('all results are in one message, in the order of the calls, before the rest', () => {
    const { wire, codes } = write({
      messages: [
        user('weather?'),
        assistant(call('call_1', '{"c":"A"}'), call('call_2', '{"c":"B"}')),
        result('call_2', 'rain'),
        result('call_1', 'sun'),
        user('so?'),
      ],
    })
    expect(wire.messages).toEqual([
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: [
          block('tool_use', { id: 'call_1', name: 'w', input: { c: 'A' } }),
          block('tool_use', { id: 'call_2', name: 'w', input: { c: 'B' } }),
        ],
      },
      {
        role: 'user',
        content: [
          block('tool_result', { tool_use_id: 'call_1', content: 'sun' }),
          block('tool_result', { tool_use_id: 'call_2', content: 'rain' }),
          block('text', { text: 'so?' }),
        ],
      },
    ])
    expect(codes).toEqual([])
  })

  test.each([
    ['inside a result', [assistant(call('c1'))]],
    ['inside a result without its call', []],
  ])('writes reasoning only in assistant messages: %s', (_, before) => {
    const thought: Part = {
      type: 'reasoning',
      segments: [{ kind: 'raw', text: 't' }],
      signature: { issuer: 'messages', value: 'cw==' },
    }
    const reported = message('tool', {
      type: 'tool-result',
      callId: 'c1',
      kind: 'function',
      content: [thought, text('r')],
    })
    const { wire, codes } = write({ messages: [user('q'), ...before, reported] })
    expect(JSON.stringify(wire)).not.toContain('"thinking"')
    expect(codes).toContain('part.unsupported')
  })

  test('a result without a call is before the other content of the user', () => {
    const search: Part = {
      type: 'server-tool',
      phase: 'call',
      tool: 'web_search',
      id: 's',
      protocol: 'generate-content',
      raw: {},
    }
    const lonely = message('user', search, {
      type: 'tool-result',
      callId: 'c9',
      kind: 'function',
      content: [text('r')],
    })
    // Results are placed before it is known which other parts can be written.
    expect(write({ messages: [lonely] }).codes).toEqual([
      'tool-result.moved',
      'server-tool.dropped',
    ])
  })

  test('a result found elsewhere moves to its call', () => {
    const { wire, codes } = write({
      messages: [assistant(call('c1')), user('wait'), assistant(text('hm')), result('c1', 'r')],
    })
    expect(wire.messages.map(({ role }) => role)).toEqual(['assistant', 'user', 'assistant'])
    expect(typesIn(wire, 1)).toEqual(['tool_result', 'text'])
    expect(codes).toEqual(['tool-result.moved'])
  })

  test('of two results for one call the last one counts', () => {
    const { wire, codes } = write({
      messages: [assistant(call('c1')), result('c1', 'stale'), result('c1', 'fresh')],
    })
    expect(wire.messages[1]?.content).toEqual([
      block('tool_result', { tool_use_id: 'c1', content: 'fresh' }),
    ])
    expect(codes).toEqual(['tool-result.duplicate'])
  })

  test('assistant messages with tools are one turn, without tools they stay apart', () => {
    expect(
      write({ messages: [assistant(text('a')), assistant(call('c')), result('c', 'r')] }).wire
        .messages,
    ).toHaveLength(2)
    expect(
      write({ messages: [assistant(text('a')), assistant(text('b'))] }).wire.messages,
    ).toHaveLength(2)
  })

  test('an id used in two turns gets a suffix in the later one, and so does its result', () => {
    const { wire, codes } = write({
      messages: [assistant(call('c')), result('c', '1'), assistant(call('c')), result('c', '2')],
    })
    const ids = wire.messages.flatMap(({ content }) =>
      (content as { id?: string; tool_use_id?: string }[]).map(one => one.id ?? one.tool_use_id),
    )
    expect(ids).toEqual(['c', 'c', 'c_2', 'c_2'])
    expect(codes).toEqual(['tool-call.id'])
  })

  test('an id that does not fit is replaced alike in call and result', () => {
    const { wire } = write({ messages: [assistant(call('a.b|c')), result('a.b|c', '1')] })
    const [id, again] = wire.messages.flatMap(({ content }) =>
      (content as { id?: string; tool_use_id?: string }[]).map(one => one.id ?? one.tool_use_id),
    )
    expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(again).toBe(id)
  })

  test('a call without result is left unchanged', () => {
    const { wire, codes } = write({
      messages: [user('a'), assistant(text('b'), call('c')), user('d')],
    })
    expect(wire.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(codes).toEqual([])
  })

  test('writes no block for empty or blank text', () => {
    const { wire, codes } = write({
      messages: [
        user('x'),
        assistant(text(''), call('c')),
        result('c', ''),
        assistant(text(' \n')),
        user('y'),
      ],
    })
    expect(JSON.stringify(wire)).not.toMatch(/"text":"\s*"/)
    expect(wire.messages[2]?.content).toEqual([block('tool_result', { tool_use_id: 'c' })])
    expect(codes).toEqual(['text.blank'])
  })

  test('writes the beginning of a longer history unchanged', () => {
    const head = [
      message('system', text('A')),
      user('u'),
      assistant(call('c')),
      result('c', 'r'),
      message('system', text('S')),
      assistant(text('d')),
    ]
    const short = write({ messages: head }).wire
    const long = write({
      messages: [
        ...head,
        user('e'),
        message('system', text('T')),
        assistant(call('c')),
        result('c', 'q'),
      ],
    }).wire
    expect(long['system']).toEqual(short['system'])
    expect(long.messages.slice(0, short.messages.length)).toEqual(short.messages)
  })
})

describe('content', () => {
  test.each<[string, Part, object[], string[]]>([
    [
      'an image the wire takes',
      { type: 'media', kind: 'image', source: { type: 'base64', data: 'A', mime: 'image/png' } },
      [{ type: 'image' }],
      [],
    ],
    [
      'an image it does not',
      { type: 'media', kind: 'image', source: { type: 'base64', data: 'A', mime: 'image/tiff' } },
      [],
      ['media.unsupported'],
    ],
    [
      'a pdf with a name',
      {
        type: 'media',
        kind: 'file',
        filename: 'a.pdf',
        source: { type: 'base64', data: 'A', mime: 'application/pdf' },
      },
      [{ type: 'document', title: 'a.pdf' }],
      ['media.filename-as-title'],
    ],
    [
      'a text file',
      { type: 'media', kind: 'file', source: { type: 'base64', data: 'aGk=', mime: 'text/csv' } },
      [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } }],
      ['media.file-as-document'],
    ],
    [
      'audio',
      { type: 'media', kind: 'audio', source: { type: 'base64', data: 'A', mime: 'audio/wav' } },
      [],
      ['media.unsupported'],
    ],
    [
      'an image with detail',
      { type: 'media', kind: 'image', detail: 'high', source: { type: 'url', url: 'https://a' } },
      [{ type: 'image' }],
      ['media.detail-dropped'],
    ],
    [
      'unsigned reasoning',
      { type: 'reasoning', segments: [{ kind: 'raw', text: 'r' }] },
      [],
      ['reasoning.unsigned'],
    ],
    [
      'foreign reasoning',
      { type: 'reasoning', segments: [], signature: { value: 'v', issuer: 'responses' } },
      [],
      ['reasoning.foreign-signature'],
    ],
    [
      'own reasoning',
      {
        type: 'reasoning',
        segments: [{ kind: 'summary', text: 'r' }],
        signature: { value: 'v', issuer: 'messages' },
      },
      [{ type: 'thinking', thinking: 'r', signature: 'v' }],
      [],
    ],
    [
      'arguments that are no object',
      call('c', '[1]'),
      [{ type: 'tool_use', input: { __raw: '[1]' } }],
      ['tool-call.input'],
    ],
    [
      'an id too long for a number',
      call('c', '{"id":1234567890123456789}'),
      [{ type: 'tool_use' }],
      ['tool-call.number'],
    ],
    [
      'arguments that are cut',
      call('c', '{"a'),
      [{ type: 'tool_use', input: { __raw: '{"a' } }],
      ['tool-call.input'],
    ],
    ['no arguments', call('c', ''), [{ type: 'tool_use', input: {} }], []],
    [
      'text for a tool that takes text',
      call('c', 'free', { kind: 'freeform' }),
      [{ type: 'tool_use', input: { input: 'free' } }],
      ['freeform.wrapped'],
    ],
    [
      'a foreign citation',
      text('a', { citations: [{ kind: 'url', url: 'u', protocol: 'responses', raw: {} }] }),
      [{ type: 'text', text: 'a' }],
      ['citation.foreign'],
    ],
    [
      'a refusal',
      { type: 'refusal', text: 'no' },
      [{ type: 'text', text: 'no' }],
      ['refusal.as-text'],
    ],
    [
      'a tool of another provider',
      {
        type: 'server-tool',
        phase: 'call',
        tool: 'web_search',
        id: 'i',
        protocol: 'responses',
        raw: {},
      },
      [],
      ['server-tool.dropped'],
    ],
    ['something unknown', { type: 'opaque', protocol: 'responses', raw: {} }, [], ['part.unknown']],
  ])('%s', (_, part, blocks, expected) => {
    // Only users show images here.
    const role = part.type === 'media' ? 'user' : 'assistant'
    const { wire, codes } = write({ messages: [message(role, part, text('z', { cache: {} }))] })
    expect(blocksOf(wire, 0).slice(0, -1)).toMatchObject(blocks)
    expect(codes).toEqual(expected)
  })

  test('an image of the model has no place in a history', () => {
    const image: Part = {
      type: 'media',
      kind: 'image',
      source: { type: 'url', url: 'https://a.org/b.png' },
    }
    const { wire, codes } = write({
      messages: [message('assistant', image, text('z', { cache: {} }))],
    })
    expect(blocksOf(wire, 0)).toMatchObject([{ type: 'text', text: 'z' }])
    expect(codes).toEqual(['media.unsupported'])
  })

  test('an image stays inside its tool result, without the flag of a failed one', () => {
    const part: Part = {
      type: 'tool-result',
      callId: 'c',
      kind: 'function',
      isError: true,
      content: [
        text('a'),
        { type: 'media', kind: 'image', source: { type: 'url', url: 'https://a' } },
      ],
    }
    const { wire } = write({ messages: [assistant(call('c')), message('tool', part)] })
    expect(wire.messages[1]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [
          block('text', { text: 'a' }),
          block('image', { source: { type: 'url', url: 'https://a' } }),
        ],
      },
    ])
  })

  test('a signature in an envelope goes back to the part that it belongs to', () => {
    const signature = {
      value: 'QUJD',
      issuer: 'generate-content',
      model: 'g',
      form: 'thought' as const,
    }
    const { value } = messages.decodeRequest({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: wrapSignature({ signature, attach: 'next' }) },
            { type: 'tool_use', id: 'x1', name: 'w', input: { c: 'A' } },
            { type: 'text', text: 'b' },
            { type: 'redacted_thinking', data: wrapSignature({ signature, attach: 'prev' }) },
          ],
        },
      ],
    })
    expect(value.messages[0]?.parts).toMatchObject([
      { type: 'tool-call', signature },
      { type: 'text', signature },
    ])
  })

  test('segments that were joined for the wire are cut again', () => {
    const signature = { value: 'E', issuer: 'responses' }
    const { value } = messages.decodeRequest({
      messages: [
        {
          role: 'assistant',
          content: [
            {
              type: 'thinking',
              thinking: 'a\n\nbc',
              signature: wrapSignature({ signature, id: 'rs_1', lengths: [1, 2] }),
            },
          ],
        },
      ],
    })
    expect(value.messages[0]?.parts[0]).toMatchObject({
      id: 'rs_1',
      signature,
      segments: [{ text: 'a' }, { text: 'bc' }],
    })
  })

  test.each<[string, Partial<CanonicalRequest>]>([
    [
      'a file of another provider',
      {
        messages: [
          message('user', {
            type: 'media',
            kind: 'file',
            source: { type: 'file-id', id: 'f', issuer: 'responses' },
          }),
        ],
      },
    ],
    ['an earlier response', { state: { previousId: 'resp_1' } }],
    ['a stored conversation', { state: { conversation: 'c' } }],
    ['a stored prompt', { state: { prompt: { id: 'p' } } }],
    ['a background run', { state: { background: true } }],
    ['stored content', { cache: { contentRef: 'c' } }],
    [
      'an item',
      {
        messages: [
          message('user', {
            type: 'control',
            control: 'item-reference',
            protocol: 'responses',
            raw: {},
          }),
        ],
      },
    ],
  ])('refuses %s, or notes it on request', (_, request) => {
    expect(thrown(() => write(request))).toMatch(/^inexpressible /)
    expect(write(request, { onUnresolvable: 'note' }).codes).toContain('state.unresolvable')
  })
})

describe('tools', () => {
  const tool = (name: string, more: object = {}) => ({
    type: 'function' as const,
    name,
    parameters: { type: 'object' },
    ...more,
  })

  test('a function without parameters takes an empty object', () => {
    expect(write({ tools: [{ type: 'function', name: 'a' }] }).wire['tools']).toEqual([
      { name: 'a', input_schema: { type: 'object', properties: {} } },
    ])
  })

  test('parameters that are no object are put into one', () => {
    const { wire, codes } = write({ tools: [tool('a', { parameters: { type: 'string' } })] })
    expect(wire['tools']).toMatchObject([
      { input_schema: { type: 'object', properties: { value: { type: 'string' } } } },
    ])
    expect(codes).toEqual(['tool.arguments-wrapped'])
  })

  test('names that do not fit are replaced, and restored in the response', () => {
    const { wire, context, codes } = write({
      tools: [tool('a.b'), tool('run', { namespace: 'ns' })],
      toolChoice: { mode: 'tool', kind: 'function', name: 'a.b' },
    })
    const [first, second] = wire['tools'] as { name: string }[]
    expect(first?.name).toMatch(/^a_b_[0-9a-f]{8}$/)
    expect(second?.name).toBe('ns__run')
    expect(wire['tool_choice']).toEqual({ type: 'tool', name: first?.name })
    expect(context?.tools).toEqual({
      [first?.name ?? '']: { name: 'a.b' },
      ns__run: { name: 'run', namespace: 'ns' },
    })
    expect(codes).toEqual(['tool.renamed', 'tool.namespace'])
  })

  test('a tool that takes text is a function with one string', () => {
    const { wire, context, codes } = write({
      tools: [
        {
          type: 'freeform',
          name: 'patch',
          description: 'd',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
        },
      ],
      messages: [
        assistant({
          type: 'tool-call',
          id: 'c',
          name: 'patch',
          kind: 'freeform',
          input: '*** Begin',
        }),
      ],
    })
    expect(wire['tools']).toEqual([
      {
        name: 'patch',
        description: 'd',
        input_schema: {
          type: 'object',
          properties: {
            input: {
              type: 'string',
              description: 'Raw text. Must match this lark grammar:\nstart: x',
            },
          },
          required: ['input'],
          additionalProperties: false,
        },
      },
    ])
    expect(wire.messages[0]?.content).toEqual([
      block('tool_use', { id: 'c', name: 'patch', input: { input: '*** Begin' } }),
    ])
    expect(context?.tools).toEqual({ patch: { name: 'patch', wrapped: true } })
    expect(codes).toContain('freeform.wrapped')
  })

  test('tools that were added later stand with the others', () => {
    const added: Part = {
      type: 'control',
      control: 'tool-addition',
      protocol: 'responses',
      raw: {},
      tools: [tool('late')],
    }
    const { wire, codes } = write({ messages: [message('developer', added), user('x')] })
    expect(wire['tools']).toMatchObject([{ name: 'late' }])
    expect(codes).toContain('tool.added-late')
  })

  test('a tool that another provider runs is dropped, mapped, or refused when it is the only one', () => {
    const search = {
      type: 'server' as const,
      tool: 'web_search' as const,
      protocol: 'responses',
      raw: {},
      common: { maxUses: 2 },
    }
    expect(write({ tools: [tool('a'), search] })).toMatchObject({
      wire: { tools: [{ name: 'a' }] },
      codes: ['tool.server'],
    })
    expect(thrown(() => write({ tools: [search] }))).toMatch(/^inexpressible/)
    expect(write({ tools: [search] }, { serverTools: 'map' }).wire['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
    ])
  })

  test.each<[string, Partial<CanonicalRequest>, unknown, string[]]>([
    ['auto', { toolChoice: { mode: 'auto' } }, { type: 'auto' }, []],
    ['none', { toolChoice: { mode: 'none' } }, { type: 'none' }, []],
    ['required', { toolChoice: { mode: 'required' } }, { type: 'any' }, []],
    [
      'one',
      { toolChoice: { mode: 'tool', kind: 'function', name: 'b' } },
      { type: 'tool', name: 'b' },
      [],
    ],
    [
      'no parallel calls',
      { parallelToolCalls: false },
      { type: 'auto', disable_parallel_tool_use: true },
      [],
    ],
    ['parallel calls', { parallelToolCalls: true }, undefined, []],
    [
      'one of one',
      { toolChoice: { mode: 'allowed', require: true, tools: [{ kind: 'function', name: 'b' }] } },
      { type: 'tool', name: 'b' },
      [],
    ],
  ])('choice: %s', (_, request, choice, expected) => {
    const { wire, codes } = write({ tools: [tool('a'), tool('b')], ...request })
    expect(wire['tool_choice']).toEqual(choice)
    expect(codes).toEqual(expected)
  })

  test('a subset filters the tools, unless that would spoil signed thinking', () => {
    const toolChoice = {
      mode: 'allowed' as const,
      require: false,
      tools: [{ kind: 'function' as const, name: 'b' }],
    }
    const signed = assistant({
      type: 'reasoning',
      segments: [],
      signature: { value: 's', issuer: 'messages' },
    })
    const filtered = 'tool-choice.subset-filtered'
    expect(write({ tools: [tool('a'), tool('b')], toolChoice })).toMatchObject({
      wire: { tools: [{ name: 'b' }] },
      codes: [filtered, filtered],
    })
    expect(
      write({ tools: [tool('a'), tool('b')], toolChoice, messages: [user('x'), signed] }),
    ).toMatchObject({
      wire: { tools: [{ name: 'a' }, { name: 'b' }] },
      codes: ['tool-choice.subset-not-enforced'],
    })
  })
})

describe('reasoning', () => {
  test.each<[string, Partial<CanonicalRequest>, unknown, unknown, string[]]>([
    ['an effort', { reasoning: { effort: 'high' } }, { type: 'adaptive' }, { effort: 'high' }, []],
    [
      'the least effort',
      { reasoning: { effort: 'minimal' } },
      { type: 'adaptive' },
      { effort: 'low' },
      ['reasoning.effort'],
    ],
    ['none', { reasoning: { effort: 'none' } }, { type: 'disabled' }, undefined, []],
    [
      'an effort beside no thinking',
      { reasoning: { effort: 'low', budgetTokens: 0 } },
      { type: 'disabled' },
      { effort: 'low' },
      [],
    ],
    [
      'the least effort beside no thinking',
      { reasoning: { mode: 'disabled', effort: 'minimal' } },
      { type: 'disabled' },
      { effort: 'low' },
      ['reasoning.effort'],
    ],
    [
      'a budget of no thinking',
      { reasoning: { mode: 'disabled', budgetTokens: 9 } },
      { type: 'disabled' },
      undefined,
      ['reasoning.off'],
    ],
    [
      'an effort beside no thinking where it is always on',
      { model: 'claude-fable-5', reasoning: { effort: 'low', budgetTokens: 0 } },
      undefined,
      { effort: 'low' },
      ['reasoning.always-on'],
    ],
    [
      'an effort beside no thinking of an old model',
      { model: 'claude-sonnet-4-5', reasoning: { effort: 'low', mode: 'disabled' } },
      { type: 'disabled' },
      undefined,
      ['reasoning.off'],
    ],
    [
      'none where it is always on',
      { model: 'claude-fable-5', reasoning: { effort: 'none' } },
      undefined,
      undefined,
      ['reasoning.always-on'],
    ],
    [
      'a budget',
      { reasoning: { budgetTokens: 8000 } },
      { type: 'adaptive' },
      { effort: 'medium' },
      ['reasoning.budget-as-effort'],
    ],
    [
      'what the model likes',
      { reasoning: { budgetTokens: -1 } },
      { type: 'adaptive' },
      undefined,
      [],
    ],
    [
      'an effort of an old model',
      { model: 'claude-sonnet-4-5', maxOutputTokens: 32000, reasoning: { effort: 'high' } },
      { type: 'enabled', budget_tokens: 16384 },
      undefined,
      ['reasoning.effort-as-budget'],
    ],
    [
      'an effort under a low limit',
      { model: 'claude-opus-4-5', maxOutputTokens: 4096, reasoning: { effort: 'high' } },
      { type: 'enabled', budget_tokens: 4095 },
      undefined,
      ['reasoning.effort-as-budget'],
    ],
    [
      'no room',
      { model: 'claude-opus-4-1', maxOutputTokens: 1000, reasoning: { effort: 'high' } },
      undefined,
      undefined,
      ['reasoning.no-room'],
    ],
    [
      'a summary',
      { reasoning: { effort: 'low', summary: 'auto' } },
      { type: 'adaptive', display: 'summarized' },
      { effort: 'low' },
      ['reasoning.summary'],
    ],
    [
      'only a summary',
      { reasoning: { summary: 'auto' } },
      undefined,
      undefined,
      ['field.unsupported'],
    ],
  ])('%s', (_, request, thinking, config, expected) => {
    const { wire, codes } = write(request)
    expect(wire['thinking']).toEqual(thinking)
    expect(wire['output_config']).toEqual(config)
    expect(codes).toEqual(expected)
  })

  test('a budget beyond the limit raises the limit', () => {
    const { wire, codes } = write({
      model: 'claude-opus-4-5',
      maxOutputTokens: 2000,
      reasoning: { budgetTokens: 4000 },
    })
    expect(wire).toMatchObject({
      max_tokens: 5024,
      thinking: { type: 'enabled', budget_tokens: 4000 },
    })
    expect(codes).toEqual(['reasoning.budget-room'])
  })

  const off = ['reasoning.forced-tool']
  test.each<[string, Partial<CanonicalRequest>, MessagesOptions, unknown, string[]]>([
    ['and adaptive thinking go together', { model: 'claude-opus-5' }, {}, { type: 'adaptive' }, []],
    [
      'leaves only the effort where the thinking of the model is unknown',
      { model: 'm-1' },
      {},
      undefined,
      off,
    ],
  ])('a forced tool %s', (_, request, options, thinking, expected) => {
    const tools: CanonicalRequest['tools'] = [{ type: 'function', name: 'f' }]
    const { wire, codes } = write(
      { tools, toolChoice: { mode: 'required' }, reasoning: { effort: 'medium' }, ...request },
      options,
    )
    expect(wire).toMatchObject({
      tool_choice: { type: 'any' },
      output_config: { effort: 'medium' },
    })
    expect(wire['thinking']).toEqual(thinking)
    expect(codes).toEqual(expected)
  })

  test.each<[string, MessagesOptions, unknown, string[]]>([
    ['is off beside a forced tool', {}, undefined, off],
  ])('manual thinking %s', (_, options, thinking, expected) => {
    const forced = {
      tools: [{ type: 'function' as const, name: 'f' }],
      toolChoice: { mode: 'required' as const },
      reasoning: { effort: 'medium' },
    }
    const { wire, codes } = write(
      { model: 'claude-opus-4-5', maxOutputTokens: 9000, ...forced },
      options,
    )
    expect(wire['thinking']).toEqual(thinking)
    expect(codes).toEqual(expected)
  })

  test.each<[string, object, object, string[]]>([
    [
      'claude-sonnet-4-5',
      { temperature: 0.5, topP: 0.9 },
      { temperature: 0.5 },
      ['sampling.model /sampling/topP'],
    ],
    [
      'claude-opus-4-1-20250805',
      { temperature: 0.5, topP: 1, topK: 3 },
      { temperature: 0.5, top_k: 3 },
      [],
    ],
    ['anthropic.claude-haiku-4-5-v1:0', { temperature: 1, topP: 0.9 }, { top_p: 0.9 }, []],
    ['claude-sonnet-4-5', { topP: 0.9 }, { top_p: 0.9 }, []],
    [
      'claude-sonnet-4-20250514',
      { temperature: 0.5, topP: 0.9 },
      { temperature: 0.5, top_p: 0.9 },
      [],
    ],
    ['some-model', { temperature: 0.5, topP: 0.9 }, { temperature: 0.5, top_p: 0.9 }, []],
    [
      'claude-opus-4-7',
      { temperature: 0.5, topP: 0.9, topK: 3 },
      {},
      ['temperature', 'topP', 'topK'].map(key => `sampling.model /sampling/${key}`),
    ],
    ['claude-sonnet-5', { temperature: 1, topP: 0.99, topK: 0 }, {}, []],
    ['claude-sonnet-5', { temperature: 1.7 }, {}, ['sampling.model /sampling/temperature']],
  ])('%s gets the sampling that it accepts: %j', (model, sampling, reported, noted) => {
    const { wire, notes } = messages.encodeRequest({
      model,
      maxOutputTokens: 9,
      messages: [user('a')],
      sampling,
    })
    const { temperature, top_p, top_k } = wire as Record<string, unknown>
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(reported)
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(noted)
  })

  test('drops sampling fields when thinking is on', () => {
    const both = {
      model: 'claude-opus-4-6',
      reasoning: { effort: 'low' },
      sampling: { temperature: 0.2, topP: 1 },
    }
    expect(write(both).codes).toEqual(['sampling.with-thinking'])
    expect(write({ ...both, reasoning: { effort: 'none' } }).wire).toMatchObject({
      temperature: 0.2,
    })
  })

  test('a forced tool and adaptive thinking of an own client stay together', () => {
    const body = {
      model: 'm',
      max_tokens: 9,
      messages: [],
      tools: [],
      tool_choice: { type: 'any' },
      thinking: { type: 'adaptive' },
    }
    expect(messages.encodeRequest(messages.decodeRequest(body).value)).toMatchObject({
      wire: body,
      notes: [],
    })
  })

  test('turns manual thinking off in a loop whose thinking is lost', () => {
    const { wire, codes } = write({
      model: 'claude-sonnet-4-5',
      maxOutputTokens: 9000,
      reasoning: { effort: 'low' },
      messages: [user('a'), assistant(call('c')), result('c', 'r')],
    })
    expect(wire['thinking']).toBeUndefined()
    expect(codes).toEqual(['reasoning.disabled-unsigned-loop'])
  })
})

describe('other fields', () => {
  test('max_tokens has a default, which the options may change', () => {
    const { max_tokens } = messages.encodeRequest({ messages: [] }).wire as { max_tokens: number }
    expect(max_tokens).toBe(32000)
    expect(messages.encodeRequest({ messages: [] }, { defaultMaxTokens: () => 7 })).toMatchObject({
      wire: { max_tokens: 7 },
      notes: [{ code: 'max-tokens.default', path: '/max_tokens' }],
    })
  })

  test.each<[string, Partial<CanonicalRequest>, object, string[]]>([
    [
      'a high temperature ends at 1',
      { model: 'm', sampling: { temperature: 1.7 } },
      { temperature: 1 },
      ['sampling.temperature-clamped'],
    ],
    [
      'a low one stays',
      { model: 'm', sampling: { temperature: 0.2, topK: 3 } },
      { temperature: 0.2, top_k: 3 },
      [],
    ],
    [
      'penalties have no place',
      { sampling: { seed: 1, frequencyPenalty: 1 } },
      {},
      ['field.unsupported', 'field.unsupported'],
    ],
    ['several candidates', { candidateCount: 3 }, {}, ['candidates.first-only']],
    ['one candidate', { candidateCount: 1, logprobs: { enabled: false } }, {}, []],
    [
      'a schema',
      {
        output: {
          format: {
            type: 'schema',
            schema: { type: 'object', properties: {} },
            name: 'n',
            strict: true,
          },
        },
      },
      {
        output_config: {
          format: {
            type: 'json_schema',
            schema: { type: 'object', properties: {}, additionalProperties: false },
          },
        },
      },
      ['output.closed'],
    ],
    ['JSON without a schema', { output: { format: { type: 'json' } } }, {}, ['field.unsupported']],
    ['tiers', { serviceTier: { tier: 'default' } }, { service_tier: 'standard_only' }, []],
    [
      'a tier that is near',
      { serviceTier: { tier: 'priority' } },
      { service_tier: 'auto' },
      ['tier.nearest'],
    ],
    ['a tier that is not', { serviceTier: { tier: 'flex' } }, {}, ['field.unsupported']],
    ['a user', { user: { user: 'u' } }, { metadata: { user_id: 'u' } }, []],
    ['a long user id', { user: { safetyId: 'u'.repeat(600) } }, {}, ['user.hashed']],
    ['an e-mail address as id', { user: { user: 'me@mail.example' } }, {}, ['user.hashed']],
    [
      'an id with an at sign',
      { user: { user: 'me@home' } },
      { metadata: { user_id: 'me@home' } },
      [],
    ],
    ['a request to store', { state: { store: true } }, {}, ['field.unsupported']],
    [
      'a request not to store',
      { state: { store: false, truncation: 'disabled', include: ['reasoning.encrypted_content'] } },
      {},
      [],
    ],
    ['a stream', { stream: { enabled: true, includeUsage: true } }, { stream: true }, []],
    ['metadata', { metadata: { a: 'b' } }, {}, ['field.unsupported']],
  ])('%s', (_, request, fields, expected) => {
    const { wire, codes } = write(request)
    const { model: _model, max_tokens: _max, messages: _messages, ...others } = wire
    if (expected[0] !== 'user.hashed') expect(others).toEqual(fields)
    expect(codes).toEqual(expected)
  })

  test('long user ids that begin alike stay apart, and one user keeps its id', () => {
    const idOf = (end: string) =>
      write({ user: { safetyId: `${'u'.repeat(600)}${end}` } }).wire['metadata']
    expect(idOf('a')).toEqual({ user_id: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(idOf('a')).toEqual(idOf('a'))
    expect(idOf('a')).not.toEqual(idOf('b'))
  })

  test('has notes with paths in the source', () => {
    const { notes } = write(
      { candidateCount: 2, sampling: { temperature: 2 } },
      { fieldNames: { candidateCount: 'n' } },
    )
    expect(notes.map(({ path }) => path)).toEqual(['/n', '/sampling/temperature'])
  })

  test.each([
    ['5m', '5m', []],
    ['30m', '1h', ['cache.ttl']],
    ['1h', '1h', []],
    ['12h', '1h', ['cache.ttl']],
  ] as const)('a cache lifetime of %s is written as %s', (ttl, written, codes) => {
    const part = { type: 'text' as const, text: 'a', cache: { ttl }, at: '/messages/0/content/0' }
    const { wire, notes } = messages.encodeRequest({
      model: 'm',
      maxOutputTokens: 9,
      messages: [{ role: 'user', origin: 'message', parts: [part] }],
    })
    expect(wire).toMatchObject({
      messages: [{ content: [{ cache_control: { type: 'ephemeral', ttl: written } }] }],
    })
    expect(notes.map(({ code }) => code)).toEqual(codes)
  })

  test('writes at most four cache marks, with valid lifetimes, long ones first', () => {
    const marked = (of: string, ttl?: '30m' | '1h') =>
      message('user', text(of, { cache: ttl ? { ttl } : {} }))
    expect(write({ messages: [marked('a', '30m')] })).toMatchObject({
      wire: { messages: [{ content: [{ cache_control: { ttl: '1h' } }] }] },
      codes: ['cache.ttl'],
    })
    const many = write({ messages: ['a', 'b', 'c', 'd', 'e'].map(of => marked(of)) })
    expect(
      many.wire.messages.map(({ content }) => JSON.stringify(content).includes('cache_control')),
    ).toEqual([false, true, true, true, true])
    expect(many.codes).toEqual(['cache.too-many'])
    expect(write({ messages: [marked('a'), marked('b', '1h')] })).toMatchObject({
      wire: { messages: [{}, { content: [{ cache_control: { ttl: '5m' } }] }] },
      codes: ['cache.ttl-order'],
    })
  })

  test('never changes its arguments', () => {
    const request: CanonicalRequest = {
      messages: [user('a'), assistant(call('c')), result('c', 'r')],
      tools: [{ type: 'freeform', name: 'p' }],
    }
    const before = structuredClone(request)
    messages.encodeRequest(request)
    expect(request).toEqual(before)
  })
})

describe('a request that only compacts the conversation', () => {
  const body = {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'q' }],
    compaction: { type: 'summarize' },
  }

  test.each(['chat-completions', 'responses', 'generate-content'] as const)(
    'is refused by %s when references are, and noted when they are noted',
    to => {
      expect(() => translateRequest(body, { from: 'messages', to })).toThrow(
        expect.objectContaining({ code: 'inexpressible', path: '/compaction' }),
      )
      const { notes } = translateRequest(body, { from: 'messages', to, onUnresolvable: 'note' })
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
        'state.unresolvable /compaction',
      )
    },
  )

  test.each(['chat-completions', 'responses', 'generate-content'] as const)(
    'is an ordinary one for %s when the field is null',
    to => {
      const { notes } = translateRequest({ ...body, compaction: null }, { from: 'messages', to })
      expect(notes.filter(({ path }) => path === '/compaction')).toEqual([])
    },
  )
})
