import { describe, expect, test } from 'vitest'
import type { MappingOptions, ProtocolName } from '../../src/index.ts'
import { translateRequest } from '../support/untyped.ts'

const later = { defer_loading: true }
const bodies = {
  messages: {
    search: { type: 'tool_search_tool_bm25', name: 'tool_search_tool_bm25' },
    body: (...tools: object[]) => ({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      tools,
    }),
    tool: (name: string, more: object) => ({ name, input_schema: { type: 'object' }, ...more }),
  },
  responses: {
    search: { type: 'tool_search' },
    body: (...tools: object[]) => ({ model: 'm', max_output_tokens: 16, input: 'hi', tools }),
    tool: (name: string, more: object) => ({
      type: 'function',
      name,
      parameters: { type: 'object' },
      strict: false,
      ...more,
    }),
  },
}
type Reported = [name: unknown, deferred: unknown]

describe.each<[ProtocolName & keyof typeof bodies, ProtocolName]>([
  ['messages', 'responses'],
  ['responses', 'messages'],
])('deferred tools, from %s to %s', (from, to) => {
  const { search, body, tool } = bodies[from]
  const crossed = (wire: object, options: MappingOptions = {}) => {
    const { body: there, notes } = translateRequest(wire, { from, to, ...options })
    const { tools } = there as {
      tools: { type?: string; name?: string; defer_loading?: boolean }[]
    }
    const reported = tools.map(
      ({ name, type, defer_loading }): Reported => [name ?? type, defer_loading],
    )
    return {
      reported,
      notes: notes
        .filter(({ code }) => code.startsWith('tool.'))
        .map(({ code, path }) => `${code} ${path}`),
    }
  }

  test('are loaded from the start when their search is dropped', () => {
    expect(crossed(body(tool('a', later), tool('b', {}), search))).toEqual({
      reported: [
        ['a', undefined],
        ['b', undefined],
      ],
      notes: ['tool.loaded /tools/0/defer_loading', 'tool.server /tools/2'].sort(),
    })
  })

  test('stay deferred when the search is mapped', () => {
    const { reported, notes } = crossed(body(tool('a', later), search), {
      tools: { serverTools: 'map' },
    })
    expect(reported[0]).toEqual(['a', true])
    expect(notes).toEqual(['tool.server-mapped /tools/1'])
  })

  // Servers of responses refuse the mark without a tool search, those of messages a request whose
  // tools are all deferred.
  test('are loaded from the start when there is no search', () => {
    expect(crossed(body(tool('a', later), tool('b', {})))).toEqual({
      reported: [
        ['a', undefined],
        ['b', undefined],
      ],
      notes: ['tool.loaded /tools/0/defer_loading'],
    })
  })
})

test('includes what another search has found', () => {
  const input = [
    { role: 'user', content: 'hi' },
    {
      type: 'tool_search_call',
      call_id: null,
      execution: 'server',
      arguments: {},
      status: 'completed',
    },
    {
      type: 'tool_search_output',
      call_id: null,
      execution: 'server',
      status: 'completed',
      tools: [bodies.responses.tool('found', later)],
    },
  ]
  const { body, notes } = translateRequest(
    { model: 'm', input, tools: [bodies.responses.search] },
    { from: 'responses', to: 'messages' },
  )
  expect(body).toMatchObject({ tools: [{ name: 'found' }] })
  expect(JSON.stringify(body)).not.toContain('defer_loading')
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
    'tool.loaded /input/2/tools/0/defer_loading',
  )
})

test.each<[ProtocolName, object]>([
  ['chat-completions', [{ function: { name: 'known' } }, { function: { name: 'found' } }]],
  ['messages', [{ name: 'known' }, { name: 'found' }]],
  ['generate-content', [{ functionDeclarations: [{ name: 'known' }, { name: 'found' }] }]],
])('offers tools that the client found to %s once', (to, tools) => {
  const { search, tool } = bodies.responses
  const received = { execution: 'client', call_id: 'c1', status: 'completed' }
  const input = [
    { role: 'user', content: 'hi' },
    { type: 'tool_search_call', ...received, arguments: { query: 'q' } },
    { type: 'tool_search_output', ...received, tools: [tool('found', {}), tool('known', {})] },
    { type: 'tool_search_call', ...received, call_id: 'c2', arguments: { query: 'q' } },
    { type: 'tool_search_output', ...received, call_id: 'c2', tools: [tool('found', {})] },
  ]
  const { body, notes } = translateRequest(
    { model: 'm', input, tools: [tool('known', {}), search] },
    { from: 'responses', to },
  )
  expect(body).toMatchObject({ tools })
  expect(notes.filter(({ code }) => code === 'tool.added-late').map(({ path }) => path)).toEqual([
    '/input/2',
  ])
})

/** "tools: Tool names must be unique.", as these servers say it. */
test.each<[ProtocolName, object]>([
  ['chat-completions', [{ function: { name: 'late' } }]],
  ['messages', [{ name: 'late' }]],
  ['generate-content', [{ functionDeclarations: [{ name: 'late' }] }]],
])('offers a tool that one item adds twice to %s once', (to, tools) => {
  const { tool } = bodies.responses
  const input = [
    { role: 'user', content: 'hi' },
    { type: 'additional_tools', role: 'developer', tools: [tool('late', {}), tool('late', {})] },
  ]
  const { body } = translateRequest({ model: 'm', input }, { from: 'responses', to })
  expect(body).toMatchObject({ tools })
})

test('ignores a search that is not among the allowed tools', () => {
  const { tool, search, body } = bodies.responses
  const received = {
    ...body(tool('a', later), search),
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] },
  }
  const { body: there, notes } = translateRequest(received, {
    from: 'responses',
    to: 'messages',
    tools: { serverTools: 'map' },
  })
  expect(there).toMatchObject({ tools: [{ name: 'a' }] })
  expect(JSON.stringify(there)).not.toContain('defer_loading')
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
    'tool.loaded /tools/0/defer_loading',
  )
})

/**
 * Claude Code searches by itself: its tool gives references, and an empty result would look as if
 * nothing had been found.
 */
test.each<ProtocolName>(['chat-completions', 'responses', 'generate-content'])(
  'what a search of the client has found can be read on %s',
  to => {
    const { body, tool } = bodies.messages
    const found = { type: 'tool_reference', tool_name: 'found' }
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'search', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [found] }] },
    ]
    const { body: there, notes } = translateRequest(
      { ...body(tool('search', {})), messages },
      { from: 'messages', to },
    )
    // A text that is written as JSON, inside of JSON.
    expect(JSON.stringify(there)).toContain(JSON.stringify(JSON.stringify(found)))
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'tool-result.flattened /messages/2/content/0/content/0',
    )
  },
)

test.each<[ProtocolName, object, string]>([
  [
    'chat-completions',
    {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'table', rows: [[1]] }] },
      ],
    },
    '/messages/2/content/0',
  ],
  [
    'responses',
    {
      input: [
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'table', rows: [[1]] }] },
      ],
    },
    '/input/1/output/0',
  ],
])('what a tool gave and only %s knows can be read on messages', (from, body, place) => {
  const { body: there, notes } = translateRequest(body, { from, to: 'messages' })
  const { messages } = there as { messages: { content: unknown }[] }
  expect(messages.at(-1)?.content).toMatchObject([
    { type: 'tool_result', tool_use_id: 'c1', content: '{"type":"table","rows":[[1]]}' },
  ])
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
    `tool-result.flattened ${place}`,
  )
})
