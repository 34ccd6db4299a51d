import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'

const root = join(import.meta.dirname, '../..')
const file = join(root, 'src/hovered.ts')

const minimal = {
  'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  converse: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
}

const code = [
  "import { translateRequest } from './index.ts'",
  ...protocolNames.flatMap((from, i) => {
    const to = protocolNames[(i + 1) % protocolNames.length]
    const body = JSON.stringify(minimal[from])
    return [
      `const result${i} = translateRequest(${body}, { from: '${from}', to: '${to}' })`,
      `export const body${i} = result${i}.body`,
    ]
  }),
].join('\n')

/** What an editor shows for the name after `before`. */
function hovers(): (before: string) => string {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const service = ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: path => {
      if (path === file) return ts.ScriptSnapshot.fromString(code)
      return ts.sys.fileExists(path)
        ? ts.ScriptSnapshot.fromString(readFileSync(path, 'utf8'))
        : undefined
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: path => path === file || ts.sys.fileExists(path),
    readFile: ts.sys.readFile,
  })
  return before => {
    const at = code.indexOf(before) + before.length
    return ts.displayPartsToString(service.getQuickInfoAtPosition(file, at)?.displayParts)
  }
}

test('an editor shows the names of bodies, not their fields', () => {
  const shown = hovers()
  const names = protocolNames.map(name =>
    name
      .split('-')
      .map(word => word[0]?.toUpperCase() + word.slice(1))
      .join(''),
  )
  for (const [i, name] of names.entries()) {
    const called = shown(`const result${i} = `)
    expect(called).toContain(`(body: ${name}RequestInput, options: `)
    expect(called.length).toBeLessThan(700)
    const next = names[(i + 1) % names.length]
    expect(shown(`= result${i}.bod`)).toContain(`: ${next}Request`)
  }
})
