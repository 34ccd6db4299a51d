import { describe, expect, test } from 'vitest'
import type { Message, Part } from '../../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { withPointers } from '../../support/pointers.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'
import { written } from '../../support/written.ts'
import { codes, type Options } from './run.ts'

const { decodeRequest, encodeRequest } = chatCompletions

/** A conversation of another protocol, written as `messages`. */
function write(messages: Message[], options?: Options) {
  const { wire, notes, context } = written({ messages }, chatCompletions, options)
  return {
    messages: (wire as { messages: Record<string, unknown>[] }).messages,
    codes: codes(notes),
    notes,
    context,
  }
}

const say = (role: Message['role'], ...parts: Part[]): Message => ({
  role,
  origin: 'message',
  parts,
})
const text = (value: string): Part => ({ type: 'text', text: value })
const call = (id: string, input = '{}'): Part => ({
  type: 'tool-call',
  id,
  name: 'w',
  kind: 'function',
  input,
})
const result = (callId: string, value: string): Part => ({
  type: 'tool-result',
  callId,
  kind: 'function',
  content: [text(value)],
})
const image: Part = {
  type: 'media',
  kind: 'image',
  source: { type: 'base64', mime: 'image/png', data: 'iVBORw0=' },
}

/** Fields of a request of another protocol, as they are written. */
function field(value: Omit<CanonicalRequest, 'messages'>, options?: Options) {
  const { wire, notes } = written({ messages: [], ...value }, chatCompletions, options)
  const { messages: _, ...rest } = wire as Record<string, unknown>
  return { wire: rest, codes: codes(notes) }
}

describe('a complete request', () => {
  const wire = {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'developer', content: 'Be terse.' },
      {
        role: 'user',
        name: 'ann',
        content: [
          {
            type: 'text',
            text: 'What is in these?',
            prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' },
          },
          {
            type: 'image_url',
            image_url: { url: 'data:image/png;base64,iVBORw0=', detail: 'low' },
          },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
          },
        ],
      },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'lookup', arguments: '{"q":"x"}' } },
          { id: 'call_b', type: 'custom', custom: { name: 'sh', input: 'ls -l' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_b', content: [{ type: 'text', text: 'total 0' }] },
      { role: 'tool', tool_call_id: 'call_a', content: '' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'lookup', parameters: { type: 'object' }, strict: true },
      },
      {
        type: 'custom',
        custom: {
          name: 'sh',
          format: { type: 'grammar', grammar: { syntax: 'regex', definition: '[a-z]+' } },
        },
      },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'lookup' } }] },
    },
    parallel_tool_calls: true,
    max_completion_tokens: 500,
    reasoning_effort: 'low',
    verbosity: 'low',
    stop: 'END',
    n: 1,
    temperature: null,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'r', schema: { type: 'object' }, strict: false },
    },
    x_new: { kept: true },
  }

  test('is decoded', () => {
    const { value, notes } = decodeRequest(wire)
    expect(notes).toEqual([])
    expect(value).toMatchObject({
      model: 'm',
      stream: { enabled: true, includeUsage: true },
      maxOutputTokens: 500,
      reasoning: { effort: 'low' },
      stop: ['END'],
      output: { verbosity: 'low', format: { type: 'schema', name: 'r', strict: false } },
      toolChoice: {
        mode: 'allowed',
        require: false,
        tools: [{ kind: 'function', name: 'lookup' }],
      },
      tools: [
        { type: 'function', name: 'lookup', strict: true },
        { type: 'freeform', name: 'sh', format: { type: 'grammar', syntax: 'regex' } },
      ],
    })
    expect(value.sampling).toBeUndefined()
    expect(
      withPointers(value.messages).map(({ role, parts }) => [
        role,
        ...parts.map(({ type, at }) => [type, at]),
      ]),
    ).toEqual([
      ['developer', ['text', '/messages/0/content']],
      [
        'user',
        ['text', '/messages/1/content/0'],
        ['media', '/messages/1/content/1'],
        ['media', '/messages/1/content/2'],
        ['media', '/messages/1/content/3'],
      ],
      [
        'assistant',
        ['tool-call', '/messages/2/tool_calls/0'],
        ['tool-call', '/messages/2/tool_calls/1'],
      ],
      ['tool', ['tool-result', '/messages/3']],
      ['tool', ['tool-result', '/messages/4']],
    ])
    expect(value.messages[3]?.parts[0]).toMatchObject({ callId: 'call_b', kind: 'freeform' })
  })

  test('is restored without a note', () => {
    const { wire: again, notes } = encodeRequest(decodeRequest(wire).value)
    expect(again).toEqual(wire)
    expect(notes).toEqual([])
  })

  test('follows an edit, and keeps what was not touched', () => {
    const { value } = decodeRequest({
      ...wire,
      messages: [{ role: 'assistant', content: 'a', reasoning_content: 'r', x: 1 }],
    })
    const [message] = value.messages
    if (message?.parts[0]?.type === 'reasoning')
      message.parts[0].segments = [{ kind: 'raw', text: 'edited' }]
    value.stop = ['A', 'B']
    expect(encodeRequest(value).wire).toMatchObject({
      stop: ['A', 'B'],
      messages: [{ content: 'a', reasoning_content: 'edited', x: 1 }],
    })
  })

  test.each([
    ['an unknown role', { messages: [{ role: 'ai', content: 'a' }] }, '/messages/0/role'],
    [
      'content that is a number',
      { messages: [{ role: 'user', content: 3 }] },
      '/messages/0/content',
    ],
    ['no messages', { model: 'm' }, '/messages'],
    [
      'an image without a URL',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      '/messages/0/content/0/image_url/url',
    ],
    [
      'a function tool without its function',
      { messages: [], tools: [{ type: 'function' }] },
      '/tools/0/function',
    ],
    [
      'a custom tool without its definition',
      { messages: [], tools: [{ type: 'custom' }] },
      '/tools/0/custom',
    ],
    [
      'a call without its function',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }] },
      '/messages/0/tool_calls/0/function',
    ],
    [
      'a call of an unknown kind with a number as id',
      { messages: [{ role: 'assistant', tool_calls: [{ type: 'x', id: 7 }] }] },
      '/messages/0/tool_calls/0/id',
    ],
    ['a list', [], ''],
  ])('with %s is malformed', (_, body, path) => {
    expect(() => decodeRequest(body)).toThrow(expect.objectContaining({ code: 'malformed', path }))
  })
})

