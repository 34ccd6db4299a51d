import { describe, expect, test } from 'vitest'
import { type TranslateOptions, TranslationError, translateRequest, translateResponse } from '../../../src/index.ts'
import { messages } from '../../../src/protocols/messages/index.ts'

type Wire = { [key: string]: unknown; messages: { role: string; content: unknown }[] }

/** A request of the responses protocol, as it is written here. */
function write(body: object, options: Partial<TranslateOptions> = {}) {
  const asked = { model: 'claude-opus-5', max_output_tokens: 100, input: 'x', ...body }
  const { body: wire, notes, context } = translateRequest(asked, { from: 'responses', to: 'messages', ...options })
  return { wire: wire as Wire, notes: notes.map(({ code, path }) => `${code} ${path}`), context }
}

const refusal = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (TranslationError.is(error)) return `${error.code} ${error.path}`
    throw error
  }
  return 'nothing'
}

const named = (name: string) => ({ type: 'function', name, parameters: { type: 'object' }, strict: false })
const search = { type: 'web_search', filters: { allowed_domains: ['a.org'] }, user_location: { type: 'approximate', city: 'B' } }

describe('tools that another provider runs', () => {
  test.each<[string, object, string]>([
    ['are refused when they are the only ones', { tools: [search] }, 'inexpressible /tools/0'],
    ['are refused when one of them is forced', { tools: [search, named('w')], tool_choice: { type: 'web_search' } }, 'inexpressible /tool_choice'],
    ['are left out beside others', { tools: [search, named('w')] }, 'nothing'],
    ['are left out beside others that are forced', { tools: [search, named('w')], tool_choice: 'required' }, 'nothing'],
  ])('%s', (_, body, expected) => {
    expect(refusal(() => write(body))).toBe(expected)
  })

  test('are noted instead, if the caller says so', () => {
    const { wire, notes } = write({ tools: [search, named('w')], tool_choice: { type: 'web_search' } }, { onUnresolvable: 'note' })
    expect(wire['tools']).toHaveLength(1)
    expect(notes).toEqual(['tool.server /tools/0', 'tool.server /tool_choice'])
  })

  test.each<[string, object, object]>([
    [
      'a web search',
      search,
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.org'], user_location: { type: 'approximate', city: 'B' } },
    ],
    ['code execution', { type: 'code_interpreter', container: { type: 'auto' } }, { type: 'code_execution_20250825', name: 'code_execution' }],
    ['a search for tools', { type: 'tool_search' }, { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }],
  ])('%s becomes the nearest one', (_, tool, expected) => {
    const { wire, notes } = write({ tools: [tool] }, { serverTools: 'map' })
    expect(wire['tools']).toEqual([expected])
    expect(notes).toEqual(['tool.server-mapped /tools/0'])
  })

  test('a forced one is forced by the name that it has here', () => {
    const { wire } = write(
      { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }], tool_choice: { type: 'code_interpreter' } },
      { serverTools: 'map' },
    )
    expect(wire['tool_choice']).toEqual({ type: 'tool', name: 'code_execution' })
  })

  test('two that become the same one are one', () => {
    const { wire, notes } = write({ tools: [search, { type: 'web_search_preview' }] }, { serverTools: 'map' })
    expect(wire['tools']).toHaveLength(1)
    expect(notes).toEqual(['tool.server-mapped /tools/0', 'tool.server-mapped /tools/1'])
  })

  test('one of this provider that is forced is told from a function', () => {
    const body = { model: 'm', messages: [], tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'tool', name: 'web_search' } }
    const { value } = messages.decodeRequest(body)
    expect(value.toolChoice).toMatchObject({ mode: 'tool', kind: 'server', name: 'web_search' })
    expect(messages.encodeRequest(value)).toMatchObject({ wire: body, notes: [] })
  })

  const past = [
    { role: 'user', content: 'q' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'weather' } },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'sun' }] },
    { role: 'user', content: 'r' },
  ]

  test('past uses are left out, or told in text', () => {
    expect(write({ input: past })).toMatchObject({
      wire: { messages: [{ content: 'q' }, { role: 'assistant', content: 'sun' }, { content: 'r' }] },
      notes: ['server-tool.dropped /input/1'],
    })
    const { wire, notes } = write({ input: past }, { serverToolHistory: 'text' })
    expect(JSON.stringify(wire.messages[1])).toMatch(/\[web_search .*weather.*sun/)
    expect(notes).toEqual(['server-tool.as-text /input/1'])
  })
})

describe('who may call a tool', () => {
  test.each<[string, string[] | undefined, object, unknown, string[]]>([
    ['the model itself', ['direct'], {}, ['direct'], []],
    ['code of another provider', ['direct', 'programmatic'], {}, ['direct'], ['field.unsupported /tools/0/allowed_callers']],
    ['only code of another provider', ['programmatic'], {}, undefined, ['field.unsupported /tools/0/allowed_callers']],
    [
      'code of another provider, if the caller says so',
      ['direct', 'programmatic'],
      { amForeignCallers: 'map' },
      ['direct', 'code_execution_20250825'],
      ['tool.callers /tools/0/allowed_callers'],
    ],
  ])('%s', (_, allowed_callers, options, expected, noted) => {
    const { wire, notes } = write({ tools: [{ ...named('w'), allowed_callers }] }, options)
    expect((wire['tools'] as { allowed_callers?: unknown }[])[0]?.allowed_callers).toEqual(expected)
    expect(notes).toEqual(noted)
  })
})

describe('tools that join in mid-conversation', () => {
  const input = [
    { role: 'user', content: 'q' },
    { type: 'additional_tools', role: 'developer', tools: [named('late')] },
    { role: 'user', content: 'r' },
  ]

  test('stand with the others', () => {
    const { wire, notes } = write({ input, tools: [named('w')] })
    expect(wire['tools']).toMatchObject([{ name: 'w' }, { name: 'late' }])
    expect(notes).toContain('tool.added-late /input/1')
  })

  test('stand where they stood, if the caller says so', () => {
    const { wire, notes } = write({ input, tools: [named('w')] }, { amToolAddition: 'block' })
    expect(wire['tools']).toMatchObject([{ name: 'w' }])
    expect(wire.messages[1]).toMatchObject({
      role: 'system',
      content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'late', input_schema: { type: 'object' } } } }],
    })
    expect(notes).not.toContain('tool.added-late /input/1')
  })

  test('of this protocol stand with the others of another', () => {
    const definition = { name: 'late', description: 'd', input_schema: { type: 'object' } }
    const body = {
      model: 'm',
      max_tokens: 1,
      messages: [
        { role: 'user', content: 'q' },
        { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }] },
      ],
    }
    const { body: wire } = translateRequest(body, { from: 'messages', to: 'chat-completions' })
    expect(wire).toMatchObject({ tools: [{ type: 'function', function: { name: 'late', description: 'd' } }] })
  })
})

describe('a choice among some of the tools', () => {
  const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] }
  const tools = [named('a'), named('b')]
  const reply = (name: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 't1', name, input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  })

  test.each<[string, string, string[]]>([
    ['a call of an allowed one is right', 'a', []],
    ['a call of another one is noted', 'b', ['tool_choice.not-allowed /content/1']],
  ])('%s', (_, name, expected) => {
    const { context } = write({ tools, tool_choice: choice }, { amAllowedTools: 'keep' })
    const { notes } = translateResponse(reply(name), { from: 'messages', to: 'responses', context, now: 1 })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })
})
