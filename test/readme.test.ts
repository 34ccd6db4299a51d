import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { documentedOptions } from './tools/options.ts'
import { generatedReadme } from './tools/readme.ts'

test("the README's tables and code are what the code says now (npm run fix writes them)", () => {
  expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toBe(generatedReadme())
})

describe('every option', () => {
  test.each(documentedOptions.map(option => [`${option.of}: ${option.name}`, option.doc]))('%s has a docstring that tells its default', (_, doc) => {
    expect(doc, 'say in its docstring what holds without it, as «Default …» or «Absent: …»; then npm run fix').toMatch(/\bdefault\b|\bAbsent\b/i)
  })
})