describe('older and other spellings', () => {
  test('functions and function messages mean tools and results', () => {
    const { value } = decodeRequest({
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
    })
    expect(value).toMatchObject({
      tools: [{ type: 'function', name: 'f' }],
      toolChoice: { mode: 'tool', kind: 'function', name: 'f' },
      messages: [
        { parts: [{ type: 'tool-call', id: 'call_fn_0', idOrigin: 'synthesized' }] },
        { role: 'tool', parts: [{ callId: 'call_fn_0', name: 'f' }] },
      ],
    })
  })

  test('prefers the newer limit, and notes the older one', () => {
    const { value } = decodeRequest({ messages: [], max_tokens: 5, max_completion_tokens: 7 })
    expect(value).toMatchObject({
      maxOutputTokens: 7,
      ext: { 'chat-completions': { fields: { max_tokens: 5 } } },
    })
  })

  test('assigns a result without an id to the oldest open call', () => {
    const { value, notes } = decodeRequest({
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'x', function: { name: 'f', arguments: '' } }] },
        { role: 'tool', content: 'ok' },
      ],
    })
    expect(value.messages[1]?.parts[0]).toMatchObject({ callId: 'x' })
    expect(codes(notes)).toEqual(['tool-result.call-id'])
  })

  test('ignores empty text next to calls', () => {
    const { value } = decodeRequest({
      messages: [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    })
    expect(value.messages[0]?.parts.map(({ type }) => type)).toEqual(['tool-call'])
  })

  test.each([
    [
      'pdf by its name',
      { filename: 'a.pdf', file_data: 'JVBERi0=' },
      { kind: 'document', source: { mime: 'application/pdf' } },
    ],
    [
      'text by its name',
      { filename: 'a.txt', file_data: 'aGk=' },
      { kind: 'document', source: { mime: 'text/plain' } },
    ],
    [
      'pdf when the type is unknown',
      { file_data: 'JVBERi0=' },
      { kind: 'document', source: { mime: 'application/pdf' } },
    ],
    [
      'by its data URL',
      { filename: 'a.pdf', file_data: 'data:text/csv;base64,YSxi' },
      { kind: 'document', source: { mime: 'text/csv', data: 'YSxi' } },
    ],
    [
      'an id',
      { file_id: 'file-1' },
      { kind: 'file', source: { type: 'file-id', id: 'file-1', issuer: 'chat-completions' } },
    ],
  ])('bare file data is %s', (_, file, part) => {
    expect(
      decodeRequest({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] }).value
        .messages[0]?.parts[0],
    ).toMatchObject(part)
  })

  test('decodes reasoning of a history from any carrier, never as text', () => {
    const read = (message: object) =>
      decodeRequest({ messages: [{ role: 'assistant', content: 'a', ...message }] }).value
        .messages[0]?.parts[0]
    const raw = [{ kind: 'raw', text: 'r' }]
    expect(read({ reasoning_content: 'r' })).toMatchObject({ type: 'reasoning', segments: raw })
    expect(read({ reasoning: 'r' })).toMatchObject({ segments: raw })
    expect(read({ reasoning_content: 'r', reasoning_signature: ['S'] })).toMatchObject({
      segments: raw,
      signature: { value: 'S' },
    })
    expect(
      read({
        reasoning_details: [{ type: 'reasoning.text', text: 'r', signature: 'S', index: 0 }],
        reasoning_content: 'last',
      }),
    ).toMatchObject({
      segments: raw,
      signature: { value: 'S', issuer: 'chat-completions' },
    })
    expect(
      read({ thinking_blocks: [{ type: 'thinking', thinking: 'r', signature: 'S' }] }),
    ).toMatchObject({
      segments: [{ kind: 'summary', text: 'r' }],
      signature: { value: 'S', issuer: 'messages', form: 'thinking' },
    })
    expect(read({ thinking_blocks: [{ type: 'redacted_thinking', data: 'D' }] })).toMatchObject({
      redacted: true,
      segments: [],
      signature: { value: 'D', form: 'redacted' },
    })
  })

  test('decodes a signature on a call from the field of its provider', () => {
    const { value } = decodeRequest({
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'x',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: { thought_signature: 'QUJD' } },
            },
          ],
        },
      ],
    })
    expect(value.messages[0]?.parts[0]).toMatchObject({
      signature: { value: 'QUJD', issuer: 'generate-content', form: 'thought' },
    })
  })
})

