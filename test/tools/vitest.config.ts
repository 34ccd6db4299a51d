import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/tools/seed.ts', 'test/tools/chosen-laws.ts'],
    testTimeout: 120_000,
    // Streams and servers are cheap: two workers suit the two cores of CI.
    maxWorkers: 2,
  },
})
