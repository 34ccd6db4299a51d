import { execSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { protocolNames } from '../../src/protocols/index.ts'
import { notedTwice } from '../support/noted-twice.ts'

/**
 * `npx tsx test/tools/twins.ts` prints what is decided in two places: facts that are noted
 * both in `stream/` and outside of it, and functions of the same shape in `converse` and
 * `messages`. The shape of a function is its syntax without names and values. It fails where a
 * fact is not in the list of those that only streams can decide.
 */

const files = execSync('git ls-files src/protocols', { encoding: 'utf8' })
  .split('\n')
  .filter(Boolean)
const parsed = (file: string) =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)

for (const protocol of protocolNames) {
  const found = notedTwice(protocol).flatMap(({ fact, isListed }) => (isListed ? [] : [fact]))
  console.log(
    `${protocol}: ${found.length} facts are noted in streams and outside: ${found.join(', ')}`,
  )
  if (found.length > 0) process.exitCode = 1
}

type Shaped = { name: string; shape: string; lines: number }

function shapesIn(folder: string): Shaped[] {
  const found: Shaped[] = []
  for (const name of files.filter(file => file.startsWith(folder) && file.endsWith('.ts'))) {
    const file = parsed(name)
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body) {
        const lines = node.getText(file).split('\n').length
        if (lines >= 5) found.push({ name: labelOf(node, file, name), shape: shapeOf(node), lines })
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return found
}

function labelOf(node: ts.Node, file: ts.SourceFile, path: string): string {
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
  return `${path}:${line + 1}`
}

function shapeOf(node: ts.Node): string {
  let shape = ''
  const visit = (at: ts.Node): void => {
    // What types say is not what happens.
    if (ts.isTypeNode(at)) return
    shape += `${at.kind} `
    ts.forEachChild(at, visit)
  }
  ts.forEachChild(node, visit)
  return shape
}

const messages = new Map(shapesIn('src/protocols/messages/').map(one => [one.shape, one]))
const twins = shapesIn('src/protocols/converse/').filter(({ shape }) => messages.has(shape))
for (const { name, shape, lines } of twins)
  console.log(`${lines} lines: ${name} and ${messages.get(shape)?.name}`)
console.log(`${twins.reduce((sum, { lines }) => sum + lines, 0)} lines in functions of one shape`)
