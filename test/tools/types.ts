import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/**
 * First step of `npm run build`: one declaration file for each source file, in `.types`. tsup
 * bundles these, which needs a tenth of the memory that it needs to make them from the source.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const out = `${root}.types/`
rmSync(out, { recursive: true, force: true })
rmSync(`${root}dist`, { recursive: true, force: true })

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
const { options, fileNames } = ts.parseJsonConfigFileContent(
  { ...config, include: ['src'] },
  ts.sys,
  root,
)
const program = ts.createProgram(fileNames, {
  ...options,
  noEmit: false,
  declaration: true,
  emitDeclarationOnly: true,
  rootDir: root,
})
// The bundler looks for `./x.ts`, and finds `./x.d.ts` only by the name `./x.js`.
const relativeImport = /(from |import\()(["'])(\.[^"']*)\.ts\2/g
const { diagnostics } = program.emit(
  undefined,
  (file, text) => {
    const path = out + relative(root, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text.replace(relativeImport, '$1$2$3.js$2'))
  },
  undefined,
  true,
)
const faults = [...diagnostics, ...ts.getPreEmitDiagnostics(program)]
if (faults.length > 0) {
  console.error(
    ts.formatDiagnosticsWithColorAndContext(faults, {
      getCanonicalFileName: name => name,
      getCurrentDirectory: () => root,
      getNewLine: () => '\n',
    }),
  )
  process.exitCode = 1
}
