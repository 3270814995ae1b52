import { configDefaults, defineConfig } from 'vitest/config'

const coverage = 'test/contract/coverage.test.ts'

// Real servers, real files and a real browser: slower than the default allows on a busy machine.
const timeouts = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 10_000 } } }

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    maxWorkers: '100%',
    globalSetup: ['test/contract/records-folder.ts', 'test/browser/build.ts'],
    projects: [
      {
        test: {
          ...timeouts,
          name: 'cairn',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, coverage],
          setupFiles: 'test/contract/record-replies.ts',
          sequence: { groupOrder: 1 },
        },
      },
      // What the others have seen is complete when they have ended. (Order 0 would come last with one worker.)
      { test: { ...timeouts, name: 'coverage', include: [coverage], sequence: { groupOrder: 2 } } },
    ],
  },
})
