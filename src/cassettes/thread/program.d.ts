/** Made of `main.ts` by `test/tools/bundles.ts` at build time. */
declare module 'wireglot-recorder-thread' {
  export const program: string
}
