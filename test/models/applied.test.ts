import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { translateRequest } from '../support/untyped.ts'

type Wire = Record<string, unknown>
type Options = { vendor?: VendorName; path?: string; model?: string }

const user = { role: 'user', content: 'x' }
const contents = [{ role: 'user', parts: [{ text: 'x' }] }]
const chatTool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const tool = { name: 'f', input_schema: { type: 'object' } }
const declared = [{ functionDeclarations: [{ name: 'f' }] }]
const toolSpec = { toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }

const sent = (from: ProtocolName, to: ProtocolName, body: Wire, options: Options = {}) => {
  const { body: wire, notes } = translateRequest(body, { from, to, ...options })
  return { wire: wire as Wire, codes: notes.map(({ code, path }) => `${code} ${path}`) }
}

/** The same wish in each protocol: a forced tool, and no thinking. */
const forcing: Record<ProtocolName, (model: string) => [Wire, Options, place: string]> = {
  'chat-completions': model => [
    { model, messages: [user], tools: [chatTool], tool_choice: 'required' },
    {},
    '/tool_choice',
  ],
  responses: model => [
    { model, input: 'x', tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' },
    {},
    '/tool_choice',
  ],
  messages: model => [
    { model, max_tokens: 9, messages: [user], tools: [tool], tool_choice: { type: 'any' } },
    {},
    '/tool_choice',
  ],
  'generate-content': model => [
    { contents, tools: declared, toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    { path: `/v1beta/models/${model}:generateContent` },
    '/toolConfig/functionCallingConfig',
  ],
  converse: model => [
    {
      messages: [{ role: 'user', content: [{ text: 'x' }] }],
      toolConfig: { tools: [toolSpec], toolChoice: { any: {} } },
    },
    { path: `/model/${model}/converse` },
    '/toolConfig/toolChoice',
  ],
}
const callers = Object.keys(forcing) as ProtocolName[]

describe.each(callers)('a tool that a request of %s forces', from => {
  test.each(['claude-opus-5-5', 'claude-haiku-5-5', 'claude-fable-5-1', 'claude-mythos-5'])(
    'is not forced toward %s, with a note at the choice',
    model => {
      for (const to of ['messages', 'converse'] as const) {
        const [body, options, place] = forcing[from](
          to === 'converse' ? `anthropic.${model}` : model,
        )
        if (from === to) continue
        const { wire, codes } = sent(from, to, body, options)
        expect(JSON.stringify(wire)).not.toMatch(/"any"|"type":"tool"/)
        expect(codes).toContain(`tool-choice.not-forced ${place}`)
      }
    },
  )

  test('stays forced toward models that take it', () => {
    if (from === 'messages') return
    const [body, options] = forcing[from]('claude-opus-5')
    expect(sent(from, 'messages', body, options).wire['tool_choice']).toEqual({ type: 'any' })
  })
})

describe('the same protocol', () => {
  const body = {
    model: 'claude-opus-5-5',
    max_tokens: 9,
    messages: [user],
    tools: [tool],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'disabled' },
    temperature: 0.5,
  }

  test('stays as it is toward an unknown server', () => {
    expect(sent('messages', 'messages', body).wire).toBe(body)
  })

  test('loses what the model refuses at a named vendor', () => {
    const { wire, codes } = sent('messages', 'messages', body, { vendor: 'anthropic' })
    const { thinking: _, temperature: __, ...rest } = body
    const choice = { type: 'auto', disable_parallel_tool_use: true }
    expect(wire).toEqual({ ...rest, tool_choice: choice })
    expect(codes.sort()).toEqual([
      'model.unsupported /temperature',
      'reasoning.always-on /thinking',
      'tool-choice.not-forced /tool_choice',
    ])
  })

  test('is not changed for a model that takes it', () => {
    const taken = { ...body, model: 'claude-opus-4-6' }
    expect(sent('messages', 'messages', taken, { vendor: 'anthropic' }).wire).toEqual(taken)
  })
})

describe('a request of converse at Bedrock', () => {
  const at = (model: string, body: Wire) =>
    sent('converse', 'converse', body, {
      vendor: 'bedrock',
      path: `/model/us.anthropic.${model}-v1:0/converse`,
    })
  const toolConfig = { tools: [toolSpec], toolChoice: { tool: { name: 'f' } } }
  const fields = { thinking: { type: 'disabled' }, tool_choice: { type: 'any' } }
  const body = { messages: [], toolConfig, additionalModelRequestFields: fields }

  test.each([
    ['claude-opus-5-5', {}],
    ['claude-sonnet-5-5', { thinking: { type: 'between_tools' } }],
  ])('forces no tool and turns no thinking off toward %s', (model, left) => {
    const { wire, codes } = at(model, body)
    expect(wire).toEqual({
      messages: [],
      toolConfig: { tools: [toolSpec], toolChoice: { auto: {} } },
      additionalModelRequestFields: { tool_choice: { type: 'auto' }, ...left },
    })
    expect(codes.sort()).toEqual([
      'reasoning.always-on /additionalModelRequestFields/thinking',
      'tool-choice.not-forced /additionalModelRequestFields/tool_choice',
      'tool-choice.not-forced /toolConfig/toolChoice',
    ])
  })

  test('stays as it is for models that take both', () => {
    expect(at('claude-opus-5', body).wire).toBe(body)
  })
})

describe('thinking that is turned off', () => {
  const off = (model: string) => ({ model, messages: [user], reasoning_effort: 'none' })
  test.each([
    ['claude-opus-5-5', undefined],
    ['claude-sonnet-5-5', { type: 'between_tools' }],
    ['claude-haiku-5-5', { type: 'disabled' }],
    ['claude-fable-5-1', undefined],
    ['claude-opus-5', { type: 'disabled' }],
    ['claude-opus-9', undefined],
  ])('toward %s is %j', (model, thinking) => {
    expect(sent('chat-completions', 'messages', off(model)).wire['thinking']).toEqual(thinking)
    const { wire } = sent('chat-completions', 'converse', off(`us.anthropic.${model}-v1:0`))
    expect((wire['additionalModelRequestFields'] as Wire | undefined)?.['thinking']).toEqual(
      thinking,
    )
  })
})

test('thinking that is bound to the conversation is dropped where that has changed', () => {
  const body = (model: string) => ({ model, messages: [user], reasoning_effort: 'high' })
  const thinkingOf = (model: string) =>
    sent('chat-completions', 'messages', body(model)).wire['thinking']
  expect(thinkingOf('claude-opus-5-5')).toEqual({
    type: 'adaptive',
    block_binding: { prefix_mismatch_behavior: 'drop_block' },
  })
  expect(thinkingOf('claude-opus-5')).toEqual({ type: 'adaptive' })
})

describe('models of OpenAI', () => {
  test.each(['gpt-5.2', 'gpt-5', 'o3', 'gpt-7', 'openai/gpt-5.6-sol'])(
    '%s gets no stop sequences',
    model => {
      const body = { model, max_tokens: 9, stop_sequences: ['END'], messages: [user] }
      const { wire, codes } = sent('messages', 'chat-completions', body)
      expect(wire).not.toHaveProperty('stop')
      expect(codes).toContain('model.unsupported /stop_sequences')
    },
  )

  test.each([
    ['gpt-5', 'minimal', 'minimal'],
    ['gpt-5-codex', 'minimal', 'low'],
    ['gpt-5-pro', 'low', 'high'],
    ['gpt-5.4-pro', 'low', 'medium'],
    ['gpt-5.1-codex', 'xhigh', 'high'],
    ['gpt-5.1-codex-max', 'xhigh', 'xhigh'],
    ['o3-deep-research', 'high', 'medium'],
  ])('%s gets the effort %s as %s', (model, reasoning_effort, effort) => {
    const body = { model, messages: [user], reasoning_effort }
    const { wire } = sent('chat-completions', 'responses', body)
    expect(wire['reasoning']).toMatchObject({ effort })
  })

  test.each(['gpt-4o', 'gpt-4.1-mini', 'my-model', 'gpt-oss-120b'])('%s gets them', model => {
    const body = { model, max_tokens: 9, stop_sequences: ['END'], messages: [user] }
    expect(sent('messages', 'chat-completions', body).wire['stop']).toEqual(['END'])
  })

  test.each(['gpt-5.4', 'gpt-5.6-sol', 'gpt-6-luna', 'gpt-7'])(
    '%s reasons next to tools over responses alone',
    model => {
      const body = {
        model,
        max_tokens: 9,
        messages: [user],
        tools: [tool],
        thinking: { type: 'adaptive' },
        output_config: { effort: 'high' },
      }
      const { wire, codes } = sent('messages', 'chat-completions', body)
      expect(wire['reasoning_effort']).toBe('none')
      expect(wire['tools']).toHaveLength(1)
      expect(codes).toContain('reasoning.with-tools /output_config/effort')
      expect(sent('messages', 'responses', body).wire['reasoning']).toMatchObject({
        effort: 'high',
      })
      const { tools: _, ...alone } = body
      expect(sent('messages', 'chat-completions', alone).wire['reasoning_effort']).toBe('high')
    },
  )

  test.each(['chat-completions', 'responses'] as const)(
    'over %s get a hash of a long cache key, the same for the same key',
    to => {
      const keyOf = (prompt_cache_key: string) =>
        sent(
          to === 'responses' ? 'chat-completions' : 'responses',
          to,
          { model: 'gpt-4o', messages: [user], input: 'x', prompt_cache_key },
          { vendor: 'openai' },
        ).wire['prompt_cache_key']
      const long = 'k'.repeat(72)
      expect(keyOf(long)).toMatch(/^[0-9a-f]{64}$/)
      expect(keyOf(`${long}1`)).not.toBe(keyOf(long))
      expect(keyOf('short')).toBe('short')
    },
  )

  test.each(['chat-completions', 'responses'] as const)(
    'over %s find the word JSON in the messages',
    to => {
      const asked = (text: string, vendor: VendorName) =>
        sent(
          'generate-content',
          to,
          {
            contents: [{ role: 'user', parts: [{ text }] }],
            generationConfig: { responseMimeType: 'application/json' },
          },
          { vendor, path: '/v1beta/models/gpt-4o:generateContent' },
        )
      const { wire, codes } = asked('three capitals', 'openai')
      expect(JSON.stringify(wire['messages'] ?? wire['input'])).toMatch(/json/i)
      expect(codes.join()).toContain('output.json-instructed')
      expect(asked('three capitals as JSON', 'azure').codes.join()).not.toContain('instructed')
    },
  )
})

describe('models of Google', () => {
  const level = (model: string, reasoning_effort: string) =>
    (
      sent('chat-completions', 'generate-content', { model, messages: [user], reasoning_effort })
        .wire['generationConfig'] as { thinkingConfig: Wire }
    ).thinkingConfig
  test.each([
    ['gemini-4-hydrogen', { thinkingLevel: 'LOW' }],
    ['gemini-3.8-flash', { thinkingLevel: 'LOW' }],
    ['gemini-9-pro', { thinkingLevel: 'LOW' }],
    ['gemini-3.1-pro-preview', { thinkingLevel: 'LOW' }],
    ['gemini-3.5-flash', { thinkingLevel: 'MINIMAL' }],
    ['gemini-2.5-flash', { thinkingBudget: 1024 }],
  ])('%s gets %j of minimal', (model, expected) => {
    expect(level(model, 'minimal')).toEqual(expected)
  })

  test.each([
    ['gemini-4-hydrogen', 'XHIGH'],
    ['gemini-4-argon', 'HIGH'],
    ['gemini-3.8-flash', 'HIGH'],
  ])('%s gets the level %s for xhigh', (model, thinkingLevel) => {
    expect(level(model, 'xhigh')).toEqual({ thinkingLevel })
  })

  const asked: [ProtocolName, Wire][] = [
    ['chat-completions', { messages: [user], reasoning_effort: 'xhigh' }],
    ['responses', { input: 'x', reasoning: { effort: 'xhigh' } }],
    ['messages', { messages: [user], max_tokens: 9, output_config: { effort: 'xhigh' } }],
    [
      'converse',
      {
        messages: [{ role: 'user', content: [{ text: 'x' }] }],
        additionalModelRequestFields: { output_config: { effort: 'xhigh' } },
      },
    ],
  ]
  test.each(asked)('get the highest level from %s and give it back', (from, body) => {
    const model = 'gemini-4-hydrogen'
    const { wire } = sent(from, 'generate-content', { ...body, model }, { model })
    expect(wire['generationConfig']).toMatchObject({ thinkingConfig: { thinkingLevel: 'XHIGH' } })
    const highest = { generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } }
    const path = '/v1beta/models/anthropic.claude-opus-5:generateContent'
    const back = sent('generate-content', from, { contents, ...highest }, { path }).wire
    expect(JSON.stringify(back)).toContain('xhigh')
  })

  test('get no less than they must think', () => {
    const { wire, codes } = sent('chat-completions', 'generate-content', {
      model: 'gemini-2.5-pro',
      messages: [user],
      reasoning_effort: 'none',
    })
    expect(wire['generationConfig']).toEqual({ thinkingConfig: { thinkingBudget: 128 } })
    expect(codes).toContain('reasoning.least-budget /reasoning_effort')
  })

  test('get no larger budget than they take', () => {
    const body = {
      model: 'gemini-2.5-flash',
      max_tokens: 60_000,
      messages: [user],
      thinking: { type: 'enabled', budget_tokens: 50_000 },
    }
    const { wire, codes } = sent('messages', 'generate-content', body)
    expect(wire['generationConfig']).toMatchObject({ thinkingConfig: { thinkingBudget: 24_576 } })
    expect(codes).toContain('reasoning.budget-lowered /thinking/budget_tokens')
  })

  test('get no penalties where they refuse them', () => {
    const body = { messages: [user], presence_penalty: 0.5, frequency_penalty: 0.5 }
    const newer = sent('chat-completions', 'generate-content', {
      ...body,
      model: 'gemini-3.8-flash',
    })
    expect(newer.wire).not.toHaveProperty('generationConfig')
    expect(newer.codes).toEqual(
      expect.arrayContaining([
        'model.unsupported /presence_penalty',
        'model.unsupported /frequency_penalty',
      ]),
    )
    const older = sent('chat-completions', 'generate-content', {
      ...body,
      model: 'gemini-2.0-flash',
    })
    expect(older.wire['generationConfig']).toEqual({ presencePenalty: 0.5, frequencyPenalty: 0.5 })
  })

  test.each(['gemini', 'vertex'] as const)('are dropped in chat-completions of %s, too', vendor => {
    const body = { messages: [user], presence_penalty: 0.5, frequency_penalty: 0.5 }
    for (const from of ['chat-completions', 'generate-content'] as const) {
      const wish =
        from === 'chat-completions'
          ? body
          : { contents, generationConfig: { presencePenalty: 0.5, frequencyPenalty: 0.5 } }
      for (const model of ['gemini-2.5-flash', 'google/gemini-3.8-flash', 'gemini-4-argon']) {
        const { wire } = sent(from, 'chat-completions', { model, ...wish }, { vendor, model })
        expect(Object.keys(wire).filter(key => key.includes('penalty'))).toEqual([])
      }
      const older = { model: 'gemini-2.0-flash', ...wish }
      const { wire } = sent(from, 'chat-completions', older, { vendor, model: older.model })
      expect(wire).toMatchObject({ presence_penalty: 0.5 })
    }
  })

  test.each(['gemini-2.5-flash', 'gemini-2.5-pro'])(
    '%s is asked for JSON in words next to tools',
    model => {
      const schema = { type: 'object', properties: { a: { type: 'string' } } }
      const body = {
        model,
        messages: [{ role: 'system', content: 'Be brief.' }, user],
        tools: [chatTool],
        response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
      }
      const { wire, codes } = sent('chat-completions', 'generate-content', body)
      expect(JSON.stringify(wire)).not.toMatch(/responseMimeType|responseJsonSchema/)
      expect(JSON.stringify(wire['systemInstruction'])).toContain('Be brief.')
      expect(JSON.stringify(wire['systemInstruction'])).toMatch(/JSON.*properties/)
      expect(wire['tools']).toHaveLength(1)
      expect(codes).toContain('output.format-instructed /response_format')
      const { tools: _, ...alone } = body
      expect(JSON.stringify(sent('chat-completions', 'generate-content', alone).wire)).toContain(
        'responseMimeType',
      )
    },
  )
})

