import { expect, test } from 'vitest'
import { modelNamesIn, unlistedModels } from './models.ts'

test('finds the names of models in definitions', () => {
  const text = `
    /** For \`gpt-5.6\` and gemini-3.8-flash. See sse-2 and utf-8. */
    export type Model = 'claude-opus-5-5' | 'gpt-9-sol' | (string & {});`
  expect(modelNamesIn(text)).toEqual([
    'claude-opus-5-5',
    'gemini-3.8-flash',
    'gpt-5.6',
    'gpt-9-sol',
  ])
})

test('tells which of them the tables do not list', () => {
  expect(unlistedModels(['claude-opus-5-5', 'gpt-5.6-sol', 'gpt-4o', 'gemini-3.7-flash'])).toEqual(
    [],
  )
  expect(unlistedModels(['claude-opus-9', 'gpt-9', 'kimi-next-1'])).toEqual([
    { name: 'claude-opus-9', row: '*claude-opus-5.5+*' },
    { name: 'gpt-9', row: 'gpt-5.6+*' },
    { name: 'kimi-next-1' },
  ])
})
