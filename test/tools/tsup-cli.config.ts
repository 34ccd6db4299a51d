import type { Options } from 'tsup'

/** The command alone: all that `npm start` needs, in a second. */
const command: Options = {
  entry: ['src/cli/main.ts'],
  outDir: 'dist/cli',
  format: ['esm'],
  target: 'es2023',
  platform: 'node',
  splitting: false,
}

export default command