describe('turns of other protocols', () => {
  test('results stand directly after the calls, in their order, and text after them', () => {
    const { messages, codes } = write([
      say('user', text('weather in A and B?')),
      say('assistant', text('Let me look.'), call('call_1'), call('call_2')),
      say('user', result('call_2', 'rain'), result('call_1', 'sun'), text('so?')),
    ])
    expect(messages).toEqual([
      { role: 'user', content: 'weather in A and B?' },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          expect.objectContaining({ id: 'call_1' }),
          expect.objectContaining({ id: 'call_2' }),
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sun' },
      { role: 'tool', tool_call_id: 'call_2', content: 'rain' },
      { role: 'user', content: 'so?' },
    ])
    expect(codes).toEqual([])
  })

  test('items of one turn become one message', () => {
    const item = (part: Part): Message => ({
      role: part.type === 'tool-result' ? 'tool' : 'assistant',
      origin: 'item',
      id: 'item_1',
      status: 'completed',
      parts: [part],
    })
    const { messages, codes } = write([
      say('user', text('q')),
      item(text('a')),
      item(call('call_1')),
      item(call('call_2')),
      item(result('call_1', '1')),
      item(result('call_2', '2')),
    ])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
    expect(messages[1]).toMatchObject({
      content: 'a',
      tool_calls: [{ id: 'call_1' }, { id: 'call_2' }],
    })
    expect(codes).toEqual(['message.ids', 'message.ids'])
  })

  test('moves a result to its call', () => {
    const { messages, codes } = write([
      say('assistant', call('call_1')),
      say('system', text('note')),
      say('tool', result('call_1', 'ok')),
    ])
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user'])
    expect(codes).toEqual(['tool-result.moved', 'system.mid-conversation-as-user'])
  })

  test('images in results follow the tool messages', () => {
    const { messages, codes } = write([
      say('assistant', call('c1'), call('c2')),
      say(
        'user',
        { type: 'tool-result', callId: 'c1', kind: 'function', content: [text('see'), image] },
        result('c2', 'ok'),
      ),
    ])
    expect(messages.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'see' },
      { role: 'tool', tool_call_id: 'c2', content: 'ok' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[image for c1]' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } },
        ],
      },
    ])
    expect(codes).toEqual(['tool-result.media-moved'])
  })

  test('an error flag is noted, the text stays', () => {
    const failed: Message[] = [
      say('assistant', call('c1')),
      say('user', {
        ...(result('c1', 'boom') as Extract<Part, { type: 'tool-result' }>),
        isError: true,
      }),
    ]
    expect(write(failed)).toMatchObject({
      messages: [{}, { content: 'boom' }],
      codes: ['tool-result.error-flag'],
    })
    expect(write(failed, { errorPrefix: 'Error: ' }).messages[1]).toMatchObject({
      content: 'Error: boom',
    })
  })

  test('calls without results and results without calls are written as they are', () => {
    const broken = [
      say('assistant', call('c1')),
      say('user', text('continue')),
      say('tool', result('c9', 'lost')),
    ]
    expect(write(broken).messages.map(({ role }) => role)).toEqual(['assistant', 'user', 'tool'])
    const late = [say('user', text('continue'), result('c9', 'lost'))]
    expect(write(late).codes).toEqual(['tool-result.moved'])
  })

  test('an id that is too long is shortened alike on both sides', () => {
    const id = `call_${'x'.repeat(60)}`
    const { messages, codes } = write([say('assistant', call(id)), say('user', result(id, 'ok'))])
    const [written] = (messages[0]?.['tool_calls'] ?? []) as { id: string }[]
    expect(written?.id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(messages[1]?.['tool_call_id']).toBe(written?.id)
    expect(codes).toEqual(['tool-call.id'])
  })

  test('a call without arguments gets an empty object', () => {
    expect(write([say('assistant', call('c1', ''))])).toMatchObject({
      messages: [{ tool_calls: [{ function: { arguments: '{}' } }] }],
      codes: ['tool-call.empty-input'],
    })
  })

  describe('system and developer messages', () => {
    const instructions: Message = {
      role: 'system',
      origin: 'instructions',
      parts: [text('A'), text('B')],
    }
    const rolesOf = (messages: object[]) =>
      messages.map(message => (message as { role: string }).role)

    test('joins leading ones into one system message', () => {
      expect(
        write([instructions, say('developer', text('C')), say('user', text('q'))]),
      ).toMatchObject({
        messages: [
          { role: 'system', content: ['A', 'B', 'C'].map(text => ({ type: 'text', text })) },
          { role: 'user', content: 'q' },
        ],
        codes: ['system.developer-role', 'system.joined'],
      })
    })

    test('notes unknown fields of one whose parts are all left out', () => {
      const empty: Message = {
        role: 'system',
        origin: 'message',
        parts: [{ type: 'reasoning', segments: [] }],
        ext: { messages: { fields: { x: 1 } } },
      }
      expect(write([empty, say('user', text('q'))]).codes).toEqual([
        'system.not-text',
        'field.unknown',
      ])
    })

    test('joins two texts into one string, which every server takes', () => {
      expect(
        write([say('system', text('A')), say('system', text('B')), say('user', text('q'))])
          .messages,
      ).toEqual([
        { role: 'system', content: 'A\n\nB' },
        { role: 'user', content: 'q' },
      ])
    })

    test('writes later ones as text of the next user message', () => {
      const messages = [
        say('user', text('q')),
        say('assistant', text('a')),
        say('system', text('C')),
        say('user', text('r')),
      ]
      expect(write(messages)).toMatchObject({
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: 'a' },
          {
            role: 'user',
            content: [
              { type: 'text', text: '<system>C</system>' },
              { type: 'text', text: 'r' },
            ],
          },
        ],
        codes: ['system.mid-conversation-as-user'],
      })
    })

    test('writes one after tool results as a user message of its own', () => {
      const call: Part = {
        type: 'tool-call',
        id: 'c1',
        name: 'look',
        kind: 'function',
        input: '{}',
      }
      const result: Part = {
        type: 'tool-result',
        callId: 'c1',
        kind: 'function',
        content: [text('r')],
      }
      const messages = [
        say('user', text('q')),
        say('assistant', call),
        say('system', text('C')),
        say('tool', result),
        say('assistant', text('a')),
      ]
      expect(rolesOf(write(messages).messages)).toEqual([
        'user',
        'assistant',
        'tool',
        'user',
        'assistant',
      ])
    })

    test('appends one at the end to the user message before it', () => {
      expect(
        rolesOf(write([say('user', text('q')), say('developer', text('C'))]).messages),
      ).toEqual(['user'])
    })

    test.each([
      ['keep', ['system', 'user', 'system'], []],
      ['hoist', ['system', 'user'], ['system.hoisted']],
      ['user', ['system', 'user'], ['system.mid-conversation-as-user']],
    ] as const)(
      'places later ones as `systemPlacement: %s` asks',
      (systemPlacement, roles, codes) => {
        const written = write([instructions, say('user', text('q')), say('system', text('C'))], {
          systemPlacement,
        })
        expect([rolesOf(written.messages), written.codes]).toEqual([roles, codes])
      },
    )

    test('keeps the role developer with `instructionsRole: developer`', () => {
      const messages = [instructions, say('user', text('q')), say('developer', text('C'))]
      expect(
        write(messages, { instructionsRole: 'developer', systemPlacement: 'keep' }),
      ).toMatchObject({
        messages: [{ role: 'developer' }, { role: 'user' }, { role: 'developer' }],
        codes: [],
      })
    })
  })

  test('writes reasoning of the current turn into its own field, and drops that of earlier turns', () => {
    const thinking = (value: string): Part => ({
      type: 'reasoning',
      segments: [{ kind: 'summary', text: value }],
      signature: { value: 'S', issuer: 'messages', form: 'thinking' },
    })
    const history = [
      say('user', text('q')),
      say('assistant', thinking('old'), text('a')),
      say('user', text('r')),
      say('assistant', thinking('new'), call('c1')),
      say('user', result('c1', 'ok')),
    ]
    const { messages, codes } = write(history)
    expect(messages[1]).toEqual({ role: 'assistant', content: 'a' })
    expect(messages[3]).toMatchObject({ content: null, reasoning_content: 'new' })
    expect(messages[3]).not.toHaveProperty('reasoning_details')
    expect(codes).toEqual([
      'reasoning.dropped',
      'reasoning.foreign-signature',
      'reasoning.dialect-field',
    ])
    expect(JSON.stringify(write(history, { reasoningInHistory: 'never' }).messages)).not.toMatch(
      /old|new/,
    )
    expect(
      JSON.stringify(
        write(history, { reasoningInHistory: 'always', reasoningField: 'reasoning' }).messages,
      ),
    ).toMatch(/"reasoning":"old".*"reasoning":"new"/)
  })

  test('a signature goes back to the server of this shape that created it, unchanged', () => {
    const own: Part = {
      type: 'reasoning',
      segments: [{ kind: 'raw', text: 'r' }],
      signature: { value: 'S', issuer: 'chat-completions', form: 'thinking' },
    }
    expect(write([say('assistant', own, call('c1'))]).messages[0]).toMatchObject({
      reasoning_details: [{ type: 'reasoning.text', text: 'r', signature: 'S', index: 0 }],
    })
  })

  test('drops unsupported content with a note, and never writes base64 as text', () => {
    const { messages, codes } = write([
      say(
        'user',
        text('q'),
        {
          type: 'media',
          kind: 'video',
          source: { type: 'base64', mime: 'video/mp4', data: 'AAAA' },
        },
        {
          type: 'media',
          kind: 'document',
          source: { type: 'url', url: 'https://example.org/a.pdf' },
        },
      ),
      say(
        'assistant',
        text('a'),
        image,
        {
          type: 'server-tool',
          phase: 'call',
          tool: 'web_search',
          id: 's',
          protocol: 'messages',
          raw: {},
        },
        { type: 'opaque', protocol: 'messages', raw: {} },
      ),
    ])
    expect(messages).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
    ])
    expect(codes).toEqual([
      'part.unsupported',
      'part.unsupported',
      'part.unsupported',
      'part.unsupported',
      'part.unknown',
    ])
  })

  test('documents of text and search results are written as text', () => {
    const { messages, codes } = write([
      say(
        'user',
        {
          type: 'media',
          kind: 'document',
          title: 'T',
          source: { type: 'text', text: 'body', mime: 'text/plain' },
        },
        { type: 'search-result', source: 'https://example.org', title: 'R', parts: [text('hit')] },
      ),
    ])
    expect(messages[0]?.['content']).toEqual(
      ['T', 'body', 'R\nhttps://example.org', 'hit'].map(value => ({ type: 'text', text: value })),
    )
    expect(codes).toEqual(['document.flattened', 'document.flattened'])
  })

  test('cache breakpoints: four at most, instructions first, none on responses', () => {
    const marked = (value: string): Part => ({ type: 'text', text: value, cache: { ttl: '5m' } })
    const turns = [
      say('system', marked('s')),
      ...['a', 'b', 'c', 'd'].map(value => say('user', marked(value))),
      say('assistant', marked('z')),
    ]
    const { messages, codes } = write(turns, { cacheMarks: 'write' })
    const marks = messages.map(
      ({ content }) =>
        Array.isArray(content) && 'prompt_cache_breakpoint' in (content[0] as object),
    )
    expect(marks).toEqual([true, false, true, true, true, false])
    expect(codes.filter(code => code === 'cache.too-many')).toHaveLength(1)
    expect(codes.filter(code => code === 'cache.unsupported')).toHaveLength(1)
  })
})

