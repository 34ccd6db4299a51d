import { fileURLToPath } from 'node:url'

const definitions = fileURLToPath(new URL('../../src/kit/schema/definitions.ts', import.meta.url))

/**
 * For esbuild and so for tsup: schemas have their definitions alone. `wireglot/schemas`, which
 * users parse with, is built without this, and imported from there.
 */
export const definitionsAlone = {
  name: 'wireglot-definitions',
  setup(builder: import('esbuild').PluginBuild) {
    builder.onResolve({ filter: /^zod\/mini$/ }, () => ({ path: definitions, sideEffects: false }))
    builder.onResolve({ filter: /\/schemas\.ts$/ }, () => ({
      path: 'wireglot/schemas',
      external: true,
    }))
  },
}
