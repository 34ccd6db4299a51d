import { expect, test } from 'vitest'
import type { ProtocolName } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { translateRequest } from '../support/untyped.ts'

// A thinking budget stays where a server of chat-completions has a field for it.

type Wire = Record<string, unknown>

const claude = 'us.anthropic.claude-sonnet-4-5-v1:0'
/** A request with a thinking budget, in each protocol that has one. */
const asking: [from: ProtocolName, body: (budget: number, most: number) => Wire, path?: string][] =
  [
    [
      'messages',
      (budget_tokens, max_tokens) => ({
        model: 'm',
        max_tokens,
        messages: [{ role: 'user', content: 'hi' }],
        thinking: { type: 'enabled', budget_tokens },
      }),
    ],
    [
      'generate-content',
      (thinkingBudget, maxOutputTokens) => ({
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        generationConfig: { maxOutputTokens, thinkingConfig: { thinkingBudget } },
      }),
    ],
    [
      'converse',
      (budget_tokens, maxTokens) => ({
        messages: [{ role: 'user', content: [{ text: 'hi' }] }],
        inferenceConfig: { maxTokens },
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens } },
      }),
      `/model/${claude}/converse`,
    ],
  ]

const targets: [vendor: VendorName, model: string, written: (budget: number) => Wire][] = [
  ['openrouter', 'anthropic/claude-sonnet-4.5', max_tokens => ({ reasoning: { max_tokens } })],
  ['openrouter', 'google/gemini-2.5-pro', max_tokens => ({ reasoning: { max_tokens } })],
  ['alibaba', 'qwen3-235b-a22b', thinking_budget => ({ enable_thinking: true, thinking_budget })],
]

const pairs = asking.flatMap(([from, body, path]) =>
  targets.map(([vendor, model, written]) => ({ from, body, path, vendor, model, written })),
)

test.each(pairs)('from $from to $vendor, model $model', given => {
  const { from, body, path, vendor, model, written } = given
  const options = { from, to: 'chat-completions', vendor, model, ...(path && { path }) } as const
  const kept = translateRequest(body(3000, 9000), options)
  expect(kept.body).toMatchObject(written(3000))
  expect(kept.body).not.toHaveProperty('reasoning_effort')
  expect(kept.notes.map(({ code }) => code)).not.toContain('reasoning.budget-as-effort')
})

test.each(asking)('a budget of %s that leaves nothing for the answer is an effort', (...given) => {
  const [from, body, path] = given
  const options = { from, to: 'chat-completions', vendor: 'openrouter', ...(path && { path }) }
  const { body: wire, notes } = translateRequest(body(9000, 9000), options as never)
  expect(wire).toMatchObject({ reasoning: { effort: 'medium' } })
  expect(notes.map(({ code }) => code)).toContain('reasoning.budget-as-effort')
})
