import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../support/untyped.ts'

const old = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const both = 'us.anthropic.claude-sonnet-4-6'
const newer = 'us.anthropic.claude-opus-4-7'
const conversation = { messages: [{ role: 'user', content: [{ text: 'x' }] }] }
const effort = (word: string) => ({ output_config: { effort: word } })
const adaptive = { thinking: { type: 'adaptive' } }
const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } })
const own = '/additionalModelRequestFields'

describe('callers of a model that Bedrock has', () => {
  const sent = (model: string, fields: object, maxTokens?: number) => {
    const { body, notes } = translateRequest(
      {
        ...conversation,
        ...(maxTokens !== undefined && { inferenceConfig: { maxTokens } }),
        additionalModelRequestFields: fields,
      },
      {
        from: 'converse',
        to: 'converse',
        vendor: 'bedrock',
        path: `/model/${encodeURIComponent(model)}/converse`,
      },
    )
    const { additionalModelRequestFields: written, inferenceConfig } = body as {
      additionalModelRequestFields?: object
      inferenceConfig?: { maxTokens?: number }
    }
    return {
      fields: written,
      limit: inferenceConfig?.maxTokens,
      notes: notes.map(({ code, path }) => `${code} ${path}`),
    }
  }

  test.each<[string, string, object, number | undefined, object, number | undefined, string[]]>([
    [
      'an effort is a budget where the model knows budgets alone',
      old,
      { ...adaptive, ...effort('high') },
      undefined,
      budget(16_384),
      undefined,
      [
        `reasoning.effort-as-budget ${own}/thinking`,
        `reasoning.no-effort ${own}/output_config/effort`,
      ],
    ],
    [
      'the budget fits into the limit',
      old,
      adaptive,
      4000,
      budget(3999),
      4000,
      [`reasoning.effort-as-budget ${own}/thinking`],
    ],
    [
      'the limit has room for the least budget',
      old,
      adaptive,
      500,
      budget(1024),
      2048,
      [
        `reasoning.effort-as-budget ${own}/thinking`,
        'reasoning.budget-room /inferenceConfig/maxTokens',
      ],
    ],
    [
      'a budget is an effort where the model knows efforts alone',
      newer,
      budget(9000),
      20_000,
      { ...adaptive, ...effort('medium') },
      20_000,
      [`reasoning.budget-as-effort ${own}/thinking`],
    ],
    [
      'an effort that is given stays',
      newer,
      { ...budget(9000), ...effort('high') },
      undefined,
      { ...adaptive, ...effort('high') },
      undefined,
      [`reasoning.budget-as-effort ${own}/thinking`],
    ],
    ['what fits stays', old, budget(9000), 20_000, budget(9000), 20_000, []],
    ['a model with both ways keeps a budget', both, budget(9000), 1, budget(9000), 1, []],
    ['and an effort', both, adaptive, undefined, adaptive, undefined, []],
  ])('%s', (_, model, fields, limit, written, room, notes) => {
    expect(sent(model, fields, limit)).toEqual({ fields: written, limit: room, notes })
  })
})

test('a server of no known vendor gets the bytes of its protocol', () => {
  const body = { ...conversation, additionalModelRequestFields: adaptive }
  const options = { from: 'converse', to: 'converse', model: old } as const
  expect(translateRequest(body, options).body).toEqual(body)
})
