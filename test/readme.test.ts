import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedReadme } from './tools/readme.ts'

test("the README's tables and code are what the code says now (npm run fix writes them)", () => {
  expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toBe(generatedReadme())
})
