import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { translateRequest } from '../support/untyped.ts'

// What models refuse, asked by clients of every protocol, at vendors and without one.

type Wire = Record<string, unknown>
/** `effort`: `none` turns thinking off. */
type Wish = {
  effort?: string
  sampling?: boolean
  stop?: boolean
  most?: number
  tools?: boolean
  forced?: boolean
}

const text = 'x'
const parameters = { type: 'object', properties: {} }
const user = { role: 'user', content: text }
const words = (effort: string) =>
  effort === 'none'
    ? { thinking: { type: 'disabled' } }
    : { thinking: { type: 'adaptive' }, output_config: { effort } }

/** The same wish in each protocol. */
const asking: Record<ProtocolName, (model: string, wish: Wish) => [Wire, { path?: string }]> = {
  'chat-completions': (model, { effort, sampling, stop, most, tools, forced }) => [
    {
      model,
      messages: [user],
      ...(effort && { reasoning_effort: effort }),
      ...(sampling && { temperature: 0.3, top_p: 0.5 }),
      ...(stop && { stop: ['END'] }),
      ...(most && { max_completion_tokens: most }),
      ...(tools && { tools: [{ type: 'function', function: { name: 'f', parameters } }] }),
      ...(forced && { tool_choice: 'required' }),
    },
    {},
  ],
  responses: (model, { effort, sampling, most, tools, forced }) => [
    {
      model,
      input: text,
      ...(effort && { reasoning: { effort } }),
      ...(sampling && { temperature: 0.3, top_p: 0.5 }),
      ...(most && { max_output_tokens: most }),
      ...(tools && { tools: [{ type: 'function', name: 'f', parameters, strict: false }] }),
      ...(forced && { tool_choice: 'required' }),
    },
    {},
  ],
  messages: (model, { effort, sampling, stop, most = 9000, tools, forced }) => [
    {
      model,
      max_tokens: most,
      messages: [user],
      ...(effort && words(effort)),
      ...(sampling && { temperature: 0.3, top_p: 0.5 }),
      ...(stop && { stop_sequences: ['END'] }),
      ...(tools && { tools: [{ name: 'f', input_schema: parameters }] }),
      ...(forced && { tool_choice: { type: 'any' } }),
    },
    {},
  ],
  'generate-content': (model, { effort, sampling, stop, most, tools, forced }) => [
    {
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: {
        ...(sampling && { temperature: 0.3, topP: 0.5 }),
        ...(stop && { stopSequences: ['END'] }),
        ...(most && { maxOutputTokens: most }),
        ...(effort && {
          thinkingConfig:
            effort === 'none' ? { thinkingBudget: 0 } : { thinkingLevel: effort.toUpperCase() },
        }),
      },
      ...(tools && { tools: [{ functionDeclarations: [{ name: 'f' }] }] }),
      ...(forced && { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
    },
    { path: `/v1beta/models/${model}:generateContent` },
  ],
  converse: (model, { effort, sampling, stop, most, tools, forced }) => [
    {
      messages: [{ role: 'user', content: [{ text }] }],
      inferenceConfig: {
        ...(sampling && { temperature: 0.3, topP: 0.5 }),
        ...(stop && { stopSequences: ['END'] }),
        ...(most && { maxTokens: most }),
      },
      ...(effort && { additionalModelRequestFields: words(effort) }),
      ...(tools && {
        toolConfig: {
          tools: [{ toolSpec: { name: 'f', inputSchema: { json: parameters } } }],
          ...(forced && { toolChoice: { any: {} } }),
        },
      }),
    },
    { path: `/model/${model}/converse` },
  ],
}

type Target = [to: ProtocolName, model: string, vendor?: VendorName]

/** What is sent for clients of each protocol; without a vendor, the own protocol stays as it is. */
const sentFor = ([to, model, vendor]: Target, wish: Wish) =>
  protocolNames
    .filter(from => vendor !== undefined || from !== to)
    .map(from => {
      const [body, path] = asking[from](model, wish)
      const options = { from, to, ...path, ...(vendor && { vendor }) }
      const { body: wire, notes } = translateRequest(body, options)
      return { from, wire: wire as Wire, json: JSON.stringify(wire), notes }
    })

const sampling = /"(temperature|top_p|topP)"/

describe('sampling', () => {
  test.each<Target>([
    ['chat-completions', 'gpt-5.2'],
    ['chat-completions', 'gpt-5.4-mini', 'azure'],
    ['chat-completions', 'gpt-5.1', 'openai'],
    ['responses', 'gpt-5.2', 'openai'],
    ['messages', 'claude-opus-4-6', 'anthropic'],
    ['messages', 'claude-sonnet-4-5@20250929', 'vertex'],
    ['messages', 'claude-haiku-4-5'],
    ['converse', 'us.anthropic.claude-sonnet-4-6', 'bedrock'],
    ['converse', 'us.anthropic.claude-sonnet-4-5-v1:0'],
  ])('is left out toward %s of %s (%s) while it thinks, with a note', (...target) => {
    for (const { from, json, notes } of sentFor(target, { effort: 'high', sampling: true })) {
      expect(json, from).not.toMatch(sampling)
      expect(notes.length, from).toBeGreaterThan(1)
    }
    for (const { from, json } of sentFor(target, { effort: 'none', sampling: true }))
      expect(json, from).toMatch(sampling)
  })

  test.each<Target>([
    ['chat-completions', 'gpt-5.5'],
    ['responses', 'gpt-8', 'openai'],
    ['chat-completions', 'o5-mini', 'azure'],
    ['messages', 'claude-opus-8', 'anthropic'],
    ['messages', 'anthropic/claude-sonnet-latest'],
    ['converse', 'global.anthropic.claude-haiku-7-v1:0', 'bedrock'],
  ])('is left out toward %s of %s (%s) in any case', (...target) => {
    for (const effort of ['none', 'high'])
      for (const { from, json } of sentFor(target, { effort, sampling: true }))
        expect(json, from).not.toMatch(sampling)
  })

  test.each<Target>([
    ['messages', 'claude-sonnet-4-5', 'anthropic'],
    ['converse', 'us.anthropic.claude-opus-4-1-v1:0', 'bedrock'],
  ])('has one value toward %s of %s', (...target) => {
    for (const { from, json } of sentFor(target, { sampling: true })) {
      expect(json, from).toContain('"temperature":0.3')
      expect(json, from).not.toMatch(/"top_?p"/i)
    }
  })

  test('keeps values that a model takes while it thinks', () => {
    const body = {
      model: 'claude-opus-4-6',
      max_tokens: 9000,
      messages: [user],
      thinking: { type: 'enabled', budget_tokens: 2000 },
      temperature: 1,
    }
    const options = { from: 'messages', to: 'messages', vendor: 'anthropic' } as const
    expect(translateRequest(body, options).body).toBe(body)
    const { temperature: _, ...rest } = body
    const wide = { ...rest, top_p: 0.97 }
    expect(translateRequest(wide, options).body).toBe(wide)
    expect(translateRequest({ ...rest, top_p: 0.5 }, options).body).toEqual(rest)
  })
})

describe('Claude in the words of others', () => {
  test.each<Target>([
    ['chat-completions', 'anthropic/claude-opus-5.5', 'openrouter'],
    ['chat-completions', 'anthropic/claude-sonnet-6', 'openrouter'],
    ['chat-completions', 'anthropic/claude-fable-5.1', 'litellm'],
    ['chat-completions', 'claude-opus-5-5', 'anthropic'],
    ['chat-completions', 'claude-opus-5-5'],
    ['responses', 'anthropic/claude-opus-5.5', 'openrouter'],
    ['responses', 'anthropic/claude-opus-7', 'litellm'],
  ])('always thinks, samples by itself and is not forced, over %s of %s (%s)', (...target) => {
    const wish = { effort: 'none', sampling: true, tools: true, forced: true }
    for (const { from, wire, json, notes } of sentFor(target, wish)) {
      expect(json, from).not.toMatch(
        /"(temperature|top_p|top_k)"|"none"|"disabled"|"enabled":false/,
      )
      expect(json, from).toMatch(/"effort":"low"|"reasoning_effort":"low"/)
      expect(wire['tool_choice'], from).toBe('auto')
      const codes = notes.map(({ code }) => code)
      expect(codes, from).toEqual(
        expect.arrayContaining(['model.unsupported', 'tool-choice.not-forced']),
      )
      expect(codes.join(), from).toMatch(/reasoning\.(always-on|effort)/)
    }
  })

  test('may be told not to think, and to call no tool, where it takes that', () => {
    const body = {
      model: 'anthropic/claude-sonnet-5',
      messages: [user],
      reasoning: { enabled: false },
      tools: [{ type: 'function', function: { name: 'find', parameters } }],
      tool_choice: 'required',
    }
    const options = {
      from: 'chat-completions',
      to: 'chat-completions',
      vendor: 'openrouter',
    } as const
    expect(translateRequest(body, options).body).toBe(body)
    const newer = { ...body, model: 'anthropic/claude-opus-5.5', tool_choice: 'none' }
    expect(translateRequest(newer, options).body).toEqual({
      model: newer.model,
      messages: newer.messages,
      tools: newer.tools,
      tool_choice: 'none',
      reasoning: { effort: 'low' },
    })
  })
})

describe('thinking', () => {
  test.each<Target>([
    ['messages', 'claude-3-5-haiku-latest'],
    ['messages', 'claude-3-opus-20240229', 'anthropic'],
    ['converse', 'anthropic.claude-3-5-sonnet-20241022-v2:0', 'bedrock'],
    ['generate-content', 'gemini-2.0-flash', 'gemini'],
    ['generate-content', 'gemini-1.5-pro'],
    ['chat-completions', 'gpt-4o', 'openai'],
    ['responses', 'gpt-4.1-mini', 'azure'],
  ])('is not asked of %s of %s (%s), which does not think, with a note', (...target) => {
    for (const { from, json, notes } of sentFor(target, { effort: 'high' })) {
      expect(json, from).not.toMatch(/"(thinking|thinkingConfig|reasoning\w*|output_config)"/)
      expect(notes.map(({ code }) => code).join(), from).toMatch(/reasoning|model\.unsupported/)
    }
  })

  test('next to tools is in the words of a reseller that takes both', () => {
    const target: Target = ['chat-completions', 'openai/gpt-7', 'openrouter']
    for (const { from, wire } of sentFor(target, { effort: 'high', tools: true })) {
      if (from === 'chat-completions') expect(wire['reasoning_effort'] ?? 'high').not.toBe('none')
      else expect(wire).toMatchObject({ reasoning: { effort: 'high' } })
      expect(wire).not.toHaveProperty('reasoning_effort', 'none')
    }
  })
})

test.each<[...target: [ProtocolName, string], most: number]>([
  ['converse', 'us.amazon.nova-pro-v1:0', 10_000],
  ['converse', 'amazon.nova-3-lite-v1:0', 65_535],
  ['messages', 'claude-opus-9', 128_000],
  ['chat-completions', 'gpt-9', 128_000],
  ['generate-content', 'gemini-7-flash', 65_536],
])('no more tokens are asked of %s of %s than %i', (to, model, most) => {
  for (const { from, json, notes } of sentFor([to, model], { most: 900_000 })) {
    expect(json, from).toContain(String(most))
    expect(json, from).not.toContain('900000')
    expect(notes.map(({ code }) => code)).toContain('max-tokens.lowered')
  }
})
