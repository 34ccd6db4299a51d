import { defineConfig } from 'tsup'
import command from './tsup-cli.config.ts'

const library = [
  'src/index.ts',
  'src/hosts/connect.ts',
  'src/hosts/fetch.ts',
  'src/gateway/gateway.ts',
  'src/verify/index.ts',
  'src/testing/index.ts',
  'src/protocols/*/index.ts',
]

export default defineConfig([
  {
    entry: library,
    outDir: 'dist',
    format: ['esm', 'cjs'],
    target: 'es2023',
    platform: 'neutral',
    external: [/^node:/],
    dts: true,
    splitting: true,
    clean: true,
  },
  command,
])