describe('tools of other protocols', () => {
  const tool = { type: 'function' as const, name: 'get', parameters: { type: 'object' } }

  test('a namespace becomes part of the name, and the context gives it back', () => {
    const received: CanonicalRequest = {
      messages: [
        say('assistant', {
          ...(call('c1') as Extract<Part, { type: 'tool-call' }>),
          name: 'get',
          namespace: 'web',
        }),
      ],
      tools: [{ ...tool, namespace: 'web' }],
      toolChoice: { mode: 'tool', kind: 'function', name: 'get', namespace: 'web' },
    }
    const { wire, notes, context } = written(received, chatCompletions)
    expect(wire).toMatchObject({
      tools: [{ function: { name: 'web__get' } }],
      messages: [{ tool_calls: [{ function: { name: 'web__get' } }] }],
      tool_choice: { function: { name: 'web__get' } },
    })
    expect(context).toEqual({ tools: { web__get: { name: 'get', namespace: 'web' } } })
    expect(codes(notes)).toEqual(['tool.namespace'])
  })

  test.each(['a.b:c', 'n'.repeat(80)])('replaces the invalid name %s consistently', name => {
    const { wire, notes, context } = written(
      { messages: [], tools: [{ ...tool, name }] },
      chatCompletions,
    )
    const short =
      (wire as { tools: { function: { name: string } }[] }).tools[0]?.function.name ?? ''
    expect(short).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(context?.tools?.[short]).toEqual({ name })
    expect(codes(notes)).toEqual(['tool.renamed'])
  })

  test('tools that were added in mid-conversation join the others', () => {
    const late: Part = {
      type: 'control',
      control: 'tool-addition',
      protocol: 'responses',
      raw: {},
      tools: [{ ...tool, name: 'late' }],
      at: '/input/1',
    }
    const { wire, notes } = written(
      { messages: [{ role: 'developer', origin: 'item', parts: [late] }], tools: [tool] },
      chatCompletions,
    )
    expect(wire).toMatchObject({
      messages: [],
      tools: [{ function: { name: 'get' } }, { function: { name: 'late' } }],
    })
    expect(notes).toMatchObject([{ code: 'tool.added-late', path: '/input/1' }])
  })

  test('tools of another provider are dropped, refused when there is nothing else, or mapped', () => {
    const search = {
      type: 'server' as const,
      tool: 'web_search' as const,
      protocol: 'messages',
      raw: {},
      common: { contextSize: 'low' as const, maxUses: 2 },
    }
    expect(field({ tools: [tool, search] })).toMatchObject({
      wire: { tools: [{}] },
      codes: ['tool.server'],
    })
    expect(() => field({ tools: [search] })).toThrow(
      expect.objectContaining({ code: 'inexpressible' }),
    )
    expect(() =>
      field({
        tools: [tool, search],
        toolChoice: { mode: 'tool', kind: 'server', name: 'web_search' },
      }),
    ).toThrow(expect.objectContaining({ code: 'inexpressible' }))
    expect(field({ tools: [search] }, { onUnresolvable: 'note' })).toEqual({
      wire: {},
      codes: ['tool.server'],
    })
    expect(field({ tools: [search] }, { serverTools: 'map' })).toEqual({
      wire: { web_search_options: { search_context_size: 'low' } },
      codes: ['tool.server-mapped', 'field.unsupported'],
    })
  })

  test('notes unsupported properties of tools, but not defaults', () => {
    const { codes } = field({
      tools: [
        { ...tool, deferLoading: false, allowedCallers: ['direct'], examples: [{}], cache: {} },
      ],
    })
    expect(codes).toEqual(['cache.unsupported', 'field.unsupported'])
  })
})

