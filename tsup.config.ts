import { readdirSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { bundleForBuild } from './test/tools/bundles.ts'
import { definitionsAlone } from './test/tools/definitions.ts'
import { serializers } from './test/tools/serializers.ts'
import command from './tsup-cli.config.ts'

const folders = readdirSync('src/protocols', { withFileTypes: true }).filter(entry =>
  entry.isDirectory(),
)
const doors = [
  'between',
  'bridge/index',
  'clients',
  'models',
  'protocols',
  'hosts/connect',
  'hosts/fetch',
  'gateway/gateway',
  'verify/index',
  'testing/index',
  'notes',
  'records/index',
  'operations/index',
  'cassettes/index',
  'console/index',
  ...folders.flatMap(({ name }) =>
    ['index', 'client', 'upstream'].map(file => `protocols/${name}/${file}`),
  ),
]
const sources = (names: string[]) => names.map(name => `src/${name}.ts`)

const shared = {
  outDir: 'dist',
  format: ['esm', 'cjs'],
  target: 'es2023',
  platform: 'neutral',
  external: [/^node:/],
  esbuildPlugins: [bundleForBuild, definitionsAlone, serializers],
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
  { ...shared, entry: sources(doors), splitting: true },
  // One file: Node opens 21 files in the time that it needs to read all of this one. Nothing is minified, for stack traces.
  {
    ...shared,
    entry: sources(['index']),
    splitting: false,
    sourcemap: true,
    noExternal: [...shared.noExternal, 'eventsource-parser'],
  },
  { ...shared, entry: sources(['schemas']), esbuildPlugins: [], splitting: false },
  {
    outDir: 'dist',
    format: ['esm', 'cjs'],
    dts: { only: true },
    // `test/tools/types.ts` makes these.
    entry: Object.fromEntries(
      ['index', 'schemas', ...doors].map(name => [name, `.types/src/${name}.d.ts`]),
    ),
  },
  command,
])
