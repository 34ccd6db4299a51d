import { describe, expect, test } from 'vitest'
import { type ProtocolName, type TranslateOptions, translateRequest } from '../../../src/index.ts'
import { wrapSignatureInBase64 } from '../../../src/kit/signatures/envelope.ts'

type Body = Record<string, unknown>
type More = Partial<TranslateOptions>

/** What every request without a storage field gets. */
const always = new Set(['store.default', 'reasoning.include-encrypted'])

function cross(from: ProtocolName, body: Body, more: More = {}) {
  const { body: wire, notes } = translateRequest(
    { model: 'm', ...body },
    { from, to: 'responses', ...more },
  )
  return {
    wire: wire as Record<string, unknown>,
    notes: notes.filter(({ code }) => !always.has(code)).map(({ code, path }) => `${code} ${path}`),
  }
}

const say = (content: unknown) => ({ max_tokens: 99, messages: [{ role: 'user', content }] })
const fn = { name: 'f', input_schema: { type: 'object' } }
const result = (content: unknown) => ({
  max_tokens: 99,
  messages: [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] },
  ],
})
const search = { type: 'web_search_20250305', name: 'web_search' }
const ask = (more: Body) => ({ ...say('q'), ...more })

describe('content of the messages protocol', () => {
  test.each<[string, Body, unknown[], string[]]>([
    [
      'the title of a document is its file name',
      say([
        {
          type: 'document',
          title: 'T',
          source: { type: 'base64', media_type: 'application/pdf', data: 'QQ==' },
        },
      ]),
      [{ type: 'input_file', filename: 'T', file_data: 'data:application/pdf;base64,QQ==' }],
      ['media.title-as-filename /messages/0/content/0/title'],
    ],
    [
      'a document of parts is its parts, under its title',
      say([
        {
          type: 'document',
          title: 'T',
          context: 'C',
          citations: { enabled: true },
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'a' },
              { type: 'image', source: { type: 'url', url: 'https://a.org/b.png' } },
            ],
          },
        },
      ]),
      [
        { type: 'input_text', text: 'T\nC' },
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'https://a.org/b.png', detail: 'auto' },
      ],
      [
        'content.as-text /messages/0/content/0',
        'field.unsupported /messages/0/content/0/citations',
      ],
    ],
    [
      'the cache mark of a search result is after its last part',
      say([
        {
          type: 'search_result',
          source: 's',
          title: 't',
          content: [{ type: 'text', text: 'a' }],
          cache_control: { type: 'ephemeral' },
        },
      ]),
      [
        { type: 'input_text', text: 't\ns' },
        { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
      ['content.as-text /messages/0/content/0'],
    ],
  ])('%s', (_, body, content, notes) => {
    const crossed = cross('messages', body)
    expect(crossed.wire['input']).toMatchObject([{ role: 'user', content }])
    expect(crossed.notes).toEqual(notes)
  })

  test.each<[string, ProtocolName, unknown, unknown, string]>([
    [
      'a file',
      'chat-completions',
      [
        { type: 'text', text: 'a' },
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,QQ==', filename: 'f.pdf' },
        },
      ],
      'a',
      'media.unsupported /messages/1/content/1',
    ],
    [
      'audio',
      'chat-completions',
      [
        { type: 'text', text: 'a' },
        { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
      ],
      'a',
      'media.unsupported /messages/1/content/1',
    ],
    [
      'an image by its URL',
      'messages',
      [
        { type: 'text', text: 'a' },
        { type: 'image', source: { type: 'url', url: 'https://a.org/b.png' } },
      ],
      'a',
      'media.unsupported /messages/1/content/1',
    ],
    [
      'a file of text, which becomes text',
      'messages',
      [
        {
          type: 'document',
          title: 'T',
          source: { type: 'text', media_type: 'text/plain', data: 'a' },
        },
      ],
      [
        { type: 'output_text', text: 'T', annotations: [] },
        { type: 'output_text', text: 'a', annotations: [] },
      ],
      'content.as-text /messages/1/content/0',
    ],
  ])('drops media in an assistant message: %s', (_, from, content, expected, note) => {
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content },
    ]
    const { wire, notes } = cross(from, { max_tokens: 99, messages })
    expect(wire['input']).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] },
      { type: 'message', role: 'assistant', content: expected },
    ])
    expect(notes).toEqual([note])
  })

  test('keeps the result of a tool with any name readable', () => {
    const { wire, notes } = cross('messages', result([{ type: 'tool_reference', tool_name: 'zz' }]))
    expect(wire['input']).toContainEqual({
      type: 'function_call_output',
      call_id: 't',
      output: '{"type":"tool_reference","tool_name":"zz"}',
    })
    expect(notes).toEqual(['tool-result.flattened /messages/2/content/0/content/0'])
  })

  test.each<[string, object, unknown, string]>([
    [
      'thinking in it becomes text',
      { type: 'thinking', thinking: 'hm', signature: '' },
      [{ type: 'input_text', text: 'hm' }],
      'tool-result.flattened',
    ],
    [
      'invisible thinking is left out, and noted as such',
      { type: 'redacted_thinking', data: 'iVBORw0=' },
      [],
      'part.unsupported',
    ],
  ])('%s', (_, block, output, code) => {
    const { wire, notes } = cross('messages', result([block]))
    expect(wire['input']).toContainEqual({ type: 'function_call_output', call_id: 't', output })
    expect(notes).toEqual([`${code} /messages/2/content/0/content/0`])
  })
})