describe('fields of other protocols', () => {
  test.each<[string, Omit<CanonicalRequest, 'messages'>, object, string[]]>([
    ['an effort', { reasoning: { effort: 'xhigh' } }, { reasoning_effort: 'xhigh' }, []],
    [
      'a budget of 1024',
      { reasoning: { mode: 'enabled', budgetTokens: 1024 } },
      { reasoning_effort: 'minimal' },
      ['reasoning.budget-as-effort'],
    ],
    [
      'a budget of 10000',
      { reasoning: { budgetTokens: 10_000 } },
      { reasoning_effort: 'medium' },
      ['reasoning.budget-as-effort'],
    ],
    [
      'a budget of 50000',
      { reasoning: { budgetTokens: 50_000 } },
      { reasoning_effort: 'xhigh' },
      ['reasoning.budget-as-effort'],
    ],
    ['a budget of nothing', { reasoning: { budgetTokens: 0 } }, { reasoning_effort: 'none' }, []],
    ['a budget left to the model', { reasoning: { budgetTokens: -1 } }, {}, []],
    ['thinking off', { reasoning: { mode: 'disabled' } }, { reasoning_effort: 'none' }, []],
    [
      'thinking off, with an effort',
      { reasoning: { mode: 'disabled', effort: 'high' } },
      { reasoning_effort: 'none' },
      ['reasoning.off'],
    ],
    [
      'adaptive thinking',
      { reasoning: { mode: 'adaptive', effort: 'low' } },
      { reasoning_effort: 'low' },
      [],
    ],
    ['a wish for summaries', { reasoning: { summary: 'auto' } }, {}, ['field.unsupported']],
    [
      'a schema without a name',
      { output: { format: { type: 'schema', schema: {} } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'response', schema: { type: 'object' } },
        },
      },
      ['schema.name'],
    ],
    [
      'JSON',
      { output: { format: { type: 'json' } } },
      { response_format: { type: 'json_object' } },
      [],
    ],
    [
      'five stop sequences',
      { stop: ['a', 'b', 'c', 'd', 'e'] },
      { stop: ['a', 'b', 'c', 'd'] },
      ['stop.too-many'],
    ],
    ['one stop sequence', { stop: ['a'] }, { stop: ['a'] }, []],
    [
      'a limit of nothing',
      { maxOutputTokens: 0 },
      { max_completion_tokens: 1 },
      ['max-tokens.raised'],
    ],
    ['top_k', { sampling: { topK: 5, topP: 0.5 } }, { top_p: 0.5 }, ['field.unsupported']],
    ['a seed', { sampling: { seed: 7, temperature: 0.5 } }, { seed: 7, temperature: 0.5 }, []],
    [
      'penalties',
      { sampling: { frequencyPenalty: 0.1, presencePenalty: 0.2 } },
      { frequency_penalty: 0.1, presence_penalty: 0.2 },
      [],
    ],
    [
      'a tier that is unknown here',
      { serviceTier: { tier: 'ultrafast' } },
      {},
      ['tier.unsupported'],
    ],
    ['a long user id', { user: { safetyId: 'u'.repeat(200) } }, {}, ['field.optional']],
    [
      'a stream',
      { stream: { enabled: true } },
      { stream: true, stream_options: { include_usage: true } },
      [],
    ],
    [
      'a stream without usage',
      { stream: { enabled: true, includeUsage: false } },
      { stream: true, stream_options: { include_usage: true } },
      [],
    ],
    ['no stream', { stream: { enabled: false } }, { stream: false }, []],
    ['storing, which many servers refuse', { state: { store: true } }, {}, ['field.optional']],
    ['what is included anyway', { state: { include: ['reasoning.encrypted_content'] } }, {}, []],
    [
      'what cannot be included',
      { state: { include: ['file_search_call.results'], truncation: 'auto' } },
      {},
      ['field.unsupported', 'field.unsupported'],
    ],
    ['settings of safety', { safety: { settings: [] } }, {}, ['field.unsupported']],
    [
      'a field of another protocol',
      { ext: { messages: { fields: { inference_geo: 'eu' } } } },
      {},
      ['field.unknown'],
    ],
  ])('%s', (_, value, wire, notes) => {
    expect(field(value)).toEqual({ wire, codes: notes })
  })

  test.each<[string, Omit<CanonicalRequest, 'messages'>]>([
    ['an earlier response', { state: { previousId: 'resp_1' } }],
    ['a stored conversation', { state: { conversation: 'conv_1' } }],
    ['a stored prompt', { state: { prompt: { id: 'p' } } }],
    ['work in the background', { state: { background: true } }],
    ['stored content', { cache: { contentRef: 'c' } }],
  ])('refuses %s, or notes it on request', (_, value) => {
    expect(() => field(value)).toThrow(expect.objectContaining({ code: 'inexpressible' }))
    expect(field(value, { onUnresolvable: 'note' }).codes).toEqual(['state.unresolvable'])
  })

  test.each<Part>([
    { type: 'control', control: 'item-reference', protocol: 'responses', raw: {} },
    { type: 'control', control: 'compaction', protocol: 'responses', raw: {} },
    { type: 'media', kind: 'image', source: { type: 'file-id', id: 'f', issuer: 'responses' } },
  ])('refuses content that only its provider stores, or notes it on request', part => {
    expect(() => write([say('user', text('q'), part)])).toThrow(
      expect.objectContaining({ code: 'inexpressible' }),
    )
    expect(write([say('user', text('q'), part)], { onUnresolvable: 'note' }).messages).toEqual([
      { role: 'user', content: 'q' },
    ])
  })

  test('notes point into the source, in its words', () => {
    const { notes } = encodeRequest(
      { messages: [], sampling: { topK: 5 } },
      { fieldNames: { 'sampling.topK': 'top_k' } },
    )
    expect(notes).toMatchObject([{ path: '/top_k', kind: 'dropped', target: 'chat-completions' }])
  })
})

