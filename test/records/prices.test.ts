import { expect, test } from 'vitest'
import { costOf, costOfRecord } from '../../src/records/prices.ts'

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

test('the calls of one request cost what each of their models costs', () => {
  const prices = { cheap: { input: 1, output: 0 }, dear: { input: 100, output: 0 } }
  const whole = { input: 3_000_000, output: 0 }
  const used = { modelServed: 'cheap', usage: whole }
  expect(costOfRecord(used, prices)).toBeCloseTo(3)
  const cheap = { input: 2_000_000, output: 0 }
  const dear = { input: 1_000_000, output: 0 }
  expect(costOfRecord({ ...used, usageByModel: { cheap, dear } }, prices)).toBeCloseTo(102)
  const unknown = { ...used, usageByModel: { cheap, odd: dear } }
  expect(costOfRecord(unknown, prices)).toBeCloseTo(2)
  expect(costOfRecord({ ...unknown, usageByModel: { odd: dear } }, prices)).toBeUndefined()
})