describe('more tokens than the model takes', () => {
  const asking: Record<ProtocolName, (model: string) => [Wire, Options, place: string]> = {
    'chat-completions': model => [
      { model, messages: [user], max_completion_tokens: 900_000 },
      {},
      '/max_completion_tokens',
    ],
    responses: model => [
      { model, input: 'x', max_output_tokens: 900_000 },
      {},
      '/max_output_tokens',
    ],
    messages: model => [{ model, messages: [user], max_tokens: 900_000 }, {}, '/max_tokens'],
    'generate-content': model => [
      { contents, generationConfig: { maxOutputTokens: 900_000 } },
      { path: `/v1beta/models/${model}:generateContent` },
      '/generationConfig/maxOutputTokens',
    ],
    converse: model => [
      {
        messages: [{ role: 'user', content: [{ text: 'x' }] }],
        inferenceConfig: { maxTokens: 900_000 },
      },
      { path: `/model/${model}/converse` },
      '/inferenceConfig/maxTokens',
    ],
  }
  const models: Record<ProtocolName, [model: string, most: number]> = {
    'chat-completions': ['gpt-4.1', 32_768],
    responses: ['gpt-5.6', 128_000],
    messages: ['claude-opus-4-5', 64_000],
    'generate-content': ['gemini-3.8-flash', 65_536],
    converse: ['anthropic.claude-opus-5', 128_000],
  }
  const targets = Object.keys(models) as ProtocolName[]

  test.each(targets.flatMap(from => targets.map(to => ({ from, to }))))(
    'are lowered from $from to $to, with a note; without a vendor the bytes of one protocol stay',
    ({ from, to }) => {
      const [model, most] = models[to]
      const [body, options, place] = asking[from](model)
      const { wire, codes } = sent(from, to, body, options)
      const isKept = from === to
      expect(JSON.stringify(wire)).toContain(String(isKept ? 900_000 : most))
      expect(codes.includes(`max-tokens.lowered ${place}`)).toBe(!isKept)
    },
  )

  test('are lowered in the same protocol at a named vendor', () => {
    const [body, options] = asking['generate-content']('gemini-3.8-flash')
    const { wire } = sent('generate-content', 'generate-content', body, {
      ...options,
      vendor: 'vertex',
    })
    expect(wire['generationConfig']).toEqual({ maxOutputTokens: 65_536 })
  })

  test('bound the budget for thinking, too', () => {
    const body = {
      model: 'claude-opus-4-5',
      max_tokens: 100_000,
      messages: [user],
      thinking: { type: 'enabled', budget_tokens: 90_000 },
    }
    const { wire } = sent('messages', 'messages', body, { vendor: 'anthropic' })
    expect(wire).toMatchObject({ max_tokens: 64_000, thinking: { budget_tokens: 63_999 } })
  })

  test('are not what a request without a limit gets', () => {
    const { wire } = sent('chat-completions', 'messages', {
      model: 'claude-3-haiku-20240307',
      messages: [user],
    })
    expect(wire['max_tokens']).toBe(4096)
  })
})
