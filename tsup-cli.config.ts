import type { Options } from 'tsup'
import { bundleForBuild } from './test/tools/bundles.ts'
import { definitionsAlone } from './test/tools/definitions.ts'
import { serializers } from './test/tools/serializers.ts'

/** The command alone: all that `npm start` needs, in a second. What only one subcommand needs is in a file of its own. */
const command: Options = {
  entry: ['src/cli/main.ts'],
  outDir: 'dist/cli',
  format: ['esm'],
  target: 'es2023',
  platform: 'node',
  clean: true,
  splitting: true,
  noExternal: ['@noble/hashes', 'zod/mini'],
  esbuildPlugins: [bundleForBuild, definitionsAlone, serializers],
}

export default command
