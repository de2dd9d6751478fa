import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: '..',
  test: {
    root: '.',
    include: ['test/unit/**/*.test.{ts,tsx}', 'test/native/**/*.test.ts', 'test/gpu/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Many tests wait for processes that they start, so that two files share two cores well.
    maxWorkers: 2,
  },
})
