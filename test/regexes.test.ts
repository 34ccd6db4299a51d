import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'

/** Every expression of the source, tried with texts that make backtracking pay. */

const root = new URL('../src/', import.meta.url)
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))

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

const expressions = new Map(files.flatMap(file => expressionsOf(file).map(one => [`${one}`, { one, file }] as const)))

/** What may be said again and again so that it nearly fits: the expression's own letters, alone and in runs, and what its classes stand for. */
function pumps({ source }: RegExp): string[] {
  const runs = source.replaceAll(/\\[bBdDsSwWnrtfvpPuxk](\{[^}]*\})?|\(\?[:=!<]+|[[\](){}?*+|^$.]/g, ' ').replaceAll('\\', '')
  const words = runs.split(/\s+/).filter(Boolean)
  return [...new Set([...words, ...words.map(word => word.slice(0, 1)), ' ', '\n', '\r\n', '\t', 'a', 'A', '0', '_', '-', '.', ',', '/', ':', ';', '"', "'", '=', '<', '{', '%2', 'a ', 'a.', 'a-', 'a/', 'a,', ' ,', '0.', 'ä'])] // biome-ignore format: a list
}

/** Milliseconds of this processor's work, which no other process adds to. */
function workOf(act: () => unknown): number {
  const before = process.cpuUsage()
  act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** At twice the length the work of a linear expression doubles; only what is both steep and long is told. */
function steepness(one: RegExp, text: (length: number) => string): string | undefined {
  for (let length = 16; length <= 16_384; length *= 4) {
    const attempt = text(length)
    const work = workOf(() => {
      one.lastIndex = 0
      one.test(attempt)
    })
    if (work > 400) return `${length} times ${JSON.stringify(attempt.slice(-40))} take ${Math.round(work)} ms`
  }
  return undefined
}

test('there are expressions to look at', () => expect(expressions.size).toBeGreaterThan(50))

test.each([...expressions])('%s takes no time that grows out of hand', (_, { one, file }) => {
  const all = pumps(one)
  const starts = ['', ...all.slice(0, 4)]
  for (const start of starts)
    for (const pump of all)
      for (const end of ['\u0000', ''])
        expect(
          steepness(one, length => start + pump.repeat(length) + end),
          file,
        ).toBeUndefined()
})
