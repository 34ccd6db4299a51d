import { expect, test } from 'vitest'
import { costOf } from '../../src/records/prices.ts'

const usage = { input: 1_000_000, output: 100_000, cacheRead: 500_000 }

test('a known model has the cost that its maker asks for, without a configuration', () => {
  expect(costOf('claude-haiku-4-5', usage, {})).toBeCloseTo(0.5 + 0.05 + 0.5)
  expect(costOf('gpt-5-mini', { input: 1_000_000, output: 0 }, {})).toBeCloseTo(0.25)
})

test('the configuration overrides what is known', () => {
  expect(costOf('claude-haiku-4-5', usage, { 'claude-*': { input: 0, output: 1 } })).toBeCloseTo(
    0.1,
  )
  expect(
    costOf('claude-haiku-4-5', usage, { 'claude-haiku-4-5': { input: 2, output: 0 } }),
  ).toBeCloseTo(2)
})

test('an unknown model has no cost, and neither has a newer one of a known family', () => {
  expect(costOf('my-model', usage, {})).toBeUndefined()
  expect(costOf('claude-haiku-9', usage, {})).toBeUndefined()
})
