import { execFile } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entryPoints, programOptions } from './support/programs.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

type Found = { name: string; code: string | undefined }

/** Every exported function of every entry point, once, with its example. */
const entries = Object.values(entryPoints).map(file => (file.endsWith('.ts') ? file : `${file}.ts`))
const modules = new Map<string, Record<string, unknown>>(
  await Promise.all(entries.map(async file => [file, await import(file)] as const)),
)
const functions = functionsOf(entries)
const examples = functions.flatMap(({ name, code }): [string, string][] =>
  code === undefined ? [] : [[name, code]],
)

function functionsOf(paths: string[]): Found[] {
  const program = ts.createProgram(paths, {
    allowImportingTsExtensions: true,
    noEmit: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  })
  const checker = program.getTypeChecker()
  const found = new Map<string, Found>()
  for (const path of paths) {
    const source = program.getSourceFile(path)
    const module = source && checker.getSymbolAtLocation(source)
    const values = modules.get(path)
    for (const exported of module ? checker.getExportsOfModule(module) : []) {
      const symbol =
        exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      const example = symbol.getJsDocTags(checker).find(({ name }) => name === 'example')
      const code = example && ts.displayPartsToString(example.text)
      if (typeof values?.[exported.name] === 'function' || code !== undefined)
        found.set(exported.name, { name: exported.name, code })
    }
  }
  return [...found.values()]
}

const folder = mkdtempSync(join(tmpdir(), 'wireglot-examples-'))

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, code] of examples) writeFileSync(join(folder, `${name}.ts`), code)
  await build({
    ...programOptions,
    entryPoints: examples.map(([name]) => join(folder, `${name}.ts`)),
    alias: entryPoints,
    outdir: folder,
  })
})

afterAll(() => rm(folder, { recursive: true }))

describe('examples in doc comments', () => {
  test('every public function has one', () => {
    expect(functions.filter(({ code }) => code === undefined).map(({ name }) => name)).toEqual([])
  })

  test.concurrent.each(examples)('%s: prints what its comments say', async (name, code) => {
    const { stdout, stderr } = await run(process.execPath, [join(folder, `${name}.mjs`)], {
      timeout: 60_000,
    })
    expect(stderr).toBe('')
    // A comment after `console.log` or a loop over it is the beginning of what is printed; `…`
    // matches anything.
    for (const [, message = ''] of code.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm))
      for (const chunk of message.split('…').map(text => text.trim()))
        expect(stdout).toContain(chunk)
  })
})
