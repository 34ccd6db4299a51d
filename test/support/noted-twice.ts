import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { decidedByStreams } from './streamed-notes.ts'

const raising = /^(add|once|onceEach|leave|addMade|rest|use)$/

/** The codes that a file hands to its report, with the field that they are about. */
function codesOf(file: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const [code, , field] = node.arguments
      if (code && ts.isStringLiteral(code) && raising.test(node.expression.name.text))
        if (/^[a-z-]+\.[a-z-]+$/.test(code.text))
          found.push(field ? `${code.text} ${field.getText(file)}` : code.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/**
 * The facts that a protocol notes both in `stream/` and outside of it. `isListed`: only a stream
 * can decide them.
 */
export function notedTwice(protocol: string): { fact: string; isListed: boolean }[] {
  const folder = `src/protocols/${protocol}`
  const inStreams = new Set<string>()
  const outside = new Set<string>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const path = join(folder, name)
    const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
    for (const code of codesOf(file)) (path.includes('/stream/') ? inStreams : outside).add(code)
  }
  const listed = decidedByStreams.filter(one => one.in.includes(protocol)).map(({ code }) => code)
  return [...inStreams]
    .filter(fact => outside.has(fact))
    .sort()
    .map(fact => ({ fact, isListed: listed.some(code => fact.split(' ')[0] === code) }))
}
