import { expect, test } from 'vitest'
import { dollars } from '../../src/kit/text/dollars.ts'

test.each([
  [0, '$0.00'],
  [12.345, '$12.35'],
  [0.0123, '$0.0123'],
  [0.00002, '<$0.0001'],
])('%s as an amount', (value, text) => {
  expect(dollars(value)).toBe(text)
})
