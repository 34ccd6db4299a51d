import { spawnSync } from 'node:child_process'

/**
 * `npm run test:all`: every test file, also `*.long.test.ts`, and every property with all its
 * cases. Arguments go to vitest.
 */
const { status } = spawnSync('npx', ['vitest', 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, WIREGLOT_TEST_ALL: '1' },
})
process.exitCode = status ?? 1
