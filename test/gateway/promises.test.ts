import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const rows = readFileSync(new URL('docs/guides/operations.md', root), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('| ') && !/^\| (---|failure)/.test(line))
  .map(line =>
    line
      .slice(1, -1)
      .split('|')
      .map(cell => cell.trim()),
  )

/**
 * The titles of all tests in a file, without the placeholders of a table: `%s: …` before a title
 * and `…: %s from %s` after it.
 */
const titlesIn = (source: string) =>
  [...source.matchAll(/\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"),/g)].map(
    ([, single, double]) =>
      (single ?? double ?? '').replace(/^%\w: /, '').replace(/: [^:]*%\w[^:]*$/, ''),
  )

test.each(rows)(
  'names an existing test, or a reason, for: %s',
  (_failure, file = '', title = '') => {
    expect(title).toMatch(/\w/)
    if (file)
      expect(titlesIn(readFileSync(new URL(`test/gateway/${file}`, root), 'utf8'))).toContain(title)
    else expect(title.length).toBeGreaterThan(20)
  },
)

test('lists more than 35 failures', () => {
  expect(rows.length).toBeGreaterThan(35)
})