test('a request for probabilities or with options of a stream has a switch, and empty options say nothing', () => {
  const read = (body: object) => decodeRequest({ messages: [], ...body }).value
  expect(read({ top_logprobs: 2 }).logprobs).toEqual({ enabled: false, top: 2 })
  expect(read({ stream_options: { include_usage: true } }).stream).toEqual({
    enabled: false,
    includeUsage: true,
  })
  expect(read({ stream_options: {} })).not.toHaveProperty('stream')
})

test.each([
  [0, 1],
  [1, 0],
])(
  'distinguishes a tool and a namespaced tool with the same flat name, in any order',
  (...order) => {
    const alike = [
      { type: 'function', name: 'ns__x', parameters: { type: 'object' } },
      {
        type: 'namespace',
        name: 'ns',
        tools: [{ type: 'function', name: 'x', parameters: { type: 'object' } }],
      },
    ]
    const received = { model: 'm', input: 'hi', tools: order.map(i => alike[i]) }
    const { body, context, notes } = translateRequest(received, {
      from: 'responses',
      to: 'chat-completions',
    })
    const names = (body as { tools: { function: { name: string } }[] }).tools.map(
      tool => tool.function.name,
    )
    expect(names[order[0] ?? 0]).toBe('ns__x')
    expect(new Set(names).size).toBe(2)
    expect(notes.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['tool.namespace', 'tool.renamed']),
    )
    const tool_calls = names.map((name, i) => ({
      id: `c${i}`,
      type: 'function',
      function: { name, arguments: '{}' },
    }))
    const choices = [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls },
        finish_reason: 'tool_calls',
      },
    ]
    const response = translateResponse(
      { id: 'r', created: 1, model: 'm', choices },
      { from: 'chat-completions', to: 'responses', context },
    )
    const called = (response.body as { output: { name: string; namespace?: string }[] }).output.map(
      ({ name, namespace }) => [namespace, name],
    )
    expect(called[order[0] ?? 0]).toEqual([undefined, 'ns__x'])
    expect(called[order[1] ?? 0]).toEqual(['ns', 'x'])
  },
)

test('a tool that is added again under its own name has one entry', () => {
  const tool = { type: 'function' as const, name: 'f' }
  const received: CanonicalRequest = {
    model: 'm',
    tools: [tool],
    messages: [
      { role: 'user', origin: 'item', parts: [{ type: 'text', text: 'hi' }] },
      {
        role: 'developer',
        origin: 'item',
        parts: [
          {
            type: 'control',
            control: 'tool-addition',
            protocol: 'other',
            raw: {},
            tools: [tool, { ...tool, name: 'g' }],
          },
        ],
      },
    ],
  }
  const { wire } = written(received, chatCompletions)
  expect(wire).toMatchObject({ tools: [{ function: { name: 'f' } }, { function: { name: 'g' } }] })
})
