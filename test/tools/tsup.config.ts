import { readdirSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { bundleForBuild } from './console-bundle.ts'
import { definitionsAlone } from './definitions.ts'
import command from './tsup-cli.config.ts'

const root = 'src/index.ts'
const schemas = 'src/schemas.ts'
const doors = [
  'src/between.ts',
  'src/clients.ts',
  'src/protocols.ts',
  'src/hosts/connect.ts',
  'src/hosts/fetch.ts',
  'src/gateway/gateway.ts',
  'src/verify/index.ts',
  'src/testing/index.ts',
  'src/notes.ts',
  'src/records/index.ts',
  'src/operations/index.ts',
  'src/console/index.ts',
  // The maker of types takes no patterns.
  ...readdirSync('src/protocols', { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? ['index', 'client', 'upstream'].map(file => `src/protocols/${entry.name}/${file}.ts`) : [],
  ),
]

const shared = {
  outDir: 'dist',
  format: ['esm', 'cjs'],
  target: 'es2023',
  platform: 'neutral',
  external: [/^node:/],
  esbuildPlugins: [bundleForBuild, definitionsAlone],
  esbuildOptions(options, { format }) {
    // Where a file is, in the two formats. Node refuses CommonJS with `import.meta` in it, even where it is never reached.
    options.logOverride = { 'empty-import-meta': 'silent' }
    if (format === 'cjs') options.define = { ...options.define, 'import.meta.url': 'undefined' }
  },
  noExternal: [
    // An ES module only: `require` of it fails in Jest and in Node without `require(esm)`.
    '@noble/hashes',
    // Else it stays an import: only what is bundled goes through `definitionsAlone`. `wireglot/schemas` contains what it needs of it.
    'zod/mini',
  ],
} satisfies Options

export default defineConfig([
  { ...shared, entry: doors, clean: true, dts: { entry: [root, schemas, ...doors] }, splitting: true },
  // One file: Node opens 21 files in the time that it needs to read all of this one. Nothing is minified, for stack traces.
  { ...shared, entry: [root], splitting: false, sourcemap: true, noExternal: [...shared.noExternal, 'eventsource-parser'] },
  { ...shared, entry: [schemas], esbuildPlugins: [], splitting: false },
  command,
])
