import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { bundleForTests } from './test/tools/bundles.ts'

/**
 * `npm run test:all` sets this: every file, and every property with all its cases. Else as `npm test`: no `*.long.test.ts`, a hundredth of
 * the random cases, and a part of the tables over pairs and vendors.
 */
const isLong = process.env['WIREGLOT_TEST_ALL'] === '1'

const source = (file: string) => fileURLToPath(new URL(`./src/${file}.ts`, import.meta.url))

/** The examples import the package by its name, as users do. */
const alias = [
  { find: /^wireglot$/, replacement: source('index') },
  { find: /^wireglot\/between$/, replacement: source('between') },
  { find: /^wireglot\/bridge$/, replacement: source('bridge/index') },
  { find: /^wireglot\/clients$/, replacement: source('clients') },
  { find: /^wireglot\/protocols$/, replacement: source('protocols') },
  { find: /^wireglot\/(connect|fetch)$/, replacement: source('hosts/$1') },
  { find: /^wireglot\/testing$/, replacement: source('testing/index') },
  { find: /^wireglot\/schemas$/, replacement: source('schemas') },
  {
    find: /^wireglot\/protocols\/([\w-]+)\/(client|upstream)$/,
    replacement: source('protocols/$1/$2'),
  },
  { find: /^wireglot\/protocols\/([\w-]+)$/, replacement: source('protocols/$1/index') },
]

export const sources = { plugins: [bundleForTests], resolve: { alias } }

const shared = {
  exclude: [...configDefaults.exclude, ...(isLong ? [] : ['**/*.long.test.ts'])],
  globalSetup: 'test/tools/temporary-folder.ts',
  setupFiles: ['without-user', 'seed', 'chosen-laws', 'after-each'].map(
    name => `test/tools/${name}.ts`,
  ),
  // Some long tests work for two minutes on a slow machine.
  testTimeout: isLong ? 600_000 : 120_000,
}
/** Tests that load modules anew or replace one, or count what a process has in memory or listens to. */
const isolated = ['keys', 'memory.long', 'runtimes.long', 'serve'].map(
  name => `test/gateway/${name}.test.ts`,
)

export default defineConfig({
  test: {
    // More than the two cores of CI: many tests wait for sockets and timers.
    maxWorkers: 3,
    projects: [
      // The tests of one worker share their modules: to load these for each file took half of the whole time.
      {
        ...sources,
        test: {
          ...shared,
          name: 'shared',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...shared.exclude, ...isolated],
        },
      },
      { ...sources, test: { ...shared, name: 'isolated', include: isolated } },
    ],
  },
})
