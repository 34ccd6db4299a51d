import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { bundleForBuild } from '../tools/bundles.ts'

// Programs that tests build and start.

const file = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

/** What users import → the source file. `wireglot/protocols`: both the file and the folder. */
export const entryPoints: Record<string, string> = {
  wireglot: file('index.ts'),
  'wireglot/between': file('between.ts'),
  'wireglot/bridge': file('bridge/index.ts'),
  'wireglot/clients': file('clients.ts'),
  'wireglot/connect': file('hosts/connect.ts'),
  'wireglot/fetch': file('hosts/fetch.ts'),
  'wireglot/gateway': file('gateway/gateway.ts'),
  'wireglot/notes': file('notes.ts'),
  'wireglot/operations': file('operations/index.ts'),
  'wireglot/cassettes': file('cassettes/index.ts'),
  'wireglot/records': file('records/index.ts'),
  'wireglot/console': file('console/index.ts'),
  'wireglot/schemas': file('schemas.ts'),
  'wireglot/protocols': file('protocols'),
  'wireglot/testing': file('testing/index.ts'),
  'wireglot/verify': file('verify/index.ts'),
}

/**
 * Packages are not bundled, except those that the build of wireglot bundles, too. Loading zod as a
 * package brings all its languages, which takes as long as everything else in such a program.
 */
const externalPackages: Plugin = {
  name: 'external packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^(?:wireglot(?:$|\/)|zod\/mini$|@noble\/)/.test(path)
        ? undefined
        : { path, external: true },
    )
  },
}

/** How they are built. What several of them import is built once. */
export const programOptions = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'es2023',
  outExtension: { '.js': '.mjs' },
  plugins: [bundleForBuild, externalPackages],
  logLevel: 'error',
} satisfies BuildOptions
