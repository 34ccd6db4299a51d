import { defineConfig, mergeConfig } from 'vitest/config'
import { sources } from '../../vitest.config.ts'

const folders = ['canonical', 'failures', 'kit', 'laws', 'protocols', 'sse', 'translate']

/** The tests of translation alone, as one project: what the mutation tool runs for each change. */
export default defineConfig(
  mergeConfig(sources, {
    test: {
      include: folders.map(folder => `test/${folder}/**/*.test.ts`),
      // The second one tests what the build makes.
      exclude: ['**/*.long.test.ts', 'test/kit/serializers.test.ts'],
      setupFiles: ['test/tools/seed.ts'],
      isolate: false,
      testTimeout: 120_000,
    },
  }),
)