describe('tools of the messages protocol', () => {
  const bash = { type: 'bash_20250124', name: 'bash' }
  test.each<[string, Body, More, Body, string[]]>([
    [
      'callers that are here too are kept',
      { tools: [{ ...fn, allowed_callers: ['direct'] }] },
      {},
      { tools: [{ allowed_callers: ['direct'] }] },
      [],
    ],
    [
      'callers of another provider are not',
      { tools: [{ ...fn, allowed_callers: ['direct', 'code_execution_20250825'] }] },
      {},
      { tools: [{ allowed_callers: ['direct'] }] },
      ['tool.callers /tools/0/allowed_callers'],
    ],
    [
      'a shell that the client runs is left out',
      { tools: [fn, bash] },
      {},
      { tools: [{ name: 'f' }] },
      ['tool.server /tools/1'],
    ],
    [
      'or becomes a function',
      { tools: [bash], tool_choice: { type: 'tool', name: 'bash' } },
      { tools: { expandClientTools: true } },
      {
        tools: [
          {
            type: 'function',
            name: 'bash',
            parameters: { properties: { command: { type: 'string' } } },
          },
        ],
        tool_choice: { type: 'function', name: 'bash' },
      },
      ['tool.expanded /tools/0'],
    ],
    [
      'a forced search is forced by the name it has in choices',
      { tools: [search], tool_choice: { type: 'tool', name: 'web_search' } },
      { tools: { serverTools: 'map' } },
      { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
      ['tool.server-mapped /tools/0'],
    ],
    [
      'tools that are added on the way are an item',
      {
        messages: [
          { role: 'user', content: 'q' },
          { role: 'system', content: [{ type: 'tool_addition', tool: fn }] },
        ],
      },
      {},
      {
        input: [
          {},
          { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] },
        ],
      },
      ['tool.addition /messages/1/content/0'],
    ],
  ])('%s', (_, body, more, wire, notes) => {
    const crossed = cross('messages', ask(body), more)
    expect(crossed.wire).toMatchObject(wire)
    expect(crossed.notes).toEqual(notes)
  })

  test('a forced tool that another provider runs is refused, also beside functions', () => {
    const body = ask({ tools: [fn, search], tool_choice: { type: 'tool', name: 'web_search' } })
    expect(() => cross('messages', body)).toThrow(
      expect.objectContaining({ code: 'inexpressible', path: '/tool_choice' }),
    )
  })

  test('drops a forced tool of another provider with a note on request', () => {
    const body = ask({ tools: [fn, search], tool_choice: { type: 'tool', name: 'web_search' } })
    const { wire, notes } = cross('messages', body, { onUnresolvable: 'note' })
    expect(wire).toMatchObject({ tools: [{ type: 'function', name: 'f' }] })
    expect(wire).not.toHaveProperty('tool_choice')
    expect(notes).toEqual(['tool.server /tools/1', 'tool-choice.unsupported /tool_choice'])
  })
})

test('a cache mark on a whole result is put on its last part', () => {
  const marked = {
    type: 'tool_result',
    tool_use_id: 't',
    content: 'done',
    cache_control: { type: 'ephemeral', ttl: '1h' },
  }
  const { messages } = result('')
  const { wire, notes } = cross('messages', {
    max_tokens: 99,
    messages: [...messages.slice(0, 2), { role: 'user', content: [marked] }],
  })
  const output = [
    { type: 'input_text', text: 'done', prompt_cache_breakpoint: { mode: 'explicit' } },
  ]
  expect(wire['input']).toMatchObject([{}, {}, { type: 'function_call_output', output }])
  expect(notes).toEqual([
    'cache.moved /messages/2/content/0/cache_control',
    'cache.ttl /messages/2/content/0/cache_control/ttl',
  ])
})

test('drops tools of another provider, and the choice among them, on request', () => {
  const { wire, notes } = cross(
    'messages',
    ask({ tools: [search], tool_choice: { type: 'any' } }),
    { onUnresolvable: 'note' },
  )
  expect(wire).not.toHaveProperty('tools')
  expect(wire).not.toHaveProperty('tool_choice')
  expect(notes).toEqual(['tool.server /tools/0', 'tool-choice.without-tools /tool_choice/type'])
})

test('a choice without tools is noted at its path', () => {
  const { wire, notes } = cross('generate-content', {
    contents: [{ parts: [{ text: 'hi' }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  })
  expect(wire).not.toHaveProperty('tool_choice')
  expect(notes).toEqual([
    'tool-choice.without-tools /toolConfig/functionCallingConfig/mode',
    'tool-choice.without-tools /toolConfig/functionCallingConfig/allowedFunctionNames',
  ])
})

test('a signature that a client of generate-content has put on several parts is one item of reasoning', () => {
  const thoughtSignature = wrapSignatureInBase64({
    signature: { value: 'SEAL', issuer: 'responses', form: 'encrypted' },
    id: 'rs_1',
    lengths: [2],
  })
  const parts = [
    { text: 'Hm', thoughtSignature },
    { text: 'One moment.', thoughtSignature },
    { functionCall: { id: 'c1', name: 'f', args: {} } },
  ]
  const results = [{ functionResponse: { id: 'c1', name: 'f', response: { output: 'done' } } }]
  const contents = [
    { role: 'user', parts: [{ text: 'q' }] },
    { role: 'model', parts },
    { role: 'user', parts: results },
  ]
  const { wire, notes } = cross('generate-content', { contents })
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'SEAL' }
  expect(wire['input']).toMatchObject([
    {},
    reasoning,
    { content: 'Hm' },
    { content: 'One moment.' },
    { type: 'function_call' },
    { type: 'function_call_output' },
  ])
  expect(notes).toEqual([])
})
