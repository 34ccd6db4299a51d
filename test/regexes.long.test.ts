import { readdirSync, readFileSync } from 'node:fs'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { expect, test, vi } from 'vitest'

/**
 * Every expression of the source takes time in proportion to the text, whatever the text. Proved by
 * automata where it has no looking around, searched for else.
 */

// In this process, and without the programs for some platforms that recheck may bring.
vi.stubEnv('RECHECK_BACKEND', 'pure')

/** Bounds are counts, not times: what a slow machine finds, a fast one finds too. */
const bounds = { timeout: null, incubationTimeout: null, attackTimeout: null, maxIteration: 3 }

const complexityOf = ({ source, flags }: RegExp) => {
  const found = checkSync(source, flags, bounds)
  return found.status === 'vulnerable'
    ? `${found.complexity.summary}: ${found.attack.pattern}`
    : found.status
}

const root = new URL('../src/', import.meta.url)
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(file =>
  file.endsWith('.ts'),
)

function expressionsOf(file: string): RegExp[] {
  const found: RegExp[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, source = '', flags] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? []
      found.push(new RegExp(source, flags))
    }
    ts.forEachChild(node, walk)
  }
  walk(ts.createSourceFile(file, readFileSync(new URL(file, root), 'utf8'), ts.ScriptTarget.Latest))
  return found
}

const expressions = new Map(
  files.flatMap(file => expressionsOf(file).map(one => [`${one}`, { one, file }] as const)),
)

test('finds regular expressions to check', () => expect(expressions.size).toBeGreaterThan(50))

test.each([/\/+$/, /(?<=.)\/+$/, /^(.+-)?ratelimit-.+$/, /(a|a)*b/])(
  'detects quadratic or slower matching: %s',
  one => {
    expect(complexityOf(one)).toMatch(/polynomial|exponential/)
  },
)

test.each([...expressions])('%s matches in linear time', (_, { one, file }) => {
  expect(complexityOf(one), file).toBe('safe')
})
