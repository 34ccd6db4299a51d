import type { Options } from 'tsup'
import { bundleForBuild } from './console-bundle.ts'

/** The command alone: all that `npm start` needs, in a second. */
const command: Options = {
  entry: ['src/cli/main.ts'],
  outDir: 'dist/cli',
  format: ['esm'],
  target: 'es2023',
  platform: 'node',
  splitting: false,
  noExternal: ['@noble/hashes', 'zod/mini'],
  esbuildPlugins: [bundleForBuild],
}

export default command
