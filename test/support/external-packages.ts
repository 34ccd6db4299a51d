import type { Plugin } from 'esbuild'

/**
 * Packages are not bundled, except those that the build of wireglot bundles, too. Loading zod as a package brings all its languages, which
 * takes as long as everything else in such a program.
 */
export const externalPackages: Plugin = {
  name: 'external packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^(?:wireglot(?:$|\/)|zod\/mini$|@noble\/)/.test(path) ? undefined : { path, external: true },
    )
  },
}
