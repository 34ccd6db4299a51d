import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { translateRequest } from '../support/untyped.ts'

// A forced tool is refused while these models think:
// "tool_choice 'specified' is incompatible with thinking enabled".

type Wire = Record<string, unknown>

const parameters = { type: 'object', properties: {} }
const user = { role: 'user', content: 'hi' }
/** `thinks` undefined: nothing is said about it. */
const asking: Record<ProtocolName, (thinks?: boolean) => Wire> = {
  'chat-completions': thinks => ({
    model: 'm',
    messages: [user],
    tools: [{ type: 'function', function: { name: 'find', parameters } }],
    tool_choice: { type: 'function', function: { name: 'find' } },
    ...(thinks !== undefined && { reasoning_effort: thinks ? 'high' : 'none' }),
  }),
  responses: thinks => ({
    model: 'm',
    input: 'hi',
    tools: [{ type: 'function', name: 'find', parameters, strict: false }],
    tool_choice: { type: 'function', name: 'find' },
    ...(thinks !== undefined && { reasoning: { effort: thinks ? 'high' : 'none' } }),
  }),
  messages: thinks => ({
    model: 'm',
    max_tokens: 9000,
    messages: [user],
    tools: [{ name: 'find', input_schema: parameters }],
    tool_choice: { type: 'tool', name: 'find' },
    ...(thinks !== undefined && {
      thinking: thinks ? { type: 'enabled', budget_tokens: 2000 } : { type: 'disabled' },
    }),
  }),
  'generate-content': thinks => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'find' }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['find'] } },
    ...(thinks !== undefined && {
      generationConfig: { thinkingConfig: { thinkingBudget: thinks ? 2000 : 0 } },
    }),
  }),
  converse: thinks => ({
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    toolConfig: {
      tools: [{ toolSpec: { name: 'find', inputSchema: { json: parameters } } }],
      toolChoice: { tool: { name: 'find' } },
    },
    ...(thinks !== undefined && {
      additionalModelRequestFields: {
        thinking: thinks ? { type: 'enabled', budget_tokens: 2000 } : { type: 'disabled' },
      },
    }),
  }),
}

const named = { type: 'function', function: { name: 'find' } }

/** `silent`: what is written where the client says nothing about thinking. */
const servers: [vendor: VendorName, model: string, silent: Wire, off: Wire][] = [
  [
    'alibaba',
    'qwen3.5-plus',
    { tool_choice: named, enable_thinking: false },
    { enable_thinking: false },
  ],
  ['moonshot', 'kimi-k2.6', { tool_choice: 'auto' }, { thinking: { type: 'disabled' } }],
  ['deepseek', 'deepseek-v4-flash', { tool_choice: 'auto' }, { thinking: { type: 'disabled' } }],
]

describe.each(servers)('%s, model %s', (vendor, model, silent, off) => {
  const sent = (from: ProtocolName, thinks?: boolean) => {
    const path = from === 'converse' ? { path: '/model/us.anthropic.claude-opus-4-5/converse' } : {}
    const to = 'chat-completions'
    return translateRequest(asking[from](thinks), { from, to, vendor, model, ...path })
  }

  test.each(protocolNames)('from %s', from => {
    const thinking = sent(from, true)
    expect(thinking.body).toMatchObject({ tool_choice: 'auto' })
    expect(thinking.notes.map(({ code }) => code)).toContain('tool-choice.not-forced')
    const told = sent(from, false)
    expect(told.body).toMatchObject({ tool_choice: named, ...off })
    expect(told.notes.map(({ code }) => code)).not.toContain('tool-choice.not-forced')
    const { body, notes } = sent(from)
    expect(body).toMatchObject(silent)
    expect(notes.map(({ code }) => code).join()).toMatch(/tool-choice.not-forced|forced-tool/)
  })
})

test.each(protocolNames)('K3 is forced to call the only tool that it gets, from %s', from => {
  const options = { from, to: 'chat-completions', vendor: 'moonshot', model: 'kimi-k3' } as const
  expect(translateRequest(asking[from](), options).body).toMatchObject({ tool_choice: 'required' })
})
