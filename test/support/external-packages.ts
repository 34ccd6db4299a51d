import type { Plugin } from 'esbuild'

/**
 * Packages are not bundled, except those that the build of wireglot bundles, too. To load all languages of zod takes a program as long as all
 * else.
 */
export const externalPackages: Plugin = {
  name: 'external packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^(?:wireglot(?:$|\/)|zod\/mini$|@noble\/)/.test(path) ? undefined : { path, external: true },
    )
  },
}
