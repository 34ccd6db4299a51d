/** Made of `browser/` by `test/tools/bundles.ts` at build time. Minified. */
declare module 'wireglot-console-bundle' {
  export const script: string
  export const style: string
}
