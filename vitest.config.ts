import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real servers, real files and a real browser: slower than the default allows on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
